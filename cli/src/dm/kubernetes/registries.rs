//! Registries of the namespace, and the templates in them.

use anyhow::bail;
use expander::manager::{Registry, Types};
use http::Method;
use serde::Serialize;
use serde_json::{Value, json};

use super::{API_VERSION, Api};
use crate::client::{JSON, Refused, percent_encoded};
use crate::dm::{print, registry};

pub(super) async fn list(api: &Api) -> anyhow::Result<()> {
    let found: Vec<Value> = api.list("registries", JSON, None).await?;
    let shown: Vec<_> = found.iter().map(registry::shown).collect();
    print(&written(&shown)?)
}

/// Creates a registry, or replaces one of its name, as the original does.
pub(super) async fn create(api: &Api, name: &str, text: &str) -> anyhow::Result<()> {
    let (given, spec) = registry::read(text)?;
    if given != name {
        bail!("cannot create registry: Registry name does not match {given} != {name}");
    }
    let path = api.path_of("registries", name);
    let stored = match api.send(Method::GET, &path, None).await {
        Ok(mut known) => {
            known["spec"] = spec;
            api.send(Method::PUT, &path, Some(&known)).await?
        }
        Err(Refused::Status(status)) if status.code == 404 => {
            let metadata = json!({"name": name});
            let object = json!({"apiVersion": API_VERSION, "kind": "Registry", "metadata": metadata, "spec": spec});
            api.send(Method::POST, &api.path("registries"), Some(&object)).await?
        }
        Err(refused) => return Err(refused.into()),
    };
    print(&serde_json::to_string(&registry::shown(&stored))?)
}

pub(super) async fn templates(
    api: &Api,
    registry: &str,
    regex: Option<&str>,
) -> anyhow::Result<()> {
    let query = regex.map(|regex| format!("?regex={}", percent_encoded(regex)));
    let found = types(api, registry, &query.unwrap_or_default()).await?;
    print(&written(&found.listed())?)
}

/// The schema of a type that stands in a registry of the namespace, empty if it has none; `None`, if it stands in none.
pub(super) async fn schema(api: &Api, kind: &str) -> anyhow::Result<Option<String>> {
    let all: Vec<Value> = api.list("registries", JSON, None).await?;
    let holder = Registry::holder(all.iter().map(registry::shown), kind);
    let Some((Registry { name, .. }, rest)) = holder else { return Ok(None) };
    let query = format!("?type={}", percent_encoded(rest));
    let found = types(api, &name, &query).await?.items.into_iter().next();
    Ok(Some(found.and_then(|item| item.schema).unwrap_or_default()))
}

async fn types(api: &Api, registry: &str, query: &str) -> Result<Types, Refused> {
    let path = format!("{}/types{query}", api.path_of("registries", registry));
    api.read(&api.client.get(&path).await?)
}

/// A list, which is `null` in the original where there is nothing in it.
fn written<T: Serialize>(items: &[T]) -> serde_json::Result<String> {
    match items {
        [] => Ok("null".to_owned()),
        items => serde_json::to_string(items),
    }
}
