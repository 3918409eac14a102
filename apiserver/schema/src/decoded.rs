//! What decoding yields.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::quote::go_quote;

/// A body of a kind, taken apart and normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// `apiVersion` as the client wrote it; `None` if absent, null or empty.
    pub api_version: Option<String>,
    /// `kind` as the client wrote it; `None` if absent, null or empty.
    pub kind: Option<String>,
    /// `metadata` as JSON text, `{}` if there is none.
    pub metadata: String,
    /// Every other field, in the order of the schema, joined by commas and without braces:
    /// `"message":"m","objects":[]`.
    pub fields: String,
    /// Where these fields stand in the text, in its order.
    pub members: Vec<Member>,
    /// What was not as it should be, though the body is understood.
    pub strays: Vec<Stray>,
    /// Offsets in `fields` of the empty lists that storage turns into `null`.
    pub(crate) empty_lists: Vec<usize>,
}

/// Where a member stands in a text of members that are joined by commas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name, without the quotes.
    pub name: Range<usize>,
    /// Its value, as JSON text.
    pub value: Range<usize>,
}

impl Decoded {
    /// The members of `fields`: names, and values as JSON text.
    pub fn members(&self) -> impl Iterator<Item = (&str, &str)> {
        let of = |place: &Range<usize>| &self.fields[place.clone()];
        self.members.iter().map(move |member| (of(&member.name), of(&member.value)))
    }

    /// `fields` as storage gives them back: an empty list that is always written has become `null`.
    /// Field management must see `fields`, since whoever sends `[]` owns the field; everything that
    /// is stored or answered from storage must see this.
    pub fn stored_fields(&self) -> Cow<'_, str> {
        if self.empty_lists.is_empty() {
            return Cow::Borrowed(&self.fields);
        }
        let mut stored = String::with_capacity(self.fields.len() + 2 * self.empty_lists.len());
        let mut kept = 0;
        for &at in &self.empty_lists {
            stored.push_str(&self.fields[kept..at]);
            stored.push_str("null");
            kept = at + "[]".len();
        }
        stored.push_str(&self.fields[kept..]);
        Cow::Owned(stored)
    }
}

/// A value of any schema, normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Normalized {
    /// The value as JSON text.
    pub text: String,
    /// What was not as it should be, though the value is understood.
    pub strays: Vec<Stray>,
}

/// Something that `fieldValidation` decides about: ignored, a warning, or an error. `Display` gives
/// the text of the warning.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Stray {
    /// A field that the schema does not know; it was dropped.
    Unknown(String),
    /// A field that is there twice; the last one was taken.
    Duplicate(String),
    /// A number or boolean that was taken for a string.
    Coerced {
        /// Where.
        path: String,
        /// The text that was taken.
        text: String,
        /// The type error that a strict decoder gives instead.
        error: String,
    },
}

impl fmt::Display for Stray {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(path) => write!(out, "unknown field {}", go_quote(path)),
            Self::Duplicate(path) => write!(out, "duplicate field {}", go_quote(path)),
            Self::Coerced { path, text, .. } => write!(
                out,
                "field {} should be a string; {text} was read as {}",
                go_quote(path),
                go_quote(text)
            ),
        }
    }
}
