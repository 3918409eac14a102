//! Filters on text.

use std::borrow::Cow;

use minijinja::Error;
use minijinja::Value;
use minijinja::value::Kwargs;
use minijinja_contrib::filters as contrib;

use super::{defined, given};
use crate::jinja::bounds::bounded;
use crate::jinja::methods;

/// Jinja2 2.8 indents empty lines as well and drops the last line end; later versions do neither.
pub(super) fn indent(
    value: &Value,
    width: Option<usize>,
    first: Option<bool>,
    named: Kwargs,
) -> Result<String, Error> {
    let text = defined(value)?;
    let width = given(width, &named, "width")?.unwrap_or(4);
    let first = match given(first, &named, "indentfirst")? {
        Some(first) => Some(first),
        None => named.get("first")?,
    };
    // Of later versions; here empty lines are indented in any case.
    let _: Option<bool> = named.get("blank")?;
    named.assert_all_used()?;
    let lines = methods::lines(&text, false);
    bounded(text.len().saturating_add(width.saturating_mul(lines.len())))?;
    let space = " ".repeat(width);
    let mut indented = lines.join(&format!("\n{space}"));
    if first.unwrap_or(false) {
        indented.insert_str(0, &space);
    }
    Ok(indented)
}

/// Cuts at a space, which stays: 2.8 puts it before the mark at the end.
pub(super) fn truncate(
    text: Cow<'_, str>,
    length: Option<usize>,
    kill_words: Option<bool>,
    end: Option<Cow<'_, str>>,
    named: Kwargs,
) -> Result<String, Error> {
    let length = given(length, &named, "length")?.unwrap_or(255);
    let kill_words = given(kill_words, &named, "killwords")?.unwrap_or(false);
    let end = given(end, &named, "end")?.unwrap_or(Cow::Borrowed("..."));
    named.assert_all_used()?;
    let characters = text.chars().count();
    if characters <= length {
        return Ok(text.into_owned());
    }
    let mark = end.chars().count();
    // Python counts from the end when the mark is longer than what may stay.
    let kept =
        length.checked_sub(mark).unwrap_or_else(|| (characters + length).saturating_sub(mark));
    let mut result: String = text.chars().take(kept).collect();
    if !kill_words {
        result.truncate(result.rfind(' ').unwrap_or(result.len()));
        if result.chars().count() < length {
            result.push(' ');
        }
    }
    Ok(result + &end)
}

/// How often may be said.
pub(super) fn replace(
    text: Cow<'_, str>,
    old: Cow<'_, str>,
    new: Cow<'_, str>,
    count: Option<usize>,
    named: Kwargs,
) -> Result<String, Error> {
    let count = given(count, &named, "count")?;
    named.assert_all_used()?;
    methods::replace(&text, &old, &new, count)
}

pub(super) fn center(
    text: Cow<'_, str>,
    width: Option<usize>,
    named: Kwargs,
) -> Result<String, Error> {
    let width = given(width, &named, "width")?.unwrap_or(80);
    named.assert_all_used()?;
    methods::center(&text, width, ' ')
}

/// Words begin after white space and hyphens.
pub(super) fn title(text: Cow<'_, str>) -> String {
    let mut result = String::with_capacity(text.len());
    let mut begins = true;
    for character in text.chars() {
        if begins {
            result.extend(character.to_uppercase());
        } else {
            result.extend(character.to_lowercase());
        }
        begins = character == '-' || character.is_whitespace();
    }
    result
}

pub(super) fn wordcount(value: &Value) -> Result<usize, Error> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let text = defined(value)?;
    Ok(text.split(|c| !word(c)).filter(|piece| !piece.is_empty()).count())
}

pub(super) fn wordwrap(
    value: &Value,
    width: Option<usize>,
    break_long_words: Option<bool>,
    wrapstring: Option<Cow<'_, str>>,
    named: Kwargs,
) -> Result<Value, Error> {
    let text = defined(value)?;
    let width = given(width, &named, "width")?.unwrap_or(79);
    let long = given(break_long_words, &named, "break_long_words")?.unwrap_or(true);
    let mark = given(wrapstring, &named, "wrapstring")?.unwrap_or(Cow::Borrowed("\n"));
    named.assert_all_used()?;
    bounded(text.len().saturating_mul(mark.len().max(1)))?;
    let arguments = [
        ("width", Value::from(width)),
        ("break_long_words", Value::from(long)),
        ("wrapstring", Value::from(mark)),
    ];
    contrib::wordwrap(&Value::from(text), arguments.into_iter().collect())
}
