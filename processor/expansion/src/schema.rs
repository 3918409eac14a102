//! Schemas of properties: JSON Schema, Draft 4 as Deployment Manager used it, or the version that `$schema` names.
//!
//! A schema is written by whoever wrote the template, so it is held to bounds like the template: nothing is fetched,
//! patterns match in linear time, and the steps of validating are counted before they are made. Validating itself is the
//! `jsonschema` crate's; its errors are put into the words that Deployment Manager's users know.

mod branch;
mod bypass;
mod cost;
mod defaults;
mod draft;
mod imports;
mod message;
mod multiple;
mod pattern;
mod pointer;
mod prepare;
mod walk;

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;

use std::fmt;

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{ValidationError, Validator};

pub(crate) use self::pointer::Segment;

use self::branch::Branches;
use self::bypass::Bypass;
use self::draft::Version;
use self::imports::Wanted;
use self::walk::{Budget, Stop};
use crate::call::Imports;
use crate::configuration;
use crate::value::{Map, Value};

/// How many steps the schemas of one expansion may take together: seconds of work. A schema of fifty properties takes
/// some hundreds.
pub(crate) const WORK: u64 = 50_000_000;
/// The longest schema, in bytes.
const MAX_TEXT: usize = 256 << 10;
/// How many values a schema may have.
const MAX_VALUES: usize = 20_000;
/// How many violations are told.
const MAX_VIOLATIONS: usize = 500;

/// A schema file that was read and found valid.
#[derive(Debug)]
pub(crate) struct Schema {
    name: String,
    /// As it was written, which is how messages show it.
    source: Value,
    branches: Branches,
    validator: Validator,
    imports: Vec<Wanted>,
    warnings: Vec<String>,
}

/// One thing that a schema or properties violate. It prints as Deployment Manager printed it, with ` at ['a', 0]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// jsonschema's message, as Python's library words it.
    pub(crate) message: String,
    /// Where in the schema or the properties: keys, and positions in lists.
    pub(crate) path: Vec<Segment>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.message, message::at(&self.path))
    }
}

impl Violation {
    fn of_all(message: impl Into<String>) -> Vec<Self> {
        vec![Self { message: message.into(), path: Vec::new() }]
    }
}

impl Schema {
    /// Reads the schema that was imported as `name`; `None` when it is empty: it validates nothing then, but properties
    /// that are missing become `{}` even so.
    ///
    /// # Errors
    /// Everything that is wrong with the schema.
    pub(crate) fn read(name: &str, text: &str) -> Result<Option<Self>, Vec<Violation>> {
        let source = parse(text).map_err(Violation::of_all)?;
        if source.is_falsy() {
            return Ok(None);
        }
        let mut warnings = Vec::new();
        let version = version(&source, &mut warnings);
        let mut prepared = prepare::prepare(&source, version);
        let (imports, mut violations) = match imports::read(&source) {
            Ok(imports) => (imports, Vec::new()),
            Err(violations) => (Vec::new(), violations),
        };
        violations.extend(against_meta_schema(&prepared, version));
        violations.append(&mut prepared.violations);
        if !violations.is_empty() {
            violations.truncate(MAX_VIOLATIONS);
            return Err(violations);
        }
        warnings.append(&mut prepared.warnings);
        let branches = Branches::new(prepared, version);
        let validator = branches.compile().map_err(|violation| vec![violation])?;
        Ok(Some(Self { name: name.to_owned(), source, branches, validator, imports, warnings }))
    }

    /// Fills in defaults and validates; properties that are null become `{}`. Takes its steps off `work`, which all
    /// resources of an expansion share.
    ///
    /// # Errors
    /// Everything that is wrong with the properties, missing imports of the schema included.
    pub(crate) fn validate(
        &self,
        properties: Value,
        imports: &Imports,
        work: &mut u64,
    ) -> Result<Value, Vec<Violation>> {
        let mut violations = imports::missing(&self.imports, imports, &self.name);
        let mut properties = match properties {
            Value::Null => Value::Map(Map::new()),
            given => given,
        };
        let mut go = || {
            defaults::fill(&self.branches, &mut properties, &mut Budget::new(work))?;
            let mut budget = Budget::new(work);
            cost::measure(&self.branches, self.branches.root(), &properties, &mut budget)
        };
        if let Err(stop) = go() {
            violations.extend(Violation::of_all(self.stopped(stop)));
            return Err(violations);
        }
        violations.extend(self.violations(&properties));
        violations.truncate(MAX_VIOLATIONS);
        if violations.is_empty() { Ok(properties) } else { Err(violations) }
    }

    /// What is odd about the schema, such as `type: int`.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What is wrong with properties, in their order.
    fn violations(&self, properties: &Value) -> Vec<Violation> {
        let json = branch::to_json(properties);
        let bypass = Bypass::new(properties);
        let mut found: Vec<(Vec<usize>, Violation)> = self
            .validator
            .iter_errors(&json)
            .filter(|error| !bypass.covers(error))
            .take(MAX_VIOLATIONS)
            .map(|error| self.violation(&error, properties))
            .collect();
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        found.into_iter().map(|(_, violation)| violation).collect()
    }

    fn violation(
        &self,
        error: &ValidationError<'_>,
        properties: &Value,
    ) -> (Vec<usize>, Violation) {
        let located = pointer::locate(properties, error.instance_path());
        let keyword = pointer::locate(&self.source, error.schema_path());
        let keyword = keyword.complete.then_some(keyword.value);
        let message = message::message(error, located.value, keyword, &valid(error, keyword));
        let path = pointer::path(properties, &located.place);
        (located.place, Violation { message, path })
    }

    fn stopped(&self, stop: Stop) -> String {
        let name = message::shown(&Value::from(self.name.as_str()));
        match stop {
            Stop::Depth => format!("Schema {name} refers to itself without coming to an end"),
            Stop::Steps => format!("Schema {name} takes too many steps to validate"),
            Stop::Work => {
                "The schemas of this configuration take too many steps to validate".into()
            }
        }
    }
}

/// Of a `oneOf` of which several hold, those: the first one last, as Python has them.
fn valid(error: &ValidationError<'_>, keyword: Option<&Value>) -> Vec<Value> {
    let (Kind::OneOfMultipleValid { context }, Some(Value::List(schemas))) =
        (error.kind(), keyword)
    else {
        return Vec::new();
    };
    let holding = context.iter().zip(schemas).filter(|(errors, _)| errors.is_empty());
    let mut valid: Vec<Value> = holding.map(|(_, schema)| schema.clone()).collect();
    if !valid.is_empty() {
        valid.rotate_left(1);
    }
    valid
}

/// Reads the text, within bounds.
fn parse(text: &str) -> Result<Value, String> {
    if text.len() > MAX_TEXT {
        return Err(format!("A schema may have {MAX_TEXT} bytes"));
    }
    let read = configuration::read(text).map_err(|unreadable| {
        let line = unreadable.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        format!("Error parsing YAML: {line}{}", unreadable.message)
    })?;
    if read.size > 2 * MAX_TEXT {
        return Err(format!("A schema may have {} bytes with its aliases", 2 * MAX_TEXT));
    }
    let value = read.value;
    if values(&value) > MAX_VALUES {
        return Err(format!("A schema may have {MAX_VALUES} values"));
    }
    Ok(value)
}

fn values(value: &Value) -> usize {
    match value {
        Value::List(list) => 1 + list.iter().map(values).sum::<usize>(),
        Value::Map(map) => 1 + map.values().map(values).sum::<usize>(),
        _ => 1,
    }
}

/// The version that a schema says it is written in. Deployment Manager did not look at `$schema`, and Draft 4 is what it
/// knew.
fn version(schema: &Value, warnings: &mut Vec<String>) -> Version {
    let Some(uri) = schema.get("$schema").and_then(Value::as_str) else { return Version::Draft4 };
    Version::named(uri).unwrap_or_else(|| {
        let uri = message::shown(&Value::from(uri));
        warnings.push(format!("$schema {uri} is not known: the schema is read as Draft 4"));
        Version::Draft4
    })
}

/// Holds a schema to the schema of schemas, and with it what only references make schemas.
fn against_meta_schema(prepared: &prepare::Prepared, version: Version) -> Vec<Violation> {
    let mut violations = Vec::new();
    let root = prepare::Place::new();
    for place in std::iter::once(&root).chain(&prepared.outside) {
        let at = place.iter().try_fold(&prepared.document, |at, next| pointer::child(at, *next));
        let schema = at.expect("it was visited there");
        version.violations_of(&branch::to_json(schema), |error| {
            // Of formats only that of patterns counts: the crate compiles no other.
            let ignored = matches!(error.kind(), Kind::Format { format } if format != "regex");
            if ignored || violations.len() == MAX_VIOLATIONS {
                return;
            }
            let located = pointer::locate(schema, error.instance_path());
            let message = message::message(&error, located.value, None, &[]);
            let place: Vec<usize> = place.iter().copied().chain(located.place).collect();
            let path = pointer::path(&prepared.document, &place);
            if prepared.violations.iter().all(|known| known.path != path) {
                violations.push(Violation { message, path });
            }
        });
    }
    violations
}
