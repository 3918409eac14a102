//! The types by which fields are told apart: the part of a schema that ownership depends on.

use std::sync::Arc;

use schema::{Form, ListType, Schema, Text};

use super::element::PathElement;

/// A type. Cheap to clone.
#[derive(Debug, Clone)]
pub enum Type {
    /// Any JSON, one value.
    Opaque,
    /// Any JSON, of which maps are owned key by key and lists as one value: what an object without
    /// a schema is.
    Deduced,
    /// A type with at least one of the alternatives.
    Atom(Alternatives),
}

/// The alternatives of a type, shared.
#[derive(Debug, Clone)]
pub struct Alternatives(pub(crate) Arc<Atom>);

/// The alternatives of a type. Most types have exactly one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Atom {
    pub(crate) scalar: bool,
    pub(crate) list: Option<List>,
    pub(crate) map: Option<Map>,
}

/// The list alternative.
#[derive(Debug, Clone)]
pub(crate) struct List {
    pub(crate) items: Type,
    pub(crate) relationship: Relationship,
}

/// How the items of a list relate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Relationship {
    /// The list is one value.
    Atomic,
    /// Every item is owned by itself; items are scalars.
    Set,
    /// Every item is owned by itself and known by these of its fields.
    Keys(Vec<Text>),
}

/// The map alternative: structs and maps.
#[derive(Debug, Clone, Default)]
pub(crate) struct Map {
    /// Declared fields, sorted by name.
    pub(crate) fields: Vec<Declared>,
    /// The type of undeclared keys.
    pub(crate) element: Option<Type>,
    pub(crate) atomic: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Declared {
    /// Shared with every path that leads over the field.
    pub(crate) name: Arc<str>,
    pub(crate) of: Type,
    /// As JSON text; fills in for a missing key of a list item.
    pub(crate) default: Option<String>,
}

impl Type {
    /// The type of a schema. Make it once per kind and keep it.
    pub fn of(schema: &Schema) -> Self {
        match schema.form() {
            Form::String { .. }
            | Form::Integer(_)
            | Form::Number
            | Form::Boolean
            | Form::IntOrString => Self::scalar(),
            Form::Opaque { .. } => Self::Opaque,
            Form::Map(values) => {
                Self::map(Map { element: Some(Self::of(values)), ..Map::default() })
            }
            Form::Object(object) => {
                let declare = |field: &schema::Field| Declared {
                    name: field.name.as_ref().into(),
                    of: Self::of(&field.schema),
                    default: field.schema.default_json().map(ToString::to_string),
                };
                let mut fields: Vec<Declared> = object.fields().iter().map(declare).collect();
                fields.sort_by(|left, right| left.name.cmp(&right.name));
                Self::map(Map { fields, element: None, atomic: object.is_atomic() })
            }
            Form::List(list) => {
                let relationship = match &list.kind {
                    ListType::Unset | ListType::Atomic => Relationship::Atomic,
                    ListType::Set => Relationship::Set,
                    ListType::Map(keys) => Relationship::Keys(keys.clone()),
                };
                Self::atom(Atom {
                    list: Some(List { items: Self::of(&list.items), relationship }),
                    ..Atom::default()
                })
            }
        }
    }

    fn scalar() -> Self {
        Self::atom(Atom { scalar: true, ..Atom::default() })
    }

    fn map(map: Map) -> Self {
        Self::atom(Atom { map: Some(map), ..Atom::default() })
    }

    pub(crate) fn atom(atom: Atom) -> Self {
        Self::Atom(Alternatives(Arc::new(atom)))
    }

    pub(crate) fn takes_scalars(&self) -> bool {
        match self {
            Self::Opaque | Self::Deduced => true,
            Self::Atom(Alternatives(atom)) => atom.scalar,
        }
    }

    pub(crate) fn as_list(&self) -> Option<ListShape<'_>> {
        match self {
            Self::Opaque | Self::Deduced => Some(ListShape::Atomic),
            Self::Atom(Alternatives(atom)) => {
                atom.list.as_ref().map(|list| match &list.relationship {
                    Relationship::Atomic => ListShape::Atomic,
                    Relationship::Set => ListShape::Items(&list.items, &[]),
                    Relationship::Keys(keys) => ListShape::Items(&list.items, keys),
                })
            }
        }
    }

    pub(crate) fn as_map(&self) -> Option<MapShape<'_>> {
        match self {
            Self::Opaque => Some(MapShape::Atomic),
            Self::Deduced => Some(MapShape::Free),
            Self::Atom(Alternatives(atom)) => atom
                .map
                .as_ref()
                .map(|map| if map.atomic { MapShape::Atomic } else { MapShape::Declared(map) }),
        }
    }
}

/// A list alternative, to be looked at.
#[derive(Clone, Copy)]
pub(crate) enum ListShape<'a> {
    Atomic,
    /// The items' type, and the keys by which they are known: none in a set.
    Items(&'a Type, &'a [Text]),
}

/// A map alternative, to be looked at.
#[derive(Clone, Copy)]
pub(crate) enum MapShape<'a> {
    Atomic,
    /// Any key, deduced.
    Free,
    Declared(&'a Map),
}

impl<'a> MapShape<'a> {
    /// The type of a key's value; `None` if there may be no such key.
    pub(crate) fn value(self, key: &str) -> Option<&'a Type> {
        match self {
            Self::Atomic => Some(&Type::Opaque),
            Self::Free => Some(&Type::Deduced),
            Self::Declared(map) => {
                map.find(key).map(|declared| &declared.of).or(map.element.as_ref())
            }
        }
    }

    /// The path element of a key.
    pub(crate) fn element(self, key: &str) -> PathElement {
        match self {
            Self::Declared(map) if let Some(declared) = map.find(key) => {
                PathElement::Field(declared.name.clone())
            }
            _ => PathElement::field(key),
        }
    }

    pub(crate) fn declares(self, key: &str) -> bool {
        matches!(self, Self::Declared(map) if map.find(key).is_some())
    }
}

impl Map {
    pub(crate) fn find(&self, key: &str) -> Option<&Declared> {
        // Structs are small: comparing lengths and bytes in a row beats a search.
        self.fields.iter().find(|declared| *declared.name == *key)
    }
}
