//! What is wrong with a value, in the words of Python's `jsonschema`, as Deployment Manager's users know them.

use std::fmt::Write as _;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};

use super::pointer::Segment;
use crate::value::Value;

/// How many characters of a value are shown.
const SHOWN: usize = 1000;

/// A value as Python prints it; of one that is too long only the beginning.
pub(super) fn shown(value: &Value) -> String {
    value.repr_within(SHOWN)
}

/// ` at ['a', 0]`, or nothing at the root.
pub(super) fn at(path: &[Segment]) -> String {
    let mut out = String::new();
    for (position, segment) in path.iter().enumerate() {
        let before = if position == 0 { " at [" } else { ", " };
        let _ = write!(out, "{before}{segment}");
    }
    if !path.is_empty() {
        out.push(']');
    }
    out
}

/// The message of an error of `value`. `keyword` is what the schema says that the value violates, where the schema is at
/// hand: it is shown as it was written.
pub(super) fn message(
    error: &ValidationError<'_>,
    value: &Value,
    keyword: Option<&Value>,
    valid: &[Value],
) -> String {
    let it = || shown(value);
    match error.kind() {
        Kind::Type { kind } => format!("{} is not of type {}", it(), types(kind, keyword)),
        Kind::Required { property } => required(error, property, value, keyword),
        Kind::Enum { options } => format!("{} is not one of {}", it(), foreign(options)),
        Kind::Constant { expected_value } => format!("{} was expected", foreign(expected_value)),
        Kind::Pattern { pattern } => {
            let pattern = keyword.and_then(Value::as_str).unwrap_or(pattern);
            format!("{} does not match {}", it(), shown(&Value::from(pattern)))
        }
        Kind::Not { schema } => {
            let schema = keyword.map_or_else(|| foreign(schema), shown);
            format!("{schema} is not allowed for {}", it())
        }
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
            format!("{} is not valid under any of the given schemas", it())
        }
        Kind::OneOfMultipleValid { .. } => {
            let schemas: Vec<String> = valid.iter().map(shown).collect();
            format!("{} is valid under each of {}", it(), schemas.join(", "))
        }
        Kind::AdditionalProperties { unexpected } => {
            unexpected_members("Additional properties", unexpected)
        }
        Kind::UnevaluatedProperties { unexpected } => {
            unexpected_members("Unevaluated properties", unexpected)
        }
        Kind::AdditionalItems { limit } => {
            let extra = value.as_list().and_then(|list| list.get(*limit..)).unwrap_or_default();
            let extra: Vec<String> = extra.iter().map(shown).collect();
            unexpected_parts("Additional items", &extra)
        }
        Kind::UnevaluatedItems { unexpected } => unexpected_parts("Unevaluated items", unexpected),
        Kind::PropertyNames { error } => {
            let name = error.instance().as_str().map_or(Value::Null, Value::from);
            message(error, &name, None, &[])
        }
        Kind::Format { format } => format!("{} is not a '{format}'", it()),
        Kind::FalseSchema => match value {
            // What the crate makes of `additionalProperties: false` where no property has a schema.
            Value::Map(map) if last_keyword(error) == "additionalProperties" => {
                let names: Vec<String> = map.keys().cloned().collect();
                unexpected_members("Additional properties", &names)
            }
            _ => format!("False schema does not allow {}", it()),
        },
        Kind::Contains => format!("None of {} are valid under the given schema", it()),
        Kind::UniqueItems => format!("{} has non-unique elements", it()),
        kind => size(kind, keyword, &it()).unwrap_or_else(|| escaped(&error.to_string())),
    }
}

/// Messages about how large something is.
fn size(kind: &Kind, keyword: Option<&Value>, it: &str) -> Option<String> {
    Some(match kind {
        Kind::Minimum { limit } => format!("{it} is less than the minimum of {}", foreign(limit)),
        Kind::Maximum { limit } => {
            format!("{it} is greater than the maximum of {}", foreign(limit))
        }
        Kind::ExclusiveMinimum { limit } => {
            format!("{it} is less than or equal to the minimum of {}", foreign(limit))
        }
        Kind::ExclusiveMaximum { limit } => {
            format!("{it} is greater than or equal to the maximum of {}", foreign(limit))
        }
        // Of the keywords that are our own there is one: `multipleOf`.
        Kind::Custom { message, .. } => keyword.map_or_else(
            || escaped(message),
            |factor| format!("{it} is not a multiple of {}", shown(factor)),
        ),
        Kind::MinLength { .. } | Kind::MinItems { .. } => format!("{it} is too short"),
        Kind::MaxLength { .. } | Kind::MaxItems { .. } => format!("{it} is too long"),
        Kind::MinProperties { .. } => format!("{it} does not have enough properties"),
        Kind::MaxProperties { .. } => format!("{it} has too many properties"),
        _ => return None,
    })
}

/// The keyword that was violated.
fn last_keyword(error: &ValidationError<'_>) -> String {
    error.schema_path().segments().last().map_or_else(String::new, |segment| segment.to_string())
}

/// A property may be required by `required`, or because another one is there.
fn required(
    error: &ValidationError<'_>,
    property: &serde_json::Value,
    value: &Value,
    keyword: Option<&Value>,
) -> String {
    let missing = foreign(property);
    if !matches!(last_keyword(error).as_str(), "dependencies" | "dependentRequired") {
        return format!("{missing} is a required property");
    }
    let names = |list: &Value, name: &str| {
        list.as_list().is_some_and(|names| names.iter().any(|n| n.as_str() == Some(name)))
    };
    let named = property.as_str().unwrap_or_default();
    let there = |name: &&str| value.get(name).is_some();
    let other = match keyword.and_then(Value::as_map) {
        Some(dependencies) => {
            let by = dependencies.iter().filter(|(_, list)| names(list, named));
            by.map(|(name, _)| name.as_str()).find(there)
        }
        // The only ones of the schema of schemas: of Draft 4.
        None => ["exclusiveMinimum", "exclusiveMaximum"]
            .into_iter()
            .find(|name| there(name) && name.to_ascii_lowercase().ends_with(named)),
    };
    match other {
        Some(other) => format!("{missing} is a dependency of {}", shown(&Value::from(other))),
        None => format!("{missing} is a required property"),
    }
}

/// The types that are allowed: in the order of the schema, if it is at hand.
fn types(kind: &TypeKind, keyword: Option<&Value>) -> String {
    let names: Vec<String> = match (keyword, kind) {
        (Some(Value::List(names)), _) => names.iter().map(shown).collect(),
        (Some(name), _) => vec![shown(name)],
        (None, TypeKind::Single(name)) => vec![format!("'{name}'")],
        (None, TypeKind::Multiple(names)) => {
            names.into_iter().map(|name| format!("'{name}'")).collect()
        }
    };
    names.join(", ")
}

fn unexpected_members(what: &str, names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| shown(&Value::from(name.as_str()))).collect();
    unexpected_parts(what, &names)
}

fn unexpected_parts(what: &str, parts: &[String]) -> String {
    let were = if parts.len() == 1 { "was" } else { "were" };
    let mut list = String::new();
    for (at, part) in parts.iter().enumerate() {
        if list.len() > SHOWN {
            list.push_str(", …");
            break;
        }
        let _ = write!(list, "{}{part}", if at == 0 { "" } else { ", " });
    }
    format!("{what} are not allowed ({list} {were} unexpected)")
}

/// A value of the `jsonschema` crate.
fn foreign(value: &serde_json::Value) -> String {
    shown(&serde_json::from_value(value.clone()).unwrap_or_default())
}

/// Words of the crate for what Draft 4 does not have.
fn escaped(text: &str) -> String {
    text.chars()
        .take(SHOWN)
        .flat_map(|c| {
            let control = c.is_control();
            let escape = control.then(|| c.escape_unicode()).into_iter().flatten();
            escape.chain((!control).then_some(c))
        })
        .collect()
}
