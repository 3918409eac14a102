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
        let mut out = Self::default();
        walk(
            &self.members,
            &other.members,
            |element| element,
            |pair| {
                // Equal elements may differ in the text of a number; the right one stays.
                out.members.extend(pair.right().or_else(|| pair.left()).cloned());
            },
        );
        walk(
            &self.children,
            &other.children,
            |(element, _)| element,
            |pair| {
                out.children.push(match pair {
                    Pair::Both((element, left), (_, right)) => (element.clone(), left.union(right)),
                    Pair::Left(child) | Pair::Right(child) => child.clone(),
                });
            },
        );
        out
    }

    /// Paths in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut out = Self::default();
        walk(
            &self.members,
            &other.members,
            |element| element,
            |pair| {
                if let Pair::Both(element, _) = pair {
                    out.members.push(element.clone());
                }
            },
        );
        walk(
            &self.children,
            &other.children,
            |(element, _)| element,
            |pair| {
                if let Pair::Both((element, left), (_, right)) = pair {
                    out.push_child(element.clone(), left.intersection(right));
                }
            },
        );
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

    /// Adds the paths of `other`; where they are few on either side, nothing is copied.
    pub(crate) fn join(self, other: Self) -> Self {
        if other.is_empty() {
            self
        } else if self.is_empty() {
            other
        } else {
            self.union(&other)
        }
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

/// An element of either or both of two sorted lists.
enum Pair<T> {
    Left(T),
    Right(T),
    Both(T, T),
}

impl<T: Copy> Pair<T> {
    fn left(&self) -> Option<T> {
        match self {
            Self::Left(item) | Self::Both(item, _) => Some(*item),
            Self::Right(_) => None,
        }
    }

    fn right(&self) -> Option<T> {
        match self {
            Self::Right(item) | Self::Both(_, item) => Some(*item),
            Self::Left(_) => None,
        }
    }
}

/// Walks two sorted lists in step.
fn walk<'a, T>(
    left: &'a [T],
    right: &'a [T],
    key: impl Fn(&T) -> &PathElement,
    mut visit: impl FnMut(Pair<&'a T>),
) {
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    loop {
        let ordering = match (left.peek(), right.peek()) {
            (None, None) => return,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(left), Some(right)) => key(left).cmp(key(right)),
        };
        let from_left = if ordering.is_le() { left.next() } else { None };
        let from_right = if ordering.is_ge() { right.next() } else { None };
        match (from_left, from_right) {
            (Some(left), Some(right)) => visit(Pair::Both(left, right)),
            (Some(left), None) => visit(Pair::Left(left)),
            (None, Some(right)) => visit(Pair::Right(right)),
            (None, None) => return,
        }
    }
}
