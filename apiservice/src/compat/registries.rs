//! Registries of templates, which are Registries of ours.
//!
//! What a registry holds is fetched when it is deployed; no file of it is handed on to whoever asks here, since the
//! registry's credential would open it.

use apiserver::request::Query;
use apiserver::status::Reason;
use axum::response::Response;
use http::StatusCode;
use kube::api::DynamicObject;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::actor::{Actor, Kind, named};
use super::answer::{self, Fault};
use super::template::or_empty;

/// A registry as Deployment Manager has it.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Registry {
    #[serde(deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    r#type: String,
    #[serde(deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    url: String,
    #[serde(deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    format: String,
    #[serde(deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    credentialname: String,
}

/// All of them.
pub(super) async fn list(actor: &Actor) -> Result<Response, Fault> {
    let all: Vec<_> = actor.list(Kind::Registry).await?.into_iter().map(Registry::from).collect();
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
    // Deployment Manager knew buckets of Google's as well, for charts.
    if registry.r#type != "github" {
        return Err(Fault::bad(format!(
            "registry type {:?} is not served: github is",
            registry.r#type
        )));
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

/// The name of the one that a type stands in: the one with the longest URL that the type begins with.
pub(super) async fn of(actor: &Actor, of: &str) -> Result<Response, Fault> {
    let wanted = bare(of);
    let all = actor.list(Kind::Registry).await?.into_iter().map(Registry::from);
    let fits = all.filter(|registry| {
        let rest = wanted.strip_prefix(bare(&registry.url));
        rest.is_some_and(|rest| rest.starts_with('/') && !registry.url.is_empty())
    });
    let found = fits.max_by_key(|registry| bare(&registry.url).len());
    let missing = || Fault::bad(format!("Failed to find registry for url: {of}"));
    Ok(answer::json(StatusCode::OK, &found.ok_or_else(missing)?.name))
}

/// The templates in one.
pub(super) async fn types(actor: &Actor, name: &str) -> Result<Response, Fault> {
    existing(actor, name, Reason::InternalError).await?;
    Err(unserved("lists of templates"))
}

/// Where the files of a template are.
pub(super) async fn urls(actor: &Actor, name: &str, _: &str) -> Result<Response, Fault> {
    existing(actor, name, Reason::BadRequest).await?;
    Err(unserved("URLs of templates"))
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
    found.map(Registry::from).ok_or_else(missing)
}

/// A URL without its scheme and a slash at its end.
fn bare(url: &str) -> &str {
    let url = url.split_once("://").map_or(url, |(_, rest)| rest);
    url.trim_end_matches('/')
}

impl From<DynamicObject> for Registry {
    fn from(object: DynamicObject) -> Self {
        let spec = &object.data["spec"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let format = spec["format"].as_array().into_iter().flatten();
        let format: Vec<_> = format.filter_map(Value::as_str).collect();
        Self {
            name: object.metadata.name.unwrap_or_default(),
            r#type: text(&spec["type"]),
            url: text(&spec["url"]),
            format: format.join(";"),
            credentialname: text(&spec["credentialRef"]["name"]),
        }
    }
}

impl Registry {
    fn spec(&self) -> Map<String, Value> {
        let mut spec = Map::new();
        spec.insert("type".to_owned(), self.r#type.as_str().into());
        spec.insert("url".to_owned(), self.url.as_str().into());
        let format: Vec<_> = self.format.split(';').filter(|part| !part.is_empty()).collect();
        if !format.is_empty() {
            spec.insert("format".to_owned(), json!(format));
        }
        if !self.credentialname.is_empty() {
            let reference = json!({ "name": self.credentialname });
            spec.insert("credentialRef".to_owned(), reference);
        }
        spec
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_is_the_same_in_both_worlds() {
        let text = r#"{"name":"r1","type":"github","url":"github.com/a/b","format":"versioned;collection","credentialname":"c"}"#;
        let registry: Registry = serde_json::from_str(text).unwrap();
        let object = json!({
            "apiVersion": "dm.formwork.dev/v1alpha1", "kind": "Registry", "metadata": { "name": "r1" },
            "spec": registry.spec(),
        });
        assert_eq!(object["spec"]["format"], json!(["versioned", "collection"]));
        assert_eq!(object["spec"]["credentialRef"], json!({ "name": "c" }));
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        assert_eq!(serde_json::to_string(&Registry::from(object)).unwrap(), text);
    }

    #[test]
    fn a_scheme_does_not_count() {
        assert_eq!(bare("https://github.com/a/b/"), bare("github.com/a/b"));
    }
}
