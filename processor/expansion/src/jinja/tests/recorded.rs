//! What Deployment Manager itself made of Jinja templates, where the corpus is present.
//!
//! The cases whose identifier begins with `j-` have one template without children; each is rendered and read, and then
//! held against the resources that came of it, or the error.
#![expect(clippy::disallowed_methods, reason = "tests read recordings")]

use std::path::PathBuf;

use super::{Call, Fault, Import, Rendered, render};
use crate::call::{Imports, Language};
use crate::configuration;
use crate::value::{Map, Value};

/// What is different on purpose, or no matter of one template.
const ELSEWHERE: [(&str, &str); 3] = [
    ("j-ssti", "Python's classes are out of reach"),
    ("j-recursive-type", "the recursion is the expansion's"),
    ("j-dup-across-templates", "the names are the expansion's"),
];

fn cases() -> Option<Vec<Value>> {
    let root = std::env::var("FORMWORK_CORPUS").map_or_else(
        |_| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus")),
        PathBuf::from,
    );
    let Ok(text) = std::fs::read_to_string(root.join("dm/cases/cases.json")) else {
        println!("skipped: corpus not present");
        return None;
    };
    Value::from_json(&text).unwrap().as_list().map(<[Value]>::to_vec)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn yaml(text: &str) -> Option<Value> {
    configuration::read(text).ok().map(|document| document.value)
}

/// The call of the first resource of a case.
fn call_of(case: &Value) -> Call {
    let configuration = yaml(text(case, "content")).unwrap();
    let resource = configuration.get("resources").unwrap().as_list().unwrap()[0].clone();
    let Value::Map(resource) = resource else { panic!("{resource:?}") };
    let template = resource["type"].as_str().unwrap().to_owned();
    let files = case.get("imports").unwrap().as_map().unwrap();
    let import = |(name, content): (&String, &Value)| {
        let content = content.as_str().unwrap().into();
        (name.clone(), Import { path: String::new(), content })
    };
    let imports: Imports = files.iter().map(import).collect();
    let mut env: Map = case.get("env").unwrap().as_map().unwrap().clone();
    env.insert("name".into(), resource["name"].clone());
    env.insert("type".into(), template.as_str().into());
    Call { id: 1, language: Language::Jinja, template, resource, env, imports: imports.into() }
}

/// Whether the failure is the one that was recorded: `Kind: message` in the last line of a traceback, or else text that
/// is no YAML or has no resources.
fn fails_alike(outcome: &Result<Option<Value>, Fault>, recorded: &str) -> bool {
    match outcome {
        Err(fault) => recorded.contains(&format!("\n{}: {}\n", fault.kind, fault.message)),
        Ok(None) => recorded.contains("  in \"<unicode string>\", line "),
        Ok(Some(value)) => value.get("resources").is_none() && recorded.contains("'resources:'"),
    }
}

#[test]
fn recorded_templates_give_what_they_gave() {
    let Some(cases) = cases() else { return };
    let mut held = 0;
    for case in cases.iter().filter(|case| text(case, "id").starts_with("j-")) {
        let id = text(case, "id");
        if ELSEWHERE.iter().any(|(elsewhere, _)| *elsewhere == id) {
            continue;
        }
        let outcome = render(&call_of(case), 100_000, 1 << 20).map(|rendered| match rendered {
            Rendered::Text { text, .. } => yaml(&text),
            Rendered::Data { .. } => None,
        });
        let expect = case.get("expect").unwrap();
        let alike = match expect.get("ok").and_then(Value::as_str) {
            Some(ok) => {
                let recorded = yaml(ok).unwrap().get("config").unwrap().get("resources").cloned();
                let got = outcome.as_ref().ok().and_then(Option::as_ref);
                same(got.and_then(|value| value.get("resources")), recorded.as_ref())
            }
            None => fails_alike(&outcome, text(expect, "error")),
        };
        assert!(alike, "{id}: {outcome:?}\nrecorded: {expect:?}");
        held += 1;
    }
    assert!(held > 20, "{held}");
}

/// Equal but for the order of members, which was sorted when it was recorded.
fn same(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (Some(Value::Map(a)), Some(Value::Map(b))) => {
            a.len() == b.len() && a.iter().all(|(key, value)| same(Some(value), b.get(key)))
        }
        (Some(Value::List(a)), Some(Value::List(b))) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(Some(a), Some(b)))
        }
        (a, b) => a == b,
    }
}
