//! A schema's document as the walks need it: where references lead, which names a pattern matches, and whether a branch
//! holds for a value.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::Validator;
use regex::Regex;

use super::draft::Version;
use super::pointer;
use super::prepare::{Place, Prepared};
use super::walk::{Budget, Stop, size};
use super::{Violation, cost, message, pattern};
use crate::value::{Map, Value};

/// How many branches are kept compiled.
const MAX_COMPILED: usize = 64;
/// How many steps it takes to compile one value of the document.
const COMPILE: usize = 50;
/// Under which key the document stands when a branch is compiled.
const DOCUMENT: &str = "schema";

/// The document and what was made of its parts.
pub(super) struct Branches {
    version: Version,
    /// With names of its own for no schema: all references count from the root.
    document: Value,
    /// Where schemas stand in `document`, those within others first.
    places: Vec<Place>,
    patterns: BTreeMap<String, Regex>,
    /// By the address of the branch in `document`, which is never changed, and whether it is without `required`.
    compiled: Mutex<BTreeMap<(usize, bool), Arc<Validator>>>,
}

impl fmt::Debug for Branches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Branches").field("version", &self.version).finish_non_exhaustive()
    }
}

impl Branches {
    /// Takes what was prepared, when nothing is wrong with it.
    pub(super) fn new(prepared: Prepared, version: Version) -> Self {
        let mut places: Vec<Place> = prepared.places.into_iter().collect();
        places.sort_by_key(|place| std::cmp::Reverse(place.len()));
        let mut document = prepared.document;
        // Emptied and not removed, because `places` count positions.
        let named = [version.identifier(), "$schema", "$anchor", "$vocabulary"];
        edit(&mut document, &places, |schema| {
            for keyword in named {
                if let Some(value) = schema.get_mut(keyword) {
                    *value = Value::Null;
                }
            }
        });
        let mut patterns = BTreeMap::new();
        edit(&mut document, &places, |schema| {
            let found = schema.get("patternProperties").and_then(Value::as_map);
            for text in found.into_iter().flat_map(Map::keys) {
                if let Ok(pattern) = pattern::compile(text) {
                    patterns.insert(text.clone(), pattern);
                }
            }
        });
        Self { version, document, places, patterns, compiled: Mutex::default() }
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    /// The schema itself.
    pub(super) fn root(&self) -> &Value {
        &self.document
    }

    /// Where the `$ref` of a schema leads.
    pub(super) fn target(&self, schema: &Map) -> Option<&Value> {
        let reference = schema.get("$ref")?.as_str()?;
        pointer::follow(&self.document, &pointer::parts(reference)?)
    }

    /// Whether a pattern of `patternProperties` matches a name.
    pub(super) fn matches(&self, pattern: &str, name: &str) -> bool {
        self.patterns.get(pattern).is_some_and(|pattern| pattern.is_match(name))
    }

    /// Compiles the document.
    ///
    /// # Errors
    /// When it says what the crate cannot check, such as a pattern that ECMAScript does not know.
    pub(super) fn compile(&self) -> Result<Validator, Violation> {
        let json = to_json(&without_names(self.document.clone(), &self.places));
        self.version.compile(&json).map_err(|error| {
            let by_meta_schema = !error.instance_path().is_empty();
            let at = if by_meta_schema { error.instance_path() } else { error.schema_path() };
            let located = pointer::locate(&self.document, at);
            let message = message::message(&error, located.value, None, &[]);
            Violation { message, path: pointer::path(&self.document, &located.place) }
        })
    }

    /// Whether a schema of the document holds for a value.
    pub(super) fn holds(
        &self,
        schema: &Value,
        value: &Value,
        budget: &mut Budget<'_>,
    ) -> Result<bool, Stop> {
        self.is_valid(schema, false, value, budget)
    }

    /// The same, as if nothing were required: what is missing may still get a default.
    pub(super) fn holds_without_required(
        &self,
        schema: &Value,
        value: &Value,
        budget: &mut Budget<'_>,
    ) -> Result<bool, Stop> {
        self.is_valid(schema, true, value, budget)
    }

    fn is_valid(
        &self,
        schema: &Value,
        relaxed: bool,
        value: &Value,
        budget: &mut Budget<'_>,
    ) -> Result<bool, Stop> {
        cost::measure(self, schema, value, budget)?;
        budget.take(size(value))?;
        let key = (std::ptr::from_ref(schema).addr(), relaxed);
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let validator = match compiled.get(&key) {
            Some(validator) => Arc::clone(validator),
            None => {
                budget.take(size(&self.document).saturating_mul(COMPILE))?;
                let Some(validator) = self.compile_branch(schema, relaxed) else {
                    return Ok(false);
                };
                if compiled.len() == MAX_COMPILED {
                    compiled.pop_first();
                }
                Arc::clone(compiled.entry(key).or_insert_with(|| Arc::new(validator)))
            }
        };
        drop(compiled);
        Ok(validator.is_valid(&to_json(value)))
    }

    /// Compiles one schema of the document, in a document around it.
    fn compile_branch(&self, schema: &Value, relaxed: bool) -> Option<Validator> {
        let mut parts = Vec::new();
        if !find(&self.document, schema, &mut parts) {
            return None;
        }
        parts.reverse();
        let prefix = format!("/{DOCUMENT}");
        let mut document = self.document.clone();
        edit(&mut document, &self.places, |schema| {
            if let Some(Value::String(text)) = schema.get_mut("$ref")
                && let Some(parts) = pointer::parts(text)
            {
                *text = pointer::reference(&prefix, parts);
            }
            if relaxed && let Some(required) = schema.get_mut("required") {
                *required = Value::Null;
            }
        });
        let around = serde_json::json!({
            "allOf": [{"$ref": pointer::reference(&prefix, parts)}],
            DOCUMENT: to_json(&without_names(document, &self.places)),
        });
        self.version.compile(&around).ok()
    }
}

/// Changes every schema of a document.
fn edit(document: &mut Value, places: &[Place], mut change: impl FnMut(&mut Map)) {
    for place in places {
        let schema =
            place.iter().try_fold(&mut *document, |at, next| pointer::child_mut(at, *next));
        if let Some(Value::Map(schema)) = schema {
            change(schema);
        }
    }
}

/// The document without the keywords that were emptied. Schemas come before those they stand in, so the positions that
/// removing shifts are no longer needed.
fn without_names(mut document: Value, places: &[Place]) -> Value {
    edit(&mut document, places, |schema| {
        schema.retain(|keyword, value| {
            let emptied = ["id", "$id", "$schema", "$anchor", "$vocabulary", "required"];
            *value != Value::Null || !emptied.contains(&keyword.as_str())
        });
    });
    document
}

/// Finds a value by its address; `parts` are the way to it, from its end.
fn find(from: &Value, wanted: &Value, parts: &mut Vec<String>) -> bool {
    if std::ptr::eq(from, wanted) {
        return true;
    }
    let found = match from {
        Value::Map(map) => {
            map.iter().find(|(_, value)| find(value, wanted, parts)).map(|(k, _)| k.clone())
        }
        Value::List(list) => {
            list.iter().position(|value| find(value, wanted, parts)).map(|at| at.to_string())
        }
        _ => None,
    };
    let is_found = found.is_some();
    parts.extend(found);
    is_found
}

/// The same value as the `jsonschema` crate takes it.
pub(super) fn to_json(value: &Value) -> serde_json::Value {
    serde_json::to_value(value).expect("keys are strings and floats are finite")
}
