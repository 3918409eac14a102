//! Filters that write data.

use std::io::{self, Write};

use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Error, ErrorKind, filters};
use serde::Serialize as _;
use serde_json::ser::{Formatter, Serializer};

use super::failed;
use crate::jinja::print;

/// JSON with sorted keys, in which `<`, `>`, `&` and `'` are escaped, as later versions of Jinja2 have it.
pub(super) fn tojson(value: &Value, indent: Option<Value>, named: Kwargs) -> Result<Value, Error> {
    shallow(value, DEEPEST)?;
    let text = filters::tojson(&sorted(value)?, indent, named)?;
    Ok(Value::from(text.as_str().unwrap_or_default()))
}

/// YAML in one line, which may stand wherever a value may: every line of JSON is one.
pub(super) fn yaml(value: &Value) -> Result<String, Error> {
    shallow(value, DEEPEST)?;
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut text, Spaced)).map_err(|error| {
        Error::new(ErrorKind::BadSerialization, format!("not to be written as YAML: {error}"))
    })?;
    Ok(String::from_utf8(text).expect("JSON is text"))
}

/// With a space behind colons and commas, without which older readers of YAML stumble.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}

/// Python's text of the value with sorted keys. It is not broken into lines, however long it is.
pub(super) fn pprint(value: &Value) -> Result<String, Error> {
    shallow(value, DEEPEST)?;
    Ok(print::repr(&sorted(value)?))
}

/// How deep lists and maps may stand in each other to be written; writing goes one call deeper for each.
const DEEPEST: usize = 128;

fn shallow(value: &Value, left: usize) -> Result<(), Error> {
    let inner: Vec<Value> = match value.kind() {
        ValueKind::Map => {
            let pairs = value.as_object().and_then(|map| map.try_iter_pairs());
            pairs.into_iter().flatten().map(|(_, value)| value).collect()
        }
        ValueKind::Seq | ValueKind::Iterable => value.try_iter()?.collect(),
        _ => return Ok(()),
    };
    let Some(left) = left.checked_sub(1) else {
        return Err(failed(format!("lists and maps stand more than {DEEPEST} deep")));
    };
    inner.iter().try_for_each(|value| shallow(value, left))
}

/// The same with keys in order, at all depths.
fn sorted(value: &Value) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::Map => {
            let pairs = value.as_object().and_then(|map| map.try_iter_pairs());
            let mut pairs: Vec<(Value, Value)> = pairs.into_iter().flatten().collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            let pairs = pairs.into_iter().map(|(key, value)| Ok((key, sorted(&value)?)));
            Ok(Value::from_pairs(pairs.collect::<Result<Vec<_>, Error>>()?))
        }
        ValueKind::Seq if !value.is_tuple() => value
            .try_iter()?
            .map(|item| sorted(&item))
            .collect::<Result<Vec<_>, _>>()
            .map(Value::from),
        _ => Ok(value.clone()),
    }
}
