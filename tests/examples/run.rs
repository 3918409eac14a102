//! Two ways to run an example without a server.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use processor::{Dialect, Overrides, Random, Template, Values};
use serde_json::Value;

use crate::example::Run;

/// What came out.
pub(crate) enum Outcome {
    /// A List.
    Objects(Value),
    /// Every reason, `field: what is wrong`.
    Refused(Vec<String>),
    /// What the command said when it failed.
    Said(String),
}

/// As another program would do it with the crate.
pub(crate) fn with_the_library(run: &Run) -> Result<Outcome> {
    let tree = template(run)?;
    let dialect = match tree["apiVersion"].as_str() {
        Some("formwork.dev/v1alpha1") => Dialect::Proposal,
        _ => Dialect::OpenShift,
    };
    let body = tree.to_string();
    let template = Template::parse(&body, dialect)?;
    ensure!(template.strays().is_empty(), "fields that no Template has");
    let overrides = values(run)?.into_iter().collect();
    Ok(match process(&template, &overrides) {
        Ok(list) => Outcome::Objects(serde_json::from_slice(&list)?),
        Err(errors) => {
            let told = errors.iter().map(ToString::to_string);
            Outcome::Refused(told.map(|reason| placed(&tree, reason)).collect())
        }
    })
}

/// A reason about the value of a parameter, placed in the template: there the command writes the values before it
/// processes, so that is where its users are shown them.
pub(crate) fn placed(template: &Value, reason: String) -> String {
    let Some((name, what)) =
        reason.strip_prefix("values[").and_then(|reason| reason.split_once("]: "))
    else {
        return reason;
    };
    let parameters = template["parameters"].as_array().map_or(&[][..], Vec::as_slice);
    match parameters.iter().position(|parameter| parameter["name"] == name) {
        Some(index) => format!("parameters[{index}].value: {what}"),
        None => reason,
    }
}

fn process(template: &Template<'_>, overrides: &Overrides) -> Result<Vec<u8>, processor::Errors> {
    let errors = processor::validate(template);
    if !errors.is_empty() {
        return Err(errors);
    }
    let values = Values::resolve(template, overrides, &mut ThreadRandom)?;
    let mut list = Vec::new();
    processor::process(template, &values)?.write_list(&mut list);
    Ok(list)
}

/// The template of a run.
pub(crate) fn template(run: &Run) -> Result<Value> {
    yaml(&fs::read_to_string(&run.template)?)
}

/// The values of a run.
pub(crate) fn values(run: &Run) -> Result<BTreeMap<String, String>> {
    let Some(params) = &run.params else { return Ok(BTreeMap::new()) };
    let text = fs::read_to_string(params)?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pairs = lines.map(|line| line.split_once('=').context("a line without ="));
    pairs.map(|pair| pair.map(|(name, value)| (name.to_owned(), value.to_owned()))).collect()
}

struct ThreadRandom;

impl Random for ThreadRandom {
    fn below(&mut self, bound: u32) -> u32 {
        rand::random_range(0..bound)
    }
}

/// As a user does it. There is no kubeconfig to be found: none is needed.
pub(crate) fn with_the_command(program: &Path, run: &Run) -> Result<Outcome> {
    let mut command = Command::new(program);
    command.args(["process", "--local", "-f"]).arg(&run.template);
    if let Some(params) = &run.params {
        command.arg("--param-file").arg(params);
    }
    let output = command.env("KUBECONFIG", "/nonexistent").output()?;
    let said = String::from_utf8(output.stderr)?;
    if !output.status.success() {
        return Ok(Outcome::Said(said));
    }
    ensure!(said.is_empty(), "it said {said}");
    Ok(Outcome::Objects(serde_json::from_slice(&output.stdout)?))
}

/// `kubectl-formwork`, in the folder that Cargo built this test into.
pub(crate) fn command() -> Result<Option<PathBuf>> {
    let this = std::env::current_exe()?;
    let folder = this.parent().and_then(Path::parent).context("tests run from target/X/deps")?;
    let program = folder.join("kubectl-formwork");
    Ok(program.exists().then_some(program))
}

/// A YAML document as JSON.
pub(crate) fn yaml(text: &str) -> Result<Value> {
    Ok(serde_saphyr::from_str(text)?)
}
