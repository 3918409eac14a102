//! Registries of the namespace, and the templates in them.

use anyhow::bail;
use expander::{Offered, within};
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{API_VERSION, Api};
use crate::client::{JSON, Refused, percent_encoded};
use crate::dm::{print, registry};

/// Templates that a registry has.
#[derive(Deserialize)]
struct Types {
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    collection: Option<String>,
    name: String,
    version: Option<String>,
    schema: Option<String>,
}

/// A template as the original shows it.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Shown {
    collection: String,
    name: String,
    version: Version,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Version {
    major: u64,
    minor: u64,
    patch: u64,
}

pub(super) async fn list(api: &Api) -> anyhow::Result<()> {
    let found: Vec<Value> = api.list("registries", JSON, None).await?;
    let shown: Vec<Value> = found.iter().map(registry::shown).collect();
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
    print(&registry::shown(&stored).to_string())
}

pub(super) async fn templates(
    api: &Api,
    registry: &str,
    regex: Option<&str>,
) -> anyhow::Result<()> {
    let query = regex.map(|regex| format!("?regex={}", percent_encoded(regex)));
    let found = types(api, registry, &query.unwrap_or_default()).await?;
    let shown: Vec<Shown> = found.items.into_iter().filter_map(Item::shown).collect();
    print(&written(&shown)?)
}

/// The schema of a type that stands in a registry of the namespace, empty if it has none; `None`, if it stands in none.
pub(super) async fn schema(api: &Api, kind: &str) -> anyhow::Result<Option<String>> {
    let all: Vec<Value> = api.list("registries", JSON, None).await?;
    let within = |registry: &Value| {
        let url = registry["spec"]["url"].as_str()?;
        let url = url.split_once("://").map_or(url, |(_, rest)| rest).trim_end_matches('/');
        let rest = within(kind, url)?.to_owned();
        Some((url.len(), registry["metadata"]["name"].as_str()?.to_owned(), rest))
    };
    let Some((_, name, rest)) = all.iter().filter_map(within).max() else { return Ok(None) };
    let query = format!("?type={}", percent_encoded(&rest));
    let found = types(api, &name, &query).await?.items.into_iter().next();
    Ok(Some(found.and_then(|item| item.schema).unwrap_or_default()))
}

async fn types(api: &Api, registry: &str, query: &str) -> Result<Types, Refused> {
    let path = format!("{}/types{query}", api.path_of("registries", registry));
    api.read(&api.client.get(&path).await?)
}

impl Item {
    /// None for a version that the original could not have read.
    fn shown(self) -> Option<Shown> {
        let Self { collection, name, version, .. } = self;
        let numbers = match version {
            None => Version::default(),
            version => {
                let offered = Offered { collection: None, template: name.clone(), version };
                let it = offered.parsed_version()?;
                Version { major: it.major, minor: it.minor, patch: it.patch }
            }
        };
        Some(Shown { collection: collection.unwrap_or_default(), name, version: numbers })
    }
}

/// A list, which is `null` in the original where there is nothing in it.
fn written<T: Serialize>(items: &[T]) -> serde_json::Result<String> {
    match items {
        [] => Ok("null".to_owned()),
        items => serde_json::to_string(items),
    }
}
