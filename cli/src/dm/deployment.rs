//! A Deployment as the server answers it: what of it is shown, and whether what was asked for is done.
//!
//! Words of the server that this command does not know yet are shown as they are, and mean nothing to it.

use serde::Deserialize;
use serde_json::Value;

/// A Deployment.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Deployment {
    pub(super) metadata: Metadata,
    pub(super) spec: Spec,
    pub(super) status: Status,
}

/// What of a spec is needed to change it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Spec {
    pub(super) roll_back_to: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Metadata {
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) generation: i64,
    pub(super) resource_version: String,
    pub(super) creation_timestamp: Option<String>,
    pub(super) deletion_timestamp: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Status {
    pub(super) phase: String,
    pub(super) observed_generation: i64,
    pub(super) conditions: Vec<Condition>,
    pub(super) manifest: String,
    pub(super) deployed: String,
    pub(super) outputs: Vec<Output>,
    pub(super) resources: Vec<Resource>,
    pub(super) operation: Option<Operation>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Condition {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) status: String,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) last_transition_time: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Output {
    pub(super) name: String,
    pub(super) value: Value,
}

/// A resource, and the object that it is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Resource {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) object_name: String,
    pub(super) wave: usize,
    pub(super) state: String,
    pub(super) error: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Operation {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) start_time: Option<String>,
    pub(super) end_time: Option<String>,
    pub(super) wave: usize,
    pub(super) waves: usize,
    pub(super) done: usize,
    pub(super) total: usize,
}

/// How what was asked for stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is being done.
    GoingOn,
    /// It is done.
    Done,
    /// It failed, for these reasons. The server may try again by itself.
    Failed(Vec<String>),
}

impl Deployment {
    /// Reads an answer.
    ///
    /// # Errors
    /// When it is no Deployment.
    pub(super) fn of(object: &Value) -> serde_json::Result<Self> {
        Self::deserialize(object)
    }

    /// How what `generation` asks for stands.
    pub(super) fn verdict(&self, generation: i64) -> Verdict {
        if self.status.observed_generation < generation {
            return Verdict::GoingOn;
        }
        match &*self.status.phase {
            "Failed" => Verdict::Failed(self.reasons()),
            "Deployed" if self.is_ready() => Verdict::Done,
            // Nothing more is going to happen.
            "Previewed" | "Paused" => Verdict::Done,
            _ => Verdict::GoingOn,
        }
    }

    /// Whether all of it is ready.
    pub(super) fn is_ready(&self) -> bool {
        self.condition("Ready").is_some_and(|ready| ready.status == "True")
    }

    /// The condition of that type.
    pub(super) fn condition(&self, kind: &str) -> Option<&Condition> {
        self.status.conditions.iter().find(|condition| condition.kind == kind)
    }

    /// What is wrong: why it is not ready, and what of resources that does not say.
    pub(super) fn reasons(&self) -> Vec<String> {
        let ready = self.condition("Ready");
        let said = ready.map(|ready| &*ready.message).unwrap_or_default();
        let lines = said.lines().filter(|line| !line.trim().is_empty());
        let mut reasons: Vec<String> = lines.map(str::to_owned).collect();
        for resource in &self.status.resources {
            let error = &resource.error;
            if resource.state == "Failed" && !reasons.iter().any(|known| known.contains(error)) {
                reasons.push(format!("{} ({}): {error}", resource.name, resource.object()));
            }
        }
        if reasons.is_empty() {
            let word = ready.map(|ready| &*ready.reason).filter(|word| !word.is_empty());
            reasons.push(word.unwrap_or("it failed").to_owned());
        }
        reasons
    }
}

impl Resource {
    /// The object for people: `Service default/web`.
    pub(super) fn object(&self) -> String {
        let Resource { kind, namespace, object_name, .. } = self;
        match namespace.is_empty() {
            true => format!("{kind} {object_name}"),
            false => format!("{kind} {namespace}/{object_name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deployment(phase: &str, observed: i64, ready: &str) -> Deployment {
        let object = json!({"metadata": {"name": "d", "generation": 9}, "status": {
            "phase": phase, "observedGeneration": observed, "newer": [1],
            "conditions": [
                {"type": "Drifted", "status": "False", "reason": "AsApplied", "message": "all is well"},
                {"type": "Ready", "status": ready, "reason": "Refused", "message": "a: no\nb: no\n"}],
            "resources": [
                {"name": "a", "kind": "Service", "objectName": "x", "state": "Failed", "error": "no"},
                {"name": "c", "kind": "Pod", "namespace": "n", "objectName": "y", "state": "Failed", "error": "full"}]}});
        Deployment::of(&object).unwrap()
    }

    #[test]
    fn what_an_earlier_generation_came_to_is_no_verdict() {
        assert_eq!(deployment("Deployed", 2, "True").verdict(3), Verdict::GoingOn);
        assert_eq!(deployment("Failed", 2, "False").verdict(3), Verdict::GoingOn);
        assert_eq!(deployment("Deployed", 4, "True").verdict(3), Verdict::Done);
    }

    #[test]
    fn deployed_is_done_when_it_is_ready() {
        assert_eq!(deployment("Deployed", 3, "False").verdict(3), Verdict::GoingOn);
        assert_eq!(deployment("Applying", 3, "False").verdict(3), Verdict::GoingOn);
        assert_eq!(deployment("Previewed", 3, "False").verdict(3), Verdict::Done);
    }

    #[test]
    fn every_reason_is_told_once() {
        let want = ["a: no", "b: no", "c (Pod n/y): full"].map(str::to_owned).to_vec();
        assert_eq!(deployment("Failed", 3, "False").verdict(3), Verdict::Failed(want));
    }
}
