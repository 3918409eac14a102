//! What the resources of a result need of each other.
//!
//! A reference that is left in a primitive is about another resource that has to be created first, and so is a name in
//! `metadata.dependsOn`. What the names mean is known elsewhere; here it becomes an order, and is told.

use std::collections::BTreeSet;

use crate::circle;
use crate::error::{Cause, Failure, Problem, shown};
use crate::links::{LayoutLinks, Link, Links};
use crate::meaning::{Meaning, Meanings, References};
use crate::origins::{Holder, Origins};
use crate::tree::{Node, ROOT, Tree};
use crate::value::Value;

/// As many circles are named with as many members; who has more sees enough.
const NAMED: usize = 100;

/// Is told how many bytes are told of references and needs, before they are; says when they are too many.
type Spend<'a> = dyn FnMut(usize) -> Result<(), Problem> + 'a;

/// What the parts of a result refer to, as [`Expanded`](crate::Expanded) has it.
#[derive(Debug, Default)]
pub(crate) struct Linked {
    pub(crate) resources: Vec<Links>,
    pub(crate) outputs: Vec<Link>,
    pub(crate) layout: Vec<LayoutLinks>,
}

/// Finds what everything refers to, and adds warnings about names that nobody has.
///
/// # Errors
/// When resources need each other in a circle; all of it is named. When `spend` has had enough: a few words
/// make each of many primitives need each of many others.
pub(crate) fn link(
    tree: &mut Tree,
    origins: &Origins,
    spend: &mut Spend<'_>,
) -> Result<Linked, Failure> {
    let mut graph = Graph::new(tree, origins);
    let order = tree.in_order();
    let mut warnings = Vec::new();
    let mut resources = Vec::new();
    for &at in order.iter().filter(|&&at| at != ROOT && !tree.nodes[at].is_template) {
        let Found { links, meanings, odd } = graph.add(at, spend)?;
        warnings.extend(odd.into_iter().map(|warning| (at, warning)));
        resources.push((links, meanings));
    }
    let circles = circle::order(&graph.needs).err().unwrap_or_default();
    Failure::unless_empty(circles.iter().map(|circle| graph.problem(circle)).collect())?;
    let linked = Linked {
        resources: graph.resources(resources, spend)?,
        outputs: graph.outputs(ROOT, spend)?,
        layout: graph.layout(&order, spend)?,
    };
    for (at, warning) in warnings {
        tree.nodes[at].warnings.push(warning);
    }
    Ok(linked)
}

struct Graph<'a> {
    tree: &'a Tree,
    meanings: Meanings<'a>,
    /// What each node needs; a template needs what it consists of. Behind the nodes stand groups, each of which needs all
    /// of its primitives.
    needs: Vec<Vec<usize>>,
}

/// What there is to say about a primitive.
struct Found<'a> {
    /// All but what it needs, which is clear when there are no circles.
    links: Links,
    /// What it needs.
    meanings: BTreeSet<Meaning<'a>>,
    /// What is odd about it.
    odd: BTreeSet<String>,
}

impl<'a> Graph<'a> {
    fn new(tree: &'a Tree, origins: &'a Origins) -> Self {
        let meanings = Meanings::of(tree, origins);
        let children = |node: &Node| {
            if node.is_template { node.children.clone().collect() } else { Vec::new() }
        };
        let mut needs: Vec<Vec<usize>> = tree.nodes.iter().map(children).collect();
        needs.extend(meanings.groups.iter().cloned());
        Self { tree, meanings, needs }
    }

    /// Adds what a primitive needs.
    fn add(&mut self, at: usize, spend: &mut Spend<'_>) -> Result<Found<'a>, Problem> {
        let node = &self.tree.nodes[at];
        let mut found =
            Found { links: Links::default(), meanings: BTreeSet::new(), odd: BTreeSet::new() };
        let mut references = References::new(spend);
        for key in ["name", "type", "metadata", "properties"] {
            let Some(value) = node.resource.get(key) else { continue };
            let holder = (key == "properties").then_some(Holder::Properties(at));
            self.meanings.references(value, node.parent, holder, &mut references)?;
        }
        for (text, meant) in references.by_text {
            found.links.references.push(self.meanings.link(text, &meant));
            for meaning in meant.meanings {
                match meaning {
                    Meaning::Node(other) if self.tree.nodes[other].is_template => {
                        let message = "refers to a template, of which there are no outputs";
                        found.odd.insert(format!("{} {message}", shown(text)));
                    }
                    Meaning::Nobody => _ = found.odd.insert(unknown(text)),
                    meaning => _ = found.meanings.insert(meaning),
                }
            }
        }
        let mut missing = BTreeSet::new();
        for name in depends_on(node) {
            match self.meanings.name(node.parent, "", name) {
                Meaning::Nobody => {
                    found.odd.insert(unknown(name));
                    missing.insert(name.to_owned());
                }
                meaning => _ = found.meanings.insert(meaning),
            }
        }
        found.links.missing.extend(missing);
        let nodes = self.tree.nodes.len();
        self.needs[at].extend(found.meanings.iter().filter_map(|meaning| match meaning {
            Meaning::Node(other) => Some(*other),
            Meaning::Group(group) => Some(nodes + group),
            Meaning::Deployment(_) | Meaning::Nobody | Meaning::Malformed => None,
        }));
        Ok(found)
    }

    /// Completes the links of the primitives, which come in the order of the document.
    fn resources(
        &self,
        found: Vec<(Links, BTreeSet<Meaning<'_>>)>,
        spend: &mut Spend<'_>,
    ) -> Result<Vec<Links>, Problem> {
        let complete = |(mut links, meanings): (Links, BTreeSet<_>)| {
            links.needs = self.meanings.positions(&meanings);
            spend(size_of_val(links.needs.as_slice()))?;
            Ok(links)
        };
        found.into_iter().map(complete).collect()
    }

    /// The references in the outputs of a node.
    fn outputs(&self, at: usize, spend: &mut Spend<'_>) -> Result<Vec<Link>, Problem> {
        let mut references = References::new(spend);
        for (number, output) in self.tree.nodes[at].outputs.iter().enumerate() {
            let holder = Some(Holder::Output(at, number));
            self.meanings.references(&output.value, at, holder, &mut references)?;
        }
        let link = |(text, meant): (&&str, &_)| self.meanings.link(text, meant);
        Ok(references.by_text.iter().map(link).collect())
    }

    /// The references in the outputs of templates, which come in this order.
    fn layout(&self, order: &[usize], spend: &mut Spend<'_>) -> Result<Vec<LayoutLinks>, Problem> {
        let mut all = Vec::new();
        for &at in order.iter().filter(|&&at| at != ROOT) {
            let references = self.outputs(at, spend)?;
            if !references.is_empty() {
                all.push(LayoutLinks { place: self.tree.steps(at), references });
            }
        }
        Ok(all)
    }

    fn problem(&self, circle: &[usize]) -> Problem {
        let is_primitive =
            |at: &&usize| self.tree.nodes.get(**at).is_some_and(|node| !node.is_template);
        let members: Vec<usize> = circle.iter().filter(is_primitive).copied().collect();
        let name = |&at: &usize| shown(&self.tree.nodes[at].name()).into_owned();
        let mut way: Vec<String> = members.iter().take(NAMED).map(name).collect();
        if members.len() > NAMED {
            way.push("…".to_owned());
        }
        way.extend(members.first().map(name));
        let message = format!("Resources need each other in a circle: {}", way.join(" -> "));
        let first = members.first().copied().unwrap_or(ROOT);
        let node = &self.tree.nodes[first];
        let problem = Problem::new(Cause::Reference, message).in_file(self.tree.file(node.parent));
        Problem { line: node.line, ..problem.at(self.tree.place(first)) }
    }
}

fn unknown(what: &str) -> String {
    format!("{} refers to a resource that is not there", shown(what))
}

/// The names in `metadata.dependsOn`.
fn depends_on(node: &Node) -> impl Iterator<Item = &str> {
    let metadata = node.resource.get("metadata");
    let names = metadata.and_then(|it| it.get("dependsOn")).and_then(Value::as_list);
    names.unwrap_or_default().iter().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests;
