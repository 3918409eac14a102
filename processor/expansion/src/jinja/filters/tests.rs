//! Jinja2's tests: what may stand behind `is`.

use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};

use crate::jinja::percent;

/// Macros and functions.
pub(super) fn callable(value: &Value) -> bool {
    let Some(object) = value.as_object() else { return false };
    value.kind() == ValueKind::Plain || object.to_string().starts_with("<macro ")
}

/// Whatever has a length and items, text and maps among it.
pub(super) fn sequence(value: &Value) -> bool {
    value.is_undefined()
        || matches!(value.kind(), ValueKind::Seq | ValueKind::Map | ValueKind::String)
        || (value.kind() == ValueKind::Iterable && value.len().is_some())
}

/// Division by zero is an error of the template.
pub(super) fn divisibleby(value: &Value, by: &Value) -> Result<bool, Error> {
    if !value.is_number() || !by.is_number() {
        let what = format!("unsupported operand types: {} and {}", value.kind(), by.kind());
        return Err(Error::new(ErrorKind::InvalidOperation, what));
    }
    Ok(percent::percent(value, by)? == Value::from(0))
}
