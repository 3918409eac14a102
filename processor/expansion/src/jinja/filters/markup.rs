//! Filters that make text for HTML and URLs.

use std::borrow::Cow;

use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Error, filters};

use super::{defined, given};
use crate::jinja::print;

/// The five characters that mean something in HTML, as numbers and names that Python's markupsafe gives them.
pub(super) fn escape(text: Cow<'_, str>) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\'' => escaped.push_str("&#39;"),
            '"' => escaped.push_str("&#34;"),
            plain => escaped.push(plain),
        }
    }
    escaped
}

/// Text for a path; maps and lists of pairs as a query.
pub(super) fn urlencode(value: &Value) -> Result<String, Error> {
    let pairs: Vec<(Value, Value)> = match value.kind() {
        ValueKind::Map => {
            value.as_object().and_then(|map| map.try_iter_pairs()).into_iter().flatten().collect()
        }
        ValueKind::Seq | ValueKind::Iterable => value
            .try_iter()?
            .map(|pair| Ok((pair.get_item_by_index(0)?, pair.get_item_by_index(1)?)))
            .collect::<Result<_, Error>>()?,
        _ => return filters::urlencode(&Value::from(print::text(value))),
    };
    let mut query = Vec::with_capacity(pairs.len());
    for (key, value) in &pairs {
        query.push(format!("{}={}", of_query(key)?, of_query(value)?));
    }
    Ok(query.join("&"))
}

fn of_query(value: &Value) -> Result<String, Error> {
    let encoded = filters::urlencode(&Value::from(print::text(value)))?;
    Ok(encoded.replace('/', "%2F").replace("%20", "+"))
}

/// ` name="value"` for each member that is something.
pub(super) fn xmlattr(
    map: &Value,
    autospace: Option<bool>,
    named: Kwargs,
) -> Result<String, Error> {
    defined(map)?;
    let space = given(autospace, &named, "autospace")?.unwrap_or(true);
    named.assert_all_used()?;
    let pairs = map.as_object().and_then(|map| map.try_iter_pairs()).into_iter().flatten();
    let attributes: Vec<String> = pairs
        .filter(|(_, value)| !value.is_none() && !value.is_undefined())
        .map(|(key, value)| {
            let [key, value] = [key, value].map(|part| escape(print::text(&part).into()));
            format!("{key}=\"{value}\"")
        })
        .collect();
    let joined = attributes.join(" ");
    Ok(if space && !joined.is_empty() { format!(" {joined}") } else { joined })
}
