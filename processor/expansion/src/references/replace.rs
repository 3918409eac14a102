//! The texts of a value, and what comes in place of the references in them.

use std::fmt::Write as _;

use super::{Malformed, Piece, Reference, pieces};
use crate::value::Value;

/// Visits every text of a value, keys left out.
pub(crate) fn texts<'a>(value: &'a Value, visit: &mut impl FnMut(&'a str)) {
    match value {
        Value::String(text) => visit(text),
        Value::List(items) => items.iter().for_each(|item| texts(item, visit)),
        Value::Map(map) => map.values().for_each(|item| texts(item, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Visits every text of a value, keys left out, with its path behind `path`, which is as before in the end.
pub(crate) fn each_text(
    value: &mut Value,
    path: &mut String,
    visit: &mut impl FnMut(&mut Value, &str),
) {
    let length = path.len();
    match value {
        Value::String(_) => visit(value, path),
        Value::List(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                write!(path, "[{at}]").expect("writing to a String does not fail");
                each_text(item, path, visit);
                path.truncate(length);
            }
        }
        Value::Map(map) => {
            for (key, item) in map {
                path.push('.');
                path.push_str(key);
                each_text(item, path, visit);
                path.truncate(length);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What a text becomes when `resolve` says what its references stand for; `None` when nothing changes.
///
/// A text that is one reference becomes the value, whatever its type. Elsewhere a value has to become text: numbers,
/// booleans and null as in JSON, lists and maps as JSON, which is YAML on one line. What comes in is not searched again.
///
/// # Errors
/// When a reference is malformed, or what `resolve` says.
pub(crate) fn replace<E: From<Malformed>>(
    text: &str,
    mut resolve: impl FnMut(&Reference<'_>) -> Result<Option<Value>, E>,
) -> Result<Option<Value>, E> {
    let pieces = pieces(text)?;
    if let [Piece::Reference(reference)] = pieces.as_slice() {
        return resolve(reference);
    }
    let mut changed = false;
    let mut whole = String::new();
    for piece in pieces {
        let reference = match piece {
            Piece::Text(text) => {
                whole.push_str(text);
                continue;
            }
            Piece::Reference(reference) => reference,
        };
        let value = resolve(&reference)?;
        changed |= value.is_some();
        match value {
            None => whole.push_str(reference.text),
            Some(Value::String(text)) => whole.push_str(&text),
            Some(other) => whole.push_str(&other.to_json()),
        }
    }
    Ok(changed.then_some(Value::String(whole)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str) -> Option<String> {
        let resolve = |reference: &Reference<'_>| {
            let json = match reference.name {
                "text" => "\"$(ref.text.again)\"",
                "number" => "1.5",
                "nothing" => "null",
                "list" => "[1, {\"a\": \"b\"}]",
                _ => return Ok::<_, Malformed>(None),
            };
            Ok(Some(Value::from_json(json).unwrap()))
        };
        replace(text, resolve).unwrap().map(|value| value.to_json())
    }

    #[test]
    fn a_reference_alone_keeps_its_type_and_among_text_becomes_text() {
        for (text, want) in [
            ("plain", None),
            ("$(ref.other.x)", None),
            ("a $(ref.other.x)", None),
            ("$(ref.number.x)", Some("1.5")),
            ("$(ref.list)", Some("[1,{\"a\":\"b\"}]")),
            ("$(ref.nothing.x)", Some("null")),
            ("$(ref.text.x)", Some("\"$(ref.text.again)\"")),
            (
                "a $(ref.number.x)$(ref.nothing.x)$(ref.other.x) b",
                Some("\"a 1.5null$(ref.other.x) b\""),
            ),
            ("=$(ref.list.x)", Some(r#""=[1,{\"a\":\"b\"}]""#)),
            ("$(ref.text.x)$(ref.text.y)", Some("\"$(ref.text.again)$(ref.text.again)\"")),
        ] {
            assert_eq!(replaced(text).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn every_text_is_visited_with_its_path() {
        let json = r#"{"a": ["x", {"b": "y"}, 5], "$(ref.k.v)": {"c": null, "d": "z"}}"#;
        let mut value = Value::from_json(json).unwrap();
        let mut path = "properties".to_owned();
        let mut seen = Vec::new();
        each_text(&mut value, &mut path, &mut |text, path| {
            seen.push(format!("{path}={}", text.as_str().unwrap_or_default()));
        });
        let want = ["properties.a[0]=x", "properties.a[1].b=y", "properties.$(ref.k.v).d=z"];
        assert_eq!(seen, want);
        assert_eq!(path, "properties");
    }
}
