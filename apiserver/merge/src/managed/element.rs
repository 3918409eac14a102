//! One step of a path into an object.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::sync::Arc;

use schema::json::{Scanner, ValueKind, write_string};

use super::value::{Numbers, Value};

/// One step of a path. The order is that of `FieldsV1`: fields, then list items by key, by value,
/// by index. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathElement {
    /// A field of a struct or a key of a map: `f:name`.
    Field(Arc<str>),
    /// An item of a list of structs, by its key fields in the order of their names:
    /// `k:{"name":"a"}`.
    Key(Arc<[(String, Value)]>),
    /// An item of a set: `v:"a"`.
    Value(Arc<Value>),
    /// An item of an atomic list, in error paths and foreign data: `i:0`.
    Index(i64),
}

impl PathElement {
    /// A field name or map key.
    pub fn field(name: &str) -> Self {
        Self::Field(name.into())
    }

    /// The item of a list of structs with these key fields.
    pub fn key(mut pairs: Vec<(String, Value)>) -> Self {
        pairs.sort_by(|(left, _), (right, _)| left.cmp(right));
        Self::Key(pairs.into())
    }

    /// The item of a set.
    pub fn value(value: Value) -> Self {
        Self::Value(Arc::new(value))
    }

    /// Appends the text that stands for the element in `FieldsV1`, before it is quoted as an object
    /// key.
    pub fn write(&self, out: &mut String) {
        match self {
            Self::Field(name) => {
                out.push_str("f:");
                out.push_str(name);
            }
            Self::Key(pairs) => {
                out.push_str("k:{");
                for (index, (name, value)) in pairs.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_string(out, name);
                    out.push(':');
                    value.write_json(out);
                }
                out.push('}');
            }
            Self::Value(value) => {
                out.push_str("v:");
                value.write_json(out);
            }
            // Writing to a String cannot fail.
            Self::Index(index) => {
                let _ = write!(out, "i:{index}");
            }
        }
    }

    /// Reads an element of `FieldsV1`; `Ok(None)` for a kind that this version does not know and
    /// therefore skips.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Option<Self>, String> {
        if text.len() < 2 {
            return Err(format!("key must be 2 characters long: {text}"));
        }
        if text.as_bytes()[1] != b':' {
            return Err(format!("missing colon: {text}"));
        }
        let rest = &text[2..];
        let element = match text.as_bytes()[0] {
            b'f' => Self::field(rest),
            b'i' => Self::Index(rest.parse().map_err(|_| format!("not an index: {text}"))?),
            b'v' => Self::value(
                Value::read(rest, Numbers::Floats).ok_or_else(|| format!("not a value: {text}"))?,
            ),
            b'k' => parse_key(rest).ok_or_else(|| format!("not an object: {text}"))?,
            _ => return Ok(None),
        };
        Ok(Some(element))
    }
}

fn parse_key(text: &str) -> Option<PathElement> {
    let mut scanner = Scanner::new(text, 128);
    if scanner.peek().ok()? != ValueKind::Object {
        return None;
    }
    scanner.open_object().ok()?;
    let mut pairs: Vec<(String, Value)> = Vec::new();
    while let Some(name) = scanner.member(pairs.is_empty()).ok()? {
        let value = Value::read(scanner.skip().ok()?, Numbers::Floats)?;
        pairs.push((Cow::into_owned(name), value));
    }
    Some(PathElement::key(pairs))
}

/// As paths show it in messages: `.name`, `[key="a"]`, `[="a"]`, `[0]`.
impl fmt::Display for PathElement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(out, ".{name}"),
            Self::Key(pairs) => {
                out.write_char('[')?;
                for (index, (name, value)) in pairs.iter().enumerate() {
                    if index > 0 {
                        out.write_char(',')?;
                    }
                    write!(out, "{name}={value}")?;
                }
                out.write_char(']')
            }
            Self::Value(value) => write!(out, "[={value}]"),
            Self::Index(index) => write!(out, "[{index}]"),
        }
    }
}
