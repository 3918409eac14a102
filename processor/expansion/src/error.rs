//! What can be wrong with an expansion, and where.
//!
//! A [`Problem`] is said once, in words that hold for the API, the command line and logs. What Deployment Manager's
//! service would have printed instead is made of it by [`Failure::deployment_manager`].

mod original;
mod place;
mod shown;

use std::fmt;

pub use self::place::Place;
pub use self::shown::printable;
pub(crate) use self::shown::{QUOTED, shown};
use crate::call::Frame;

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
    /// What Deployment Manager made of it.
    pub original: Original,
}

/// The words of Deployment Manager, where they are not those of the message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Original {
    /// The line of this problem.
    pub line: Option<String>,
    /// What stands behind `Resource:`; without it the problem is one of the configuration as a whole.
    pub resource: Option<String>,
}

impl Problem {
    /// A problem of which no more is known yet.
    pub fn new(cause: Cause, message: impl Into<String>) -> Self {
        Self {
            cause,
            message: message.into(),
            place: Place::default(),
            file: None,
            line: None,
            path: None,
            trace: Vec::new(),
            hint: None,
            original: Original::default(),
        }
    }

    /// The same at this place.
    #[must_use]
    pub fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// The same in this file.
    #[must_use]
    pub fn in_file(self, file: impl Into<String>) -> Self {
        Self { file: Some(file.into()), ..self }
    }

    /// The same, about what Deployment Manager called the resource: its name, its type, or all of it.
    #[must_use]
    pub(crate) fn about(mut self, resource: impl Into<String>) -> Self {
        self.original.resource = Some(resource.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}:{line}: ", shown(file))?,
            (Some(file), None) => write!(f, "{}: ", shown(file))?,
            (None, _) => {}
        }
        if let Some(path) = &self.path {
            write!(f, "{}: ", shown(path))?;
        }
        write!(f, "{} (in {})", self.message, self.place)
    }
}

/// Problems as they are found: those that a failure names, and how many more there are. Each has the names of all that it
/// stands in, so that ten thousand are nothing to collect first and to cut then.
#[derive(Debug, Default)]
pub(crate) struct Found {
    problems: Vec<Problem>,
    more: usize,
    used_up: bool,
}

impl Found {
    /// Adds some, in document order.
    pub(crate) fn extend(&mut self, problems: Vec<Problem>) {
        self.used_up = problems.last().is_some_and(|last| last.cause == Cause::Limit);
        for problem in problems {
            if self.problems.len() < NAMED {
                self.problems.push(problem);
            } else {
                self.more += 1;
            }
        }
    }

    /// Whether the last problem is one of a budget. Whatever comes then has it, too.
    pub(crate) fn is_used_up(&self) -> bool {
        self.used_up
    }

    /// A failure of them, unless there are none.
    pub(crate) fn end(mut self) -> Result<(), Failure> {
        if self.problems.is_empty() {
            return Ok(());
        }
        if self.more > 0 {
            let message = format!("{} more problems", self.more);
            self.problems.push(Problem::new(Cause::Limit, message));
        }
        Err(Failure { problems: self.problems })
    }
}

/// Why an expansion failed: at least one problem, in document order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Failure {
    /// All that was found at the stage where it stopped.
    pub problems: Vec<Problem>,
}

/// How many problems a failure names. Ten thousand resources may be wrong in the same way.
pub(crate) const NAMED: usize = 100;

impl Failure {
    /// A failure of these problems, unless there are none; the first hundred are named and the rest counted.
    pub(crate) fn unless_empty(problems: Vec<Problem>) -> Result<(), Self> {
        let mut found = Found::default();
        found.extend(problems);
        found.end()
    }

    /// The error text of Deployment Manager's service: the first problem, with `Resource:` and what it is about behind
    /// it; all violations of one schema are one text. Without the prefix that the service's process put before it.
    pub fn deployment_manager(&self) -> String {
        original::text(&self.problems)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_file_line_path_and_place() {
        let place = Place { steps: vec![("rs".into(), Some("rs.py".into())), ("rc".into(), None)] };
        let mut problem = Problem::new(Cause::Properties, "1 is not of type 'string'").at(place);
        assert_eq!(problem.to_string(), "1 is not of type 'string' (in config > rs (rs.py) > rc)");
        problem.file = Some("rs.py".into());
        problem.path = Some("properties.port".into());
        assert_eq!(
            problem.to_string(),
            "rs.py: properties.port: 1 is not of type 'string' (in config > rs (rs.py) > rc)"
        );
        problem.line = Some(3);
        assert!(problem.to_string().starts_with("rs.py:3: properties.port: "));
    }

    #[test]
    fn more_than_a_hundred_problems_are_counted() {
        let problems = vec![Problem::new(Cause::Duplicate, "x"); 102];
        let failure = Failure::unless_empty(problems).unwrap_err();
        assert_eq!(failure.problems.len(), 101);
        assert_eq!(failure.problems[100].message, "2 more problems");
        assert_eq!(Failure::unless_empty(Vec::new()), Ok(()));
    }
}
