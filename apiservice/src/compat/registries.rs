//! Registries of templates, which are Registries of ours.
//!
//! What they have is asked of the Kubernetes API, as everything is. No file but schemas is handed on to whoever asks here:
//! a registry's credential would open it.

use apiserver::request::Query;
use apiserver::status::Reason;
use axum::response::Response;
use expander::manager::{Registry, Types};
use http::StatusCode;
use kube::api::DynamicObject;
use serde_json::{Map, Value, json};

use super::actor::{Actor, Kind, named};
use super::answer::{self, Fault};

/// The types of registries that may be created, which are those that are where their URL says. Deployment Manager knew
/// buckets of Google's as well, for charts.
const TYPES: [&str; 2] = ["github", "http"];

/// All of them.
pub(super) async fn list(actor: &Actor) -> Result<Response, Fault> {
    let all: Vec<_> = actor.list(Kind::Registry).await?.iter().map(registry).collect();
    Ok(answer::list(&all))
}

/// One.
pub(super) async fn read(actor: &Actor, name: &str) -> Result<Response, Fault> {
    Ok(answer::json(StatusCode::OK, &existing(actor, name, Reason::BadRequest).await?))
}

/// Stores one, in the place of one of its name.
pub(super) async fn create(
    actor: &Actor,
    name: &str,
    registry: Registry,
) -> Result<Response, Fault> {
    if registry.name != name {
        let why = format!("Registry name does not match {} != {name}", registry.name);
        return Err(Fault::bad(why));
    }
    let name = named("registry", name)?;
    if !TYPES.contains(&registry.kind.as_str()) {
        let why = format!("registry type {:?} is not served: github and http are", registry.kind);
        return Err(Fault::bad(why));
    }
    match actor.create(Kind::Registry, name, json!({ "spec": registry.spec() })).await {
        Err(kube::Error::Api(status)) if status.code == 409 => {
            // In a merge patch null takes away what was there.
            let old = ["format", "credentialRef"].map(|member| (member.to_owned(), Value::Null));
            let patch: Map<_, _> = old.into_iter().chain(registry.spec()).collect();
            actor.patch(Kind::Registry, name, &json!({ "spec": patch })).await?;
        }
        created => _ = created?,
    }
    Ok(answer::json(StatusCode::OK, &registry))
}

/// The name of the one that a type stands in.
pub(super) async fn of(actor: &Actor, of: &str) -> Result<Response, Fault> {
    let missing = || Fault::bad(format!("Failed to find registry for url: {of}"));
    let (registry, _) = holder(actor, of).await?.ok_or_else(missing)?;
    Ok(answer::json(StatusCode::OK, &registry.name))
}

/// The one that a type stands in, and what the type says behind its URL.
async fn holder<'a>(actor: &Actor, of: &'a str) -> Result<Option<(Registry, &'a str)>, Fault> {
    let all = actor.list(Kind::Registry).await?;
    Ok(Registry::holder(all.iter().map(registry), of))
}

/// The templates in one, or those that a regular expression is found in. What has no version, or one that is no number,
/// is of version 0, or is left out.
pub(super) async fn types(
    actor: &Actor,
    name: &str,
    query: Option<&str>,
) -> Result<Response, Fault> {
    existing(actor, name, Reason::InternalError).await?;
    let query = query.map(Query::parse).unwrap_or_default();
    let regex = query.get("regex").map(|regex| ("regex", regex));
    let found: Types = asked(actor, name, regex).await?;
    Ok(answer::list(&found.listed()))
}

/// Where the files of a template are.
pub(super) async fn urls(actor: &Actor, name: &str, of: &str) -> Result<Response, Fault> {
    existing(actor, name, Reason::BadRequest).await?;
    let found: Types = asked(actor, name, Some(("type", of))).await?;
    let urls: Vec<_> = found.items.into_iter().flat_map(|item| item.urls).collect();
    Ok(answer::list(&urls))
}

/// The schema of a type that stands in a registry, empty if it has none; `None`, if it stands in no registry.
pub(super) async fn schema(actor: &Actor, of: &str) -> Result<Option<String>, Fault> {
    let Some((registry, rest)) = holder(actor, of).await? else { return Ok(None) };
    let found: Types = asked(actor, &registry.name, Some(("type", rest))).await?;
    let schema = found.items.into_iter().find_map(|item| item.schema);
    Ok(Some(schema.unwrap_or_default()))
}

/// What a registry is said to have. To Deployment Manager it was its own fault that a registry did not answer.
async fn asked(actor: &Actor, name: &str, query: Option<(&str, &str)>) -> Result<Types, Fault> {
    actor.below(Kind::Registry, name, "types", query).await.map_err(|error| match error {
        kube::Error::Api(status) if status.code == 503 => {
            Fault::new(Reason::InternalError, status.message.clone())
        }
        error => error.into(),
    })
}

/// The text of a file.
pub(super) async fn download(
    actor: &Actor,
    name: &str,
    query: Option<&str>,
) -> Result<Response, Fault> {
    existing(actor, name, Reason::BadRequest).await?;
    let query = query.map(Query::parse).unwrap_or_default();
    match query.get("file") {
        Some(_) => Err(unserved("files of registries")),
        None => Err(Fault::bad("file: say which")),
    }
}

fn unserved(what: &str) -> Fault {
    Fault::new(Reason::NotFound, format!("{what} are not served here"))
}

async fn existing(actor: &Actor, name: &str, reason: Reason) -> Result<Registry, Fault> {
    let found = actor.get(Kind::Registry, name).await?;
    let missing = || Fault::new(reason, format!("Failed to find registry named {name}"));
    found.as_ref().map(registry).ok_or_else(missing)
}

fn registry(object: &DynamicObject) -> Registry {
    Registry::of(object.metadata.name.as_deref().unwrap_or_default(), &object.data["spec"])
}
