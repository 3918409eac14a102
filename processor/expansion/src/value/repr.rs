//! Values as Python prints them.

use std::fmt::{self, Write as _};

use serde_json::Number;

use super::Value;

pub(super) fn repr(value: &Value) -> String {
    let mut out = Text { text: String::new(), room: usize::MAX };
    write(&mut out, value).expect("there is room for everything");
    out.text
}

impl Value {
    /// As [`Value::repr`], but of a value that takes more than about `limit` bytes only the beginning and `…`. Takes no
    /// longer for a longer value.
    pub(crate) fn repr_within(&self, limit: usize) -> String {
        let mut out = Text { text: String::new(), room: limit };
        if write(&mut out, self).is_err() {
            out.text.push('…');
        }
        out.text
    }
}

/// Text that has room for so many bytes.
struct Text {
    text: String,
    room: usize,
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.room = self.room.checked_sub(text.len()).ok_or(fmt::Error)?;
        self.text.push_str(text);
        Ok(())
    }
}

fn write(out: &mut Text, value: &Value) -> fmt::Result {
    match value {
        Value::Null => out.write_str("None"),
        Value::Bool(true) => out.write_str("True"),
        Value::Bool(false) => out.write_str("False"),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_string(out, text),
        Value::List(list) => {
            out.write_char('[')?;
            for (at, item) in list.iter().enumerate() {
                separate(out, at)?;
                write(out, item)?;
            }
            out.write_char(']')
        }
        Value::Map(map) => {
            out.write_char('{')?;
            for (at, (key, item)) in map.iter().enumerate() {
                separate(out, at)?;
                write_string(out, key)?;
                out.write_str(": ")?;
                write(out, item)?;
            }
            out.write_char('}')
        }
    }
}

fn separate(out: &mut Text, at: usize) -> fmt::Result {
    if at > 0 { out.write_str(", ") } else { Ok(()) }
}

/// Python writes an exponent, of two digits at least, below 1e-4 and from 1e16 on.
fn write_number(out: &mut Text, number: &Number) -> fmt::Result {
    let float = match number.as_f64() {
        Some(float) if number.is_f64() => float,
        _ => return write!(out, "{number}"),
    };
    let size = float.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let text = format!("{float:e}");
        let (digits, exponent) = text.split_once('e').expect("the format has an exponent");
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |e| ('-', e));
        write!(out, "{digits}e{sign}{exponent:0>2}")
    } else {
        write!(out, "{float:?}")
    }
}

/// Single quotes, unless the text has those and no double ones. Whatever is not printed is escaped, as are the characters
/// that turn the direction of text.
fn write_string(out: &mut Text, text: &str) -> fmt::Result {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.write_char(quote)?;
    for character in text.chars() {
        match character {
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            quoted if quoted == quote => {
                out.write_char('\\')?;
                out.write_char(quoted)?;
            }
            control if control.is_control() => write!(out, "\\x{:02x}", u32::from(control))?,
            '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' => {
                write!(out, "\\u{:04x}", u32::from(character))?;
            }
            plain => out.write_char(plain)?,
        }
    }
    out.write_char(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_printed_is_escaped() {
        let text = Value::from("a\u{7f}\u{9b}\u{202e}\u{2028}\u{1b}é");
        assert_eq!(text.repr(), r"'a\x7f\x9b\u202e\u2028\x1bé'");
    }

    #[test]
    fn of_a_value_without_end_the_beginning_is_shown() {
        let value = Value::from_json(r#"["abc", [1, 2], "defghi"]"#).unwrap();
        assert_eq!(value.repr_within(1000), value.repr());
        assert_eq!(
            value.repr_within(15),
            "['abc', [1, 2], …".replace("], ", "]…").replace("……", "…")
        );
    }
}
