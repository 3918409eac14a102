//! The schemas of an expansion: found beside their templates, read once, held against every resource.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::call::Imports;
use crate::error::{Cause, Problem};
use crate::schema::{Schema, Segment, Violation, WORK};
use crate::tree::Node;
use crate::value::{Map, Value};

/// Schemas by the name of their template.
#[derive(Debug)]
pub(super) struct Schemas {
    /// `None` says nothing: it is empty, or it is invalid and whoever came first was told.
    read: BTreeMap<String, Option<Schema>>,
    /// Steps that validation may still take.
    work: u64,
}

impl Default for Schemas {
    fn default() -> Self {
        Self { read: BTreeMap::new(), work: WORK }
    }
}

impl Schemas {
    /// Holds the properties of a template against its schema, if it has one, and fills in defaults.
    ///
    /// Returns how many bytes of JSON the properties have then.
    pub(super) fn apply(
        &mut self,
        node: &mut Node,
        imports: &Imports,
    ) -> Result<usize, Vec<Problem>> {
        let file = format!("{}.schema", node.kind());
        let Some(import) = imports.get(&file) else { return Ok(0) };
        let name = node.name();
        let all = |cause, violations: Vec<Violation>| -> Vec<_> {
            violations.into_iter().map(|it| problem(cause, it, &file, &name)).collect()
        };
        if !self.read.contains_key(&file) {
            let read = Schema::read(&file, &import.content);
            let known = self.read.entry(file.clone()).or_default();
            *known = read.map_err(|violations| all(Cause::Schema, violations))?;
            let warnings = known.iter().flat_map(Schema::warnings);
            node.warnings.extend(warnings.map(|warning| format!("{file}: {warning}")));
        }
        // What is absent or null is empty to a schema, and shown so in the layout.
        let mut properties = match node.resource.swap_remove("properties") {
            None | Some(Value::Null) => Value::Map(Map::new()),
            Some(properties) => properties,
        };
        if let Some(Some(schema)) = self.read.get(&file) {
            properties = schema
                .validate(properties, imports, &mut self.work)
                .map_err(|violations| all(Cause::Properties, violations))?;
        }
        let size = properties.size();
        node.resource.insert("properties".to_owned(), properties);
        Ok(size)
    }
}

fn problem(cause: Cause, violation: Violation, file: &str, resource: &str) -> Problem {
    let Violation { message, path } = violation;
    let mut problem = Problem::new(cause, message).about(resource);
    if cause == Cause::Properties {
        problem.path = Some(dotted("properties", &path));
    } else {
        problem.file = Some(file.to_owned());
        problem.path = (!path.is_empty()).then(|| dotted("", &path));
    }
    if !path.is_empty() {
        problem.original.line = Some(format!("{} at {}", problem.message, python(&path)));
    }
    problem
}

/// A path as `properties.ports[0].name`.
fn dotted(root: &str, path: &[Segment]) -> String {
    let mut text = root.to_owned();
    for segment in path {
        let _ = match segment {
            Segment::Key(key) if text.is_empty() => write!(text, "{key}"),
            Segment::Key(key) => write!(text, ".{key}"),
            Segment::Index(at) => write!(text, "[{at}]"),
        };
    }
    text
}

/// A path as Python prints a list: `['ports', 0, 'name']`.
fn python(path: &[Segment]) -> String {
    let item = |segment: &Segment| match segment {
        Segment::Key(key) => Value::from(key.as_str()),
        Segment::Index(at) => Value::Number((*at).into()),
    };
    Value::List(path.iter().map(item).collect()).repr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_says_where_it_is_in_two_ways() {
        let path = vec![Segment::Key("ports".into()), Segment::Index(0), Segment::Key("x".into())];
        let violation = Violation { message: "1 is not of type 'string'".into(), path };
        let found = problem(Cause::Properties, violation.clone(), "t.py.schema", "a");
        assert_eq!(found.path.as_deref(), Some("properties.ports[0].x"));
        let line = "1 is not of type 'string' at ['ports', 0, 'x']";
        assert_eq!(found.original.line.as_deref(), Some(line));
        let found = problem(Cause::Schema, violation, "t.py.schema", "a");
        assert_eq!(found.path.as_deref(), Some("ports[0].x"));
    }

    #[test]
    fn a_violation_of_the_whole_is_one_of_the_properties() {
        let violation =
            Violation { message: "'z' is a required property".into(), path: Vec::new() };
        let found = problem(Cause::Properties, violation, "t.py.schema", "a");
        assert_eq!(found.path.as_deref(), Some("properties"));
        assert_eq!(found.original.line, None);
    }
}
