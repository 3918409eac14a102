//! From a schema as it was written to one that can be compiled: every place that holds a schema is visited once.
//!
//! On the way names of types from programming languages become those of JSON Schema, patterns get the spelling of the
//! `regex` crate, and what a `$ref` says is held to this document. What each keyword may hold is not checked here: the
//! schema of schemas says that.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::{Holds, Version};
use super::pointer::{self, Segment};
use super::{Violation, pattern};
use crate::value::{Map, Value};

/// How many patterns a schema may have.
const MAX_PATTERNS: usize = 200;

/// Positions that lead from the root to a schema.
pub(super) type Place = Vec<usize>;

/// A schema that was visited.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The schema as it is compiled.
    pub(super) document: Value,
    /// Where schemas stand in it, those first that stand in no other.
    pub(super) places: BTreeSet<Place>,
    /// Schemas at places where no keyword has them, which only a `$ref` makes schemas.
    pub(super) outside: Vec<Place>,
    /// Names of types that are not JSON Schema's.
    pub(super) warnings: Vec<String>,
    /// What is wrong.
    pub(super) violations: Vec<Violation>,
}

/// Visits a schema.
pub(super) fn prepare(source: &Value, version: Version) -> Prepared {
    let mut visit = Visit {
        version,
        source,
        open: Vec::new(),
        patterns: BTreeMap::new(),
        found: Prepared {
            document: source.clone(),
            places: BTreeSet::new(),
            outside: Vec::new(),
            warnings: Vec::new(),
            violations: Vec::new(),
        },
    };
    visit.tree(&Place::new());
    while let Some(place) = visit.open.pop() {
        if !visit.found.places.contains(&place) {
            visit.tree(&place);
            visit.found.outside.push(place);
        }
    }
    visit.found
}

struct Visit<'s> {
    version: Version,
    source: &'s Value,
    /// Where references lead.
    open: Vec<Place>,
    /// Patterns that were seen, and how they are spelled now.
    patterns: BTreeMap<String, Result<String, String>>,
    found: Prepared,
}

impl Visit<'_> {
    /// A schema and all that stand in it.
    fn tree(&mut self, place: &Place) {
        if !self.found.places.insert(place.clone()) {
            return;
        }
        let mut document = std::mem::take(&mut self.found.document);
        let node = place.iter().try_fold(&mut document, |node, at| pointer::child_mut(node, *at));
        let children = match node {
            Some(Value::Map(map)) => self.schema(map, place),
            _ => Vec::new(),
        };
        self.found.document = document;
        for child in children {
            self.tree(&child);
        }
    }

    /// One schema; gives the places of those within.
    fn schema(&mut self, schema: &mut Map, place: &Place) -> Vec<Place> {
        self.reference(schema, place);
        for keyword in ["$dynamicRef", "$recursiveRef"] {
            if self.version >= Version::Draft201909 && schema.contains_key(keyword) {
                let message = format!("'{keyword}' is not supported: use '$ref'");
                self.violation(message, self.path(place));
            }
        }
        if let Some(types) = schema.get_mut("type") {
            self.types(types, place);
        }
        if let Some(Value::String(text)) = schema.get_mut("pattern") {
            *text = self.pattern(text, place, "pattern");
        }
        if let Some(Value::Map(patterns)) = schema.get_mut("patternProperties") {
            let mut respelled = Map::new();
            for (text, value) in std::mem::take(patterns) {
                let mut text = self.pattern(&text, place, "patternProperties");
                while respelled.contains_key(&text) {
                    // Two spellings of one pattern; the empty group tells them apart and matches the same.
                    text.push_str("(?:)");
                }
                respelled.insert(text, value);
            }
            *patterns = respelled;
        }
        let mut children = Vec::new();
        for (keyword, holds) in self.version.keywords() {
            if let Some((at, _, value)) = schema.get_full(keyword) {
                children.extend(within(value, holds).into_iter().map(|within| {
                    place.iter().copied().chain([at]).chain(within).collect::<Place>()
                }));
            }
        }
        children
    }

    /// Holds a `$ref` to this document, and notes where it leads.
    fn reference(&mut self, schema: &mut Map, place: &Place) {
        let text = match schema.get_mut("$ref") {
            None => return,
            Some(Value::String(text)) => text,
            Some(Value::Null) => {
                // An unquoted `#` begins a comment. Python's words for it, and the hint that came with them.
                self.violation("argument of type 'NoneType' is not iterable".into(), Vec::new());
                let hint = "Perhaps you forgot to put 'quotes' around your reference.";
                return self.violation(hint.into(), Vec::new());
            }
            Some(other) => {
                let message = format!("{} is not of type 'string'", super::message::shown(other));
                return self.violation(message, self.keyword_path(place, "$ref"));
            }
        };
        let shown = super::message::shown(&Value::from(text.as_str()));
        if !text.starts_with('#') {
            let message = format!(
                "{shown} refers to another document, which is never fetched: only '#/...' is supported"
            );
            return self.violation(message, self.keyword_path(place, "$ref"));
        }
        let Some(parts) = pointer::parts(text) else {
            let message = format!("{shown} is not a JSON pointer: only '#/...' is supported");
            return self.violation(message, self.keyword_path(place, "$ref"));
        };
        match pointer::positions(self.source, &parts) {
            Some(target) => {
                *text = pointer::reference("", &parts);
                self.open.push(target);
            }
            None => {
                let pointer = Value::from(text.trim_start_matches(['#', '/']));
                let message =
                    format!("Unresolvable JSON pointer: {}", super::message::shown(&pointer));
                self.violation(message, Vec::new());
            }
        }
    }

    /// Gives types the names that JSON Schema has for them.
    fn types(&mut self, types: &mut Value, place: &Place) {
        let names = match types {
            Value::List(names) => names.as_mut_slice(),
            name => std::slice::from_mut(name),
        };
        for name in names {
            let Value::String(name) = name else { continue };
            if let Some(standard) = standard_type(name) {
                let at = super::message::at(&self.keyword_path(place, "type"));
                self.found.warnings.push(format!("type '{name}' is read as '{standard}'{at}"));
                standard.clone_into(name);
            }
        }
    }

    /// A pattern in the spelling of the `regex` crate.
    fn pattern(&mut self, text: &str, place: &Place, keyword: &str) -> String {
        if self.patterns.len() == MAX_PATTERNS && !self.patterns.contains_key(text) {
            let message = format!("A schema may have {MAX_PATTERNS} different patterns");
            self.violation(message, self.keyword_path(place, keyword));
        }
        if self.patterns.len() > MAX_PATTERNS {
            return text.to_owned();
        }
        let translated =
            self.patterns.entry(text.to_owned()).or_insert_with(|| pattern::translate(text));
        match translated.clone() {
            Ok(translated) => translated,
            Err(reason) => {
                let shown = super::message::shown(&Value::from(text));
                let path = self.keyword_path(place, keyword);
                self.violation(format!("pattern {shown} {reason}"), path);
                text.to_owned()
            }
        }
    }

    fn path(&self, place: &Place) -> Vec<Segment> {
        pointer::path(self.source, place)
    }

    fn keyword_path(&self, place: &Place, keyword: &str) -> Vec<Segment> {
        let mut path = self.path(place);
        path.push(Segment::key(keyword));
        path
    }

    fn violation(&mut self, message: String, path: Vec<Segment>) {
        if self.found.violations.len() < super::MAX_VIOLATIONS {
            self.found.violations.push(Violation { message, path });
        }
    }
}

/// The positions of schemas in what a keyword holds.
pub(super) fn within(value: &Value, holds: Holds) -> Vec<Place> {
    match (value, holds) {
        (Value::Map(_), Holds::Schema | Holds::SchemaOrList) => vec![Place::new()],
        (Value::List(list), Holds::List | Holds::SchemaOrList) => each(list.len()),
        (Value::Map(map), Holds::Map | Holds::MapOfEither) => each(map.len()),
        _ => Vec::new(),
    }
}

fn each(count: usize) -> Vec<Place> {
    (0..count).map(|at| vec![at]).collect()
}

/// What JSON Schema calls a type that goes by another name in Python, Go or SQL; `None` when it is JSON Schema's own name,
/// or nobody's.
fn standard_type(name: &str) -> Option<&'static str> {
    let standard = match name.to_ascii_lowercase().as_str() {
        "integer" | "int" | "long" | "int32" | "int64" | "uint" | "uint32" | "uint64" => "integer",
        "number" | "float" | "double" | "float32" | "float64" => "number",
        "string" | "str" | "unicode" | "text" => "string",
        "boolean" | "bool" => "boolean",
        "object" | "dict" | "map" | "struct" => "object",
        "array" | "list" | "tuple" | "slice" => "array",
        "null" | "none" | "nonetype" | "nil" => "null",
        _ => return None,
    };
    (standard != name).then_some(standard)
}
