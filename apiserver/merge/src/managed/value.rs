//! Scalar values, and in foreign data any JSON, as they occur in path elements: items of sets and
//! keys of list items.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

use schema::go_quote;

/// A JSON value that tells integers from floats. Equality and order are those of the field manager:
/// `1` equals `1.0`.
#[derive(Debug, Clone)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number written as an integer that fits 64 bits.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    String(String),
    /// A list; only in foreign data.
    List(Vec<Value>),
    /// A map; only in foreign data.
    Map(BTreeMap<String, Value>),
}

/// How the numbers of a text are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// As in objects.
    Exact,
    /// As in `FieldsV1`: always floats.
    Floats,
}

impl Value {
    /// Reads the JSON value at the beginning of a text. What follows it is ignored, as the
    /// reference does.
    pub(crate) fn read(text: &str, numbers: Numbers) -> Option<Self> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter();
        values.next()?.ok().map(|value| Self::from_json(value, numbers))
    }

    fn from_json(value: serde_json::Value, numbers: Numbers) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(value),
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(int) if numbers == Numbers::Exact => Self::Int(int),
                // Every finite JSON number is a float.
                _ => Self::Float(number.as_f64().unwrap_or_default()),
            },
            serde_json::Value::String(text) => Self::String(text),
            serde_json::Value::Array(items) => {
                Self::List(items.into_iter().map(|item| Self::from_json(item, numbers)).collect())
            }
            serde_json::Value::Object(members) => Self::Map(
                members
                    .into_iter()
                    .map(|(key, value)| (key, Self::from_json(value, numbers)))
                    .collect(),
            ),
        }
    }

    /// Appends the value as `FieldsV1` writes it: strings safe for HTML, floats as Go prints them.
    pub(crate) fn write_json(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            // Writing to a String cannot fail, here and below.
            Self::Int(value) => {
                let _ = write!(out, "{value}");
            }
            Self::Float(value) => write_float(*value, out),
            Self::String(text) => write_html_safe(text, out),
            Self::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write_json(out);
                }
                out.push(']');
            }
            Self::Map(members) => {
                out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_html_safe(key, out);
                    out.push(':');
                    value.write_json(out);
                }
                out.push('}');
            }
        }
    }

    fn class(&self) -> u8 {
        match self {
            Self::Int(_) | Self::Float(_) => 0,
            Self::String(_) => 1,
            Self::Bool(_) => 2,
            Self::List(_) => 3,
            Self::Map(_) => 4,
            Self::Null => 5,
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "an integer is compared with a float as a float"
    )]
    fn as_float(&self) -> f64 {
        match self {
            Self::Int(value) => *value as f64,
            Self::Float(value) => *value,
            _ => 0.0,
        }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => left.cmp(right),
            (Self::Int(_) | Self::Float(_), Self::Int(_) | Self::Float(_)) => {
                // No JSON number is NaN.
                self.as_float().partial_cmp(&other.as_float()).unwrap_or(Ordering::Equal)
            }
            (Self::String(left), Self::String(right)) => left.cmp(right),
            (Self::Bool(left), Self::Bool(right)) => left.cmp(right),
            (Self::List(left), Self::List(right)) => left.cmp(right),
            (Self::Map(left), Self::Map(right)) => compare_maps(left, right),
            _ => self.class().cmp(&other.class()),
        }
    }
}

/// Walks the union of the keys. The map that runs out first is smaller, then the one that has a key
/// which the other lacks.
fn compare_maps(left: &BTreeMap<String, Value>, right: &BTreeMap<String, Value>) -> Ordering {
    let keys: std::collections::BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    for (index, key) in keys.into_iter().enumerate() {
        if index == left.len() {
            return Ordering::Less;
        }
        if index == right.len() {
            return Ordering::Greater;
        }
        let ordering = match (left.get(key), right.get(key)) {
            (None, _) => Ordering::Greater,
            (_, None) => Ordering::Less,
            (Some(left), Some(right)) => left.cmp(right),
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
    Ordering::Equal
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Value {}

/// As paths show it in messages.
impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => out.write_str("null"),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Int(value) => write!(out, "{value}"),
            Self::Float(value) => out.write_str(&short_float(*value)),
            Self::String(text) => out.write_str(&go_quote(text)),
            Self::List(items) => {
                out.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.write_char(',')?;
                    }
                    write!(out, "{item}")?;
                }
                out.write_char(']')
            }
            Self::Map(members) => {
                members.iter().try_for_each(|(key, value)| write!(out, "{key}={value}"))
            }
        }
    }
}

/// Go's `f` form, or its `e` form for very large and very small numbers.
fn write_float(value: f64, out: &mut String) {
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        out.push_str(&exponent_form(value));
    } else {
        let _ = write!(out, "{value}");
    }
}

/// Go's `g` form with the shortest digits: an exponent below -4 and from 6 on.
fn short_float(value: f64) -> String {
    let scientific = format!("{value:e}");
    let exponent: i32 = scientific
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or_default();
    if (-4..6).contains(&exponent) { format!("{value}") } else { exponent_form(value) }
}

/// `1e-07`: Go writes at least two digits of the exponent and always its sign.
fn exponent_form(value: f64) -> String {
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let (sign, exponent) =
        exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{digits}e{sign}{exponent:0>2}")
}

fn write_html_safe(text: &str, out: &mut String) {
    let start = out.len();
    schema::json::write_string(out, text);
    if out[start..].contains(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        let escaped = out.split_off(start);
        for character in escaped.chars() {
            match character {
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    let _ = write!(out, "\\u{:04x}", u32::from(character));
                }
                other => out.push(other),
            }
        }
    }
}
