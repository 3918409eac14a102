//! The recursion: from a configuration to resources and their layout, one step at a time.

use std::sync::Arc;

use crate::call::{Call, Imports, Outcome};
use crate::error::{Failure, Warning};
use crate::limits::Limits;
use crate::value::{Map, Value};

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
    /// These templates rendered, in any order or at once: none depends on another.
    Render(Vec<Call>),
    /// Nothing: here is the result.
    Done(Expanded),
}

/// The result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expanded {
    /// The primitive resources, flat, in order.
    pub resources: Vec<Value>,
    /// The tree they came from: `name`, `type`, `properties` and `resources` and `outputs` where there are any.
    pub layout: Vec<Value>,
    /// The outputs of the configuration itself.
    pub outputs: Vec<Output>,
    /// What is odd.
    pub warnings: Vec<Warning>,
}

/// An output.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its value, of whatever type.
    pub value: Value,
}

/// An expansion under way.
#[derive(Debug)]
pub struct Expansion {
    imports: Arc<Imports>,
}

impl Expansion {
    /// Reads the configuration.
    ///
    /// # Errors
    /// When it is not one.
    pub fn new(input: Input) -> Result<Self, Failure> {
        Ok(Self { imports: Arc::new(input.imports) })
    }

    /// Goes on as far as possible and says what is lacking. Until that is answered, it says the same again.
    ///
    /// # Errors
    /// When the configuration, a template or a schema is at fault. The expansion is over then.
    pub fn step(&mut self) -> Result<Step, Failure> {
        Ok(Step::Done(Expanded::default()))
    }

    /// Brings files that were wanted; a name that was wanted and is not among them fails the next step.
    pub fn import(&mut self, files: Imports) {
        Arc::make_mut(&mut self.imports).extend(files);
    }

    /// Brings what came of the call `id`.
    pub fn answer(&mut self, id: u64, outcome: Outcome) {
        let _ = (id, outcome);
    }
}
