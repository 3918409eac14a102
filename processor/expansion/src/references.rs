//! References: `$(ref.NAME.PATH)` in texts.
//!
//! NAME is a resource and PATH leads into its outputs, or into the object that it becomes. A text may hold several; a
//! text that is `$(ref.NAME)` and nothing else stands for all outputs. Where a reference begins, one has to be: the rest
//! of the text is searched for the end of it by counting parentheses, once.
//!
//! To others [`substitute`] and [`find`] are known, for the values of live objects; what a reference means they are told
//! by [`Links`](crate::Links).

pub(crate) mod path;
mod replace;
mod substitute;

pub use self::path::Missing;
pub(crate) use self::replace::{each_text, replace, texts};
pub use self::substitute::substitute;
use crate::value::Value;

/// How every reference begins.
pub(crate) const BEGIN: &str = "$(ref.";

/// A reference in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reference<'a> {
    /// All of it, from `$` to `)`.
    pub(crate) text: &'a str,
    /// Whose value it stands for.
    pub(crate) name: &'a str,
    /// Where in that. `None` is all of it.
    pub(crate) path: Option<&'a str>,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// What stands for itself.
    Text(&'a str),
    /// What stands for something else.
    Reference(Reference<'a>),
}

/// A reference that is not complete. The message is Deployment Manager's and shows the whole text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Malformed reference. Reference: {0}")]
pub struct Malformed(pub String);

/// What a path leads to in an object: members by `.name` or `["name"]`, items by `[2]`, and all of them by `*` or `[*]`,
/// which gives a list of what is found. The empty path leads to the object itself.
///
/// # Errors
/// When there is nothing, or the path is none: filters, slices and descents are not known.
pub fn find(value: &Value, path: &str) -> Result<Value, Missing> {
    path::find(value, &path::parse(path).ok_or(Missing::Value)?)
}

/// Takes a text apart.
///
/// # Errors
/// When a reference begins that has no name, no path or no end.
pub(crate) fn pieces(text: &str) -> Result<Vec<Piece<'_>>, Malformed> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(BEGIN) {
        if start > 0 {
            pieces.push(Piece::Text(&rest[..start]));
        }
        let from = &rest[start..];
        let reference = length(from).and_then(|length| read(&from[..length], length == text.len()));
        let reference = reference.ok_or_else(|| Malformed(text.to_owned()))?;
        rest = &from[reference.text.len()..];
        pieces.push(Piece::Reference(reference));
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

/// The references of a text.
///
/// # Errors
/// As [`pieces`].
pub(crate) fn references(text: &str) -> Result<Vec<Reference<'_>>, Malformed> {
    // Most texts have none, and cost no more than the search.
    if !text.contains(BEGIN) {
        return Ok(Vec::new());
    }
    let reference = |piece| if let Piece::Reference(found) = piece { Some(found) } else { None };
    Ok(pieces(text)?.into_iter().filter_map(reference).collect())
}

/// How long the reference is that begins here: up to the parenthesis that closes the first one.
fn length(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => open += 1,
            b')' if open == 1 => return Some(at + 1),
            b')' => open -= 1,
            _ => {}
        }
    }
    None
}

fn read(text: &str, alone: bool) -> Option<Reference<'_>> {
    let inner = text.strip_prefix(BEGIN)?.strip_suffix(')')?;
    let (name, path) = match inner.split_once('.') {
        Some((name, path)) => (name, Some(path)),
        None if alone => (inner, None),
        None => return None,
    };
    let complete = !name.is_empty() && !name.contains(['(', ')']) && path != Some("");
    complete.then_some(Reference { text, name, path })
}

#[cfg(test)]
mod vectors;

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Result<String, String> {
        let show = |piece: &Piece<'_>| match piece {
            Piece::Text(text) => format!("'{text}'"),
            Piece::Reference(found) => format!("{}:{}", found.name, found.path.unwrap_or("*")),
        };
        let pieces = pieces(text).map_err(|error| error.to_string())?;
        Ok(pieces.iter().map(show).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_text_is_taken_apart() {
        for (text, parts) in [
            ("", ""),
            ("plain $(name.path) $ref.a.b) $(refs.a)", "'plain $(name.path) $ref.a.b) $(refs.a)'"),
            ("$(ref.a.b)", "a:b"),
            ("x-$(ref.a.b.c[0])$(ref.d-e.f)!", "'x-' a:b.c[0] d-e:f '!'"),
            ("$(ref.n.p().q)", "n:p().q"),
            ("$(ref.n.p(a(b)c)) (d)", "n:p(a(b)c) ' (d)'"),
            ("($(ref.a.b))", "'(' a:b ')'"),
            ("$(ref.a)", "a:*"),
            ("$(ref.é.ü)", "é:ü"),
        ] {
            assert_eq!(shown(text).as_deref(), Ok(parts), "{text}");
        }
    }

    #[test]
    fn what_begins_like_a_reference_has_to_be_one() {
        for text in [
            "$(ref.",
            "$(ref.)",
            "$(ref.a.)",
            "$(ref..b)",
            "$(ref.a",
            "$(ref.a.b",
            "$(ref.a.b()",
            "x $(ref.a)",
            "$(ref.a) ",
            "$(ref.a)$(ref.b.c)",
            "$(ref.a(x).b)",
        ] {
            let message = format!("Malformed reference. Reference: {text}");
            assert_eq!(shown(text), Err(message));
        }
    }

    #[test]
    fn a_long_text_of_beginnings_is_read_once() {
        let text = "$(ref.".repeat(200_000);
        assert!(pieces(&text).is_err());
        let text = "$(ref.a.b)".repeat(100_000);
        assert_eq!(references(&text).unwrap().len(), 100_000);
    }
}
