//! Old sets and new schemas: what was granular when it was recorded may be atomic now.

use super::element::PathElement;
use super::set::FieldSet;
use super::types::{ListShape, MapShape, Type};

/// Brings a recorded set into line with the type: whatever lies below something that is atomic is
/// replaced by the atomic thing itself. Fields that the type does not have stay.
pub(crate) fn reconcile(set: &FieldSet, of: &Type) -> FieldSet {
    let mut out = FieldSet::default();
    // Elements that are both are looked at with their children.
    for element in &set.members {
        if set.child(element).is_none() {
            keep(&mut out, element, true, None, of);
        }
    }
    for (element, child) in &set.children {
        keep(&mut out, element, set.members.binary_search(element).is_ok(), Some(child), of);
    }
    out
}

fn keep(
    out: &mut FieldSet,
    element: &PathElement,
    is_member: bool,
    child: Option<&FieldSet>,
    container: &Type,
) {
    let of = type_of(element, container);
    let is_pure_leaf = is_member && child.is_none();
    if let Some(of) = of
        && !is_pure_leaf
        && is_atomic(of, child)
    {
        out.insert_member(element.clone());
        return;
    }
    if is_member {
        out.insert_member(element.clone());
    }
    if let Some(child) = child {
        let child = of.map_or_else(|| child.clone(), |of| reconcile(child, of));
        out.set_child(element.clone(), child);
    }
}

/// The type at an element, if the walk goes there: maps with nothing declared are left alone where
/// nothing below can be atomic.
fn type_of<'a>(element: &PathElement, container: &'a Type) -> Option<&'a Type> {
    match (container.as_map(), container.as_list()) {
        (Some(shape @ MapShape::Declared(_)), _) => match element {
            PathElement::Field(name) => shape.value(name),
            _ => None,
        },
        (Some(_), _) => None,
        (None, Some(ListShape::Items(of, _))) => Some(of),
        (None, _) => None,
    }
}

fn is_atomic(of: &Type, child: Option<&FieldSet>) -> bool {
    match of.as_map() {
        Some(MapShape::Atomic) => child.is_some_and(|child| !child.is_empty()),
        Some(_) => false,
        None => !of.takes_scalars() && matches!(of.as_list(), Some(ListShape::Atomic)),
    }
}
