//! Takes our APIServices out of the cluster, which has to happen before the server goes: one that
//! leads nowhere keeps every namespace of the cluster from being deleted.
//!
//! Nothing else is deleted here. Stored objects stay in their store, and the rest of an
//! installation is `kubectl delete -k`'s.

use std::fmt;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::api::{DeleteParams, Preconditions};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Api, Client, Error};

use super::apiservices::is_ours;
use super::cluster::of_api_service;
use super::{GroupVersion, Service};

/// How long an APIService may take to go. Nothing holds it but finalizers of others.
const GONE_WITHIN: Duration = Duration::from_secs(60);
/// How often a deletion is tried over changes of others: its status changes by itself.
const ATTEMPTS: u32 = 10;

/// What became of an APIService.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Uninstalled {
    /// It led here, and is gone.
    Removed(String),
    /// There was none.
    Absent(String),
    /// It leads elsewhere, and is still there.
    Foreign(String),
}

impl fmt::Display for Uninstalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed(name) => write!(f, "apiservice {name} removed"),
            Self::Absent(name) => write!(f, "apiservice {name} was not there"),
            Self::Foreign(name) => {
                write!(f, "apiservice {name} kept, since it leads to another service")
            }
        }
    }
}

/// Deletes the APIServices of `served` that lead to `service`, and waits until they are gone.
/// Running servers do not publish them again. Doing it twice is the same as once.
///
/// # Errors
/// When kube-apiserver refuses, with the missing rule, or an APIService is not gone in a minute.
pub async fn uninstall(
    client: &Client,
    service: &Service,
    served: &[GroupVersion],
) -> Result<Vec<Uninstalled>> {
    let api_services = Api::all(client.clone());
    let mut done = Vec::new();
    for served in served {
        done.push(remove(&api_services, &served.name(), service).await?);
    }
    Ok(done)
}

async fn remove(api: &Api<APIService>, name: &str, service: &Service) -> Result<Uninstalled> {
    for _ in 0..ATTEMPTS {
        let found = api.get_opt(name).await;
        let found = found.map_err(|error| of_api_service("get", name).failed(error))?;
        let Some(found) = found else { return Ok(Uninstalled::Absent(name.to_owned())) };
        if !is_ours(&found, service) {
            return Ok(Uninstalled::Foreign(name.to_owned()));
        }
        // Exactly what was looked at: it may be led elsewhere at this moment.
        let uid = found.metadata.uid.clone().unwrap_or_default();
        let resource_version = found.metadata.resource_version;
        let exactly = Preconditions { uid: found.metadata.uid, resource_version };
        match api.delete(name, &DeleteParams::default().preconditions(exactly)).await {
            Ok(_) => {}
            Err(Error::Api(status)) if status.code == 404 || status.code == 409 => continue,
            Err(error) => return Err(of_api_service("delete", name).failed(error)),
        }
        let gone = await_condition(api.clone(), name, conditions::is_deleted(&uid));
        let gone = tokio::time::timeout(GONE_WITHIN, gone).await;
        gone.with_context(|| format!("APIService {name} is still there, perhaps for a finalizer"))?
            .with_context(|| format!("wait until APIService {name} is gone"))?;
        return Ok(Uninstalled::Removed(name.to_owned()));
    }
    bail!("APIService {name} changes all the time")
}
