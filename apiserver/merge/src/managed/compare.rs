//! What two versions of an object differ in.

use std::collections::BTreeMap;

use super::element::PathElement;
use super::object::{Node, Object, ObjectError};
use super::set::FieldSet;
use super::types::{ListShape, MapShape, Type};

/// The fields in which two objects differ. A container that came or went is listed beside what was
/// in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// In the old object only.
    pub removed: FieldSet,
    /// In both, with different values.
    pub modified: FieldSet,
    /// In the new object only.
    pub added: FieldSet,
}

impl Comparison {
    /// Leaves out these fields and everything below them.
    #[must_use]
    pub fn without(&self, ignored: &FieldSet) -> Self {
        Self {
            removed: self.removed.recursive_difference(ignored),
            modified: self.modified.recursive_difference(ignored),
            added: self.added.recursive_difference(ignored),
        }
    }
}

/// Compares two versions of an object.
///
/// # Errors
/// When one of them does not fit the type.
pub fn compare(of: &Type, old: Object<'_>, new: Object<'_>) -> Result<Comparison, ObjectError> {
    compare_nodes(of, &Node::open(old, of)?, &Node::open(new, of)?)
}

pub(crate) fn compare_nodes(
    of: &Type,
    old: &Node<'_>,
    new: &Node<'_>,
) -> Result<Comparison, ObjectError> {
    Ok(visit(of, Some(old), Some(new))?.below)
}

/// The differences at a place: below it, and of itself.
#[derive(Default)]
struct Difference {
    below: Comparison,
    removed: bool,
    modified: bool,
    added: bool,
}

impl Difference {
    fn join(self, other: Self) -> Self {
        Self {
            below: Comparison {
                removed: self.below.removed.join(other.below.removed),
                modified: self.below.modified.join(other.below.modified),
                added: self.below.added.join(other.below.added),
            },
            removed: self.removed || other.removed,
            modified: self.modified || other.modified,
            added: self.added || other.added,
        }
    }

    /// Puts what was found at an element into what is found about its container. Elements come in
    /// order; one is made only where there is something to say.
    fn attach(&mut self, element: impl Fn() -> PathElement, inner: Self) {
        let found = [
            (inner.removed, inner.below.removed, &mut self.below.removed),
            (inner.modified, inner.below.modified, &mut self.below.modified),
            (inner.added, inner.below.added, &mut self.below.added),
        ];
        for (is_member, below, set) in found {
            if !below.is_empty() {
                set.push_child(element(), below);
            }
            if is_member {
                set.insert_member(element());
            }
        }
    }
}

/// The alternative of a type by which a value is handled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alternative {
    Map,
    Scalar,
    List,
}

impl Alternative {
    /// For a value that says which; for null the first that the type has.
    fn of(value: &Node<'_>, of: &Type) -> Self {
        match value {
            Node::Map(_) | Node::AtomicMap(_) => Self::Map,
            Node::List(_) | Node::AtomicList(_) => Self::List,
            Node::Scalar(_) => Self::Scalar,
            Node::Null if of.as_map().is_some() => Self::Map,
            Node::Null if of.takes_scalars() => Self::Scalar,
            Node::Null => Self::List,
        }
    }
}

fn visit(
    of: &Type,
    old: Option<&Node<'_>>,
    new: Option<&Node<'_>>,
) -> Result<Difference, ObjectError> {
    let by_old = old.map(|value| Alternative::of(value, of));
    let by_new = new.map(|value| Alternative::of(value, of));
    match (by_old, by_new) {
        (None, None) => Ok(Difference::default()),
        (Some(old_way), Some(new_way)) if old_way != new_way => {
            Ok(visit_as(old_way, of, old, new)?.join(visit_as(new_way, of, old, new)?))
        }
        (Some(way), _) | (None, Some(way)) => visit_as(way, of, old, new),
    }
}

fn visit_as(
    way: Alternative,
    of: &Type,
    old: Option<&Node<'_>>,
    new: Option<&Node<'_>>,
) -> Result<Difference, ObjectError> {
    let mut difference = match way {
        Alternative::Scalar => return Ok(leaf(old, new)),
        Alternative::Map => {
            let (left, right) = (map_of(old), map_of(new));
            match of.as_map() {
                Some(shape @ (MapShape::Free | MapShape::Declared(_)))
                    if !(left.is_empty() && right.is_empty()) =>
                {
                    maps(shape, left, right)?
                }
                _ => return Ok(leaf(old, new)),
            }
        }
        Alternative::List => {
            let (left, right) = (list_of(old), list_of(new));
            match of.as_list() {
                Some(ListShape::Items(items, keys)) if !(left.is_empty() && right.is_empty()) => {
                    lists(items, keys, left, right)?
                }
                _ => return Ok(leaf(old, new)),
            }
        }
    };
    // A granular container that comes or goes is a field of its own beside its content.
    difference.added |= old.is_none();
    difference.removed |= new.is_none();
    Ok(difference)
}

fn leaf(old: Option<&Node<'_>>, new: Option<&Node<'_>>) -> Difference {
    match (old, new) {
        (None, _) => Difference { added: true, ..Difference::default() },
        (_, None) => Difference { removed: true, ..Difference::default() },
        (Some(old), Some(new)) => Difference { modified: !old.same(new), ..Difference::default() },
    }
}

type Members<'n, 'a> = &'n [(std::borrow::Cow<'a, str>, Node<'a>)];

fn map_of<'n, 'a>(node: Option<&'n Node<'a>>) -> Members<'n, 'a> {
    match node {
        Some(Node::Map(members)) => members,
        _ => &[],
    }
}

fn list_of<'n, 'a>(node: Option<&'n Node<'a>>) -> &'n [Node<'a>] {
    match node {
        Some(Node::List(items)) => items,
        _ => &[],
    }
}

fn maps(
    shape: MapShape<'_>,
    old: Members<'_, '_>,
    new: Members<'_, '_>,
) -> Result<Difference, ObjectError> {
    let mut out = Difference::default();
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    loop {
        let ordering = match (old.peek(), new.peek()) {
            (None, None) => return Ok(out),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((old, _)), Some((new, _))) => old.cmp(new),
        };
        let old = if ordering.is_le() { old.next() } else { None };
        let new = if ordering.is_ge() { new.next() } else { None };
        let Some((key, _)) = old.or(new) else { return Ok(out) };
        // The node has been read by this type, so every key has one.
        let Some(of) = shape.value(key) else { continue };
        let inner = visit(of, old.map(|(_, value)| value), new.map(|(_, value)| value))?;
        out.attach(|| shape.element(key), inner);
    }
}

/// Items are compared with the item of the same element; their order does not matter.
fn lists(
    of: &Type,
    keys: &[schema::Text],
    old: &[Node<'_>],
    new: &[Node<'_>],
) -> Result<Difference, ObjectError> {
    let mut groups: BTreeMap<PathElement, (Vec<&Node<'_>>, Vec<&Node<'_>>)> = BTreeMap::new();
    for item in old {
        groups.entry(item.element(of, keys)?).or_default().0.push(item);
    }
    for item in new {
        groups.entry(item.element(of, keys)?).or_default().1.push(item);
    }
    let mut out = Difference::default();
    for (element, (old, new)) in groups {
        let inner = match (old.as_slice(), new.as_slice()) {
            (old @ ([] | [_]), new @ ([] | [_])) => {
                visit(of, old.first().copied(), new.first().copied())?
            }
            // Duplicates are compared as a whole.
            ([_, _, ..], [_, _, ..]) => {
                let same =
                    old.len() == new.len() && old.iter().zip(&new).all(|(old, new)| old.same(new));
                Difference { modified: !same, ..Difference::default() }
            }
            ([_, _, ..], new) => {
                let inner = visit(of, None, new.first().copied())?;
                Difference { removed: true, ..inner }
            }
            (old, _) => {
                let inner = visit(of, old.first().copied(), None)?;
                Difference { added: true, ..inner }
            }
        };
        out.attach(|| element.clone(), inner);
    }
    Ok(out)
}
