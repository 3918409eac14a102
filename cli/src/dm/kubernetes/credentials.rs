//! Credentials of registries, which are Secrets of the namespace.
//!
//! The original showed a credential to whoever asked. Here it is said of what sort one is; its values never leave the
//! Secret. A Secret that is something else is neither shown nor changed.

use anyhow::bail;
use expander::manager::{CREDENTIAL, Credential};
use http::Method;
use serde_json::{Value, json};

use super::Api;
use crate::client::{Refused, percent_encoded};
use crate::dm::print;

pub(super) async fn get(api: &Api, name: &str) -> anyhow::Result<()> {
    match find(api, name).await? {
        Some(secret) if secret["type"] == CREDENTIAL => {
            print(&Credential::shown(|key| secret["data"].get(key).is_some()).to_string())
        }
        _ => bail!("cannot get credential: no such credential : {name}"),
    }
}

pub(super) async fn set(api: &Api, name: &str, credential: &Credential) -> anyhow::Result<()> {
    let values = credential.values();
    let secret = |metadata: Value| {
        json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": metadata,
            "type": CREDENTIAL,
            "stringData": values,
        })
    };
    match find(api, name).await? {
        None => {
            let secret = secret(json!({"name": name}));
            api.send(Method::POST, &path(api), Some(&secret)).await?;
        }
        // All of it is replaced: what one had before is no part of the other.
        Some(mut known) if known["type"] == CREDENTIAL => {
            let secret = secret(known["metadata"].take());
            api.send(Method::PUT, &path_of(api, name), Some(&secret)).await?;
        }
        Some(_) => bail!("cannot set credential: there is a Secret {name} that is no credential"),
    }
    print(&Credential::shown(|key| values.contains_key(key)).to_string())
}

async fn find(api: &Api, name: &str) -> Result<Option<Value>, Refused> {
    match api.send(Method::GET, &path_of(api, name), None).await {
        Ok(secret) => Ok(Some(secret)),
        Err(Refused::Status(status)) if status.code == 404 => Ok(None),
        Err(refused) => Err(refused),
    }
}

fn path(api: &Api) -> String {
    format!("/api/v1/namespaces/{}/secrets", percent_encoded(api.client.namespace()))
}

fn path_of(api: &Api, name: &str) -> String {
    format!("{}/{}", path(api), percent_encoded(name))
}
