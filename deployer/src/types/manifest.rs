//! What a Deployment was at one time: what was asked for, and all that came of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::spec::ImportFile;
use crate::plan::Plan;

/// A Manifest. It never changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// When it was made; empty until it is stored.
    #[serde(skip)]
    pub created: String,
    /// The Deployment that it is of.
    pub deployment: String,
    /// The generation of the Deployment that asked for it.
    pub generation: i64,
    /// What was asked for.
    pub input_config: Input,
    /// The resources that are no templates.
    pub expanded_config: Configuration,
    /// The tree they came from.
    pub layout: Layout,
    /// What is applied, in which order, and where to.
    pub plan: Plan,
    /// The digest of all that was expanded.
    pub digest: String,
}

/// The tree that resources came from, as text: it may be deeper than anybody reads it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Layout(Box<RawValue>);

impl Layout {
    /// The tree as JSON.
    pub fn new(tree: &Value) -> Self {
        Self(to_raw_value(tree).expect("it is JSON"))
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for Layout {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

/// A configuration as it was sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// What it is called.
    pub name: String,
    /// Its text.
    pub content: String,
    /// The files that it refers to, with those that were fetched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<ImportFile>,
    /// The `refresh` for which they were fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<String>,
}

impl Input {
    /// The files that were fetched, which later changes use again as long as their `refresh` is the same.
    pub fn kept_for(&self, refresh: Option<&str>) -> impl Iterator<Item = &ImportFile> {
        let is_same = self.refresh.as_deref() == refresh;
        self.imports.iter().filter(move |file| is_same && file.digest.is_some())
    }
}

/// Resources, flat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// In the order of the configuration.
    pub resources: Vec<Value>,
}
