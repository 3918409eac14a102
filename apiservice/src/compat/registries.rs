//! Registries of templates, which are Registries of ours.
//!
//! What they have is asked of the Kubernetes API, as everything is. No file but schemas is handed on to whoever asks here:
//! a registry's credential would open it.

use apiserver::request::Query;
use apiserver::status::Reason;
use axum::response::Response;
use expander::{Offered, within};
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

/// What a registry has, as it is served.
#[derive(Deserialize)]
struct Types {
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    collection: Option<String>,
    name: String,
    version: Option<String>,
    #[serde(default)]
    urls: Vec<String>,
    schema: Option<String>,
}

/// A template as Deployment Manager lists it.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Listed {
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

/// The name of the one that a type stands in.
pub(super) async fn of(actor: &Actor, of: &str) -> Result<Response, Fault> {
    let missing = || Fault::bad(format!("Failed to find registry for url: {of}"));
    let (registry, _) = holder(actor, of).await?.ok_or_else(missing)?;
    Ok(answer::json(StatusCode::OK, &registry.name))
}

/// The one that a type stands in, that with the longest URL that the type begins with, and what the type says behind it.
async fn holder<'a>(actor: &Actor, of: &'a str) -> Result<Option<(Registry, &'a str)>, Fault> {
    let all = actor.list(Kind::Registry).await?.into_iter().map(Registry::from);
    let fits = all.filter_map(|registry| {
        let rest = within(of, bare(&registry.url))?;
        Some((registry, rest))
    });
    Ok(fits.max_by_key(|(registry, _)| bare(&registry.url).len()))
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
    let listed: Vec<_> = found.items.into_iter().filter_map(Listed::of).collect();
    Ok(answer::list(&listed))
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

impl Listed {
    fn of(item: Item) -> Option<Self> {
        let Item { collection, name, version, .. } = item;
        let version = match version {
            None => Version::default(),
            version => {
                let offered = Offered { collection: None, template: name.clone(), version };
                let numbers = offered.parsed_version()?;
                Version { major: numbers.major, minor: numbers.minor, patch: numbers.patch }
            }
        };
        Some(Self { collection: collection.unwrap_or_default(), name, version })
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
    fn a_template_is_listed_by_the_numbers_of_its_version() {
        let listed = |text: &str| {
            let listed = Listed::of(serde_json::from_str(text).unwrap());
            listed.map(|listed| serde_json::to_string(&listed).unwrap())
        };
        for (item, want) in [
            (
                r#"{"type":"p/c/t:v1.2","collection":"c","name":"t","version":"v1.2"}"#,
                Some(r#"{"Collection":"c","Name":"t","Version":{"Major":1,"Minor":2,"Patch":0}}"#),
            ),
            (
                r#"{"type":"p/t","name":"t"}"#,
                Some(r#"{"Collection":"","Name":"t","Version":{"Major":0,"Minor":0,"Patch":0}}"#),
            ),
            (r#"{"type":"p/t:latest","name":"t","version":"latest"}"#, None),
        ] {
            assert_eq!(listed(item).as_deref(), want, "{item}");
        }
    }

    #[test]
    fn a_scheme_does_not_count() {
        assert_eq!(bare("https://github.com/a/b/"), bare("github.com/a/b"));
    }
}
