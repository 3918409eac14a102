//! What a name or a reference means, seen from where it stands.
//!
//! It means the resource that its scope says. Where that has none, it may be about a resource that is not seen from there,
//! and then every primitive of that name is meant; or about another Deployment.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::links::{Link, Target};
use crate::references::{Malformed, Reference, references, texts};
use crate::scope::Scopes;
use crate::tree::Tree;
use crate::value::Value;

/// How the name in a reference to another Deployment begins.
const DEPLOYMENT: &str = "deployments/";

/// What something means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Meaning<'a> {
    /// The node at this position.
    Node(usize),
    /// All primitives of a name, of which there are several; the position among [`Meanings::groups`].
    Group(usize),
    /// Another Deployment.
    Deployment(&'a str),
    /// There is none of that name.
    Nobody,
    /// It is no reference.
    Malformed,
}

/// A reference as it stands in some value, and everything that it means there.
#[derive(Debug)]
pub(crate) struct Meant<'a> {
    pub(crate) path: Option<&'a str>,
    pub(crate) meanings: BTreeSet<Meaning<'a>>,
}

/// The names of a tree that is complete.
#[derive(Debug)]
pub(crate) struct Meanings<'a> {
    tree: &'a Tree,
    scopes: Scopes,
    /// For each name the position of its group.
    names: BTreeMap<String, usize>,
    /// The primitives of each name.
    pub(crate) groups: Vec<Vec<usize>>,
    /// Of each node the positions of its primitives among the resources of the result.
    ranges: Vec<Range<usize>>,
}

impl<'a> Meanings<'a> {
    pub(crate) fn of(tree: &'a Tree) -> Self {
        let (mut names, mut groups) = (BTreeMap::new(), Vec::<Vec<usize>>::new());
        let nodes = tree.nodes.iter().enumerate().skip(1);
        for (at, node) in nodes.filter(|(_, node)| !node.is_template) {
            let group = *names.entry(node.name()).or_insert(groups.len());
            if group == groups.len() {
                groups.push(Vec::new());
            }
            groups[group].push(at);
        }
        Self { tree, scopes: Scopes::of(tree), names, groups, ranges: tree.ranges() }
    }

    /// What a name means in the list of `scope`, where it stands as or in this text.
    pub(crate) fn name<'n>(&self, scope: usize, text: &str, name: &'n str) -> Meaning<'n> {
        if let Some(node) = self.scopes.bind(self.tree, scope, text, name) {
            return Meaning::Node(node);
        }
        match self.names.get(name) {
            Some(&group) => match self.groups[group].as_slice() {
                [alone] => Meaning::Node(*alone),
                _ => Meaning::Group(group),
            },
            None => Meaning::Nobody,
        }
    }

    /// What a reference means in the list of `scope`.
    fn reference<'n>(&self, scope: usize, reference: &Reference<'n>) -> Meaning<'n> {
        match self.name(scope, reference.text, reference.name) {
            Meaning::Nobody => match reference.name.strip_prefix(DEPLOYMENT) {
                Some(name) if !name.is_empty() => Meaning::Deployment(name),
                _ => Meaning::Nobody,
            },
            other => other,
        }
    }

    /// All references in values that stand in the list of `scope`, by their texts.
    pub(crate) fn references(
        &self,
        scope: usize,
        values: impl Iterator<Item = &'a Value>,
    ) -> BTreeMap<&'a str, Meant<'a>> {
        let mut found = BTreeMap::new();
        let mut take = |text, path, meaning| {
            let meant = found.entry(text).or_insert(Meant { path, meanings: BTreeSet::new() });
            meant.meanings.insert(meaning);
        };
        for value in values {
            texts(value, &mut |text| match references(text) {
                Ok(references) => {
                    for reference in references {
                        let meaning = self.reference(scope, &reference);
                        take(reference.text, reference.path, meaning);
                    }
                }
                Err(Malformed(_)) => take(text, None, Meaning::Malformed),
            });
        }
        found
    }

    /// A reference as it is told.
    pub(crate) fn link(&self, text: &str, meant: &Meant<'_>) -> Link {
        let mut meanings = meant.meanings.iter();
        let target = match (meanings.next(), meanings.next()) {
            (Some(Meaning::Node(node)), None) if self.tree.nodes[*node].is_template => {
                Target::Template
            }
            (Some(Meaning::Node(node)), None) => Target::Resource(self.ranges[*node].start),
            (Some(Meaning::Deployment(name)), None) => Target::Deployment((*name).to_owned()),
            (Some(Meaning::Malformed), None) => Target::Malformed,
            (Some(Meaning::Nobody) | None, None) => Target::Unknown,
            (Some(Meaning::Group(_)), None) | (_, Some(_)) => Target::Ambiguous,
        };
        Link { text: text.to_owned(), target, path: meant.path.map(str::to_owned) }
    }

    /// The positions among the resources of the result of what is meant, in order and each once.
    pub(crate) fn positions(&self, meanings: &BTreeSet<Meaning<'_>>) -> Vec<usize> {
        let mut ranges = Vec::new();
        for meaning in meanings {
            match meaning {
                Meaning::Node(node) => ranges.push(self.ranges[*node].clone()),
                Meaning::Group(group) => {
                    ranges.extend(self.groups[*group].iter().map(|&at| self.ranges[at].clone()));
                }
                Meaning::Deployment(_) | Meaning::Nobody | Meaning::Malformed => {}
            }
        }
        // Templates lie in one another, so ranges overlap, and must not be walked through again and again.
        ranges.sort_unstable_by_key(|range| range.start);
        let (mut positions, mut next) = (Vec::new(), 0);
        for range in ranges {
            positions.extend(range.start.max(next)..range.end);
            next = next.max(range.end);
        }
        positions
    }
}
