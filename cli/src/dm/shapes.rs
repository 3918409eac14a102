//! Deployment Manager's own JSON, made of the objects of our API, as the original's commands printed it.

use anyhow::Context;
use serde::Serialize;
use serde_json::value::RawValue;

use super::deployment::Deployment;
use expansion::{Map, Value};

/// What the original has where there is no time.
const NO_TIME: &str = "0001-01-01T00:00:00Z";

/// A deployment as the original has it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shape<'a> {
    name: &'a str,
    created_at: &'a str,
    deployed_at: &'a str,
    modified_at: &'a str,
    deleted_at: &'a str,
    state: State,
    latest_manifest: &'a str,
}

#[derive(Serialize)]
struct State {
    status: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<String>,
}

/// A deployment. Where `manifest` is empty, it is going to be deleted, as in the original.
pub(super) fn deployment(deployment: &Deployment, manifest: &str) -> String {
    let Deployment { metadata, status, .. } = deployment;
    let operation = status.operation.as_ref();
    let modified = operation.and_then(|one| one.end_time.as_deref().or(one.start_time.as_deref()));
    let ready = deployment.condition("Ready").filter(|_| deployment.is_ready());
    let state = state(deployment);
    let errors = if state == "Failed" { deployment.reasons() } else { Vec::new() };
    let shape = Shape {
        name: &metadata.name,
        created_at: metadata.creation_timestamp.as_deref().unwrap_or(NO_TIME),
        deployed_at: ready
            .and_then(|ready| ready.last_transition_time.as_deref())
            .unwrap_or(NO_TIME),
        modified_at: modified.unwrap_or(NO_TIME),
        deleted_at: metadata.deletion_timestamp.as_deref().unwrap_or(NO_TIME),
        state: State { status: state, errors },
        latest_manifest: manifest,
    };
    serde_json::to_string(&shape).expect("texts and lists have a JSON form")
}

/// One of the original's five words.
fn state(deployment: &Deployment) -> &'static str {
    match &*deployment.status.phase {
        "Failed" => "Failed",
        _ if deployment.metadata.deletion_timestamp.is_some() => "Deleted",
        "Deployed" => "Deployed",
        _ if deployment.status.deployed.is_empty() => "Created",
        _ => "Modified",
    }
}

/// A manifest, with the states that its resources have in `deployment` if it is the current one.
///
/// # Errors
/// When `json` is no Manifest.
pub(super) fn manifest(
    name: &str,
    json: &str,
    deployment: Option<&Deployment>,
) -> anyhow::Result<String> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Stored<'a> {
        deployment: String,
        #[serde(borrow)]
        input_config: Option<&'a RawValue>,
        #[serde(borrow)]
        expanded_config: Option<&'a RawValue>,
        #[serde(borrow)]
        layout: Option<&'a RawValue>,
    }
    let stored: Stored = serde_json::from_str(json).context("the server's answer")?;
    let part =
        |part: Option<&RawValue>| part.map_or(Ok(Value::Null), |part| Value::from_json(part.get()));
    let mut expanded = part(stored.expanded_config)?;
    if let Some(deployment) = deployment.filter(|one| one.status.manifest == name) {
        add_states(&mut expanded, deployment);
    }
    let mut shape = Map::new();
    shape.insert("deployment".to_owned(), Value::from(stored.deployment));
    shape.insert("name".to_owned(), Value::from(name));
    let parts = [
        ("inputConfig", part(stored.input_config)?),
        ("expandedConfig", expanded),
        ("layout", part(stored.layout)?),
    ];
    let present = parts.into_iter().filter(|(_, part)| *part != Value::Null);
    shape.extend(present.map(|(key, part)| (key.to_owned(), part)));
    Ok(Value::Map(shape).to_json())
}

/// Gives resources the states of the original: created, failed, or not tried.
fn add_states(expanded: &mut Value, deployment: &Deployment) {
    let Value::Map(expanded) = expanded else { return };
    let Some(Value::List(resources)) = expanded.get_mut("resources") else { return };
    for resource in resources {
        let Value::Map(resource) = resource else { continue };
        let name = resource.get("name").and_then(Value::as_str);
        let found = deployment.status.resources.iter().find(|one| Some(&*one.name) == name);
        let Some(found) = found else { continue };
        let status = match &*found.state {
            "Failed" => "Failed",
            "Pending" => "Aborted",
            _ => "Created",
        };
        let mut state = Map::new();
        state.insert("status".to_owned(), Value::from(status));
        if !found.error.is_empty() {
            state.insert("errors".to_owned(), Value::List(vec![Value::from(&*found.error)]));
        }
        resource.insert("state".to_owned(), Value::Map(state));
    }
}

/// A list of names, which is `null` in the original where there are none.
pub(super) fn names(names: &[String]) -> String {
    match names {
        [] => "null".to_owned(),
        names => serde_json::to_string(names).expect("a list of texts has a JSON form"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(metadata: &serde_json::Value, status: &serde_json::Value) -> Deployment {
        Deployment::of(&json!({"metadata": metadata, "status": status})).unwrap()
    }

    #[test]
    fn a_deployment_has_the_fields_of_the_original() {
        let deployed = of(
            &json!({"name": "d", "creationTimestamp": "2026-01-01T00:00:00Z"}),
            &json!({"phase": "Deployed", "manifest": "d-2", "operation": {"type": "Update", "startTime": "2026-01-02T00:00:00Z"},
                "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-03T00:00:00Z"}]}),
        );
        assert_eq!(
            deployment(&deployed, "d-2"),
            r#"{"name":"d","createdAt":"2026-01-01T00:00:00Z","deployedAt":"2026-01-03T00:00:00Z","modifiedAt":"2026-01-02T00:00:00Z","deletedAt":"0001-01-01T00:00:00Z","state":{"status":"Deployed"},"latestManifest":"d-2"}"#
        );
    }

    #[test]
    fn the_state_is_one_of_the_five_of_the_original() {
        let now = json!("2026-01-01T00:00:00Z");
        for (metadata, status, want) in [
            (json!({}), json!({}), "Created"),
            (json!({}), json!({"phase": "Applying"}), "Created"),
            (json!({}), json!({"phase": "Applying", "deployed": "d-1"}), "Modified"),
            (json!({}), json!({"phase": "Deployed", "deployed": "d-1"}), "Deployed"),
            (json!({}), json!({"phase": "Failed", "deployed": "d-1"}), "Failed"),
            (json!({"deletionTimestamp": now}), json!({"phase": "Deleting"}), "Deleted"),
        ] {
            assert_eq!(state(&of(&metadata, &status)), want);
        }
    }

    #[test]
    fn a_current_manifest_has_the_states_of_its_resources_and_nothing_that_is_only_ours() {
        let stored = r#"{"apiVersion":"dm.formwork.dev/v1alpha1","kind":"Manifest","metadata":{"name":"d-1"},"deployment":"d","generation":1,
            "inputConfig":{"name":"d","content":"x"},"plan":{},"digest":"y",
            "expandedConfig":{"resources":[{"name":"a","type":"Pod"},{"name":"b","type":"Pod"},{"name":"c","type":"Pod"}]},"layout":{"resources":[]}}"#;
        let current = of(
            &json!({"name": "d"}),
            &json!({"manifest": "d-1", "resources": [{"name": "a", "state": "Ready"}, {"name": "b", "state": "Failed", "error": "no"}]}),
        );
        assert_eq!(
            manifest("d-1", stored, Some(&current)).unwrap(),
            r#"{"deployment":"d","name":"d-1","inputConfig":{"name":"d","content":"x"},"expandedConfig":{"resources":[{"name":"a","type":"Pod","state":{"status":"Created"}},{"name":"b","type":"Pod","state":{"status":"Failed","errors":["no"]}},{"name":"c","type":"Pod"}]},"layout":{"resources":[]}}"#
        );
        assert!(!manifest("d-0", stored, Some(&current)).unwrap().contains("state"));
    }
}
