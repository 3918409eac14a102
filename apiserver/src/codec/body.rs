//! A request's body as an object: media type, text, kind, fields.

use std::borrow::Cow;

use http::HeaderMap;
use schema::{DecodeError, Limits, Stray};

use super::Warnings;
use super::negotiate::{self, Media};
use crate::limits::{Body, heavy};
use crate::object::{Fields, Object};
use crate::resource::{Definition, FieldValidation, Kinds};
use crate::status::Error;

/// The JSON text of a body, and what its YAML said twice.
#[derive(Debug)]
pub(crate) struct Text {
    /// JSON.
    pub(crate) json: String,
    /// Strict errors of the YAML reader, as sentences.
    pub(crate) strays: Vec<String>,
}

/// An object as a request brings it.
#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    /// The object as it was sent, in the schema's normal form.
    pub(crate) object: Object,
    /// Its fields as the store gives them back, where that differs.
    pub(crate) stored: Option<Fields>,
}

impl Incoming {
    /// The object as it is stored.
    #[must_use]
    pub(crate) fn into_stored(self) -> Object {
        let Self { mut object, stored } = self;
        if let Some(fields) = stored {
            object.fields = fields;
        }
        object
    }
}

/// Reads the whole body as JSON text.
///
/// # Errors
/// 413, 415, and 400 for what is no UTF-8 or no YAML.
pub(crate) async fn read(kind: &str, headers: &HeaderMap, body: Body) -> Result<Text, Error> {
    let media = negotiate::body_media(headers)?;
    let bytes = body.read().await?;
    let text = String::from_utf8(bytes.into()).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        unrecognized(kind, &format!("invalid UTF-8 at byte {at}"), error.as_bytes())
    })?;
    match media {
        Media::Json => Ok(Text { json: text, strays: Vec::new() }),
        Media::Yaml => {
            let (text, converted) = heavy(text.len(), move || {
                let converted = yaml::to_json(&text);
                (text, converted)
            })
            .await?;
            let converted = converted
                .map_err(|error| unrecognized(kind, &error.to_string(), text.as_bytes()))?;
            Ok(Text { json: converted.json, strays: converted.duplicates })
        }
    }
}

/// Decodes an object of a kind by its schema.
///
/// # Errors
/// 400 for what is no JSON, another kind, a field of a wrong type, and, when strict, for unknown and
/// repeated fields.
pub(crate) fn decode(
    definition: &Definition,
    kinds: &Kinds,
    text: &Text,
    validation: FieldValidation,
    warnings: &mut Warnings,
) -> Result<Incoming, Error> {
    let decoded = schema::decode(&definition.schema, &text.json, Limits::default())
        .map_err(|error| undecodable(definition, &error, text))?;
    let given = Given {
        api_version: match &decoded.api_version {
            Some(given) => Cow::Borrowed(given),
            None => Cow::Owned(definition.api_version()),
        },
        kind: decoded.kind.as_deref().unwrap_or(definition.kind),
    };
    given.check(definition, kinds)?;
    let refused = stray_sentences(&text.strays, &decoded.strays, validation, warnings);
    if !refused.is_empty() {
        return Err(
            given.unhandled(definition, &format!("strict decoding error: {}", refused.join(", ")))
        );
    }
    let meta = serde_json::from_str(&decoded.metadata)
        .map_err(|error| given.unhandled(definition, &error.to_string()))?;
    let stored = match decoded.stored_fields() {
        Cow::Borrowed(_) => None,
        Cow::Owned(fields) => Some(Fields::new(fields)),
    };
    let fields = Fields::decoded(decoded.fields, decoded.members);
    Ok(Incoming { object: Object { meta, fields }, stored })
}

/// Tells the strays as warnings, or returns the sentences that a strict client is refused with.
pub(crate) fn stray_sentences(
    yaml: &[String],
    json: &[Stray],
    validation: FieldValidation,
    warnings: &mut Warnings,
) -> Vec<String> {
    let mut refused = Vec::new();
    match validation {
        FieldValidation::Strict => {
            refused.extend_from_slice(yaml);
            refused.extend(json.iter().map(|stray| match stray {
                Stray::Coerced { error, .. } => error.clone(),
                other => other.to_string(),
            }));
        }
        FieldValidation::Warn => {
            warnings.extend(yaml.iter().map(String::as_str));
            warnings.extend(json.iter().map(ToString::to_string));
        }
        // That a value was read as something else is told in any case: it is no unknown field.
        FieldValidation::Ignore => {
            let coerced = json.iter().filter(|stray| matches!(stray, Stray::Coerced { .. }));
            warnings.extend(coerced.map(ToString::to_string));
        }
    }
    refused
}

/// What a body says that it is.
struct Given<'a> {
    api_version: Cow<'a, str>,
    kind: &'a str,
}

impl Given<'_> {
    /// Accepts the endpoint's own kind and its aliases.
    fn check(&self, definition: &Definition, kinds: &Kinds) -> Result<(), Error> {
        let (api_version, kind) = (&*self.api_version, self.kind);
        let alias = definition.aliases.contains(&(api_version, kind));
        if alias || (kind == definition.kind && definition.is_api_version(api_version)) {
            return Ok(());
        }
        if api_version.matches('/').count() > 1 {
            let why = format!("unexpected GroupVersion string: {api_version}");
            return Err(self.unhandled(definition, &why));
        }
        if kinds.contains(api_version, kind) {
            let version = api_version.rsplit('/').next().unwrap_or_default();
            let package = definition.group.split('.').next().unwrap_or_default();
            let own = definition.kind;
            let why =
                format!("converting ({version}.{kind}) to ({package}.{own}): unknown conversion");
            return Err(self.unhandled(definition, &why));
        }
        let why = format!(
            "no kind {kind:?} is registered for version {api_version:?} in scheme \"pkg/runtime/scheme.go:110\""
        );
        Err(self.unhandled(definition, &why))
    }

    fn unhandled(&self, definition: &Definition, why: &str) -> Error {
        let version = self.api_version.rsplit('/').next().unwrap_or_default();
        Error::bad_request(format!(
            "{} in version {version:?} cannot be handled as a {}: {why}",
            self.kind, definition.kind
        ))
    }
}

fn undecodable(definition: &Definition, error: &DecodeError, text: &Text) -> Error {
    if error.is_unrecognized() {
        let why = format!("couldn't get version/kind; json parse error: {error}");
        return unrecognized(definition.kind, &why, text.json.as_bytes());
    }
    let api_version = Cow::Owned(definition.api_version());
    Given { api_version, kind: definition.kind }.unhandled(definition, &error.to_string())
}

fn unrecognized(kind: &str, why: &str, body: &[u8]) -> Error {
    let summary = summarize(body);
    Error::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): {why} ({summary})"
    ))
}

/// The beginning of a body for a message: as text when it looks like JSON, else in hexadecimal.
fn summarize(body: &[u8]) -> String {
    const SHOWN: usize = 30;
    let beginning = &body[..body.len().min(SHOWN)];
    let shown = match body.first() {
        None => return "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(beginning).into_owned(),
        Some(_) => beginning.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    if body.len() > SHOWN { format!("{shown} ...") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_summarized_as_text_only_when_it_looks_like_json() {
        assert_eq!(summarize(b""), "<empty>");
        assert_eq!(summarize(b"{\"a\":"), "{\"a\":");
        assert_eq!(summarize(b"ab"), "6162");
        assert_eq!(summarize(&[b'{'; 40]), format!("{} ...", "{".repeat(30)));
    }
}
