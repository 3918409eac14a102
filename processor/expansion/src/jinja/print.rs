//! Values as Jinja2 prints them, which is as Python's `str` does: the text is read again as YAML.
//!
//! The engine prints like Python but for floats with an exponent and undefined values within lists and maps.

use std::fmt::{self, Write};

use indexmap::IndexMap;
use minijinja::value::{DynObject, Tuple, Value, ValueKind};
use minijinja::{AutoEscape, Error, Output, State, escape_formatter};

/// What `{{ … }}` writes.
pub(super) fn print(out: &mut Output, state: &mut State, value: &Value) -> Result<(), Error> {
    if !matches!(state.auto_escape(), AutoEscape::None) {
        return escape_formatter(out, state, value);
    }
    Ok(write_str(out, value)?)
}

/// Python's `str`.
pub(super) fn text(value: &Value) -> String {
    let mut text = String::new();
    write_str(&mut text, value).expect("a string takes everything");
    text
}

/// Python's `repr`.
pub(super) fn repr(value: &Value) -> String {
    let mut text = String::new();
    write_repr(&mut text, value).expect("a string takes everything");
    text
}

fn write_str(out: &mut impl Write, value: &Value) -> fmt::Result {
    match value.kind() {
        ValueKind::String => out.write_str(value.as_str().unwrap_or_default()),
        ValueKind::Undefined => Ok(()),
        _ => write_repr(out, value),
    }
}

fn write_repr(out: &mut impl Write, value: &Value) -> fmt::Result {
    match value.kind() {
        ValueKind::Undefined => out.write_str("Undefined"),
        ValueKind::Number if !value.is_integer() => write_float(out, value),
        ValueKind::String => write!(out, "{value:?}"),
        _ => match value.as_object() {
            Some(object) => write_object(out, object),
            None => write!(out, "{value}"),
        },
    }
}

/// Maps, lists and tuples; macros and the like know themselves how they are printed.
fn write_object(out: &mut impl Write, object: &DynObject) -> fmt::Result {
    if let Some(map) = object.downcast_ref::<IndexMap<Value, Value>>() {
        out.write_char('{')?;
        for (at, (key, value)) in map.iter().enumerate() {
            out.write_str(if at > 0 { ", " } else { "" })?;
            write_repr(out, key)?;
            out.write_str(": ")?;
            write_repr(out, value)?;
        }
        out.write_char('}')
    } else if let Some(list) = object.downcast_ref::<Vec<Value>>() {
        write_items(out, "[", list, "]")
    } else if let Some(tuple) = object.downcast_ref::<Tuple>() {
        write_items(out, "(", tuple, if tuple.len() == 1 { ",)" } else { ")" })
    } else {
        write!(out, "{object}")
    }
}

fn write_items(out: &mut impl Write, open: &str, items: &[Value], close: &str) -> fmt::Result {
    out.write_str(open)?;
    for (at, item) in items.iter().enumerate() {
        out.write_str(if at > 0 { ", " } else { "" })?;
        write_repr(out, item)?;
    }
    out.write_str(close)
}

/// Python writes an exponent, of two digits at least, below 1e-4 and from 1e16 on.
fn write_float(out: &mut impl Write, value: &Value) -> fmt::Result {
    let Ok(float) = f64::try_from(value.clone()) else {
        return write!(out, "{value}");
    };
    if float.is_nan() {
        return out.write_str("nan");
    }
    let text = format!("{float:?}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) =
                exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
            write!(out, "{digits}e{sign}{exponent:0>2}")
        }
        None => out.write_str(&text),
    }
}
