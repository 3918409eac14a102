//! The recorded tests of Deployment Manager's own reference code, where the corpus is present.
#![expect(clippy::disallowed_methods, reason = "tests read recordings")]

use std::path::PathBuf;

use super::{Malformed, Reference, each_text, find, references, replace};
use crate::value::Value;

fn vectors() -> Option<Vec<Value>> {
    let root = std::env::var("FORMWORK_CORPUS").map_or_else(
        |_| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus")),
        PathBuf::from,
    );
    let Ok(text) = std::fs::read_to_string(root.join("dm/vectors/pr167.json")) else {
        println!("skipped: corpus not present");
        return None;
    };
    Value::from_json(&text).unwrap().as_list().map(<[Value]>::to_vec)
}

/// The result or the error of a vector; errors are texts that no result is.
fn run(vector: &Value) -> Option<Value> {
    let text = |key: &str| vector.get(key).and_then(Value::as_str).unwrap_or_default();
    let result = match text("kind") {
        "HasReference" => has_reference(text("string")).map_err(|error| error.to_string()),
        "_ExtractWithJsonPath" => extract(vector.get("ref_obj")?, text("name"), text("path")),
        "_TraverseNode" => traverse(vector.get("node")?.clone(), vector.get("output_map")?),
        _ => return None,
    };
    let quiet = vector.get("raise_exception") == Some(&Value::Bool(false));
    Some(match result {
        Ok(value) => value,
        Err(_) if quiet => Value::Null,
        Err(error) => Value::String(error),
    })
}

fn has_reference(text: &str) -> Result<Value, Malformed> {
    Ok(Value::Bool(!references(text)?.is_empty()))
}

fn extract(object: &Value, name: &str, path: &str) -> Result<Value, String> {
    find(object, path).map_err(|missing| format!("{missing} Reference: $(ref.{name}.{path})"))
}

fn traverse(mut node: Value, outputs: &Value) -> Result<Value, String> {
    let mut first = None;
    each_text(&mut node, &mut String::new(), &mut |value, _| {
        let text = value.as_str().unwrap_or_default().to_owned();
        let resolve = |reference: &Reference<'_>| match outputs.get(reference.name) {
            Some(object) => extract(object, reference.name, reference.path.unwrap_or(""))
                .map(Some)
                .map_err(Text),
            None => Ok(None),
        };
        match replace(&text, resolve) {
            Ok(Some(new)) => *value = new,
            Ok(None) => {}
            Err(Text(error)) => _ = first.get_or_insert(error),
        }
    });
    first.map_or(Ok(node), Err)
}

struct Text(String);

impl From<Malformed> for Text {
    fn from(malformed: Malformed) -> Self {
        Self(malformed.to_string())
    }
}

#[test]
fn references_are_what_deployment_managers_own_tests_say() {
    let Some(vectors) = vectors() else { return };
    let mut counted = 0;
    for vector in &vectors {
        let Some(result) = run(vector) else { continue };
        let want = vector.get("error").or_else(|| vector.get("result"));
        assert_eq!(Some(&result), want, "{}", vector.to_json());
        counted += 1;
    }
    assert_eq!(counted, 27);
}
