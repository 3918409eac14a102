//! YAML to JSON text.
//!
//! Members come out sorted by key, as from Go's map. A key that stands twice takes the last value and is
//! reported with its line; whether that is a warning or an error is the caller's business.

mod node;
mod tag;

use granit_parser::Span;
use schema::json::{Scanner, ValueKind};

use self::node::Reader;
use crate::{DEPTH_IN, DEPTH_OUT};

/// Why a text is not YAML, or more than is good.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("yaml: {}{message}", .line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct ReadError {
    line: Option<usize>,
    message: String,
}

impl ReadError {
    /// What is wrong at the line where `span` begins.
    fn at(span: &Span, message: &str) -> Self {
        Self { line: Some(span.start.line()), message: message.to_owned() }
    }
}

/// A document that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The document as JSON.
    pub json: String,
    /// For every repeated key a sentence: `line 3: key "a" already set in map`.
    pub duplicates: Vec<String>,
}

impl Converted {
    /// JSON that is passed on as it stands. Its repeated keys are found by whoever decodes it.
    fn unchanged(json: &str) -> Self {
        Self { json: json.to_owned(), duplicates: Vec::new() }
    }
}

/// Turns the first document of `text` into JSON; no document is `null`. Nothing behind it is looked at.
///
/// JSON is YAML, and most clients send it: it is passed on as it stands.
///
/// # Errors
/// When it is not YAML, when JSON cannot express it, or when it exceeds a limit (250 levels, 4 MiB of
/// copies by anchors and aliases).
pub fn to_json(text: &str) -> Result<Converted, ReadError> {
    if let Some([json]) = objects(text, DEPTH_IN).as_deref() {
        return Ok(Converted::unchanged(json));
    }
    let document = Reader::new(text).document()?;
    Ok(document.unwrap_or_else(|| Converted::unchanged("null")))
}

/// Turns all documents of a file into JSON, but for those that are empty or `null`.
///
/// A file is either YAML or objects in JSON, one behind the other, as kubectl reads it. JSON is passed on
/// as it stands; for YAML the limits of [`to_json`] hold, the one of copies for the file as a whole.
///
/// # Errors
/// As [`to_json`], for whichever document comes first.
pub fn documents(text: &str) -> Result<Vec<Converted>, ReadError> {
    if let Some(objects) = objects(text, DEPTH_OUT) {
        return Ok(objects.into_iter().map(Converted::unchanged).collect());
    }
    let mut reader = Reader::new(text);
    let mut documents = Vec::new();
    while let Some(document) = reader.document()? {
        if document.json != "null" {
            documents.push(document);
        }
    }
    Ok(documents)
}

/// The objects of a text that is JSON and nothing else.
fn objects(text: &str, depth: usize) -> Option<Vec<&str>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut scanner = Scanner::new(text, depth);
    let mut objects = Vec::new();
    while scanner.end().is_err() {
        let is_object = scanner.peek() == Ok(ValueKind::Object);
        objects.push(is_object.then(|| scanner.skip().ok())??);
    }
    Some(objects)
}

#[cfg(test)]
mod tests;
