//! What can be wrong with an expansion, and where.

use std::fmt;

use crate::call::Frame;

/// The way from the configuration to a resource, as `config > rs (replicatedservice.py) > rs-rc`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Name and type of the resources on the way, outermost first; a type only where it is a template.
    pub steps: Vec<(String, Option<String>)>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("config")?;
        for (name, template) in &self.steps {
            write!(f, " > {name}")?;
            if let Some(template) = template {
                write!(f, " ({template})")?;
            }
        }
        Ok(())
    }
}

/// What kind of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The configuration, an import or what a template gave is not YAML, or not of the shape that is needed.
    Configuration,
    /// A template failed.
    Template,
    /// A schema is not valid.
    Schema,
    /// Properties do not satisfy their schema.
    Properties,
    /// A name stands twice.
    Duplicate,
    /// A reference is malformed, leads nowhere or into a circle.
    Reference,
    /// A file is needed and not there.
    Import,
    /// A budget of [`Limits`](crate::Limits) is used up.
    Limit,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its kind.
    pub cause: Cause,
    /// One sentence, in Deployment Manager's words where it has them. Never names a path of the machine.
    pub message: String,
    /// Where in the hierarchy.
    pub place: Place,
    /// The file, by the name it was imported under; the configuration itself is `config`.
    pub file: Option<String>,
    /// Line in that file, from 1.
    pub line: Option<u32>,
    /// Path inside the properties, outputs or schema, such as `properties.ports[0].name`.
    pub path: Option<String>,
    /// How a template came there, outermost first.
    pub trace: Vec<Frame>,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            (None, _) => {}
        }
        if let Some(path) = &self.path {
            write!(f, "{path}: ")?;
        }
        write!(f, "{} (in {})", self.message, self.place)
    }
}

/// Why an expansion failed: at least one problem, in document order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Failure {
    /// All that was found at the stage where it stopped.
    pub problems: Vec<Problem>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.problems.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}

/// Something odd that is no error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// One sentence.
    pub message: String,
    /// Where.
    pub place: Place,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (in {})", self.message, self.place)
    }
}
