//! The recursion: from a configuration to resources and their layout, one step at a time.
//!
//! The tree grows level by level. What a level's templates give is taken only when all of it is there, so that neither
//! the result nor a failure depends on which answer came first.

mod budget;
mod contents;
mod heard;
mod level;
mod rendered;
mod resource;
mod schemas;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::budget::Budget;
use self::contents::Contents;
use self::heard::{Heard, of_use};
use self::schemas::Schemas;
use crate::call::{Call, Imports, Language, Outcome};
use crate::configuration;
use crate::error::{Cause, Failure, Problem};
use crate::expanded::Expanded;
use crate::limits::Limits;
use crate::tree::{ROOT, Tree};
use crate::value::Map;

/// What an expansion begins with.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The configuration, as YAML text.
    pub configuration: String,
    /// Files by name.
    pub imports: Imports,
    /// `env` of every template: `deployment` and `project` at least; name and type are added for each resource.
    pub env: Map,
    /// How to go about it.
    pub options: Options,
}

/// How an expansion goes about it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether properties are held to their schemas and defaults filled in.
    pub validate_schemas: bool,
    /// Whether outputs are computed and references to them replaced.
    pub outputs: bool,
    /// Budgets.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self { validate_schemas: true, outputs: true, limits: Limits::default() }
    }
}

/// A file that is needed and not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The name under which it is needed: a URL, or a type of a registry.
    pub name: String,
}

/// What an expansion needs to go on.
#[derive(Clone, Debug)]
pub enum Step {
    /// These files, each with its schema and what the schema imports.
    Import(Vec<Wanted>),
    /// These templates rendered, in any order or at once: none depends on another. Of very many only some, since each
    /// carries its own `env`; the others follow.
    Render(Vec<Call>),
    /// Nothing: here is the result.
    Done(Expanded),
}

/// An expansion under way.
#[derive(Debug)]
pub struct Expansion {
    tree: Tree,
    imports: Arc<Imports>,
    env: Map,
    validate_schemas: bool,
    outputs: bool,
    budget: Budget,
    schemas: Schemas,
    stage: Stage,
}

/// How far an expansion is. Numbers are positions in the tree, in its order.
#[derive(Debug)]
enum Stage {
    /// There are new resources, and nobody looked at them yet.
    New(Vec<usize>),
    /// Among the new resources are types that may be found elsewhere.
    Importing { new: Vec<usize>, wanted: BTreeSet<String>, brought: Option<Imports> },
    /// Templates are to be rendered.
    Rendering { templates: Vec<(usize, Language)>, answers: BTreeMap<u64, Outcome>, heard: Heard },
    /// There is nothing more to do.
    Over(Result<Expanded, Failure>),
}

impl Expansion {
    /// Reads the configuration.
    ///
    /// # Errors
    /// When it is not one, or there is more of it than the limits allow.
    pub fn new(input: Input) -> Result<Self, Failure> {
        let Input { configuration, imports, env, options } = input;
        let Options { validate_schemas, outputs, limits } = options;
        let mut budget = Budget::new(limits);
        budget.input(configuration.len())?;
        for import in imports.values() {
            budget.import(import.content.len())?;
        }
        budget.env(env.iter().map(|(key, value)| key.len() + value.size()).sum())?;
        let document = configuration::read(&configuration).map_err(|unreadable| {
            let message = format!("Error parsing YAML: {}", unreadable.message);
            let mut problem = Problem::new(Cause::Configuration, message).in_file("config");
            problem.line = unreadable.line;
            let line = unreadable.line.map(|line| format!("\n  in template, line {line}"));
            problem.original.line = line.map(|line| problem.message.clone() + &line);
            problem
        })?;
        budget.output(document.size)?;
        let mut expansion = Self {
            tree: Tree::new(),
            imports: Arc::new(imports),
            env,
            validate_schemas,
            outputs,
            budget,
            schemas: Schemas::default(),
            stage: Stage::New(Vec::new()),
        };
        expansion.tree.nodes[ROOT].warnings.clone_from(&document.warnings);
        let new = Contents::of_configuration(document)
            .and_then(|contents| expansion.append(ROOT, contents))
            .map_err(|problems| Failure { problems: expansion.placed(ROOT, problems) })?;
        expansion.stage = Stage::New(new.collect());
        Ok(expansion)
    }

    /// Goes on as far as possible and says what is lacking. Until that is answered, it says the same again, less what
    /// was answered.
    ///
    /// # Errors
    /// When the configuration, a template or a schema is at fault. The expansion is over then.
    pub fn step(&mut self) -> Result<Step, Failure> {
        loop {
            match self.advance() {
                Ok(Some(step)) => return Ok(step),
                Ok(None) => {}
                Err(failure) => self.stage = Stage::Over(Err(failure)),
            }
            if let Stage::Over(Err(failure)) = &self.stage {
                return Err(failure.clone());
            }
        }
    }

    /// Brings files that were wanted; a name that was wanted and is not among them fails the next step. When nothing is
    /// wanted, nothing is taken.
    pub fn import(&mut self, files: Imports) {
        if let Stage::Importing { brought, .. } = &mut self.stage {
            brought.get_or_insert_default().extend(files);
        }
    }

    /// Brings what came of the call `id`. The first answer counts; one that nobody waits for is not taken.
    pub fn answer(&mut self, id: u64, outcome: Outcome) {
        let Stage::Rendering { templates, answers, heard } = &mut self.stage else { return };
        if answers.contains_key(&id) {
            return;
        }
        let found = templates.binary_search_by_key(&id, |&(at, _)| at as u64);
        if let Some(&(at, language)) = found.ok().and_then(|found| templates.get(found)) {
            let properties = self.tree.nodes[at].resource.get("properties");
            heard.take(id, of_use(outcome, language, properties), answers);
        }
    }

    /// Whether the answers so far exceed a budget, so that the next step fails and no further answer is of any use. What
    /// has been answered is kept in memory until its level is complete, so whoever renders much asks after each.
    pub fn is_exhausted(&self) -> bool {
        let Stage::Rendering { heard, .. } = &self.stage else { return false };
        self.budget.hears(heard).is_err()
    }

    /// Does what can be done with what is there.
    fn advance(&mut self) -> Result<Option<Step>, Failure> {
        match &mut self.stage {
            Stage::New(new) => {
                let new = std::mem::take(new);
                self.look_for_imports(new)?;
            }
            Stage::Importing { wanted, brought: None, .. } => {
                let wanted = wanted.iter().map(|name| Wanted { name: name.clone() }).collect();
                return Ok(Some(Step::Import(wanted)));
            }
            Stage::Importing { new, brought: Some(brought), .. } => {
                let (new, brought) = (std::mem::take(new), std::mem::take(brought));
                self.take_imports(brought)?;
                self.prepare(&new)?;
            }
            Stage::Rendering { templates, answers, heard } => {
                self.budget.hears(heard)?;
                if answers.len() < templates.len() {
                    return Ok(Some(Step::Render(self.calls())));
                }
                let (templates, answers) = (std::mem::take(templates), std::mem::take(answers));
                self.grow(&templates, answers)?;
            }
            Stage::Over(result) => {
                return result.clone().map(|expanded| Some(Step::Done(expanded)));
            }
        }
        Ok(None)
    }
}
