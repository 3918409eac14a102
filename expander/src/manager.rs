//! Registries, the templates in them and their credentials, as Deployment Manager's API has them and as ours has.
//!
//! Deployment Manager is v1.2.1's `manager`, with `common.Registry`, `registry.Type` and `common.RegistryCredential`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use crate::{Offered, prefix, within};

/// A registry of Deployment Manager.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Registry {
    /// What it is called.
    #[serde(deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Of what sort it is, `github` for example.
    #[serde(rename = "type", deserialize_with = "or_empty")]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Where it is.
    #[serde(deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// How it is laid out: words with semicolons between them.
    #[serde(deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    pub format: String,
    /// The credential that it is asked with.
    #[serde(deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    pub credentialname: String,
}

/// A credential of Deployment Manager. Nothing shows it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Credential {
    /// A token.
    #[serde(deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    pub apitoken: String,
    /// A user and a password; sent even if it is empty, as the original did.
    #[serde(deserialize_with = "or_empty")]
    pub basicauth: BasicAuth,
    /// The key of a service account.
    #[serde(deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    pub serviceaccount: String,
    /// The web server, or the folder on it, that the credential is for. The original did not know it.
    #[serde(deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    pub url: String,
}

/// A user and a password.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BasicAuth {
    /// The user.
    #[serde(deserialize_with = "or_empty")]
    pub username: String,
    /// The password.
    #[serde(deserialize_with = "or_empty")]
    pub password: String,
}

/// The type of the Secrets that are credentials.
pub const CREDENTIAL: &str = "dm.formwork.dev/registry-credential";
/// The keys of their values.
pub const TOKEN: &str = "token";
/// The key of the user.
pub const USERNAME: &str = "username";
/// The key of the password.
pub const PASSWORD: &str = "password";
/// The key of the service account's key.
const ACCOUNT: &str = "serviceaccount";
/// The key of what they are for.
pub const URL: &str = "url";

/// What our API answers of the templates in a registry, as far as Deployment Manager knows of it.
#[derive(Clone, Debug, Deserialize)]
pub struct Types {
    /// The templates.
    pub items: Vec<Type>,
}

/// A template in a registry.
#[derive(Clone, Debug, Deserialize)]
pub struct Type {
    /// The collection that it stands in, if that is one.
    pub collection: Option<String>,
    /// What it is called.
    pub name: String,
    /// As it is spelled there; none where the registry has no versions.
    pub version: Option<String>,
    /// Where its files are, if one is asked for.
    #[serde(default)]
    pub urls: Vec<String>,
    /// The text of its schema, if one is asked for and has one.
    pub schema: Option<String>,
}

/// A template as Deployment Manager lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Listed {
    collection: String,
    name: String,
    version: Numbers,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Numbers {
    major: u64,
    minor: u64,
    patch: u64,
}

/// To Go, null is nothing.
///
/// # Errors
/// When it is something else.
pub fn or_empty<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Registry {
    /// The one that a Registry of ours is, by its name and `spec`.
    pub fn of(name: &str, spec: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let format = spec["format"].as_array().into_iter().flatten();
        let format: Vec<_> = format.filter_map(Value::as_str).collect();
        Self {
            name: name.to_owned(),
            kind: text(&spec["type"]),
            url: text(&spec["url"]),
            format: format.join(";"),
            credentialname: text(&spec["credentialRef"]["name"]),
        }
    }

    /// The `spec` of a Registry of ours.
    pub fn spec(&self) -> Map<String, Value> {
        let mut spec = Map::new();
        spec.insert("type".to_owned(), self.kind.as_str().into());
        spec.insert("url".to_owned(), self.url.as_str().into());
        let format: Vec<_> = self.format.split(';').filter(|part| !part.is_empty()).collect();
        if !format.is_empty() {
            spec.insert("format".to_owned(), json!(format));
        }
        if !self.credentialname.is_empty() {
            spec.insert("credentialRef".to_owned(), json!({ "name": self.credentialname }));
        }
        spec
    }

    /// The one that a type stands in, that with the longest URL that the type begins with, and what the type says behind
    /// it.
    pub fn holder(all: impl IntoIterator<Item = Self>, kind: &str) -> Option<(Self, &str)> {
        let fits = all.into_iter().filter_map(|registry| {
            let rest = within(kind, prefix(&registry.url))?;
            Some((registry, rest))
        });
        fits.max_by_key(|(registry, _)| prefix(&registry.url).len())
    }
}

impl Credential {
    /// Whether there is nothing in it that a registry could be asked with.
    pub fn is_empty(&self) -> bool {
        self.values().keys().all(|&key| key == URL)
    }

    /// Its values by the keys that they have in a Secret.
    pub fn values(&self) -> BTreeMap<&'static str, &str> {
        let BasicAuth { username, password } = &self.basicauth;
        let all = [
            (TOKEN, &*self.apitoken),
            (USERNAME, username),
            (PASSWORD, password),
            (ACCOUNT, &self.serviceaccount),
            (URL, &self.url),
        ];
        all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
    }

    /// Of what sort the credential with those keys is: its members, without their values.
    pub fn shown(has: impl Fn(&str) -> bool) -> Value {
        let mut shown = Map::new();
        let mut show = |member: &str, value: Value| drop(shown.insert(member.to_owned(), value));
        if has(TOKEN) {
            show("apitoken", json!(""));
        }
        if has(USERNAME) || has(PASSWORD) {
            show("basicauth", json!({ PASSWORD: "", USERNAME: "" }));
        }
        for (key, member) in [(ACCOUNT, "serviceaccount"), (URL, "url")] {
            if has(key) {
                show(member, json!(""));
            }
        }
        Value::Object(shown)
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(<redacted>)")
    }
}

impl fmt::Debug for BasicAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BasicAuth(<redacted>)")
    }
}

impl Types {
    /// As Deployment Manager lists them. What has no version is of version 0; what has one that is no number could not be
    /// said, and is left out.
    pub fn listed(self) -> Vec<Listed> {
        self.items.into_iter().filter_map(Listed::of).collect()
    }
}

impl Listed {
    fn of(template: Type) -> Option<Self> {
        let Type { collection, name, version, .. } = template;
        let version = match version {
            None => Numbers::default(),
            version => {
                let offered = Offered { collection: None, template: name.clone(), version };
                let it = offered.parsed_version()?;
                Numbers { major: it.major, minor: it.minor, patch: it.patch }
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
        let spec = Value::Object(registry.spec());
        assert_eq!(spec["format"], json!(["versioned", "collection"]));
        assert_eq!(spec["credentialRef"], json!({ "name": "c" }));
        assert_eq!(serde_json::to_string(&Registry::of("r1", &spec)).unwrap(), text);
        let empty: Registry = serde_json::from_str(r#"{"name":"r1","format":null}"#).unwrap();
        assert_eq!(empty, Registry { name: "r1".to_owned(), ..Registry::default() });
    }

    #[test]
    fn a_type_stands_in_the_registry_with_the_longest_url_whatever_the_scheme() {
        let registry = |url: &str| Registry { url: url.to_owned(), ..Registry::default() };
        let all = ["https://github.com/a/b/", "github.com/a/b/c", "github.com/a/bc"].map(registry);
        for (kind, want) in [
            ("github.com/a/b/t:v1", Some((0, "t:v1"))),
            ("https://github.com/a/b/c/t:v1", Some((1, "t:v1"))),
            ("github.com/a/bc/d/t", Some((2, "d/t"))),
            ("github.com/a/t", None),
        ] {
            let want = want.map(|(at, rest): (usize, &str)| (all[at].clone(), rest));
            assert_eq!(Registry::holder(all.clone(), kind), want, "{kind}");
        }
    }

    #[test]
    fn a_template_is_listed_by_the_numbers_of_its_version() {
        for (item, want) in [
            (
                r#"{"type":"p/c/t:v1.2","collection":"c","name":"t","version":"v1.2"}"#,
                r#"[{"Collection":"c","Name":"t","Version":{"Major":1,"Minor":2,"Patch":0}}]"#,
            ),
            (
                r#"{"type":"p/t","name":"t"}"#,
                r#"[{"Collection":"","Name":"t","Version":{"Major":0,"Minor":0,"Patch":0}}]"#,
            ),
            (r#"{"type":"p/t:latest","name":"t","version":"latest"}"#, "[]"),
        ] {
            let types: Types = serde_json::from_str(&format!(r#"{{"items":[{item}]}}"#)).unwrap();
            assert_eq!(serde_json::to_string(&types.listed()).unwrap(), want);
        }
    }

    #[test]
    fn a_credential_is_shown_without_its_values() {
        let text = r#"{"apitoken":"T","basicauth":{"username":"u","password":"p"},"serviceaccount":null,"url":"h"}"#;
        let credential: Credential = serde_json::from_str(text).unwrap();
        assert!(!format!("{credential:?}{:?}", credential.basicauth).contains(['T', 'p']));
        let values = credential.values();
        assert_eq!(
            values,
            BTreeMap::from([(TOKEN, "T"), (USERNAME, "u"), (PASSWORD, "p"), (URL, "h")])
        );
        let shown = Credential::shown(|key| values.contains_key(key)).to_string();
        let want = r#"{"apitoken":"","basicauth":{"password":"","username":""},"url":""}"#;
        assert_eq!(shown, want);
        // What is shown, sent back, is no credential, nor is one that only says for what it is.
        for nothing in [&*shown, r#"{"url":"h"}"#] {
            assert!(serde_json::from_str::<Credential>(nothing).unwrap().is_empty());
        }
    }
}
