//! The commands that only look.

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::{Api, registries};
use crate::client::{JSON, Refused};
use crate::dm::deployment::Deployment;
use crate::dm::{layout, print, shapes, status};
use crate::output::to_stdout;

/// Lists without specs: a Manifest has all files of its Deployment.
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// What says that every type is meant.
const ALL: &str = "all";

/// An object by its metadata.
#[derive(Deserialize)]
struct Partial {
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    name: String,
    owner_references: Vec<Owner>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Owner {
    kind: String,
    uid: String,
}

/// A type that is deployed.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Type {
    #[serde(rename = "type")]
    kind: String,
    schema: String,
}

/// An instance of a type; written as the original shows it.
#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct Instance {
    #[serde(rename(deserialize = "resource"))]
    name: String,
    #[serde(rename = "type")]
    kind: String,
    deployment: String,
    manifest: String,
    path: String,
}

pub(super) async fn list(api: &Api) -> anyhow::Result<()> {
    let found: Vec<Partial> = api.list("deployments", METADATA, None).await?;
    let names: Vec<String> = found.into_iter().map(|one| one.metadata.name).collect();
    print(&shapes::names(&names))
}

pub(super) async fn get(api: &Api, name: &str) -> anyhow::Result<()> {
    let deployment = deployment(api, name).await?;
    print(&shapes::deployment(&deployment, &deployment.status.manifest))
}

pub(super) async fn status(api: &Api, name: &str) -> anyhow::Result<()> {
    to_stdout(&status::text(&deployment(api, name).await?))
}

pub(super) async fn manifests(api: &Api, name: &str) -> anyhow::Result<()> {
    let names = names_of(api, &deployment(api, name).await?).await?;
    print(&shapes::names(&names))
}

pub(super) async fn manifest(api: &Api, name: &str, manifest: &str) -> anyhow::Result<()> {
    let deployment = deployment(api, name).await?;
    let json = api.get("manifests", manifest).await?;
    let shape = shapes::manifest(manifest, &json, Some(&deployment))?;
    let of = expansion::Value::from_json(&shape)?;
    if of.get("deployment").and_then(expansion::Value::as_str) != Some(name) {
        bail!("manifest {manifest} not found in deployment {name}");
    }
    print(&shape)
}

pub(super) async fn layout(api: &Api, name: &str) -> anyhow::Result<()> {
    let deployment = deployment(api, name).await?;
    let manifest = &deployment.status.manifest;
    if manifest.is_empty() {
        bail!("{name} has no manifest yet");
    }
    let json = api.get("manifests", manifest).await?;
    to_stdout(&layout::of(&deployment, manifest, &json)?)
}

pub(super) async fn types(api: &Api) -> anyhow::Result<()> {
    let types: Vec<Type> = api.list("types", JSON, None).await?;
    let names: Vec<String> = types.into_iter().map(|one| one.kind).collect();
    print(&shapes::names(&names))
}

pub(super) async fn instances(api: &Api, kind: &str) -> anyhow::Result<()> {
    let selected = (kind != ALL).then_some(("type", kind));
    let instances: Vec<Instance> = api.list("typeinstances", JSON, selected).await?;
    let json = match instances.as_slice() {
        [] => "null".to_owned(),
        instances => serde_json::to_string(instances)?,
    };
    print(&json)
}

/// Prints the schema of a type that is deployed, or else of one in a registry; nothing, as the original does, where it has
/// none.
pub(super) async fn describe(api: &Api, kind: &str) -> anyhow::Result<()> {
    let types: Vec<Type> = api.list("types", JSON, Some(("type", kind))).await?;
    let schema = match types.into_iter().next() {
        Some(deployed) => deployed.schema,
        None => match registries::schema(api, kind).await? {
            Some(schema) => schema,
            None => bail!("{kind} is not deployed, and stands in no registry"),
        },
    };
    print(&serde_json::to_string(&schema)?)
}

/// The deployment of that name.
///
/// # Errors
/// When there is none.
pub(super) async fn deployment(api: &Api, name: &str) -> anyhow::Result<Deployment> {
    let json = api.get("deployments", name).await?;
    serde_json::from_str(&json).context("the server's answer")
}

/// The names of the manifests of a deployment, the oldest first.
pub(super) async fn names_of(api: &Api, deployment: &Deployment) -> Result<Vec<String>, Refused> {
    let owner = &deployment.metadata;
    let found: Vec<Partial> = api.list("manifests", METADATA, None).await?;
    let is_of = |one: &Partial| {
        let owners = &one.metadata.owner_references;
        owners.iter().any(|of| of.kind == "Deployment" && of.uid == owner.uid)
    };
    let mut names: Vec<String> =
        found.into_iter().filter(is_of).map(|one| one.metadata.name).collect();
    names.sort_by_key(|name| (generation(name), name.clone()));
    Ok(names)
}

/// Of which generation a manifest is: that stands at the end of its name.
fn generation(name: &str) -> u64 {
    name.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_in_the_order_of_their_generations() {
        let mut names = ["d-10", "d-9", "d-x", "d-1"].map(str::to_owned).to_vec();
        names.sort_by_key(|name| (generation(name), name.clone()));
        assert_eq!(names, ["d-x", "d-1", "d-9", "d-10"]);
    }
}
