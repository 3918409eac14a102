//! What makes a mapping a resource, and a resource a template.

use std::collections::BTreeSet;

use super::contents::kind;
use crate::call::{Import, Imports, Language};
use crate::error::{Cause, Problem, shown};
use crate::imports::candidates;
use crate::tree::Node;
use crate::value::{Map, Value};

/// How many characters of a resource stand in Deployment Manager's messages about it.
const QUOTED: usize = 2_000;

/// Takes the items of `resources` in `list`, which is what messages call the configuration or the template. `lines` are
/// those of the items, as far as they are known.
pub(super) fn resources(
    items: Vec<Value>,
    lines: &[u32],
    list: &str,
) -> Result<Vec<Map>, Vec<Problem>> {
    let mut names = BTreeSet::new();
    let (mut resources, mut problems) = (Vec::with_capacity(items.len()), Vec::new());
    for (at, item) in items.into_iter().enumerate() {
        match resource(item, list, &mut names) {
            Ok(resource) => resources.push(resource),
            Err(problem) => {
                let (path, line) = (Some(format!("resources[{at}]")), lines.get(at).copied());
                problems.push(Problem { path, line, ..problem.in_file(list) });
            }
        }
    }
    if problems.is_empty() { Ok(resources) } else { Err(problems) }
}

fn resource(item: Value, list: &str, names: &mut BTreeSet<String>) -> Result<Map, Problem> {
    let wrong = |cause, message: String, item: &Value| {
        Err(Problem::new(cause, message)
            .about(item.repr().chars().take(QUOTED).collect::<String>()))
    };
    if item.as_map().is_none() {
        let message = format!("Resource is not a mapping, but {}", kind(&item));
        return Err(Problem::new(Cause::Configuration, message));
    }
    let Some(name) = item.get("name") else {
        return wrong(Cause::Configuration, "Resource does not have a name.".to_owned(), &item);
    };
    let Some(of_type) = item.get("type") else {
        let message = "Resource does not have type defined.".to_owned();
        return wrong(Cause::Configuration, message, &item);
    };
    for (field, value) in [("name", name), ("type", of_type)] {
        if matches!(value, Value::List(_) | Value::Map(_)) {
            let message = format!("Resource {field} is not text, but {}", kind(value));
            return wrong(Cause::Configuration, message, &item);
        }
    }
    // As JSON the text 5 and the number 5 are two names, as they were.
    if !names.insert(name.to_json()) {
        let name = name.as_str().map_or_else(|| name.repr(), str::to_owned);
        let message = format!("Resource name '{}' is not unique in {}.", shown(&name), shown(list));
        return wrong(Cause::Duplicate, message, &item);
    }
    let Value::Map(map) = item else { unreachable!("anything else was refused above") };
    Ok(map)
}

/// What the type of a resource says about it.
#[derive(Debug, PartialEq)]
pub(super) enum Type {
    /// It is what it is.
    Primitive,
    /// It is rendered by the import of that name.
    Template(Language),
    /// It is a template that may be found elsewhere, under this name.
    Wanted,
}

impl Type {
    /// A resource is a template if its type is the name of an import, whatever that looks like.
    pub(super) fn of(node: &Node, imports: &Imports) -> Result<Self, Problem> {
        let name = node.kind();
        if let Some(import) = imports.get(name) {
            return language(name, import).map(Self::Template);
        }
        if ["https://", "http://", "github.com/", "gs://"].iter().any(|it| name.starts_with(it)) {
            return Ok(Self::Wanted);
        }
        // Deployment Manager took these for primitives, which failed when they were to be created.
        if name.ends_with(".jinja") || name.ends_with(".py") {
            return Err(Problem { hint: ambiguity(name, imports), ..missing(name) });
        }
        Ok(Self::Primitive)
    }
}

/// The template `name` is not there.
pub(super) fn missing(name: &str) -> Problem {
    let message = format!("Template '{}' is not among the imports.", shown(name));
    Problem::new(Cause::Import, message).about(name)
}

/// Why a file that somebody sees before him is not found: its name is that of several.
fn ambiguity(name: &str, imports: &Imports) -> Option<String> {
    let files = candidates(imports, name);
    let shown: Vec<_> = files.iter().map(|file| shown(file).to_string()).collect();
    (files.len() > 1).then(|| format!("several files end with that name: {}", shown.join(", ")))
}

fn language(name: &str, import: &Import) -> Result<Language, Problem> {
    let path = if import.path.is_empty() { name } else { &import.path };
    if path.ends_with(".jinja") || path.ends_with(".yaml") {
        Ok(Language::Jinja)
    } else if path.ends_with(".py") {
        Ok(Language::Python)
    } else {
        let message = format!("Unsupported source file: {}.", shown(path));
        let mut problem = Problem::new(Cause::Import, message).about(name);
        problem.hint = Some("The path of a template ends in .jinja, .yaml or .py.".to_owned());
        Err(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{ROOT, Tree};

    fn list(json: &str) -> Result<Vec<Map>, Vec<Problem>> {
        resources(Value::from_json(json).unwrap().as_list().unwrap().to_vec(), &[3], "config")
    }

    #[test]
    fn every_resource_that_is_none_is_named() {
        let problems = list(
            r#"[5, {"type": "P"}, {"name": "a"}, {"name": [1], "type": "P"}, {"name": "b", "type": {}},
                {"name": "a", "type": "P"}, {"name": "a", "type": "Q", "properties": {"x": null}}]"#,
        )
        .unwrap_err();
        let all: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            all.join("\n").replace(" (in config)", ""),
            "config:3: resources[0]: Resource is not a mapping, but a number\n\
             config: resources[1]: Resource does not have a name.\n\
             config: resources[2]: Resource does not have type defined.\n\
             config: resources[3]: Resource name is not text, but a list\n\
             config: resources[4]: Resource type is not text, but a mapping\n\
             config: resources[6]: Resource name 'a' is not unique in config."
        );
        let repr = "{'name': 'a', 'type': 'Q', 'properties': {'x': None}}";
        assert_eq!(problems[5].original.resource.as_deref(), Some(repr));
        assert_eq!(problems[5].cause, Cause::Duplicate);
    }

    #[test]
    fn a_name_may_be_a_number_or_null_and_is_another_than_its_text() {
        let names = r#"[{"name": 5, "type": "P"}, {"name": "5", "type": "P"},
                        {"name": null, "type": null}, {"name": true, "type": 1}]"#;
        assert_eq!(list(names).unwrap().len(), 4);
    }

    fn type_of(name: &str, imports: &[(&str, &str)]) -> Result<Type, Problem> {
        let mut tree = Tree::new();
        let of_type = [("type".to_owned(), Value::from(name))];
        tree.append(ROOT, vec![of_type.into_iter().collect()]);
        let import = |path: &str| Import { path: path.to_owned(), content: "".into() };
        let imports = imports.iter().map(|(name, path)| ((*name).to_owned(), import(path)));
        Type::of(&tree.nodes[1], &imports.collect())
    }

    #[test]
    fn a_type_is_a_template_if_it_is_imported() {
        use Language::{Jinja, Python};
        let imported = |name: &str, path: &str| type_of(name, &[(name, path)]).unwrap();
        assert_eq!(imported("t.jinja", ""), Type::Template(Jinja));
        assert_eq!(imported("t.yaml", ""), Type::Template(Jinja));
        assert_eq!(imported("t.py", ""), Type::Template(Python));
        assert_eq!(imported("short", "https://example.com/y.jinja"), Type::Template(Jinja));
        assert_eq!(imported("github.com/o/r/c/t:v1", "https://x/t.py"), Type::Template(Python));
        let problem = type_of("Pod", &[("Pod", "")]).unwrap_err();
        assert_eq!(problem.message, "Unsupported source file: Pod.");
    }

    #[test]
    fn what_is_not_imported_is_wanted_missing_or_primitive() {
        for name in ["https://h/t.py", "http://h/t", "github.com/o/r/t:v1", "gs://bucket/t"] {
            assert_eq!(type_of(name, &[]).unwrap(), Type::Wanted, "{name}");
        }
        for name in ["t.jinja", "lib/t.py"] {
            let problem = type_of(name, &[("other.py", "")]).unwrap_err();
            assert_eq!(problem.cause, Cause::Import, "{name}");
        }
        let problem = type_of("t.py", &[("a/t.py", ""), ("b/t.py", "")]).unwrap_err();
        let hint = "several files end with that name: a/t.py, b/t.py";
        assert_eq!(problem.hint.as_deref(), Some(hint));
        for name in ["Pod", "compute.v1.instance", "t.yaml", "gcp-types/x:y", "mypy"] {
            assert_eq!(type_of(name, &[]).unwrap(), Type::Primitive, "{name}");
        }
    }
}
