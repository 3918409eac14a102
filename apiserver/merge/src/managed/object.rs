//! An object as field management sees it: opened as far as its type is granular, text below.

use std::borrow::Cow;

use schema::SyntaxError;
use schema::json::{Scanner, ValueKind};
use thiserror::Error;

use super::element::PathElement;
use super::types::{ListShape, MapShape, Type};
use super::value::{Numbers, Value};
use crate::document;

/// The text of an object, whole or as decoding yields it.
#[derive(Debug, Clone, Copy)]
pub enum Object<'a> {
    /// The whole object.
    Text(&'a str),
    /// In parts, of which those that are owned as one value are never read.
    Parts {
        /// `metadata` as a JSON object.
        metadata: &'a str,
        /// The other fields, in any order: their names, and their values as JSON text.
        fields: &'a [(&'a str, &'a str)],
    },
}

/// Why an object cannot be tracked. Its `managedFields` are then to be dropped.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ObjectError {
    /// The text is not JSON.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// A value does not fit its type.
    #[error("expected {expected}, got {found}")]
    Type {
        /// What the type allows.
        expected: &'static str,
        /// What there is.
        found: &'static str,
    },
    /// An item of a list cannot be told from others.
    #[error("{0}")]
    Item(String),
}

/// A value, opened where its type is granular.
#[derive(Debug, Clone)]
pub(crate) enum Node<'a> {
    Null,
    Scalar(Cow<'a, str>),
    /// A list or map that is owned as one value.
    AtomicList(Cow<'a, str>),
    AtomicMap(Cow<'a, str>),
    List(Vec<Node<'a>>),
    /// Sorted by key, every key once.
    Map(Vec<(Cow<'a, str>, Node<'a>)>),
}

/// Nesting of an object, more than any decoder lets in.
const MAX_DEPTH: usize = 2_000;

impl<'a> Node<'a> {
    /// Opens an object. `apiVersion`, `kind` and `managedFields` are nobody's and stay out.
    pub(crate) fn open(object: Object<'a>, of: &Type) -> Result<Self, ObjectError> {
        let mut root = match object {
            Object::Text(text) => Self::value(text, of)?,
            Object::Parts { metadata, fields } => Self::parts(metadata, fields, of)?,
        };
        if let Self::Map(members) = &mut root {
            members.retain(|(key, _)| key != "apiVersion" && key != "kind");
            if let Some((_, Self::Map(metadata))) =
                members.iter_mut().find(|(key, _)| key == "metadata")
            {
                metadata.retain(|(key, _)| key != "managedFields");
            }
        }
        Ok(root)
    }

    fn parts(
        metadata: &'a str,
        fields: &[(&'a str, &'a str)],
        of: &Type,
    ) -> Result<Self, ObjectError> {
        let shape = of.as_map().ok_or_else(|| mismatch(of, ValueKind::Object))?;
        let mut members = Vec::with_capacity(fields.len() + 1);
        for (name, text) in [("metadata", metadata)].iter().chain(fields) {
            // A field that the schema does not have: the decoder has dropped it or is about to.
            let Some(of) = shape.value(name) else { continue };
            members.push((Cow::Borrowed(*name), Self::proven(text, of)?));
        }
        Ok(Self::sorted(members))
    }

    /// Opens the text of a value that is known to be JSON, and reads nothing of it where it is
    /// owned as a whole.
    fn proven(text: &'a str, of: &Type) -> Result<Self, ObjectError> {
        let mut scanner = Scanner::new(text, MAX_DEPTH);
        match scanner.peek()? {
            ValueKind::Object if matches!(of.as_map(), Some(MapShape::Atomic)) => {
                Ok(Self::AtomicMap(text.into()))
            }
            ValueKind::Array if matches!(of.as_list(), Some(ListShape::Atomic)) => {
                Ok(Self::AtomicList(text.into()))
            }
            _ => Self::read(&mut scanner, of),
        }
    }

    /// Opens the text of a value.
    pub(crate) fn value(text: &'a str, of: &Type) -> Result<Self, ObjectError> {
        Self::read(&mut Scanner::new(text, MAX_DEPTH), of)
    }

    fn read(scanner: &mut Scanner<'a>, of: &Type) -> Result<Self, ObjectError> {
        let kind = scanner.peek()?;
        match kind {
            ValueKind::Null => {
                scanner.null()?;
                Ok(Self::Null)
            }
            ValueKind::Object => match of.as_map().ok_or_else(|| mismatch(of, kind))? {
                MapShape::Atomic => Ok(Self::AtomicMap(scanner.skip()?.into())),
                shape => Self::read_map(scanner, shape),
            },
            ValueKind::Array => match of.as_list().ok_or_else(|| mismatch(of, kind))? {
                ListShape::Atomic => Ok(Self::AtomicList(scanner.skip()?.into())),
                ListShape::Items(of, _) => {
                    let mut items = Vec::new();
                    scanner.open_array()?;
                    while scanner.item(items.is_empty())? {
                        items.push(Self::read(scanner, of)?);
                    }
                    Ok(Self::List(items))
                }
            },
            ValueKind::Bool | ValueKind::Number | ValueKind::String if of.takes_scalars() => {
                Ok(Self::Scalar(scanner.skip()?.into()))
            }
            _ => Err(mismatch(of, kind)),
        }
    }

    fn read_map(scanner: &mut Scanner<'a>, shape: MapShape<'_>) -> Result<Self, ObjectError> {
        let mut members: Vec<(Cow<'a, str>, Node<'a>)> = Vec::new();
        scanner.open_object()?;
        let mut first = true;
        while let Some(key) = scanner.member(first)? {
            first = false;
            match shape.value(&key) {
                Some(of) => members.push((key, Self::read(scanner, of)?)),
                // A field that the schema does not have: the decoder has dropped it or is about to.
                None => drop(scanner.skip()?),
            }
        }
        Ok(Self::sorted(members))
    }

    /// A map of these members; of equal keys the last stays.
    fn sorted(mut members: Vec<(Cow<'a, str>, Node<'a>)>) -> Self {
        if !members.is_sorted_by(|(left, _), (right, _)| left < right) {
            // Backwards and stable, so that the last of equal keys comes first and stays.
            members.reverse();
            members.sort_by(|(left, _), (right, _)| left.cmp(right));
            members.dedup_by(|(later, _), (first, _)| later == first);
        }
        Self::Map(members)
    }

    /// The same, with text of its own.
    pub(crate) fn into_owned(self) -> Node<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            Self::Null => Node::Null,
            Self::Scalar(text) => Node::Scalar(own(text)),
            Self::AtomicList(text) => Node::AtomicList(own(text)),
            Self::AtomicMap(text) => Node::AtomicMap(own(text)),
            Self::List(items) => Node::List(items.into_iter().map(Node::into_owned).collect()),
            Self::Map(members) => {
                let own = |(key, value): (_, Node<'_>)| (own(key), value.into_owned());
                Node::Map(members.into_iter().map(own).collect())
            }
        }
    }

    /// Whether two values are equal to the field manager: `1` and `1.0` are; `[]`, `{}` and null
    /// are three values.
    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Scalar(left), Self::Scalar(right))
            | (Self::AtomicList(left), Self::AtomicList(right))
            | (Self::AtomicMap(left), Self::AtomicMap(right)) => document::same(left, right),
            (Self::List(left), Self::List(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right).all(|(left, right)| left.same(right))
            }
            (Self::Map(left), Self::Map(right)) => {
                // Both are sorted, so equal maps have equal keys in step.
                left.len() == right.len()
                    && left
                        .iter()
                        .zip(right)
                        .all(|(left, right)| left.0 == right.0 && left.1.same(&right.1))
            }
            _ => false,
        }
    }

    /// The path element of an item of a list whose items have a type and are known by these keys;
    /// by their value if there are none.
    pub(crate) fn element(
        &self,
        of: &Type,
        keys: &[schema::Text],
    ) -> Result<PathElement, ObjectError> {
        if keys.is_empty() { self.set_element() } else { self.keyed_element(of, keys) }
    }

    fn set_element(&self) -> Result<PathElement, ObjectError> {
        let error = |text: &str| Err(ObjectError::Item(text.to_owned()));
        match self {
            Self::Scalar(text) => match Value::read(text, Numbers::Exact) {
                Some(value) => Ok(PathElement::value(value)),
                None => error("associative list without keys has an element that is not a scalar"),
            },
            Self::Null => {
                error("associative list without keys has an element that's an explicit null")
            }
            Self::AtomicMap(_) | Self::Map(_) => {
                error("associative list without keys has an element that's a map type")
            }
            Self::AtomicList(_) | Self::List(_) => {
                error("not supported: associative list with lists as elements")
            }
        }
    }

    fn keyed_element(&self, of: &Type, keys: &[schema::Text]) -> Result<PathElement, ObjectError> {
        if matches!(self, Self::Null) {
            return Err(ObjectError::Item(
                "associative list with keys may not have a null element".into(),
            ));
        }
        if !matches!(self, Self::Map(_) | Self::AtomicMap(_)) {
            return Err(ObjectError::Item(
                "associative list with keys may not have non-map elements".into(),
            ));
        }
        let mut pairs = Vec::with_capacity(keys.len());
        for key in keys {
            let given = self.member_text(key)?;
            let text = given.or_else(|| default_of(of, key));
            if let Some(value) = text.and_then(|text| Value::read(&text, Numbers::Exact)) {
                pairs.push((key.to_string(), value));
            }
        }
        if pairs.is_empty() {
            let message = format!(
                "associative list with keys has an element that omits all key fields {keys:?} (and doesn't have default values for any key fields)"
            );
            return Err(ObjectError::Item(message));
        }
        Ok(PathElement::key(pairs))
    }

    /// The text of a member of a map.
    fn member_text(&self, name: &str) -> Result<Option<Cow<'_, str>>, ObjectError> {
        match self {
            Self::Map(members) => Ok(members
                .iter()
                .find(|(key, _)| key == name)
                .and_then(|(_, value)| value.closed_text())),
            Self::AtomicMap(text) => {
                let mut scanner = Scanner::new(text, MAX_DEPTH);
                let (mut found, mut first) = (None, true);
                scanner.open_object()?;
                while let Some(key) = scanner.member(first)? {
                    first = false;
                    let value = scanner.skip()?;
                    if key == name {
                        found = Some(Cow::Borrowed(value));
                    }
                }
                Ok(found)
            }
            _ => Ok(None),
        }
    }

    fn closed_text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Null => Some(Cow::Borrowed("null")),
            Self::Scalar(text) | Self::AtomicList(text) | Self::AtomicMap(text) => {
                Some(Cow::Borrowed(text))
            }
            // A key is a scalar in every schema that means it.
            Self::List(_) | Self::Map(_) => None,
        }
    }
}

fn default_of<'a>(of: &Type, key: &str) -> Option<Cow<'a, str>> {
    let Type::Atom(super::types::Alternatives(atom)) = of else { return None };
    atom.map.as_ref()?.find(key)?.default.clone().map(Cow::Owned)
}

fn mismatch(of: &Type, found: ValueKind) -> ObjectError {
    let expected = match (of.as_map().is_some(), of.as_list().is_some()) {
        (true, _) => "map",
        (false, true) => "list",
        (false, false) => "scalar",
    };
    ObjectError::Type { expected, found: found.word() }
}
