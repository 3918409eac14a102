//! Credentials of registries, which are Secrets of the namespace.
//!
//! Deployment Manager showed a credential to whoever asked for it. Here it is said of what sort one is, and its values
//! never leave the Secret. A Secret that is something else is neither shown nor changed.

use std::collections::BTreeMap;

use axum::response::Response;
use expander::manager::or_empty;
use http::StatusCode;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{ObjectMeta, PostParams};
use serde::{Deserialize, Serialize};

use super::actor::{Actor, is_name, named};
use super::answer::{self, Fault};

/// The type of Secrets that are credentials.
const TYPE: &str = "dm.formwork.dev/registry-credential";
/// The keys of their values.
const TOKEN: &str = "token";
const USERNAME: &str = "username";
const PASSWORD: &str = "password";
const ACCOUNT: &str = "serviceaccount";

/// A credential as Deployment Manager has it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Credential {
    #[serde(deserialize_with = "or_empty")]
    apitoken: String,
    #[serde(deserialize_with = "or_empty")]
    basicauth: BasicAuth,
    #[serde(deserialize_with = "or_empty")]
    serviceaccount: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BasicAuth {
    #[serde(deserialize_with = "or_empty")]
    username: String,
    #[serde(deserialize_with = "or_empty")]
    password: String,
}

/// Of what sort a credential is: the members that it has, without their values.
#[derive(Serialize)]
struct Shown {
    #[serde(skip_serializing_if = "Option::is_none")]
    apitoken: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    basicauth: Option<BTreeMap<&'static str, &'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    serviceaccount: Option<&'static str>,
}

/// Stores one, in the place of one of its name.
pub(super) async fn set(
    actor: &Actor,
    name: &str,
    credential: Credential,
) -> Result<Response, Fault> {
    let name = named("credential", name)?;
    let values = credential.into_values();
    if values.is_empty() {
        return Err(Fault::bad(format!(
            "credential {name} has neither an apitoken nor a basicauth nor a serviceaccount"
        )));
    }
    let shown = shown(|key| values.contains_key(key));
    let (api, parameters) = (actor.secrets(), PostParams::default());
    match api.get_opt(name).await? {
        None => {
            let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
            api.create(&parameters, &secret(metadata, values)).await?;
        }
        Some(known) if known.type_.as_deref() == Some(TYPE) => {
            api.replace(name, &parameters, &secret(known.metadata, values)).await?;
        }
        Some(_) => {
            return Err(Fault::bad(format!("there is a Secret {name} that is no credential")));
        }
    }
    Ok(answer::json(StatusCode::OK, &shown))
}

/// Says of what sort one is.
pub(super) async fn read(actor: &Actor, name: &str) -> Result<Response, Fault> {
    let missing = || Fault::bad(format!("no such credential : {name}"));
    if !is_name(name) {
        return Err(missing());
    }
    let found = actor.secrets().get_opt(name).await?;
    let found = found.filter(|secret| secret.type_.as_deref() == Some(TYPE));
    let data = found.ok_or_else(missing)?.data.unwrap_or_default();
    Ok(answer::json(StatusCode::OK, &shown(|key| data.contains_key(key))))
}

impl Credential {
    fn into_values(self) -> BTreeMap<String, String> {
        let BasicAuth { username, password } = self.basicauth;
        let all = [
            (TOKEN, self.apitoken),
            (USERNAME, username),
            (PASSWORD, password),
            (ACCOUNT, self.serviceaccount),
        ];
        let given = all.into_iter().filter(|(_, value)| !value.is_empty());
        given.map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

fn secret(metadata: ObjectMeta, values: BTreeMap<String, String>) -> Secret {
    let mut metadata = metadata;
    metadata.managed_fields = None;
    Secret {
        metadata,
        type_: Some(TYPE.to_owned()),
        string_data: Some(values),
        ..Secret::default()
    }
}

fn shown(has: impl Fn(&str) -> bool) -> Shown {
    let basic = has(USERNAME) || has(PASSWORD);
    Shown {
        apitoken: has(TOKEN).then_some(""),
        basicauth: basic.then(|| BTreeMap::from([(USERNAME, ""), (PASSWORD, "")])),
        serviceaccount: has(ACCOUNT).then_some(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_shown_without_its_values() {
        let text =
            r#"{"apitoken":"T","basicauth":{"username":"u","password":"p"},"serviceaccount":null}"#;
        let credential: Credential = serde_json::from_str(text).unwrap();
        let values = credential.into_values();
        assert_eq!(values[TOKEN], "T");
        let shown = serde_json::to_string(&shown(|key| values.contains_key(key))).unwrap();
        assert_eq!(shown, r#"{"apitoken":"","basicauth":{"password":"","username":""}}"#);
        // What is shown, sent back, is no credential.
        let again: Credential = serde_json::from_str(&shown).unwrap();
        assert!(again.into_values().is_empty());
    }
}
