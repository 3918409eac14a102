//! Credentials of registries, which are Secrets of the namespace.
//!
//! Deployment Manager showed a credential to whoever asked for it. Here it is said of what sort one is, and its values
//! never leave the Secret. A Secret that is something else is neither shown nor changed.

use std::collections::BTreeMap;

use axum::response::Response;
use expander::manager::{CREDENTIAL, Credential};
use http::StatusCode;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{ObjectMeta, PostParams};

use super::actor::{Actor, is_name, named};
use super::answer::{self, Fault};

/// Stores one, in the place of one of its name.
pub(super) async fn set(
    actor: &Actor,
    name: &str,
    credential: Credential,
) -> Result<Response, Fault> {
    let name = named("credential", name)?;
    if credential.is_empty() {
        return Err(Fault::bad(format!(
            "credential {name} has neither an apitoken nor a basicauth nor a serviceaccount"
        )));
    }
    let values = credential.values();
    let shown = Credential::shown(|key| values.contains_key(key));
    let (api, parameters) = (actor.secrets(), PostParams::default());
    match api.get_opt(name).await? {
        None => {
            let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
            api.create(&parameters, &secret(metadata, &values)).await?;
        }
        Some(known) if known.type_.as_deref() == Some(CREDENTIAL) => {
            api.replace(name, &parameters, &secret(known.metadata, &values)).await?;
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
    let found = found.filter(|secret| secret.type_.as_deref() == Some(CREDENTIAL));
    let data = found.ok_or_else(missing)?.data.unwrap_or_default();
    Ok(answer::json(StatusCode::OK, &Credential::shown(|key| data.contains_key(key))))
}

fn secret(metadata: ObjectMeta, values: &BTreeMap<&str, &str>) -> Secret {
    let value = |(key, value): (&&str, &&str)| ((*key).to_owned(), (*value).to_owned());
    let metadata = ObjectMeta { managed_fields: None, ..metadata };
    Secret {
        metadata,
        type_: Some(CREDENTIAL.to_owned()),
        string_data: Some(values.iter().map(value).collect()),
        ..Secret::default()
    }
}
