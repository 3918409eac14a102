//! Filters on lists and maps.

use std::borrow::Cow;

use minijinja::value::{Kwargs, Rest, Value, ValueKind, from_args};
use minijinja::{Error, State, filters};

use super::{defined, failed, given};
use crate::jinja::bounds::bounded;
use crate::jinja::print;

/// Nothing has no length; an undefined value has none to speak of.
pub(super) fn length(value: &Value) -> Result<usize, Error> {
    if value.is_undefined() {
        return Ok(0);
    }
    value.len().ok_or_else(|| failed(format!("object of type '{}' has no len()", value.kind())))
}

/// Of something undefined the first is undefined too.
pub(super) fn first(value: &Value) -> Result<Value, Error> {
    Ok(value.try_iter()?.next().unwrap_or_default())
}

/// The same from the end.
pub(super) fn last(value: &Value) -> Result<Value, Error> {
    if value.is_undefined() { Ok(Value::UNDEFINED) } else { filters::last(value.clone()) }
}

/// With Python's text of each item.
pub(super) fn join(
    value: &Value,
    between: Option<Cow<'_, str>>,
    attribute: Option<Value>,
    named: Kwargs,
) -> Result<String, Error> {
    let between = given(between, &named, "d")?.unwrap_or_default();
    let attribute = given(attribute, &named, "attribute")?;
    named.assert_all_used()?;
    let mut joined = String::new();
    for (at, item) in value.try_iter()?.checked().enumerate() {
        if at > 0 {
            joined.push_str(&between);
        }
        bounded(joined.len() + between.len())?;
        joined.push_str(&print::text(&attribute_of(item?, attribute.as_ref())?));
    }
    Ok(joined)
}

/// `a.b.0`, one step after the other.
fn attribute_of(item: Value, path: Option<&Value>) -> Result<Value, Error> {
    let Some(path) = path else { return Ok(item) };
    let Some(text) = path.as_str() else { return item.get_item(path) };
    text.split('.').try_fold(item, |item, step| match step.parse::<usize>() {
        Ok(at) => item.get_item_by_index(at),
        Err(_) => item.get_attr(step),
    })
}

/// Arguments may be given by their places: whether to heed case, then by key or value.
pub(super) fn dictsort(
    map: &Value,
    case_sensitive: Option<bool>,
    by: Option<Cow<'_, str>>,
    named: Kwargs,
) -> Result<Value, Error> {
    defined(map)?;
    let case_sensitive = given(case_sensitive, &named, "case_sensitive")?.unwrap_or(false);
    let by = given(by, &named, "by")?.unwrap_or(Cow::Borrowed("key"));
    let reverse: Option<bool> = named.get("reverse")?;
    named.assert_all_used()?;
    if !matches!(&*by, "key" | "value") {
        return Err(failed("You can only sort by either \"key\" or \"value\""));
    }
    let arguments = [
        ("case_sensitive", Value::from(case_sensitive)),
        ("by", Value::from(by)),
        ("reverse", Value::from(reverse.unwrap_or(false))),
    ];
    filters::dictsort(map, arguments.into_iter().collect())
}

/// Arguments may be given by their places: whether to reverse, to heed case, and by which attribute.
pub(super) fn sort(
    state: &State,
    value: Value,
    places: Rest<Value>,
    named: Kwargs,
) -> Result<Value, Error> {
    let (reverse, case_sensitive, attribute) = from_args(&places)?;
    let reverse: bool = given(reverse, &named, "reverse")?.unwrap_or(false);
    let case_sensitive: bool = given(case_sensitive, &named, "case_sensitive")?.unwrap_or(false);
    let attribute: Option<Value> = given(attribute, &named, "attribute")?;
    named.assert_all_used()?;
    let mut arguments =
        vec![("reverse", Value::from(reverse)), ("case_sensitive", Value::from(case_sensitive))];
    arguments.extend(
        attribute.filter(|value| !value.is_none()).map(|attribute| ("attribute", attribute)),
    );
    if value.kind() == ValueKind::None {
        return Err(failed("'NoneType' object is not iterable"));
    }
    filters::sort(state, value, arguments.into_iter().collect())
}

/// How many lists or how long ones may be asked for, which is as far as `range` goes.
const MOST: usize = 100_000;

/// Rows of so many items, the last one filled up.
pub(super) fn batch(
    state: &State,
    value: Value,
    count: usize,
    fill_with: Option<Value>,
) -> Result<Value, Error> {
    filters::batch(state, value, few(count)?, fill_with)
}

/// So many columns.
pub(super) fn slice(
    state: &State,
    value: Value,
    count: usize,
    fill_with: Option<Value>,
) -> Result<Value, Error> {
    filters::slice(state, value, few(count)?, fill_with)
}

fn few(count: usize) -> Result<usize, Error> {
    if count > MOST {
        return Err(failed(format!("{count} is too many")));
    }
    Ok(count)
}
