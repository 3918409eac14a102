//! Values as Jinja2 prints them, which is as Python's `str` does: the text is read again as YAML.

use minijinja::value::Value;
use minijinja::{Error, Output, State};

/// What `{{ … }}` writes.
pub(super) fn print(out: &mut Output, _: &mut State, value: &Value) -> Result<(), Error> {
    Ok(write!(out, "{value}")?)
}
