//! A case: what went in, and what came out of the original.

use std::path::Path;

use anyhow::{Context, Result};
use expansion::{Import, Imports, Input, Options, Value};
use serde_json::Value as Json;

/// One configuration and its fate.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// What the original was given. An error is what it said when it looked for the files.
    pub(crate) input: Result<Input, String>,
    pub(crate) wanted: Wanted,
}

/// What the original made of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    /// YAML of `config` and `layout`, or nothing for a configuration that says nothing.
    Result(String),
    /// What was said against it.
    Refusal(String),
}

/// The cases of a JSON list that `name` gives a name.
pub(crate) fn of_json(path: &Path, name: impl Fn(&Json) -> Option<String>) -> Result<Vec<Case>> {
    let list: Vec<Json> = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    list.iter().filter_map(|json| Some(one(name(json)?, json))).collect()
}

fn one(name: String, json: &Json) -> Result<Case> {
    let text = |value: &Json| value.as_str().map(str::to_owned);
    // The two collections name the same things differently.
    let expect = json.get("expect").unwrap_or(json);
    let result = expect.get("ok").or_else(|| expect.get("result")).and_then(text);
    let wanted = match result {
        Some(result) => Wanted::Result(result),
        None => {
            Wanted::Refusal(expect.get("error").and_then(text).context("neither result nor error")?)
        }
    };
    let configuration = json.get("content").or_else(|| json.get("config")).and_then(text);
    let switch = |names: &[&str]| names.iter().any(|name| json[name] == true);
    let env = match &json["env"] {
        Json::Null => Value::default(),
        env => Value::from_json(&env.to_string())?,
    };
    let options = Options {
        validate_schemas: switch(&["schema", "validate_schema"]),
        outputs: switch(&["outputs"]),
        ..Options::default()
    };
    let input = Input {
        configuration: configuration.with_context(|| name.clone())?,
        imports: imports(&json["imports"])?,
        env: env.as_map().cloned().unwrap_or_default(),
        options,
    };
    Ok(Case { name, input: Ok(input), wanted })
}

/// Texts by name, some with a path.
fn imports(json: &Json) -> Result<Imports> {
    let Json::Object(files) = json else { return Ok(Imports::new()) };
    let import = |(name, file): (&String, &Json)| {
        let content = file.as_str().or_else(|| file["content"].as_str()).context("no content")?;
        let path = file["path"].as_str().unwrap_or_default().to_owned();
        Ok((name.clone(), Import { path, content: content.into() }))
    };
    files.iter().map(import).collect()
}
