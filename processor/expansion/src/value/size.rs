//! How much of a budget a value takes.
//!
//! A value takes some eighty bytes of memory but may be written with one: sixteen megabytes of `[[],[],…]` would take half
//! a gigabyte. So what counts is the JSON text, or 24 bytes for each value in it if that is more, which is about what they
//! have in text as people write it.

use serde_json::Number;

use super::Value;

/// Bytes that a value counts at least.
const LEAST: usize = 24;

/// What the value of a JSON text without white space will take, before it is made.
pub(super) fn of_json(json: &[u8]) -> usize {
    let (mut values, mut in_text, mut escaped) = (1, false, false);
    for (at, byte) in json.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b',' => values += 1,
            b'[' | b'{' if !matches!(json.get(at + 1), Some(b']' | b'}')) => values += 1,
            _ => {}
        }
    }
    json.len().max(values * LEAST)
}

pub(super) fn of_value(value: &Value) -> usize {
    let Measured { bytes, values } = measure(value);
    bytes.max(values * LEAST)
}

/// How many bytes the JSON text of a value has.
pub(super) fn json_length(value: &Value) -> usize {
    measure(value).bytes
}

/// A value's JSON text in bytes, and how many values are in it with itself.
#[derive(Clone, Copy)]
struct Measured {
    bytes: usize,
    values: usize,
}

/// Nesting is bounded where values are made.
fn measure(value: &Value) -> Measured {
    let alone = |bytes| Measured { bytes, values: 1 };
    // What stands between brackets has a comma behind all but the last.
    let inside = |parts: usize| alone(2 + parts.saturating_sub(1));
    let add = |all: Measured, key: usize, part: &Value| {
        let part = measure(part);
        Measured { bytes: all.bytes + key + part.bytes, values: all.values + part.values }
    };
    match value {
        Value::Null => alone(4),
        Value::Bool(value) => alone(if *value { 4 } else { 5 }),
        Value::Number(number) => alone(number_length(number)),
        Value::String(text) => alone(text_length(text)),
        Value::List(list) => list.iter().fold(inside(list.len()), |all, item| add(all, 0, item)),
        Value::Map(map) => map
            .iter()
            .fold(inside(map.len()), |all, (key, value)| add(all, text_length(key) + 1, value)),
    }
}

fn number_length(number: &Number) -> usize {
    if let Some(integer) = number.as_u64() {
        return integer.checked_ilog10().map_or(1, |tens| tens as usize + 1);
    }
    number.to_string().len()
}

/// A text in quotes, as serde_json escapes it.
fn text_length(text: &str) -> usize {
    let more = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
        ..0x20 => "u0000".len(),
        _ => 0,
    };
    2 + text.len() + text.bytes().map(more).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, want: usize) {
        let value = Value::from_json(json).unwrap();
        assert_eq!((of_json(json.as_bytes()), of_value(&value)), (want, want), "{json}");
    }

    #[test]
    fn small_values_count_more_than_their_text() {
        check("1", 24);
        check("[]", 24);
        check("[[],[],{}]", 4 * 24);
        check(r#"{"a":[1,2],"b":{}}"#, 5 * 24);
        check(r#"[",",",[{","\\\",",""]"#, 5 * 24);
    }

    #[test]
    fn the_length_is_that_of_the_text() {
        for json in [
            "null",
            "false",
            r#"[0,9,10,18446744073709551615,-1,-9223372036854775808,1.0,-0.0,1e300,2.5e-7]"#,
            r#"{"\"":"\\","\n\r\t\b\f":"\u0000\u001f\u007f/é😀","":{},"l":[[],[null,true]]}"#,
        ] {
            let value = Value::from_json(json).unwrap();
            assert_eq!(json_length(&value), value.to_json().len(), "{json}");
        }
    }

    #[test]
    fn long_texts_count_their_length() {
        check(&format!(r#"{{"a":"{}"}}"#, "é".repeat(50)), 108);
    }
}
