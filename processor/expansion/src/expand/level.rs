//! One level of the tree: which of its resources are templates, what they are called with, what came of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::contents::Contents;
use super::heard::Heard;
use super::rendered::{self, Given};
use super::resource::{self, Type};
use super::{Expansion, Stage};
use crate::call::{Call, Imports, Language, Outcome};
use crate::error::{Cause, Failure, Found, Problem, shown};
use crate::graph::Linked;
use crate::origins::Origins;
use crate::tree::Tree;
use crate::value::Value;
use crate::{graph, layout, outputs};

/// How many calls are made at once. Each has a copy of `env`, of which ten thousand would be gigabytes, and more than
/// these nobody renders beside each other.
const CALLS: usize = 256;

impl Expansion {
    /// Asks for the types that may be found elsewhere, if there are any, and goes on otherwise.
    pub(super) fn look_for_imports(&mut self, new: Vec<usize>) -> Result<(), Failure> {
        let is_wanted = |&&at: &&usize| {
            matches!(Type::of(&self.tree.nodes[at], &self.imports), Ok(Type::Wanted))
        };
        let name = |&at: &usize| self.tree.nodes[at].kind().to_owned();
        let wanted: BTreeSet<_> = new.iter().filter(is_wanted).map(name).collect();
        if wanted.is_empty() {
            return self.prepare(&new);
        }
        self.budget.round()?;
        self.stage = Stage::Importing { new, wanted, brought: None };
        Ok(())
    }

    /// Adds files that were brought. What was there before stays as it was: nothing that is fetched changes what another
    /// template means.
    pub(super) fn take_imports(&mut self, brought: Imports) -> Result<(), Failure> {
        let mut problems = Vec::new();
        let imports = Arc::make_mut(&mut self.imports);
        for (name, import) in brought {
            if let Some(known) = imports.get(&name) {
                if known.content != import.content {
                    let message = format!("Import '{}' stands for two files.", shown(&name));
                    problems.push(Problem::new(Cause::Import, message).in_file(name));
                }
                continue;
            }
            self.budget.import(import.content.len())?;
            imports.insert(name, import);
        }
        Failure::unless_empty(problems)
    }

    /// Settles which of the new resources are templates, and with which properties they are rendered.
    pub(super) fn prepare(&mut self, new: &[usize]) -> Result<(), Failure> {
        let (mut templates, mut problems) = (Vec::new(), Found::default());
        for &at in new {
            match self.template(at) {
                Ok(Some(language)) => templates.push((at, language)),
                Ok(None) => {}
                Err(found) => problems.extend(self.placed(at, found)),
            }
            if problems.is_used_up() {
                break;
            }
        }
        problems.end()?;
        self.stage = if templates.is_empty() {
            Stage::Over(self.result())
        } else {
            Stage::Rendering { templates, answers: BTreeMap::new(), heard: Heard::default() }
        };
        Ok(())
    }

    /// The language of a template, its properties checked; `None` for a primitive.
    fn template(&mut self, at: usize) -> Result<Option<Language>, Vec<Problem>> {
        let one = |problem: Problem| vec![problem];
        let node = &mut self.tree.nodes[at];
        let language = match Type::of(node, &self.imports).map_err(one)? {
            Type::Template(language) => language,
            Type::Primitive => return self.budget.resource().map(|()| None).map_err(one),
            // It was asked for, and nobody brought it.
            Type::Wanted => return Err(one(resource::missing(node.kind()))),
        };
        node.is_template = true;
        let about = |problem: Problem| one(problem.about(node.kind()));
        self.budget.call().map_err(about)?;
        self.budget.depth(node.depth + 1).map_err(about)?;
        if self.validate_schemas {
            let size = self.schemas.apply(node, &self.imports)?;
            self.budget.output(size).map_err(one)?;
        }
        Ok(Some(language))
    }

    /// The first calls of this level that are not answered yet.
    pub(super) fn calls(&self) -> Vec<Call> {
        let Stage::Rendering { templates, answers, .. } = &self.stage else { return Vec::new() };
        let open = templates.iter().filter(|&&(at, _)| !answers.contains_key(&(at as u64)));
        open.take(CALLS).map(|&(at, language)| self.call(at, language)).collect()
    }

    /// What the template of a node is called with. `env` is its own: what it does to it, nobody else sees.
    fn call(&self, at: usize, language: Language) -> Call {
        let node = &self.tree.nodes[at];
        let mut env = self.env.clone();
        for key in ["name", "type"] {
            env.insert(key.to_owned(), node.resource.get(key).cloned().unwrap_or_default());
        }
        let (template, resource) = (node.kind().to_owned(), node.resource.clone());
        Call { id: at as u64, language, template, resource, env, imports: self.imports.clone() }
    }

    /// Makes the next level of what the templates gave.
    pub(super) fn grow(
        &mut self,
        templates: &[(usize, Language)],
        mut answers: BTreeMap<u64, Outcome>,
    ) -> Result<(), Failure> {
        let (mut new, mut problems) = (Vec::new(), Found::default());
        for &(at, _) in templates {
            let outcome = answers.remove(&(at as u64)).expect("the level is complete");
            match self.given(at, outcome) {
                Ok(children) => new.extend(children),
                Err(found) => problems.extend(self.placed(at, found)),
            }
            if problems.is_used_up() {
                break;
            }
        }
        problems.end()?;
        self.stage = Stage::New(new);
        Ok(())
    }

    /// Takes what one template gave.
    fn given(&mut self, at: usize, outcome: Outcome) -> Result<Range<usize>, Vec<Problem>> {
        let name = self.tree.nodes[at].kind().to_owned();
        let Given { contents, properties, warnings } =
            rendered::take(&name, outcome, &mut self.budget)?;
        self.tree.nodes[at].warnings.extend(warnings);
        if let Some(properties) = properties {
            self.leave(at, properties).map_err(|problem| vec![problem])?;
        }
        self.append(at, contents)
    }

    /// Keeps what Python made of its properties, for the layout.
    fn leave(&mut self, at: usize, properties: Value) -> Result<(), Problem> {
        self.budget.output(properties.size())?;
        self.tree.nodes[at].resource.insert("properties".to_owned(), properties);
        Ok(())
    }

    /// Appends what the configuration or a template consists of.
    pub(super) fn append(
        &mut self,
        parent: usize,
        contents: Contents,
    ) -> Result<Range<usize>, Vec<Problem>> {
        let Contents { resources, lines, outputs } = contents;
        let resources = resource::resources(resources, &lines, self.tree.file(parent))?;
        if self.outputs {
            self.tree.nodes[parent].outputs = outputs;
        }
        let children = self.tree.append(parent, resources);
        for (node, line) in self.tree.nodes[children.clone()].iter_mut().zip(lines) {
            node.line = Some(line);
        }
        Ok(children)
    }

    /// Problems at the place of a node. Where they say no file, they are in the one whose list it stands in.
    pub(super) fn placed(&self, at: usize, problems: Vec<Problem>) -> Vec<Problem> {
        let file = self.tree.file(self.tree.nodes[at].parent);
        let line = self.tree.nodes[at].line;
        let placed = |mut problem: Problem| {
            if problem.file.is_none() {
                problem = Problem { line: problem.line.or(line), ..problem.in_file(file) };
            }
            problem.at(self.tree.place(at))
        };
        problems.into_iter().map(placed).collect()
    }

    /// The result of a tree that is complete.
    fn result(&mut self) -> Result<crate::expanded::Expanded, Failure> {
        let (tree, budget) = (&mut self.tree, &mut self.budget);
        let mut origins = Origins::default();
        if self.outputs {
            origins = outputs::resolve(tree, &mut |bytes| budget.output(bytes))?;
        }
        let Linked { resources, outputs, layout } =
            graph::link(tree, &origins, &mut |bytes| budget.links(bytes))?;
        let mut expanded = layout::expanded(std::mem::replace(&mut self.tree, Tree::new()));
        (expanded.links, expanded.output_links, expanded.layout_links) =
            (resources, outputs, layout);
        let size: usize = expanded.resources.iter().map(Value::size).sum();
        let limit = self.budget.limits.output;
        if size > limit {
            let message = format!("The result has more than {limit} bytes (limit: output)");
            return Err(Problem::new(Cause::Limit, message).into());
        }
        Ok(expanded)
    }
}
