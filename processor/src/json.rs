//! JSON text: proven once at the door, then passed around as spans.
//!
//! [`Json`] is text that the [`scan`] module has read from end to end. Everything behind it may
//! rely on well-formed strings and brackets and on bounded nesting; nothing is read twice to be
//! checked twice. There is no tree here: objects stay text from the body to the answer.

pub(crate) mod number;
mod outline;
pub(crate) mod scan;
pub(crate) mod search;
pub(crate) mod string;

use std::fmt;

pub(crate) use outline::{Outline, Outlines, Surveyor};
pub(crate) use scan::{Defect, Scanner, Syntax};
pub(crate) use string::{Marks, Quoted};

/// How deep maps and lists may nest inside one value.
///
/// Every walk over JSON in this crate recurses, one or two small frames a level; this bound keeps
/// the deepest of them far below a 2 MiB stack, also in debug builds.
pub const MAX_DEPTH: usize = 512;

/// Valid JSON text, nested at most [`MAX_DEPTH`] levels.
///
/// A borrowed newtype and not a `struct Json(str)`: making a reference to an unsized newtype
/// needs `unsafe`, which this workspace forbids.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Json<'t>(&'t str);

impl<'t> Json<'t> {
    /// Reads `text` as exactly one JSON value.
    ///
    /// # Errors
    /// When the text is not JSON, has something after the value, or nests too deep.
    pub fn parse(text: &'t str) -> Result<Self, crate::ParseError> {
        let mut scanner = Scanner::new(text);
        let value = scanner.value().and_then(|value| scanner.end().map(|()| value));
        value.map_err(|syntax| crate::ParseError::syntax(text, syntax))
    }

    /// Marks text as proven. Only the scanner and the writers of this crate may say so.
    pub(crate) fn proven(text: &'t str) -> Self {
        Json(text)
    }

    /// The text, without surrounding white space.
    pub fn as_str(&self) -> &'t str {
        self.0
    }

    /// What JSON calls a value of this kind, as Go's decoder names it in its messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.0.as_bytes().first() {
            Some(b'{') => "object",
            Some(b'[') => "array",
            Some(b'"') => "string",
            Some(b't' | b'f') => "bool",
            Some(b'n') => "null",
            _ => "number",
        }
    }
}

impl fmt::Debug for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}
