//! What a scalar is: by its tag or, without one, by its form.

use std::borrow::Cow;

use base64::Engine as _;
use granit_parser::{ScalarStyle, Span, Tag};
use schema::json::write_string;

use super::ReadError;
use super::node::Rules;
use crate::python;
use crate::scalar::{Plain, resolve};

/// What a scalar of a text means.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar<'a> {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// An integer of 64 bits with a sign.
    Int(i64),
    /// An integer that needs all 64 bits for itself.
    Uint(u64),
    /// A float; one that is a value, and no key, is finite.
    Float(f64),
    /// A text.
    Text(Cow<'a, str>),
}

impl Scalar<'_> {
    /// Writes it as JSON; a float is finite.
    pub(super) fn write_json(&self, out: &mut String, rules: Rules) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Int(value) => out.push_str(&value.to_string()),
            Self::Uint(value) => out.push_str(&value.to_string()),
            Self::Float(value) => out.push_str(&rules.float(*value)),
            Self::Text(value) => write_string(out, value),
        }
    }

    /// The same as a text of its own.
    pub(super) fn json(&self, rules: Rules) -> String {
        let mut json = String::new();
        self.write_json(&mut json, rules);
        json
    }
}

/// A scalar's value by its tag or, without one, by its form, as Go's library has it.
pub(super) fn go_scalar<'a>(
    value: Cow<'a, str>,
    style: ScalarStyle,
    tag: Option<&Tag>,
    span: &Span,
) -> Result<Scalar<'a>, ReadError> {
    let kind = tag.and_then(|tag| tag.suffix_in_namespace("tag:yaml.org,2002:"));
    let meaning = match (kind.as_deref(), tag) {
        (Some("str"), _) => Plain::Text,
        (Some("bool" | "int" | "float" | "null" | "timestamp"), _) => resolve(&value),
        (Some("binary"), _) => {
            let bytes = base64::engine::general_purpose::STANDARD.decode(&*value);
            let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            return text
                .map(|text| Scalar::Text(text.into()))
                .map_err(|_| ReadError::at(span, "!!binary value contains invalid base64 data"));
        }
        (None, None) if style == ScalarStyle::Plain => resolve(&value),
        _ => Plain::Text,
    };
    let fits = match (kind.as_deref(), meaning) {
        (Some("bool"), meaning) => matches!(meaning, Plain::Bool(_)),
        (Some("int"), meaning) => matches!(meaning, Plain::Int(_) | Plain::Uint(_)),
        (Some("float"), meaning) => matches!(meaning, Plain::Int(_) | Plain::Float(_)),
        (Some("null"), meaning) => meaning == Plain::Null,
        _ => true,
    };
    match (fits, meaning) {
        (false, _) => {
            let kind = kind.as_deref().unwrap_or_default();
            Err(ReadError::at(span, &format!("cannot decode `{value}` as a !!{kind}")))
        }
        (true, meaning) => Ok(meant(value, meaning)),
    }
}

/// The same as PyYAML's safe loader has it: it knows its own tags and refuses all others, and `!` is none.
pub(super) fn python_scalar<'a>(
    value: Cow<'a, str>,
    style: ScalarStyle,
    tag: Option<&Tag>,
    span: &Span,
) -> Result<Scalar<'a>, ReadError> {
    let fault = |message: String| ReadError::at(span, &message);
    let Some(tag) = tag else {
        let plain = style == ScalarStyle::Plain;
        let meaning = if plain { python::resolve(&value).map_err(fault)? } else { Plain::Text };
        return Ok(meant(value, meaning));
    };
    let cannot = |kind: &str| fault(format!("cannot read {value:?} as !!{kind}"));
    let kind = tag.suffix_in_namespace(NAMESPACE);
    let meaning = match kind.as_deref() {
        Some("str" | "timestamp") => Plain::Text,
        Some("null") => Plain::Null,
        Some("bool") => match python::resolve(&value.to_ascii_lowercase()) {
            Ok(Plain::Bool(value)) => Plain::Bool(value),
            _ => return Err(cannot("bool")),
        },
        Some("int") => python::integer(&value).ok_or_else(|| cannot("int"))?.map_err(fault)?,
        Some("float") => {
            let float = match python::resolve(&value) {
                Ok(Plain::Float(float)) => Some(float),
                _ => python::decimal(&value),
            };
            Plain::Float(float.ok_or_else(|| cannot("float"))?)
        }
        Some("binary") => {
            let bytes = base64::engine::general_purpose::STANDARD.decode(value.replace('\n', ""));
            let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
            return Ok(Scalar::Text(text.ok_or_else(|| cannot("binary"))?.into()));
        }
        Some("seq" | "map") => return Err(cannot(kind.as_deref().unwrap_or_default())),
        None if is_none(tag) => python::resolve(&value).map_err(fault)?,
        _ => return Err(unknown(tag, span)),
    };
    Ok(meant(value, meaning))
}

/// Refuses a tag on a list (`seq`) or a map (`map`) that is any other than its own.
pub(super) fn python_collection(
    kind: &str,
    tag: Option<&Tag>,
    span: &Span,
) -> Result<(), ReadError> {
    let Some(tag) = tag.filter(|tag| !is_none(tag)) else { return Ok(()) };
    match tag.suffix_in_namespace(NAMESPACE).as_deref() {
        Some(own) if own == kind => Ok(()),
        Some(other @ ("seq" | "map" | "str" | "int" | "float" | "bool" | "null" | "binary")) => {
            Err(ReadError::at(span, &format!("!!{other} stands before another kind of node")))
        }
        _ => Err(unknown(tag, span)),
    }
}

const NAMESPACE: &str = "tag:yaml.org,2002:";

fn is_none(tag: &Tag) -> bool {
    tag.original() == "!"
}

fn unknown(tag: &Tag, span: &Span) -> ReadError {
    ReadError::at(span, &python::no_constructor(&format!("{}{}", tag.handle(), tag.suffix())))
}

fn meant(value: Cow<'_, str>, meaning: Plain) -> Scalar<'_> {
    match meaning {
        Plain::Null => Scalar::Null,
        Plain::Bool(value) => Scalar::Bool(value),
        Plain::Int(value) => Scalar::Int(value),
        Plain::Uint(value) => Scalar::Uint(value),
        Plain::Float(value) => Scalar::Float(value),
        Plain::Text => Scalar::Text(value),
    }
}
