//! `diff`: what deploying or updating would do, as the server finds out without doing it.

use std::process::ExitCode;

use anyhow::{Context, bail};
use http::Method;
use serde::Deserialize;
use serde_json::{Map, json};

use super::{API_VERSION, Api};
use crate::dm::DIFFERENT;
use crate::dm::deployment::Condition;
use crate::dm::input::Given;
use crate::expand::remote;
use crate::output::to_stdout;

/// What the server answers.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    status: Status,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Status {
    conditions: Vec<Condition>,
    preview: Vec<Preview>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Preview {
    name: String,
    kind: String,
    namespace: String,
    object_name: String,
    action: String,
    diff: String,
    error: String,
    unknown: String,
}

/// Prints what would be done. Answers the exit code, which says whether that is anything.
pub(super) async fn diff(api: &Api, given: &Given) -> anyhow::Result<ExitCode> {
    let name = given.object_name();
    let mut spec = match api.find(&name).await? {
        Some(mut found) => found["spec"].as_object_mut().map(std::mem::take).unwrap_or_default(),
        None => Map::new(),
    };
    super::changing::ask_for(&mut spec, &given.input)?;
    let sent = json!({
        "apiVersion": API_VERSION,
        "kind": "DeploymentPreview",
        "metadata": {"name": name},
        "spec": spec,
    });
    let path = api.path("deploymentpreviews");
    let answer = api.send(Method::POST, &path, Some(&sent)).await.map_err(remote::refused)?;
    let Status { conditions, preview } =
        serde_json::from_value::<Answer>(answer).context("the server's answer")?.status;
    let failed = |condition: &&Condition| {
        condition.status == "False" && !["Preview", ""].contains(&&*condition.reason)
    };
    if let Some(failed) = conditions.iter().find(failed) {
        bail!("{}: {}", failed.reason, failed.message);
    }
    let told = |preview: &&Preview| {
        preview.action != "None" || !preview.error.is_empty() || !preview.unknown.is_empty()
    };
    let told: Vec<_> = preview.iter().filter(told).collect();
    to_stdout(&told.iter().map(ToString::to_string).collect::<String>())?;
    let failing: Vec<_> =
        told.iter().filter(|it| !it.error.is_empty()).map(|it| &*it.name).collect();
    if !failing.is_empty() {
        bail!("this would fail at {}", failing.join(", "));
    }
    Ok(if told.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(DIFFERENT) })
}

impl std::fmt::Display for Preview {
    /// `# Update Service demo/front (frontend-service)`, what is wrong with it or cannot be known yet, and
    /// the difference.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, kind, namespace, object_name, action, diff, error, unknown } = self;
        let place = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
        writeln!(f, "# {action} {kind} {place}{object_name} ({name})")?;
        for line in error.lines().chain(unknown.lines()) {
            writeln!(f, "# {line}")?;
        }
        f.write_str(diff)
    }
}
