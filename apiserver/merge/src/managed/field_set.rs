//! The fields that an object has.

use std::collections::BTreeMap;

use super::element::PathElement;
use super::object::{Node, Object, ObjectError};
use super::set::FieldSet;
use super::types::{ListShape, MapShape, Type};

/// The set of all fields of an object: what somebody who applied it would own. Declared structs are
/// not listed beside their fields, list items and map entries are; `apiVersion`, `kind` and
/// `managedFields` are left out.
///
/// # Errors
/// When the object does not fit the type.
pub fn field_set(of: &Type, object: Object<'_>) -> Result<FieldSet, ObjectError> {
    fields_of(of, &Node::open(object, of)?)
}

pub(crate) fn fields_of(of: &Type, node: &Node<'_>) -> Result<FieldSet, ObjectError> {
    Ok(visit(of, node)?.below)
}

#[derive(Default)]
struct Found {
    below: FieldSet,
    /// The place itself is a field, and not only what is below it.
    is_member: bool,
}

fn visit(of: &Type, node: &Node<'_>) -> Result<Found, ObjectError> {
    let leaf = Found { is_member: true, ..Found::default() };
    match (node, of.as_map(), of.as_list()) {
        (Node::Scalar(_) | Node::AtomicList(_) | Node::AtomicMap(_), ..) => Ok(leaf),
        // Null is as good as nothing where there could be a granular container.
        (Node::Null, Some(MapShape::Atomic), _) | (Node::Null, None, Some(ListShape::Atomic)) => {
            Ok(leaf)
        }
        (Node::Null, None, _) if of.takes_scalars() => Ok(leaf),
        (Node::Map(members), Some(shape), _) => map(shape, members),
        (Node::List(items), _, Some(ListShape::Items(of, keys))) => list(of, keys, items),
        _ => Ok(Found::default()),
    }
}

fn map(
    shape: MapShape<'_>,
    members: &[(std::borrow::Cow<'_, str>, Node<'_>)],
) -> Result<Found, ObjectError> {
    let mut out = Found::default();
    for (key, value) in members {
        // The node has been read by this type, so every key has one.
        let Some(of) = shape.value(key) else { continue };
        let inner = visit(of, value)?;
        let element = shape.element(key);
        let is_hollow = match value {
            Node::Null => true,
            Node::Map(members) => members.is_empty(),
            _ => false,
        };
        if inner.is_member || is_hollow || !shape.declares(key) {
            out.below.insert_member(element.clone());
        }
        out.below.push_child(element, inner.below);
    }
    Ok(out)
}

fn list(of: &Type, keys: &[schema::Text], items: &[Node<'_>]) -> Result<Found, ObjectError> {
    let mut groups: BTreeMap<PathElement, Vec<&Node<'_>>> = BTreeMap::new();
    for item in items {
        groups.entry(item.element(of, keys)?).or_default().push(item);
    }
    let mut out = Found::default();
    for (element, items) in groups {
        // Of duplicates nothing but their key is known.
        if let [item] = items.as_slice() {
            out.below.push_child(element.clone(), visit(of, item)?.below);
        }
        out.below.insert_member(element);
    }
    Ok(out)
}
