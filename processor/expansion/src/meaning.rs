//! What a name or a reference means, seen from where it stands.
//!
//! It means the resource that its scope says, which for what an output brought is that of the output. Where that has none, it may be about a resource that is not seen from there,
//! and then every primitive of that name is meant; or about another Deployment.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::error::Problem;
use crate::links::{Link, Target};
use crate::origins::{Holder, Origins};
use crate::references::{Reference, references, texts};
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

/// References that were found, by their texts.
pub(crate) struct References<'a, 's> {
    pub(crate) by_text: BTreeMap<&'a str, Meant<'a>>,
    /// Is told how many bytes it takes to tell of each, before it is added.
    spend: &'s mut dyn FnMut(usize) -> Result<(), Problem>,
}

impl<'a, 's> References<'a, 's> {
    pub(crate) fn new(spend: &'s mut dyn FnMut(usize) -> Result<(), Problem>) -> Self {
        Self { by_text: BTreeMap::new(), spend }
    }

    fn add(
        &mut self,
        text: &'a str,
        path: Option<&'a str>,
        meaning: Meaning<'a>,
    ) -> Result<(), Problem> {
        if !self.by_text.contains_key(text) {
            (self.spend)(size_of::<Link>() + text.len() + path.map_or(0, str::len))?;
        }
        let new = Meant { path, meanings: BTreeSet::new() };
        self.by_text.entry(text).or_insert(new).meanings.insert(meaning);
        Ok(())
    }
}

/// The names of a tree that is complete.
#[derive(Debug)]
pub(crate) struct Meanings<'a> {
    tree: &'a Tree,
    origins: &'a Origins,
    scopes: Scopes,
    /// For each name the position of its group.
    names: BTreeMap<String, usize>,
    /// The primitives of each name.
    pub(crate) groups: Vec<Vec<usize>>,
    /// Of each node the positions of its primitives among the resources of the result.
    ranges: Vec<Range<usize>>,
}

impl<'a> Meanings<'a> {
    pub(crate) fn of(tree: &'a Tree, origins: &'a Origins) -> Self {
        let (mut names, mut groups) = (BTreeMap::new(), Vec::<Vec<usize>>::new());
        let nodes = tree.nodes.iter().enumerate().skip(1);
        for (at, node) in nodes.filter(|(_, node)| !node.is_template) {
            let group = *names.entry(node.name()).or_insert(groups.len());
            if group == groups.len() {
                groups.push(Vec::new());
            }
            groups[group].push(at);
        }
        Self { tree, origins, scopes: Scopes::of(tree), names, groups, ranges: tree.ranges() }
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

    /// Adds all references in a value that stands in the list of `scope`. What was brought to the holder, if there is one,
    /// means what it meant where it came from.
    ///
    /// # Errors
    /// When there are too many.
    pub(crate) fn references(
        &self,
        value: &'a Value,
        scope: usize,
        holder: Option<Holder>,
        found: &mut References<'a, '_>,
    ) -> Result<(), Problem> {
        let (mut result, mut seen) = (Ok(()), BTreeSet::new());
        texts(value, &mut |text| {
            if result.is_ok() {
                result = self.text(text, scope, holder, &mut seen, found);
            }
        });
        result
    }

    /// Adds those references of a text that were not seen in this value.
    fn text(
        &self,
        text: &'a str,
        scope: usize,
        holder: Option<Holder>,
        seen: &mut BTreeSet<&'a str>,
        found: &mut References<'a, '_>,
    ) -> Result<(), Problem> {
        let Ok(references) = references(text) else {
            return found.add(text, None, Meaning::Malformed);
        };
        for reference in references {
            // The same text means the same in all of a value, and may have come from very many lists.
            if !seen.insert(reference.text) {
                continue;
            }
            let brought = holder.and_then(|holder| self.origins.of(holder, reference.text));
            let mut add = |scope| {
                found.add(reference.text, reference.path, self.reference(scope, &reference))
            };
            match brought {
                Some(scopes) => scopes.iter().try_for_each(|&scope| add(scope))?,
                None => add(scope)?,
            }
        }
        Ok(())
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
