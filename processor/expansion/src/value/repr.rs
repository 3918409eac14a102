//! Values as Python prints them.

use std::fmt::Write as _;

use serde_json::Number;

use super::Value;

pub(super) fn repr(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value);
    out
}

fn write(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_string(out, text),
        Value::List(list) => {
            out.push('[');
            for (at, item) in list.iter().enumerate() {
                separate(out, at);
                write(out, item);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (at, (key, item)) in map.iter().enumerate() {
                separate(out, at);
                write_string(out, key);
                out.push_str(": ");
                write(out, item);
            }
            out.push('}');
        }
    }
}

fn separate(out: &mut String, at: usize) {
    if at > 0 {
        out.push_str(", ");
    }
}

/// Python writes an exponent, of two digits at least, below 1e-4 and from 1e16 on.
fn write_number(out: &mut String, number: &Number) {
    let float = match number.as_f64() {
        Some(float) if number.is_f64() => float,
        _ => return write!(out, "{number}").expect("a string takes everything"),
    };
    let size = float.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let text = format!("{float:e}");
        let (digits, exponent) = text.split_once('e').expect("the format has an exponent");
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |e| ('-', e));
        let _ = write!(out, "{digits}e{sign}{exponent:0>2}");
    } else {
        let _ = write!(out, "{float:?}");
    }
}

/// Single quotes, unless the text has those and no double ones.
fn write_string(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            quoted if quoted == quote => out.extend(['\\', quoted]),
            control if u32::from(control) < 0x20 || u32::from(control) == 0x7f => {
                let _ = write!(out, "\\x{:02x}", u32::from(control));
            }
            plain => out.push(plain),
        }
    }
    out.push(quote);
}
