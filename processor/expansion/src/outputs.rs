//! Outputs: what templates say to others, and the references to it.
//!
//! When all templates are rendered, every reference to a template that has outputs is replaced by what it stands for: in
//! outputs, in whatever order they were declared, and in the properties of primitives. References to anything else stay as
//! they are; they are about what a resource becomes when it is created. What comes in is not searched again, and what it
//! refers to is remembered.

use std::collections::{BTreeMap, BTreeSet};

use crate::circle;
use crate::error::{Cause, Failure, Problem, shown};
use crate::expanded::Output;
use crate::origins::{Holder, Origins};
use crate::references::path::{self, Missing, Step};
use crate::references::{Malformed, Reference, each_text, references, replace, texts};
use crate::scope::Scopes;
use crate::tree::{ROOT, Tree};
use crate::value::{Map, Value};

/// How many lists and maps may stand in one another, as in what is read.
const NESTING: usize = 100;

/// Replaces all references to outputs, and says where those were written that came in so. `spend` is told how many bytes
/// come in, before they do.
///
/// # Errors
/// When a reference is malformed or leads nowhere, when outputs need each other, or when `spend` has had enough.
pub(crate) fn resolve(
    tree: &mut Tree,
    spend: &mut dyn FnMut(usize) -> Result<(), Problem>,
) -> Result<Origins, Failure> {
    let scopes = Scopes::of(tree);
    let nodes = tree.nodes.iter().enumerate().filter(|(_, node)| !node.outputs.is_empty());
    let names = nodes.map(|(node, it)| {
        let names = it.outputs.iter().enumerate().map(|(at, output)| (output.name.clone(), at));
        (node, names.collect())
    });
    let names = names.collect();
    let (origins, sizes) = (Origins::default(), BTreeMap::new());
    let mut resolver = Resolver { tree, scopes, names, origins, spend, sizes };
    for (node, at) in resolver.order()? {
        resolver.output(node, at)?;
    }
    resolver.properties()?;
    Ok(resolver.origins)
}

struct Resolver<'a> {
    tree: &'a mut Tree,
    scopes: Scopes,
    /// For each node with outputs the position of each by name. Of equal names the last one counts, as in a dictionary.
    names: BTreeMap<usize, BTreeMap<String, usize>>,
    origins: Origins,
    spend: &'a mut dyn FnMut(usize) -> Result<(), Problem>,
    /// How many bytes the outputs of a template have together, once they are final.
    sizes: BTreeMap<usize, usize>,
}

/// Why a text cannot be resolved.
enum Wrong {
    Malformed(Malformed),
    Missing(Missing, String),
    Spent(Problem),
}

impl From<Malformed> for Wrong {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl Resolver<'_> {
    /// The outputs, node and position, in an order in which each comes after those that it needs.
    fn order(&self) -> Result<Vec<(usize, usize)>, Failure> {
        let nodes = self.tree.nodes.iter().enumerate();
        let mut all = Vec::new();
        // Where those of a node begin. Behind them stands one for all of them, so that a reference to them all is one need.
        let mut first = BTreeMap::new();
        let mut needs = Vec::new();
        for (node, it) in nodes.filter(|(_, node)| !node.outputs.is_empty()) {
            first.insert(node, all.len());
            all.extend((0..=it.outputs.len()).map(|at| (node, at)));
        }
        for &(node, at) in &all {
            needs.push(match self.tree.nodes[node].outputs.get(at) {
                Some(output) => self.needs(node, output, &first),
                None => (first[&node]..first[&node] + at).collect(),
            });
        }
        let order = circle::order(&needs).map_err(|circles| {
            let problems = circles.iter().map(|circle| self.circle(circle, &all)).collect();
            Failure::unless_empty(problems).expect_err("there are circles")
        })?;
        let is_output = |&(node, at): &(usize, usize)| at < self.tree.nodes[node].outputs.len();
        Ok(order.into_iter().map(|id| all[id]).filter(is_output).collect())
    }

    /// What has to be final before an output of `node` is.
    fn needs(&self, node: usize, output: &Output, first: &BTreeMap<usize, usize>) -> Vec<usize> {
        let mut needs = Vec::new();
        texts(&output.value, &mut |text| {
            for reference in references(text).unwrap_or_default() {
                let Some(other) = self.bind(node, &reference) else { continue };
                match one(&reference) {
                    Some((name, _)) => {
                        needs.extend(self.named(other, name).map(|at| first[&other] + at));
                    }
                    None => needs.push(first[&other] + self.tree.nodes[other].outputs.len()),
                }
            }
        });
        needs
    }

    fn circle(&self, circle: &[usize], all: &[(usize, usize)]) -> Problem {
        let name = |&id: &usize| {
            let (node, at) = all[id];
            let output = self.tree.nodes[node].outputs.get(at)?;
            let resource = self.tree.nodes[node].name();
            Some(format!("{}.{}", shown(&resource), shown(&output.name)))
        };
        let mut way: Vec<String> = circle.iter().filter_map(name).collect();
        way.extend(way.first().cloned());
        let message = format!("Outputs need each other in a circle: {}", way.join(" -> "));
        let node = circle.first().map_or(ROOT, |&id| all[id].0);
        Problem::new(Cause::Reference, message).at(self.tree.place(node))
    }

    /// The template with outputs that a reference in the list of `scope` means.
    fn bind(&self, scope: usize, reference: &Reference<'_>) -> Option<usize> {
        self.scopes
            .bind(self.tree, scope, reference.text, reference.name)
            .filter(|node| self.names.contains_key(node))
    }

    /// Makes one output final. Those that it needs are.
    fn output(&mut self, node: usize, at: usize) -> Result<(), Failure> {
        let mut value = std::mem::take(&mut self.tree.nodes[node].outputs[at].value);
        let mut path = format!("outputs[{at}].value");
        let problems = self.replace(Holder::Output(node, at), &mut value, &mut path);
        self.tree.nodes[node].outputs[at].value = value;
        let file = self.tree.file(node).to_owned();
        let place = self.tree.place(node);
        let placed = |problem: Problem| problem.at(place.clone()).in_file(file.clone());
        Failure::unless_empty(problems.into_iter().map(placed).collect())
    }

    /// Replaces references in the properties of all primitives.
    fn properties(&mut self) -> Result<(), Failure> {
        let mut all = Vec::new();
        for at in 1..self.tree.nodes.len() {
            let node = &mut self.tree.nodes[at];
            let scope = node.parent;
            if node.is_template {
                continue;
            }
            let Some(mut properties) = node.resource.get_mut("properties").map(std::mem::take)
            else {
                continue;
            };
            let mut path = "properties".to_owned();
            let problems = self.replace(Holder::Properties(at), &mut properties, &mut path);
            self.tree.nodes[at].resource.insert("properties".to_owned(), properties);
            let (file, place) = (self.tree.file(scope), self.tree.place(at));
            let line = self.tree.nodes[at].line;
            let placed = |problem: Problem| {
                let problem = problem.at(place.clone()).in_file(file);
                Problem { line, ..problem }
            };
            all.extend(problems.into_iter().map(placed));
            if all.iter().any(|problem| problem.cause == Cause::Limit) {
                break;
            }
        }
        Failure::unless_empty(all)
    }

    /// Replaces references in a value that stands there.
    fn replace(&mut self, holder: Holder, value: &mut Value, path: &mut String) -> Vec<Problem> {
        let scope = holder.scope(self.tree);
        let (mut problems, mut changed, mut stayed) = (Vec::new(), false, BTreeSet::new());
        each_text(value, path, &mut |value, path| {
            let text = value.as_str().unwrap_or_default();
            let resolve = |reference: &Reference<'_>| {
                let value = self.value(holder, scope, reference)?;
                // Nothing can be brought where nobody has outputs.
                if value.is_none() && !self.names.is_empty() {
                    stayed.insert(reference.text.to_owned());
                }
                Ok(value)
            };
            match replace(text, resolve) {
                Ok(None) => {}
                Ok(Some(new)) => {
                    *value = new;
                    changed = true;
                }
                Err(wrong) => problems.push(problem(wrong, path)),
            }
        });
        self.origins.stay(holder, scope, &stayed);
        if changed && nesting(value) > NESTING {
            let message = format!("Outputs make more than {NESTING} lists and maps in one another");
            problems.push(problem(Wrong::Spent(Problem::new(Cause::Limit, message)), path));
        }
        problems
    }

    /// The output of a node that has this name.
    fn named(&self, node: usize, name: &str) -> Option<usize> {
        self.names.get(&node)?.get(name).copied()
    }

    /// What a reference stands for that stands in the list of `scope`, when it means a template with outputs.
    fn value(
        &mut self,
        holder: Holder,
        scope: usize,
        reference: &Reference<'_>,
    ) -> Result<Option<Value>, Wrong> {
        let Some(node) = self.bind(scope, reference) else { return Ok(None) };
        let missing = |missing| Wrong::Missing(missing, reference.text.to_owned());
        let outputs = &self.tree.nodes[node].outputs;
        if let Some((name, rest)) = one(reference) {
            let at = self.named(node, name).ok_or_else(|| missing(Missing::Value))?;
            (self.spend)(outputs[at].value.size()).map_err(Wrong::Spent)?;
            let found = path::find(&outputs[at].value, &rest).map_err(missing)?;
            self.carry(&found, (node, at), holder).map_err(Wrong::Spent)?;
            return Ok(Some(found));
        }
        // The size of all is counted whatever the path takes of it, which is enough to bound it.
        let size = outputs.iter().map(|output| output.name.len() + output.value.size());
        let size = *self.sizes.entry(node).or_insert_with(|| size.sum());
        (self.spend)(size).map_err(Wrong::Spent)?;
        let entries = outputs.iter().map(|output| (output.name.clone(), output.value.clone()));
        let whole: Map = entries.collect();
        for (name, value) in &whole {
            let at = self.named(node, name).unwrap_or_default();
            self.carry(value, (node, at), holder).map_err(Wrong::Spent)?;
        }
        let steps = reference.path.map_or(Some(Vec::new()), path::parse);
        let steps = steps.ok_or_else(|| missing(Missing::Value))?;
        path::find(&Value::Map(whole), &steps).map(Some).map_err(missing)
    }

    /// Remembers what the value of an output refers to, which comes there.
    fn carry(&mut self, value: &Value, from: (usize, usize), to: Holder) -> Result<(), Problem> {
        let mut result = Ok(());
        texts(value, &mut |text| {
            for reference in references(text).unwrap_or_default() {
                if result.is_ok() {
                    result = (self.spend)(self.origins.carry(reference.text, from, to));
                }
            }
        });
        result
    }
}

/// The first step of a reference into outputs, where that is a name, and the steps behind it.
fn one<'a>(reference: &Reference<'a>) -> Option<(&'a str, Vec<Step<'a>>)> {
    let steps = path::parse(reference.path?)?;
    match steps.split_first() {
        Some((Step::Member(name), rest)) => Some((name, rest.to_vec())),
        _ => None,
    }
}

fn nesting(value: &Value) -> usize {
    match value {
        Value::List(items) => 1 + items.iter().map(nesting).max().unwrap_or_default(),
        Value::Map(map) => 1 + map.values().map(nesting).max().unwrap_or_default(),
        _ => 0,
    }
}

fn problem(wrong: Wrong, path: &str) -> Problem {
    let mut problem = match wrong {
        Wrong::Malformed(malformed) => {
            Problem::new(Cause::Reference, shown(&malformed.to_string()).to_string())
        }
        Wrong::Missing(missing, text) => {
            Problem::new(Cause::Reference, format!("{missing} Reference: {}", shown(&text)))
        }
        Wrong::Spent(problem) => problem,
    };
    problem.path = Some(path.to_owned());
    problem
}

#[cfg(test)]
mod tests;
