//! How far a Deployment is, in Deployment Manager's words: what became of its last operation, and since when.

use deployer::types::{Kind, Phase, State, Status};
use kube::api::DynamicObject;
use serde::Serialize;

use super::answer::Fault;

/// Go's time before all times.
const NEVER: &str = "0001-01-01T00:00:00Z";

/// A Deployment, as far as these paths look at it.
#[derive(Clone, Debug, Default)]
pub(super) struct Deployed {
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) generation: i64,
    created: Option<String>,
    deleted: Option<String>,
    pub(super) status: Status,
}

/// What became of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It goes on.
    Underway,
    /// All is deployed.
    Done,
    /// It failed, or nothing is done.
    Failed(String),
}

/// A deployment as Deployment Manager shows it.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown {
    name: String,
    created_at: String,
    deployed_at: String,
    modified_at: String,
    deleted_at: String,
    state: Shape,
    latest_manifest: String,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Shape {
    status: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<String>,
}

impl Shown {
    /// The same without its manifest, as one that is deleted was shown.
    pub(super) fn without_manifest(self) -> Self {
        Self { latest_manifest: String::new(), ..self }
    }
}

impl TryFrom<DynamicObject> for Deployed {
    type Error = Fault;

    fn try_from(object: DynamicObject) -> Result<Self, Fault> {
        let DynamicObject { metadata, mut data, .. } = object;
        let status = match data.get_mut("status").map(serde_json::Value::take) {
            Some(status) => serde_json::from_value(status),
            None => Ok(Status::default()),
        };
        let name = metadata.name.unwrap_or_default();
        let unreadable = |error| Fault::bad(format!("deployment {name} cannot be read: {error}"));
        Ok(Self {
            status: status.map_err(unreadable)?,
            uid: metadata.uid.unwrap_or_default(),
            generation: metadata.generation.unwrap_or_default(),
            created: metadata.creation_timestamp.map(|time| time.0.to_string()),
            deleted: metadata.deletion_timestamp.map(|time| time.0.to_string()),
            name,
        })
    }
}

impl Deployed {
    /// What became of the newest operation.
    pub(super) fn standing(&self) -> Standing {
        let Status { phase, observed_generation, operation, .. } = &self.status;
        if *observed_generation < self.generation {
            return Standing::Underway;
        }
        let begun = operation.as_ref().map(|operation| (operation.kind, operation.generation));
        let deletes = matches!(begun, Some((Kind::Delete, _)));
        match phase {
            _ if self.deleted.is_some() && !deletes => Standing::Underway,
            Phase::Failed => Standing::Failed(self.failure()),
            Phase::Paused => Standing::Failed(format!("deployment {} is paused", self.name)),
            Phase::Previewed => Standing::Failed(format!(
                "deployment {} is a preview: nothing was deployed",
                self.name
            )),
            Phase::Deployed if begun.is_some_and(|(_, of)| of == self.generation) => Standing::Done,
            Phase::Deployed
            | Phase::Pending
            | Phase::Waiting
            | Phase::Applying
            | Phase::Pruning
            | Phase::Deleting => Standing::Underway,
        }
    }

    /// Why it failed, as Deployment Manager put it.
    fn failure(&self) -> String {
        let Self { name, status, .. } = self;
        let failed = status.resources.iter().filter(|resource| resource.state == State::Failed);
        let errors: Vec<_> = failed.filter_map(|resource| resource.error.as_deref()).collect();
        let ready = status.condition("Ready");
        let message = ready.map_or("", |ready| ready.message.as_str());
        let is_about = |kind: &str| {
            let known = status.condition(kind).filter(|_| !status.is(kind));
            known.is_some_and(|condition| condition.message == message)
        };
        if self.deleted.is_some() {
            return format!("cannot delete configuration: {message}");
        }
        if is_about("Expanded") {
            return format!("cannot expand template named {name}: {message}");
        }
        if is_about("Applied") && !errors.is_empty() {
            return format!("Found resource errors during deployment: [{}]", errors.join(" "));
        }
        format!("cannot create configuration: {message}")
    }

    /// As it is shown.
    pub(super) fn shown(&self) -> Shown {
        let Status { manifest, operation, deployed, .. } = &self.status;
        let or_never = |time: Option<&String>| time.map_or(NEVER, String::as_str).to_owned();
        let operation = operation.as_ref();
        let ended = operation.and_then(|operation| operation.end_time.as_ref());
        let begun = operation.map(|operation| &operation.start_time);
        Shown {
            name: self.name.clone(),
            created_at: or_never(self.created.as_ref()),
            deployed_at: or_never(ended.filter(|_| deployed.is_some())),
            modified_at: or_never(ended.or(begun)),
            deleted_at: or_never(self.deleted.as_ref()),
            state: self.shape(),
            latest_manifest: manifest.clone().unwrap_or_default(),
        }
    }

    fn shape(&self) -> Shape {
        let shape = |status| Shape { status, errors: Vec::new() };
        match self.standing() {
            Standing::Failed(why) if self.status.phase == Phase::Failed => {
                Shape { status: "Failed", errors: vec![why] }
            }
            _ if self.deleted.is_some() => shape("Deleted"),
            Standing::Done => shape("Deployed"),
            Standing::Underway | Standing::Failed(_) if self.status.deployed.is_some() => {
                shape("Modified")
            }
            Standing::Underway | Standing::Failed(_) => shape("Created"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn deployed(metadata: &Value, status: &Value) -> Deployed {
        let mut object = json!({
            "apiVersion": "dm.formwork.dev/v1alpha1",
            "kind": "Deployment",
            "metadata": { "name": "d", "uid": "u", "generation": 2, "creationTimestamp": "2026-01-01T00:00:00Z" },
            "status": status,
        });
        let members = metadata.as_object().unwrap().clone();
        object["metadata"].as_object_mut().unwrap().extend(members);
        serde_json::from_value::<DynamicObject>(object).unwrap().try_into().unwrap()
    }

    fn operation(kind: &str, generation: i64) -> Value {
        json!({ "type": kind, "generation": generation, "startTime": "2026-01-01T00:00:01Z", "endTime": "2026-01-01T00:00:02Z" })
    }

    #[test]
    fn an_operation_is_over_when_the_newest_generation_is() {
        let standing = |phase: &str, observed: i64, of: i64| {
            let status = json!({ "phase": phase, "observedGeneration": observed, "operation": operation("Update", of) });
            deployed(&json!({}), &status).standing()
        };
        assert_eq!(standing("Deployed", 2, 2), Standing::Done);
        assert_eq!(standing("Deployed", 1, 1), Standing::Underway);
        assert_eq!(standing("Deployed", 2, 1), Standing::Underway);
        assert_eq!(standing("Failed", 1, 1), Standing::Underway);
        assert_eq!(standing("Applying", 2, 2), Standing::Underway);
        assert!(matches!(standing("Failed", 2, 1), Standing::Failed(_)));
        assert!(matches!(standing("Paused", 2, 1), Standing::Failed(_)));
        assert_eq!(deployed(&json!({}), &json!({})).standing(), Standing::Underway);
    }

    #[test]
    fn a_deletion_fails_only_by_its_own_failure() {
        let standing = |kind: &str| {
            let metadata = json!({ "deletionTimestamp": "2026-01-02T00:00:00Z" });
            let status = json!({ "phase": "Failed", "observedGeneration": 2, "operation": operation(kind, 2) });
            deployed(&metadata, &status).standing()
        };
        assert_eq!(standing("Update"), Standing::Underway);
        assert!(matches!(standing("Delete"), Standing::Failed(_)));
    }

    #[test]
    fn a_failure_is_told_by_the_step_that_failed() {
        let failure = |kind: &str, error: Option<&str>| {
            let condition = |kind: &str| json!({ "type": kind, "status": "False", "reason": "Failed", "message": "why" });
            let resource = json!({
                "name": "r", "apiVersion": "v1", "kind": "Secret", "namespace": "n", "objectName": "r",
                "resource": "secrets", "state": "Failed", "error": error,
            });
            let status = json!({
                "phase": "Failed", "observedGeneration": 2, "resources": [resource],
                "conditions": [condition(kind), condition("Ready")],
            });
            match deployed(&json!({}), &status).standing() {
                Standing::Failed(why) => why,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            failure("Applied", Some("no room")),
            "Found resource errors during deployment: [no room]"
        );
        assert_eq!(failure("Expanded", None), "cannot expand template named d: why");
        assert_eq!(failure("Planned", None), "cannot create configuration: why");
        assert_eq!(failure("Applied", None), "cannot create configuration: why");
    }

    #[test]
    fn every_time_is_shown_even_those_that_never_were() {
        let fresh = serde_json::to_value(deployed(&json!({}), &json!({})).shown()).unwrap();
        let want = json!({
            "name": "d", "createdAt": "2026-01-01T00:00:00Z", "deployedAt": NEVER, "modifiedAt": NEVER,
            "deletedAt": NEVER, "state": { "status": "Created" }, "latestManifest": "",
        });
        assert_eq!(fresh, want);
        let status = json!({
            "phase": "Deployed", "observedGeneration": 2, "operation": operation("Update", 2),
            "manifest": "d-2", "deployed": "d-2",
        });
        let shown = serde_json::to_value(deployed(&json!({}), &status).shown()).unwrap();
        assert_eq!(shown["deployedAt"], "2026-01-01T00:00:02Z");
        assert_eq!(shown["state"], json!({ "status": "Deployed" }));
        assert_eq!(shown["latestManifest"], "d-2");
    }
}
