//! YAML to JSON text, or to a caller's values.
//!
//! In JSON text, members come out sorted by key, as from Go's map. A key that stands twice takes the last value and is
//! reported with its line; whether that is a warning or an error is the caller's business.

mod json;
mod node;
mod tag;
mod target;
mod tree;

use granit_parser::Span;
use schema::json::{Scanner, ValueKind};

use self::json::Json;
use self::node::Reader;
pub use self::tag::Scalar;
pub use self::tree::Tree;
use self::tree::Values;
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
        Self { line: Some(span.start.line()), message: shown(message) }
    }

    /// The line where it was found, from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// What is wrong, without the line.
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// How many characters of a message are shown: it may quote the text.
const SHOWN: usize = 1000;

/// A message that moves no terminal's cursor: a tag may hold any character as `%1b`.
fn shown(message: &str) -> String {
    let mut shown = String::with_capacity(message.len().min(SHOWN));
    for (at, character) in message.chars().enumerate() {
        match character {
            _ if at == SHOWN => {
                shown.push('…');
                break;
            }
            control if control.is_control() => shown.extend(control.escape_default()),
            other => shown.push(other),
        }
    }
    shown
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

/// A document that was read by the rules of [`safe_load`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded<V> {
    /// What it says.
    pub value: V,
    /// As in [`Converted`].
    pub duplicates: Vec<String>,
    /// For each list that is a member of the map at the top: its key, and the line of each item, from 1. A list that
    /// stands there by an alias has none.
    pub lines: Vec<(String, Vec<usize>)>,
}

impl From<Loaded<String>> for Converted {
    fn from(loaded: Loaded<String>) -> Self {
        Self { json: loaded.value, duplicates: loaded.duplicates }
    }
}

/// Reads the only document of `text` as PyYAML's safe loader does; no document is null.
///
/// Two things are different: dates stay the text that is written, and so do all keys, as `yes:`, `010:` and `1.5:`. Floats
/// are no integers, 1.0 neither. JSON is read by the same rules: `1e3` is a text in it as well.
///
/// # Errors
/// When it is not YAML or more than one document, for tags other than those of YAML 1.1's scalars, lists and maps, when
/// JSON cannot express it (`.inf`, integers beyond 64 bits), or when it exceeds a limit (100 levels, some 700,000
/// values, 4 MiB of copies by anchors and aliases).
pub fn safe_load<V: Tree>(text: &str) -> Result<Loaded<V>, ReadError> {
    let mut reader = Reader::<Values<V>>::new(text);
    let document = reader.document()?;
    if let Some(line) = reader.next_document()? {
        let message = "expected a single document in the stream, but found another".to_owned();
        return Err(ReadError { line: Some(line), message });
    }
    Ok(document.unwrap_or_else(|| reader.null()))
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
    let mut reader = Reader::<Json>::new(text);
    let document = reader.document()?;
    Ok(document.unwrap_or_else(|| reader.null()).into())
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
    let mut reader = Reader::<Json>::new(text);
    let mut documents = Vec::new();
    while let Some(document) = reader.document()? {
        if document.value != "null" {
            documents.push(document.into());
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
mod loaded;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod written;
