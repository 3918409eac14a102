//! Where something stands: JSON pointers, as `$ref` writes them, and paths, as messages print them.

use std::fmt;

use jsonschema::paths::{Location, LocationSegment};

use crate::value::Value;

/// How many characters of a key are shown.
const SHOWN: usize = 200;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// A member of a map.
    Key(String),
    /// An item of a list, from 0.
    Index(usize),
}

impl Segment {
    /// A member of a map; of a key that is too long to be shown only its beginning.
    pub(super) fn key(key: &str) -> Self {
        match key.char_indices().nth(SHOWN) {
            None => Segment::Key(key.to_owned()),
            Some((end, _)) => Segment::Key(format!("{}…", &key[..end])),
        }
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Segment::Key(key) => f.write_str(&Value::from(key.as_str()).repr()),
            Segment::Index(index) => write!(f, "{index}"),
        }
    }
}

/// The parts of a `$ref` within its document: what `#/a/b` and `#` say. A number may be a key or an index; what it points
/// into decides. `None` when it is no pointer.
pub(super) fn parts(reference: &str) -> Option<Vec<String>> {
    let pointer = reference.strip_prefix('#')?;
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let decoded = percent_decoded(pointer.strip_prefix('/')?)?;
    Some(decoded.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect())
}

/// The `$ref` for these parts, below `prefix`.
pub(super) fn reference<S: AsRef<str>>(prefix: &str, parts: impl IntoIterator<Item = S>) -> String {
    let mut out = format!("#{prefix}");
    for part in parts {
        out.push('/');
        for byte in part.as_ref().bytes() {
            match byte {
                b'~' => out.push_str("~0"),
                b'/' => out.push_str("~1"),
                b'-' | b'.' | b'_' => out.push(char::from(byte)),
                plain if plain.is_ascii_alphanumeric() => out.push(char::from(plain)),
                other => out.push_str(&format!("%{other:02X}")),
            }
        }
    }
    out
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let value = digit()? * 16 + digit()?;
        out.push(u8::try_from(value).expect("two hexadecimal digits are one byte"));
    }
    String::from_utf8(out).ok()
}

/// The value that a pointer leads to.
pub(super) fn follow<'v>(root: &'v Value, parts: &[String]) -> Option<&'v Value> {
    parts.iter().try_fold(root, |value, part| match value {
        Value::Map(map) => map.get(part),
        Value::List(list) => list.get(index(part)?),
        _ => None,
    })
}

/// The positions by which a pointer leads there: of members in their maps, of items in their lists.
pub(super) fn positions(root: &Value, parts: &[String]) -> Option<Vec<usize>> {
    let mut value = root;
    let mut positions = Vec::with_capacity(parts.len());
    for part in parts {
        let at = match value {
            Value::Map(map) => map.get_index_of(part)?,
            Value::List(_) => index(part)?,
            _ => return None,
        };
        value = child(value, at)?;
        positions.push(at);
    }
    Some(positions)
}

fn index(part: &str) -> Option<usize> {
    let canonical = part == "0" || !part.starts_with(['0', '+']);
    part.parse().ok().filter(|_| canonical)
}

/// The child at a position.
pub(super) fn child(value: &Value, at: usize) -> Option<&Value> {
    match value {
        Value::Map(map) => map.get_index(at).map(|(_, value)| value),
        Value::List(list) => list.get(at),
        _ => None,
    }
}

/// The child at a position, to be changed.
pub(super) fn child_mut(value: &mut Value, at: usize) -> Option<&mut Value> {
    match value {
        Value::Map(map) => map.get_index_mut(at).map(|(_, value)| value),
        Value::List(list) => list.get_mut(at),
        _ => None,
    }
}

/// The path that positions make.
pub(super) fn path(root: &Value, positions: &[usize]) -> Vec<Segment> {
    let mut value = root;
    let mut path = Vec::with_capacity(positions.len());
    for at in positions {
        path.push(match value {
            Value::Map(map) => {
                map.get_index(*at).map_or(Segment::Index(*at), |(key, _)| Segment::key(key))
            }
            _ => Segment::Index(*at),
        });
        let Some(next) = child(value, *at) else { break };
        value = next;
    }
    path
}

/// Where a location of the `jsonschema` crate leads.
pub(super) struct Located<'v> {
    /// The value there, or the last one on the way.
    pub(super) value: &'v Value,
    /// The positions that lead to the value.
    pub(super) place: Vec<usize>,
    /// Whether the location leads all the way.
    pub(super) complete: bool,
}

/// Finds what a location of the `jsonschema` crate leads to.
pub(super) fn locate<'v>(root: &'v Value, location: &Location) -> Located<'v> {
    let mut found = Located { value: root, place: Vec::new(), complete: true };
    for segment in location.segments() {
        let at = match (&segment, found.value) {
            (LocationSegment::Property(key), Value::Map(map)) => map.get_index_of(key.as_ref()),
            // The crate takes every number for an index.
            (LocationSegment::Index(index), Value::Map(map)) => {
                map.get_index_of(index.to_string().as_str())
            }
            (LocationSegment::Index(index), Value::List(_)) => Some(*index),
            _ => None,
        };
        let Some((at, next)) = at.and_then(|at| Some((at, child(found.value, at)?))) else {
            found.complete = false;
            break;
        };
        found.place.push(at);
        found.value = next;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_unescaped() {
        assert_eq!(parts("#").unwrap(), Vec::<String>::new());
        assert_eq!(parts("#/a~1b/c~0d/e%20f/0").unwrap(), ["a/b", "c~d", "e f", "0"]);
        for pointer in ["#", "#/a~1b/c~0d/e%20f/0", "#/%C3%A9/%25"] {
            assert_eq!(reference("", parts(pointer).unwrap()), pointer);
        }
        for no_pointer in ["", "a", "#a", "http://x/#/a", "#/%", "#/%zz", "#/%ff"] {
            assert_eq!(parts(no_pointer), None, "{no_pointer}");
        }
    }

    #[test]
    fn a_number_is_a_key_or_an_index() {
        let root = Value::from_json(r#"{"0": ["x", "y"]}"#).unwrap();
        let found = |pointer| follow(&root, &parts(pointer).unwrap()).cloned();
        assert_eq!(found("#/0/1"), Some(Value::from("y")));
        assert_eq!(found("#/0/01"), None);
        assert_eq!(found("#/0/2"), None);
        let path = path(&root, &positions(&root, &parts("#/0/1").unwrap()).unwrap());
        assert_eq!(path, [Segment::key("0"), Segment::Index(1)]);
    }
}
