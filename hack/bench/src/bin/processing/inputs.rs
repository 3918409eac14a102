//! The three inputs: two that were written for this, and a large one made of the second's objects.
//!
//! All are fed in as Go clients write JSON: compact, keys sorted.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

/// The size from which the large input stops growing.
const LARGE: usize = 400_000;

pub(crate) struct Input {
    pub name: &'static str,
    pub path: PathBuf,
    pub bytes: usize,
    /// The parameters whose values are random
    pub generated: Vec<String>,
}

/// Writes the inputs into `scratch`.
pub(crate) fn prepare(templates: &Path, scratch: &Path) -> Result<Vec<Input>> {
    fs::create_dir_all(scratch)?;
    let small = read(&templates.join("small.json"))?;
    let medium = read(&templates.join("medium.json"))?;
    let large = enlarge(&medium)?;
    [("small", small), ("medium", medium), ("large", large)]
        .into_iter()
        .map(|(name, template)| write(name, &template, scratch))
        .collect()
}

fn read(path: &Path) -> Result<Value> {
    let text = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("parsing {}", path.display()))
}

/// The same template with its objects repeated, each time under other names.
fn enlarge(template: &Value) -> Result<Value> {
    let objects = template["objects"].as_array().context("objects is a list")?;
    let mut large = template.clone();
    let mut repeated = Vec::new();
    let mut bytes = 0;
    for (number, object) in objects.iter().cycle().enumerate() {
        if bytes >= LARGE {
            break;
        }
        let mut object = object.clone();
        let name = object["metadata"]["name"].as_str().context("every object has a name")?;
        object["metadata"]["name"] = format!("{name}-{number}").into();
        bytes += serde_json::to_string(&object)?.len() + 1;
        repeated.push(object);
    }
    large["objects"] = repeated.into();
    Ok(large)
}

fn write(name: &'static str, template: &Value, scratch: &Path) -> Result<Input> {
    let text = serde_json::to_vec(template)?;
    let path = scratch.join(format!("{name}.json"));
    fs::write(&path, &text)?;
    let generated = template["parameters"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|parameter| parameter.get("generate").is_some())
        .filter_map(|parameter| parameter["name"].as_str().map(str::to_owned))
        .collect();
    Ok(Input { name, path, bytes: text.len(), generated })
}
