//! `manifests`: what Deployments were, one for each change. Only the server writes them.

use apiserver::field;
use apiserver::object::Object;
use apiserver::resource::{Cell, Column, Resource, Serves, Strategy};
use serde::Deserialize;
use serde_json::json;

use super::kinds;

struct Manifests;

/// The resource.
pub fn resource() -> Resource {
    Resource::new(kinds::manifest(), Serves::Kept(Box::new(Manifests)))
}

const COLUMNS: [Column; 4] = [
    Column::text("Deployment", "The Deployment that it is of."),
    Column::text("Generation", "The generation of the Deployment that asked for it."),
    Column::text("Resources", "How many resources are applied."),
    Column { priority: 1, ..Column::text("Digest", "The digest of all that was expanded.") },
];

/// What a row shows of a Manifest.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Row {
    deployment: String,
    generation: i64,
    expanded_config: Resources,
    digest: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Resources {
    resources: Vec<serde::de::IgnoredAny>,
}

impl Strategy for Manifests {
    fn validate(&self, _: &Object) -> Vec<field::Error> {
        Vec::new()
    }

    fn validate_update(&self, object: &Object, old: &Object) -> Vec<field::Error> {
        if object.fields == old.fields {
            return Vec::new();
        }
        vec![field::Error::forbidden("", "a Manifest never changes")]
    }

    fn returns_deleted(&self) -> bool {
        true
    }

    fn columns(&self) -> &'static [Column] {
        &COLUMNS
    }

    fn cells(&self, object: &Object) -> Vec<Cell> {
        let row: Row = serde_json::from_str(&object.fields.to_json()).unwrap_or_default();
        let resources = row.expanded_config.resources.len();
        vec![json!(row.deployment), json!(row.generation), json!(resources), json!(row.digest)]
    }
}
