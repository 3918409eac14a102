//! What is wanted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The spec of a Deployment. Exactly one of `configuration` and `template` is there, unless it is
/// rolled back.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spec {
    /// The configuration, as YAML text.
    pub configuration: Option<String>,
    /// Instead of a configuration: its only resource.
    pub template: Option<TemplateReference>,
    /// The files that it refers to.
    pub imports: Vec<ImportFile>,
    /// What templates see as `env`, beside what they always see.
    pub env: BTreeMap<String, String>,
    /// Whether properties are held to the schemas of their templates; yes, unless it is said.
    pub validate_schemas: Option<bool>,
    /// Where objects go that do not name a namespace; the Deployment's own, unless it is said.
    pub target_namespace: Option<String>,
    /// What may be done about objects that are there, or are not.
    pub create_policy: CreatePolicy,
    /// What becomes of objects that are no longer wanted.
    pub delete_policy: DeletePolicy,
    /// Whether to show what would be done, and do nothing.
    pub preview: bool,
    /// Whether to leave everything as it is.
    pub paused: bool,
    /// What to do about objects that others have changed.
    pub reconcile: Reconcile,
    /// The Deployments of the same namespace that have to be ready before this one begins.
    pub depends_on: Vec<String>,
    /// How many Manifests are kept, besides the one that is deployed.
    pub revision_history_limit: Option<u32>,
    /// The Manifest to apply again, instead of what is said above.
    pub roll_back_to: Option<String>,
    /// How long an operation may wait for objects to become ready.
    pub timeout_seconds: Option<u32>,
    /// Files that were fetched are used again for as long as this stays the same.
    pub refresh: Option<String>,
    /// For whom everything is done. The server writes it.
    pub requester: Requester,
}

/// A configuration of one resource.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TemplateReference {
    /// The template: an import, a URL, or one of a registry.
    #[serde(rename = "type")]
    pub kind: String,
    /// The name of the resource; the Deployment's, unless it is said.
    pub name: Option<String>,
    /// What the template is given.
    pub properties: Option<Map<String, Value>>,
}

/// A file that a configuration refers to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportFile {
    /// What it is called in types and imports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its text.
    pub content: String,
    /// The digest of the text, where the server has fetched it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// For whom everything is done: the user of the request that last changed the spec, or that deleted
/// the Deployment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Requester {
    /// The user's name.
    pub username: String,
    /// The user's uid, if it has one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The groups that the user was in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// What else the authenticator said.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, Vec<String>>,
}

/// What may be done about objects that are there, or are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum CreatePolicy {
    /// Those that are not there are created, others are taken over.
    #[default]
    CreateOrAcquire,
    /// They have to be there.
    Acquire,
}

/// What becomes of objects that are no longer wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum DeletePolicy {
    /// They are deleted.
    #[default]
    Delete,
    /// They stay, and belong to nobody.
    Abandon,
}

/// What to do about objects that others have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Reconcile {
    /// It is said in the condition `Drifted`.
    #[default]
    Observe,
    /// They are applied again.
    Enforce,
}

impl Spec {
    /// How long an operation may wait for objects to become ready, in seconds.
    pub fn timeout(&self) -> i64 {
        self.timeout_seconds.unwrap_or(600).into()
    }

    /// How many Manifests are kept, besides the one that is deployed.
    pub fn history(&self) -> usize {
        self.revision_history_limit.map_or(10, |limit| limit as usize)
    }
}
