//! Schemas of the corpora, with what Deployment Manager's own validator made of them.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "tests read files")]

use std::path::{Path, PathBuf};

use super::*;
use crate::call::Import;

fn folder() -> Option<PathBuf> {
    let beside = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus").into();
    let root = std::env::var_os("FORMWORK_CORPUS").map_or_else(beside, PathBuf::from).join("dm");
    if !root.exists() {
        println!("skipped: corpus not present");
        return None;
    }
    Some(root)
}

fn table(path: &str) -> Vec<Value> {
    let Some(folder) = folder() else { return Vec::new() };
    let text = std::fs::read_to_string(folder.join(path)).unwrap();
    Value::from_json(&text).unwrap().as_list().unwrap().to_vec()
}

fn text<'v>(of: &'v Value, key: &str) -> &'v str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn imports(of: &Value) -> Imports {
    let imports = of.get("imports").and_then(Value::as_map).unwrap().iter();
    let import = |value: &Value| {
        let content = value.as_str().unwrap_or_else(|| text(value, "content"));
        Import { path: String::new(), content: content.into() }
    };
    imports.map(|(name, value)| (name.clone(), import(value))).collect()
}

/// Validates as an expansion does, with the lines that Deployment Manager prints below `Invalid properties for 'x':`.
fn validate(schema: &str, properties: Value, imports: &Imports) -> Result<Value, Vec<String>> {
    let lines = |violations: Vec<Violation>| violations.iter().map(Violation::to_string).collect();
    let text = &imports[schema].content;
    let properties = if properties == Value::Null { Value::Map(Map::new()) } else { properties };
    match Schema::read(schema, text).map_err(lines)? {
        None => Ok(properties),
        Some(schema) => schema.validate(properties, imports, &mut WORK.clone()).map_err(lines),
    }
}

/// Lines in no particular order, without Python 2's marks, and with maps in no particular order.
fn unordered<S: AsRef<str>>(lines: impl IntoIterator<Item = S>) -> Vec<String> {
    let canonical = |line: S| {
        let line = line.as_ref().replace("u'", "'");
        let Some(at) = line.find('{') else { return line };
        let mut maps: Vec<char> = line[at..].chars().collect();
        maps.sort_unstable();
        line[..at].chars().chain(maps).collect()
    };
    let mut lines: Vec<String> = lines.into_iter().map(canonical).collect();
    lines.sort_unstable();
    lines
}

fn same(ours: &Result<Value, Vec<String>>, wanted: Option<&Value>, error: Option<&str>) -> bool {
    match (ours, wanted, error) {
        (Ok(ours), Some(wanted), None) => ours == wanted,
        (Err(ours), None, Some(error)) => {
            // The line above the first violation is not the schema's, nor is what follows the last.
            let lines = error.lines().skip(1).filter(|line| !line.starts_with(" Resource: "));
            unordered(ours) == unordered(lines)
        }
        _ => false,
    }
}

#[test]
fn the_vectors_of_the_fix_give_the_same() {
    let mut seen = 0;
    for vector in table("vectors/pr167.json") {
        if text(&vector, "kind") != "SchemaValidate" {
            continue;
        }
        seen += 1;
        let schema = text(&vector, "schema_name");
        let imports = imports(&vector);
        let properties = vector.get("properties").cloned().unwrap_or_default();
        let error = vector.get("error").and_then(Value::as_str);
        if !imports.contains_key(schema) {
            // Whoever looks for the schema says that there is none.
            assert!(error.unwrap().contains("Could not find schema file"));
            continue;
        }
        let ours = validate(schema, properties, &imports);
        let wanted = vector.get("result");
        assert!(same(&ours, wanted, error), "{}\n{ours:?}\n{error:?}", text(&vector, "test"));
    }
    assert!(seen == 37 || folder().is_none());
}

/// Where we give something else than Deployment Manager did: COMPATIBILITY.md has the reasons.
const DIFFERENT: [&str; 3] = ["s-date-as-string", "s-ref-no-default", "s-ref-remote"];

#[test]
fn edge_cases_give_the_same_but_for_those_that_are_listed() {
    let mut different = Vec::new();
    for case in table("cases/cases.json") {
        if !text(&case, "id").starts_with("s-") || case.get("schema") == Some(&Value::Bool(false)) {
            continue;
        }
        let expect = case.get("expect").unwrap();
        let configuration = parse(text(&case, "content")).unwrap();
        let properties =
            configuration.get("resources").unwrap().as_list().unwrap()[0].get("properties");
        let ours =
            validate("t.jinja.schema", properties.cloned().unwrap_or_default(), &imports(&case));
        let layout = |text: &str| {
            let layout = parse(text).unwrap().get("layout").cloned().unwrap();
            layout.get("resources").unwrap().as_list().unwrap()[0].get("properties").cloned()
        };
        let wanted = expect.get("ok").and_then(Value::as_str).and_then(layout);
        let error = expect.get("error").and_then(Value::as_str);
        if !same(&ours, wanted.as_ref(), error) {
            println!("{}: {ours:?}, not {wanted:?} {error:?}", text(&case, "id"));
            different.push(text(&case, "id").to_owned());
        }
    }
    different.sort();
    assert!(different == DIFFERENT || folder().is_none(), "{different:?}");
}

#[test]
fn schemas_of_the_registry_and_the_samples_are_read() {
    let Some(folder) = folder() else { return };
    let mut schemas = Vec::new();
    for part in ["registry", "samples", "fixtures"] {
        find(&folder.join(part), &mut schemas);
    }
    let mut refused = Vec::new();
    let mut warned = 0;
    for path in &schemas {
        let text = std::fs::read_to_string(path).unwrap();
        match Schema::read("x", &text) {
            Ok(schema) => warned += usize::from(schema.is_some_and(|s| !s.warnings().is_empty())),
            Err(violations) => {
                println!("{}: {violations:?}", path.display());
                refused.push(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    println!("{} schemas, {warned} with warnings, {} refused", schemas.len(), refused.len());
    refused.sort();
    refused.dedup();
    let wrong = [
        "bad.jinja",
        "invalid_reference.py",
        "invalid_reference_schema.py",
        "missing_quote.py",
        "python_bad_schema.py",
    ];
    assert_eq!(refused, wrong.map(|name| format!("{name}.schema")));
}

fn find(folder: &Path, schemas: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find(&path, schemas);
        } else if path.extension().is_some_and(|extension| extension == "schema") {
            schemas.push(path);
        }
    }
}
