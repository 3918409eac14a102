//! A JSON document that is opened only where it is touched.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schema::SyntaxError;
use schema::json::{Scanner, ValueKind, write_string};

/// Containers are opened one level at a time down to here; what lies deeper is opened at once.
/// Opening reads the text of everything inside, so opening level by level all the way down would be
/// quadratic in a deep document.
const LAZY_LEVELS: usize = 32;

/// A value: text that nobody has looked into, or a container that is open.
#[derive(Debug, Clone)]
pub(crate) enum Node<'a> {
    Text(Cow<'a, str>),
    Object(BTreeMap<Cow<'a, str>, Node<'a>>),
    Array(Vec<Node<'a>>),
}

impl<'a> Node<'a> {
    /// A value of which the text is known to be JSON.
    pub(crate) fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    pub(crate) fn empty_object() -> Self {
        Self::Object(BTreeMap::new())
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Text(text) if text == "null")
    }

    pub(crate) fn is_object(&self) -> bool {
        match self {
            Self::Text(text) => text.starts_with('{'),
            Self::Object(_) => true,
            Self::Array(_) => false,
        }
    }

    /// Opens a container that lies under `level` others; a scalar stays as it is.
    pub(crate) fn open(&mut self, level: usize) {
        if let Self::Text(text) = self
            && text.starts_with(['{', '['])
        {
            let deep = level >= LAZY_LEVELS;
            *self = match text {
                Cow::Borrowed(text) => parse(text, deep),
                // Only text from the document or the patch is ever opened, and both are borrowed;
                // but the type allows more.
                Cow::Owned(text) => parse(text, deep).into_owned(),
            };
        }
    }

    fn into_owned<'b>(self) -> Node<'b> {
        match self {
            Node::Text(text) => Node::Text(Cow::Owned(text.into_owned())),
            Node::Object(members) => Node::Object(
                members
                    .into_iter()
                    .map(|(key, value)| (Cow::Owned(key.into_owned()), value.into_owned()))
                    .collect(),
            ),
            Node::Array(items) => Node::Array(items.into_iter().map(Node::into_owned).collect()),
        }
    }

    pub(crate) fn write(&self, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Object(members) => {
                out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_string(out, key);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
        }
    }

    /// The number of bytes that [`Node::write`] would write, escapes in keys aside.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Object(members) => {
                members.iter().map(|(key, value)| key.len() + 4 + value.size()).sum::<usize>() + 2
            }
            Self::Array(items) => items.iter().map(|item| item.size() + 1).sum::<usize>() + 2,
        }
    }

    /// Whether two values are the same to JSON: numbers by value, objects without regard to order.
    /// Both may be opened on the way.
    pub(crate) fn same(&mut self, other: &mut Node<'a>, level: usize) -> bool {
        self.open(level);
        other.open(level);
        match (self, other) {
            (Self::Text(left), Self::Text(right)) => left == right || same_scalar(left, right),
            (Self::Array(left), Self::Array(right)) => {
                left.len() == right.len()
                    && left.iter_mut().zip(right).all(|(left, right)| left.same(right, level + 1))
            }
            (Self::Object(left), Self::Object(right)) => {
                // Both maps are sorted, so equal objects have equal keys in step.
                left.len() == right.len()
                    && left.keys().eq(right.keys())
                    && left
                        .values_mut()
                        .zip(right.values_mut())
                        .all(|(left, right)| left.same(right, level + 1))
            }
            _ => false,
        }
    }
}

/// Whether two texts that are known to be JSON say the same: numbers by value, objects without
/// regard to order.
pub fn same(left: &str, right: &str) -> bool {
    left == right || Node::text(left).same(&mut Node::text(right), 0)
}

/// Whether two scalars with different texts are equal all the same: `1.0` and `1`, or `"\u0061"`
/// and `"a"`.
fn same_scalar(left: &str, right: &str) -> bool {
    let value = |text| serde_json::from_str::<serde_json::Value>(text).ok();
    match (value(left), value(right)) {
        (Some(serde_json::Value::Number(left)), Some(serde_json::Value::Number(right))) => {
            left == right || (!(left.is_i64() && right.is_i64()) && left.as_f64() == right.as_f64())
        }
        (left, right) => left.is_some() && left == right,
    }
}

/// Opens a container whose text is known to be JSON.
fn parse(text: &str, deep: bool) -> Node<'_> {
    let mut scanner = Scanner::new(text, usize::MAX);
    read(&mut scanner, deep).expect("the text was checked when it came in")
}

fn read<'a>(scanner: &mut Scanner<'a>, deep: bool) -> Result<Node<'a>, SyntaxError> {
    let inner = |scanner: &mut Scanner<'a>| match scanner.peek()? {
        ValueKind::Object | ValueKind::Array if deep => read(scanner, deep),
        _ => scanner.skip().map(Node::text),
    };
    match scanner.peek()? {
        ValueKind::Object => {
            scanner.open_object()?;
            let mut members = BTreeMap::new();
            let mut first = true;
            while let Some(key) = scanner.member(first)? {
                first = false;
                members.insert(key, inner(scanner)?);
            }
            Ok(Node::Object(members))
        }
        ValueKind::Array => {
            scanner.open_array()?;
            let mut items = Vec::new();
            while scanner.item(items.is_empty())? {
                items.push(inner(scanner)?);
            }
            Ok(Node::Array(items))
        }
        _ => scanner.skip().map(Node::text),
    }
}
