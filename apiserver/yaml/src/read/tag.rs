//! What a scalar is: by its tag or, without one, by its form.

use std::borrow::Cow;

use base64::Engine as _;
use granit_parser::{ScalarStyle, Span, Tag};

use super::ReadError;
use crate::scalar::{Plain, resolve};

/// A scalar's value.
pub(super) enum Scalar<'a> {
    Plain(Plain),
    Text(Cow<'a, str>),
}

/// A scalar's value by its tag or, without one, by its form.
pub(super) fn scalar<'a>(
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
        (true, Plain::Text) => Ok(Scalar::Text(value)),
        (true, meaning) => Ok(Scalar::Plain(meaning)),
    }
}
