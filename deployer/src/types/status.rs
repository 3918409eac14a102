//! What was done, and is. It is the journal of the operation that goes on as well: who reads it can
//! go on from there, and whatever may exist in the cluster stands in it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::condition::{Condition, Truth, set_condition};
use crate::cluster::Target;

/// The status of a Deployment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// How far it is, in one word.
    pub phase: Phase,
    /// The generation of the spec that all this is about.
    pub observed_generation: i64,
    /// What is true of it and what is not.
    pub conditions: Vec<Condition>,
    /// The Manifest that is or was last applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// The Manifest that was last applied in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployed: Option<String>,
    /// What the configuration says to others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
    /// Everything that may exist because of this Deployment.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<Resource>,
    /// What is or was last being done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// What would be done, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preview: Vec<Preview>,
}

/// How far a Deployment is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Nothing was done yet.
    #[default]
    Pending,
    /// It waits for another Deployment.
    Waiting,
    /// Objects are created and changed.
    Applying,
    /// What is no longer wanted is deleted.
    Pruning,
    /// All is as it was wanted.
    Deployed,
    /// What would be done is shown.
    Previewed,
    /// Something failed, and is tried again from time to time.
    Failed,
    /// Nothing is done, as was asked for.
    Paused,
    /// All of it is deleted.
    Deleting,
}

/// A value that the configuration gives a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its value.
    #[serde(default)]
    pub value: Value,
}

/// A resource, and the object that it is in the cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Its name in the configuration.
    pub name: String,
    /// The object.
    #[serde(flatten)]
    pub target: Target,
    /// The uid of the object, once it is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// Which wave it belongs to.
    #[serde(default)]
    pub wave: usize,
    /// How far it is.
    pub state: State,
    /// What is wrong with it, or what it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How far a resource is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// It is about to be applied.
    Pending,
    /// It was applied, and is not ready yet.
    Applied,
    /// It is ready.
    Ready,
    /// It could not be applied, or will not become ready.
    Failed,
    /// It is no longer wanted.
    Obsolete,
    /// Others have changed it.
    Drifted,
}

/// What is or was last being done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The generation of the spec that asked for it.
    pub generation: i64,
    /// When it began.
    pub start_time: String,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_time: Option<String>,
    /// How many waves are behind it.
    #[serde(default)]
    pub wave: usize,
    /// How many waves there are.
    #[serde(default)]
    pub waves: usize,
    /// How many resources are ready.
    #[serde(default)]
    pub done: usize,
    /// How many there are.
    #[serde(default)]
    pub total: usize,
}

/// What an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// The first of a Deployment.
    Create,
    /// A change.
    Update,
    /// A change to an earlier Manifest.
    Rollback,
    /// A look at what would be changed.
    Preview,
    /// The end.
    Delete,
}

/// What would be done about an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The resource's name in the configuration.
    pub name: String,
    /// The object.
    #[serde(flatten)]
    pub target: Target,
    /// What would be done.
    pub action: Action,
    /// How the object would change, as a unified diff of JSON.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub diff: String,
    /// What would go wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What cannot be known yet: a value of an object that is still to be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}

/// What would be done about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// It would be created.
    Create,
    /// It would be changed.
    Update,
    /// It would be deleted.
    Delete,
    /// It would stay, and belong to nobody.
    Abandon,
    /// Nothing.
    None,
}

/// As many bytes a message may have: that of a Kubernetes condition, less what ends it.
const LONGEST: usize = 32_000;

/// The same for what is wrong with one resource; there may be thousands.
const LONGEST_ERROR: usize = 1_000;

impl Resource {
    /// Says how far it is, and what is wrong with it or what it waits for.
    pub(crate) fn set(&mut self, state: State, error: Option<String>) {
        self.state = state;
        self.error = error.map(|error| shortened(error, LONGEST_ERROR));
    }
}

/// A message that is not too long.
fn shortened(mut message: String, longest: usize) -> String {
    if message.len() > longest {
        message.truncate(message.floor_char_boundary(longest));
        message.push_str("\n…");
    }
    message
}

impl Status {
    /// The condition of that type.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.kind == kind)
    }

    /// Whether a condition is `True`.
    pub fn is(&self, kind: &str) -> bool {
        self.condition(kind).is_some_and(|condition| condition.status == Truth::True)
    }

    /// Sets a condition about a generation.
    pub(crate) fn set(
        &mut self,
        (kind, status): (&str, Truth),
        reason: &str,
        message: impl Into<String>,
        (generation, now): (i64, jiff::Timestamp),
    ) {
        let condition = Condition {
            kind: kind.to_owned(),
            status,
            reason: reason.to_owned(),
            message: shortened(message.into(), LONGEST),
            last_transition_time: String::new(),
            observed_generation: generation,
        };
        set_condition(&mut self.conditions, condition, now);
    }
}
