//! How much of a budget a value takes.
//!
//! A value takes some eighty bytes of memory but may be written with one: sixteen megabytes of `[[],[],…]` would take half
//! a gigabyte. So what counts is the JSON text, or 24 bytes for each value in it if that is more, which is about what they
//! have in text as people write it.

use std::io;

use super::Value;

/// Bytes that a value counts at least.
const LEAST: usize = 24;

/// What the value of a JSON text without white space will take, before it is made.
pub(crate) fn of_json(json: &[u8]) -> usize {
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
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value).expect("counting takes everything");
    count.0.max(values(value) * LEAST)
}

/// The value and all in it. Nesting is bounded where values are made.
fn values(value: &Value) -> usize {
    1 + match value {
        Value::List(list) => list.iter().map(values).sum(),
        Value::Map(map) => map.values().map(values).sum(),
        _ => 0,
    }
}

struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
    fn long_texts_count_their_length() {
        check(&format!(r#"{{"a":"{}"}}"#, "é".repeat(50)), 108);
    }
}
