//! Manifests of a deployment, which are those of its Deployment.

use apiserver::status::Reason;
use axum::response::Response;
use deployer::types::{Manifest, State, Status};
use http::StatusCode;
use kube::api::{DynamicObject, ObjectMeta};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::actor::{Actor, Kind};
use super::answer::{self, Fault};
use super::deployments::existing;

/// The names of all, the oldest first.
pub(super) async fn list(actor: &Actor, deployment: &str) -> Result<Response, Fault> {
    let Some(object) = actor.get(Kind::Deployment, deployment).await? else {
        // It was a 500, unlike everywhere else.
        let why = format!("deployment {deployment} not found");
        return Err(Fault::new(Reason::InternalError, why));
    };
    let uid = object.metadata.uid.unwrap_or_default();
    let mut all = actor.list_metadata(Kind::Manifest).await?;
    all.retain(|manifest| is_of(manifest, &uid));
    all.sort_by_key(|manifest| manifest.name.as_deref().map(generation));
    let names: Vec<_> = all.into_iter().filter_map(|metadata| metadata.name).collect();
    Ok(answer::list(&names))
}

/// One, with what became of its resources if it is the newest.
pub(super) async fn read(actor: &Actor, deployment: &str, name: &str) -> Result<Response, Fault> {
    let of = existing(actor, deployment).await?;
    let found = actor.get(Kind::Manifest, name).await?;
    let found = found.filter(|manifest| is_of(&manifest.metadata, &of.uid));
    let missing = || Fault::bad(format!("manifest {name} not found in deployment {deployment}"));
    let DynamicObject { data, .. } = found.ok_or_else(missing)?;
    let unreadable = |error| Fault::bad(format!("manifest {name} cannot be read: {error}"));
    let manifest: Manifest = serde_json::from_value(data).map_err(unreadable)?;
    Ok(answer::json(StatusCode::OK, &shown(name, &manifest, &of.status)))
}

fn is_of(manifest: &ObjectMeta, uid: &str) -> bool {
    manifest.owner_references.iter().flatten().any(|owner| owner.uid == uid)
}

/// The number at the end of a Manifest's name.
fn generation(name: &str) -> u64 {
    name.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// A manifest as Deployment Manager shows it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    deployment: &'a str,
    name: &'a str,
    input_config: &'a deployer::types::Input,
    expanded_config: Resources,
    layout: Resources,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Resources {
    resources: Vec<Resource>,
}

/// What the manager knows of a resource; the rest it forgot, and its clients do not know it either.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Resource {
    name: Value,
    r#type: Value,
    // Go leaves out what is empty.
    #[serde(skip_serializing_if = "is_empty")]
    properties: Option<Map<String, Value>>,
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    state: Option<Shape>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resources: Vec<Self>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Shape {
    status: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<String>,
}

fn is_empty(properties: &Option<Map<String, Value>>) -> bool {
    properties.as_ref().is_none_or(Map::is_empty)
}

fn shown<'a>(name: &'a str, manifest: &'a Manifest, status: &Status) -> Shown<'a> {
    let read = |value: &Value| serde_json::from_value(value.clone()).unwrap_or_default();
    let resources = manifest.expanded_config.resources.iter().map(read);
    let mut expanded = Resources { resources: resources.collect() };
    // The states of those before were not kept.
    if status.manifest.as_deref() == Some(name) {
        for (resource, state) in expanded.resources.iter_mut().zip(states(manifest, status)) {
            resource.state = state;
        }
    }
    Shown {
        deployment: &manifest.deployment,
        name,
        input_config: &manifest.input_config,
        expanded_config: expanded,
        layout: serde_json::from_str(manifest.layout.as_str()).unwrap_or_default(),
    }
}

/// What became of each planned resource. Nothing, while that is not known.
fn states(manifest: &Manifest, status: &Status) -> Vec<Option<Shape>> {
    let over = status.phase == deployer::types::Phase::Failed;
    let state = |planned: &deployer::Planned| {
        let of = status.resources.iter().find(|resource| resource.target == planned.target)?;
        let shape = |status, error: &Option<String>| {
            Some(Shape { status, errors: error.iter().cloned().collect() })
        };
        match of.state {
            State::Ready | State::Applied | State::Drifted => shape("Created", &None),
            State::Failed => shape("Failed", &of.error),
            State::Pending if over => shape("Aborted", &of.error),
            State::Pending | State::Obsolete => None,
        }
    };
    manifest.plan.resources.iter().map(state).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest() -> Manifest {
        let planned = |name: &str| {
            json!({ "name": name, "apiVersion": "v1", "kind": "ConfigMap", "namespace": "n",
                "objectName": name, "resource": "configmaps", "wave": 0 })
        };
        let resource = |name: &str| json!({ "name": name, "type": "ConfigMap", "metadata": {}, "properties": {} });
        serde_json::from_value(json!({
            "deployment": "d", "generation": 2, "digest": "x",
            "inputConfig": { "name": "d", "content": "c" },
            "expandedConfig": { "resources": [resource("a"), resource("b"), resource("c")] },
            "layout": { "resources": [{ "name": "t", "type": "t.py", "properties": { "p": 1 },
                "resources": [{ "name": "a", "type": "ConfigMap" }], "outputs": [] }], "outputs": [] },
            "plan": { "resources": [planned("a"), planned("b"), planned("c")] },
        }))
        .unwrap()
    }

    fn status(manifest: &str) -> Status {
        let resource = |name: &str, state: &str, error: Option<&str>| {
            json!({ "name": name, "apiVersion": "v1", "kind": "ConfigMap", "namespace": "n", "objectName": name,
                "resource": "configmaps", "state": state, "error": error })
        };
        serde_json::from_value(json!({
            "phase": "Failed", "manifest": manifest,
            "resources": [resource("a", "Ready", None), resource("b", "Failed", Some("no")), resource("c", "Pending", None)],
        }))
        .unwrap()
    }

    #[test]
    fn a_manifest_has_what_the_manager_knew_and_the_states_of_the_newest() {
        let shown = serde_json::to_value(shown("d-2", &manifest(), &status("d-2"))).unwrap();
        let want = json!({
            "deployment": "d", "name": "d-2", "inputConfig": { "name": "d", "content": "c" },
            "expandedConfig": { "resources": [
                { "name": "a", "type": "ConfigMap", "state": { "status": "Created" } },
                { "name": "b", "type": "ConfigMap", "state": { "status": "Failed", "errors": ["no"] } },
                { "name": "c", "type": "ConfigMap", "state": { "status": "Aborted" } },
            ] },
            "layout": { "resources": [{ "name": "t", "type": "t.py", "properties": { "p": 1 },
                "resources": [{ "name": "a", "type": "ConfigMap" }] }] },
        });
        assert_eq!(shown, want);
    }

    #[test]
    fn an_older_manifest_has_no_states() {
        let shown = serde_json::to_value(shown("d-1", &manifest(), &status("d-2"))).unwrap();
        assert!(shown["expandedConfig"]["resources"][0].get("state").is_none());
    }

    #[test]
    fn manifests_are_in_the_order_of_their_numbers() {
        assert!(generation("d-9") < generation("d-10"));
    }
}
