//! Sets of field paths.

use std::cmp::Ordering;

use super::element::PathElement;

/// A set of paths as a tree. Members and children are sorted; an element can be both: `labels` and
/// `labels.a` may be owned separately. The empty path is never a member.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSet {
    pub(crate) members: Vec<PathElement>,
    pub(crate) children: Vec<(PathElement, FieldSet)>,
}

impl FieldSet {
    /// A set of the given paths.
    pub fn from_paths<'a>(paths: impl IntoIterator<Item = &'a [PathElement]>) -> Self {
        let mut set = Self::default();
        for path in paths {
            set.insert(path);
        }
        set
    }

    /// Adds a path; the empty one is ignored.
    pub fn insert(&mut self, path: &[PathElement]) {
        match path {
            [] => {}
            [element] => self.insert_member(element.clone()),
            [element, rest @ ..] => self.child_mut(element).insert(rest),
        }
    }

    /// Whether no path is in the set.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.iter().all(|(_, child)| child.is_empty())
    }

    /// Whether a path is in the set.
    pub fn contains(&self, path: &[PathElement]) -> bool {
        match path {
            [] => false,
            [element] => self.has_member(element),
            [element, rest @ ..] => self.child(element).is_some_and(|child| child.contains(rest)),
        }
    }

    /// What lies below an element.
    pub fn child(&self, element: &PathElement) -> Option<&FieldSet> {
        self.children
            .binary_search_by(|(key, _)| key.cmp(element))
            .ok()
            .map(|index| &self.children[index].1)
    }

    /// Paths in either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.clone().join(other.clone())
    }

    /// Adds the paths of `other`.
    #[must_use]
    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            // Equal elements may differ in the text of a number; the right one stays.
            members: merge(self.members, other.members, PathElement::cmp, |_, right| right),
            children: merge(
                self.children,
                other.children,
                |(left, _), (right, _)| left.cmp(right),
                |(element, left), (_, right)| (element, left.join(right)),
            ),
        }
    }

    /// Paths in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let members = self.members.iter().filter(|element| other.has_member(element));
        let mut out = Self { members: members.cloned().collect(), children: Vec::new() };
        for (element, child) in &self.children {
            if let Some(other) = other.child(element) {
                out.push_child(element.clone(), child.intersection(other));
            }
        }
        out
    }

    /// Paths that are not in `other`. A path that is in `other` takes nothing below it away.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let mut out = self.clone();
        out.remove(other);
        out
    }

    /// Paths that are neither in `other` nor below a path that is.
    #[must_use]
    pub fn recursive_difference(&self, other: &Self) -> Self {
        let mut out = self.clone();
        out.subtract(other, Below::Dropped);
        out
    }

    /// Takes the paths of `other` away, and nothing below them.
    pub(crate) fn remove(&mut self, other: &Self) {
        self.subtract(other, Below::Kept);
    }

    fn subtract(&mut self, other: &Self, below: Below) {
        self.children.retain_mut(|(element, child)| {
            if below == Below::Dropped && other.has_member(element) {
                return false;
            }
            if let Some(other) = other.child(element) {
                child.subtract(other, below);
            }
            !child.is_empty()
        });
        self.members.retain(|element| !other.has_member(element));
    }

    fn has_member(&self, element: &PathElement) -> bool {
        self.members.binary_search(element).is_ok()
    }

    /// The members that have nothing below them.
    #[must_use]
    pub fn leaves(&self) -> Self {
        Self {
            members: self
                .members
                .iter()
                .filter(|element| self.child(element).is_none())
                .cloned()
                .collect(),
            children: self
                .children
                .iter()
                .map(|(element, child)| (element.clone(), child.leaves()))
                .collect(),
        }
    }

    /// Calls `visit` with the text of every path: all members of a node in order, then each child
    /// in order.
    pub fn paths(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.collect_paths("", &mut out);
        out
    }

    fn collect_paths(&self, prefix: &str, out: &mut Vec<String>) {
        out.extend(self.members.iter().map(|element| format!("{prefix}{element}")));
        for (element, child) in &self.children {
            child.collect_paths(&format!("{prefix}{element}"), out);
        }
    }

    // === building ===

    pub(crate) fn insert_member(&mut self, element: PathElement) {
        match self.members.last().map(|last| last.cmp(&element)) {
            // Most sets are built in order.
            None | Some(Ordering::Less) => self.members.push(element),
            Some(Ordering::Equal) => {}
            Some(Ordering::Greater) => {
                if let Err(index) = self.members.binary_search(&element) {
                    self.members.insert(index, element);
                }
            }
        }
    }

    /// Puts a subtree below an element, in place of what was there.
    pub(crate) fn set_child(&mut self, element: PathElement, child: FieldSet) {
        match self.children.binary_search_by(|(key, _)| key.cmp(&element)) {
            Ok(index) => self.children[index].1 = child,
            Err(index) => self.children.insert(index, (element, child)),
        }
    }

    fn child_mut(&mut self, element: &PathElement) -> &mut FieldSet {
        let index = match self.children.binary_search_by(|(key, _)| key.cmp(element)) {
            Ok(index) => index,
            Err(index) => {
                self.children.insert(index, (element.clone(), Self::default()));
                index
            }
        };
        &mut self.children[index].1
    }

    /// Adds a subtree behind all others, unless nothing is in it.
    pub(crate) fn push_child(&mut self, element: PathElement, child: FieldSet) {
        if !child.is_empty() {
            self.children.push((element, child));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    Kept,
    Dropped,
}

/// Merges two sorted lists; `both` makes one of two equal items.
fn merge<T>(
    left: Vec<T>,
    right: Vec<T>,
    order: impl Fn(&T, &T) -> Ordering,
    both: impl Fn(T, T) -> T,
) -> Vec<T> {
    if left.is_empty() {
        return right;
    }
    if right.is_empty() {
        return left;
    }
    let mut out = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(next_left), Some(next_right)) = (left.peek(), right.peek()) {
        let ordering = order(next_left, next_right);
        let from_left = if ordering.is_le() { left.next() } else { None };
        let from_right = if ordering.is_ge() { right.next() } else { None };
        match (from_left, from_right) {
            (Some(left), Some(right)) => out.push(both(left, right)),
            (one, other) => out.extend(one.or(other)),
        }
    }
    out.extend(left);
    out.extend(right);
    out
}
