//! Filters that make numbers: what is no number becomes the default, never an error.

use minijinja::value::{Kwargs, Value};
use minijinja::{Error, State, filters};

use super::{defined, given};

pub(super) fn int(
    state: &State,
    value: &Value,
    default: Option<Value>,
    base: Option<u32>,
    named: Kwargs,
) -> Result<Value, Error> {
    let default = given(default, &named, "default")?.unwrap_or_else(|| Value::from(0));
    let base = given(base, &named, "base")?;
    named.assert_all_used()?;
    defined(value)?;
    let trimmed = value.as_str().map(|text| Value::from(text.trim()));
    let value = trimmed.as_ref().unwrap_or(value);
    Ok(filters::int(state, value, None, base, none()).unwrap_or(default))
}

pub(super) fn float(
    state: &State,
    value: &Value,
    default: Option<Value>,
    named: Kwargs,
) -> Result<Value, Error> {
    let default = given(default, &named, "default")?.unwrap_or_else(|| Value::from(0.0));
    named.assert_all_used()?;
    defined(value)?;
    let trimmed = value.as_str().map(|text| Value::from(text.trim()));
    let value = trimmed.as_ref().unwrap_or(value);
    Ok(filters::float(state, value, None, none()).unwrap_or(default))
}

fn none() -> Kwargs {
    std::iter::empty::<(&str, Value)>().collect()
}
