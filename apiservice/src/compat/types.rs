//! Types that deployments are made of, and their instances: both follow from the current Manifests.

use apiserver::status::Reason;
use axum::response::Response;
use http::StatusCode;
use kube::api::DynamicObject;
use serde::{Deserialize, Serialize};

use super::actor::{Actor, Kind};
use super::answer::{self, Fault};
use super::registries;
use crate::engine::Engine;

/// The name under which all instances are asked for.
const ALL: &str = "all";

/// A type, as far as it is looked at here.
#[derive(Deserialize)]
struct Type {
    r#type: String,
    #[serde(default)]
    schema: String,
}

/// A TypeInstance, as it is served.
#[derive(Deserialize)]
struct Served {
    r#type: String,
    resource: String,
    deployment: String,
    manifest: String,
    path: String,
}

/// An instance as Deployment Manager shows it.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Instance {
    name: String,
    r#type: String,
    deployment: String,
    manifest: String,
    path: String,
}

/// The types that are used, templates and primitives.
pub(super) async fn list(actor: &Actor) -> Result<Response, Fault> {
    let types: Vec<_> = types(actor).await?.into_iter().map(|known| known.r#type).collect();
    Ok(answer::list(&types))
}

/// The instances of a type, or of all.
pub(super) async fn instances(actor: &Actor, of: &str) -> Result<Response, Fault> {
    let all = actor.list(Kind::TypeInstance).await?.into_iter().map(read::<Served>);
    let all: Vec<Served> = all.collect::<Result<_, _>>()?;
    let wanted = all.into_iter().filter(|instance| of == ALL || instance.r#type == of);
    let shown: Vec<_> = wanted.map(Instance::from).collect();
    Ok(answer::list(&shown))
}

/// The text of the schema of a type, of one that is deployed, or stands in a registry, or else can be fetched; empty,
/// where there is none.
pub(super) async fn metadata(actor: &Actor, engine: &Engine, of: &str) -> Result<Response, Fault> {
    let known = types(actor).await?.into_iter().find(|known| known.r#type == of);
    let schema = match known {
        Some(known) => known.schema,
        // What stands in a registry says where.
        None if !of.contains('/') => String::new(),
        None => match registries::schema(actor, of).await? {
            Some(schema) => schema,
            None if is_elsewhere(of) => {
                engine.schema(of, None).await.map_err(Fault::bad)?.unwrap_or_default()
            }
            None => String::new(),
        },
    };
    Ok(answer::json(StatusCode::OK, &schema))
}

/// Whether a type says where it is, by a URL or a registry.
fn is_elsewhere(name: &str) -> bool {
    ["github.com/", "http://", "https://"].iter().any(|start| name.starts_with(start))
}

async fn types(actor: &Actor) -> Result<Vec<Type>, Fault> {
    actor.list(Kind::Type).await?.into_iter().map(read).collect()
}

fn read<T: serde::de::DeserializeOwned>(object: DynamicObject) -> Result<T, Fault> {
    let unreadable = |error| Fault::new(Reason::InternalError, format!("a type: {error}"));
    serde_json::from_value(object.data).map_err(unreadable)
}

impl From<Served> for Instance {
    fn from(Served { r#type, resource, deployment, manifest, path }: Served) -> Self {
        Self { name: resource, r#type, deployment, manifest, path }
    }
}
