//! The few calls to kube-apiserver that registration needs, and nothing of when they are made.

use std::future::Future;

use anyhow::Result;
use futures::stream::{BoxStream, select_all};
use futures::{StreamExt as _, TryFutureExt as _};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::api::rbac::v1::ClusterRole;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::api::{Patch, PatchParams, PostParams};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, Error};

use super::rights::Call;
use super::{MANAGER, Service};

/// Whether a write happened, or somebody else's did since the state that it was meant for was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    Done,
    Lost,
}

/// A cluster, as far as registration goes. Reads are of the newest state, not from a cache.
pub(super) trait Cluster: Send + Sync {
    fn api_service(&self, name: &str) -> impl Future<Output = Result<Option<APIService>>> + Send;

    /// Applies the fields of `api_service` as ours, over the version that it names; if it names
    /// none, it is created.
    fn apply(&self, api_service: &APIService) -> impl Future<Output = Result<Written>> + Send;

    /// The object with whose deletion our APIServices go, if there is one.
    fn owner(&self) -> impl Future<Output = Result<Option<OwnerReference>>> + Send;

    fn secret(&self) -> impl Future<Output = Result<Option<Secret>>> + Send;

    /// Writes the Secret over the version that it names, or creates it if it names none.
    fn put_secret(&self, secret: Secret) -> impl Future<Output = Result<Written>> + Send;
}

/// The cluster behind a client.
pub(super) struct Kubernetes {
    api_services: Api<APIService>,
    owners: Api<ClusterRole>,
    secrets: Api<Secret>,
    service: Service,
}

impl Kubernetes {
    pub(super) fn new(client: &Client, service: &Service) -> Self {
        Self {
            api_services: Api::all(client.clone()),
            owners: Api::all(client.clone()),
            secrets: Api::namespaced(client.clone(), &service.namespace),
            service: service.clone(),
        }
    }

    /// A tick for everything that happens to the Secret or one of the APIServices, forever. The
    /// watches begin anew when they end; what happened meanwhile is one more tick.
    pub(super) fn changes(&self, names: &[String], secret: bool) -> BoxStream<'static, ()> {
        let mut watches = Vec::new();
        for name in names {
            watches.push(ticks(self.api_services.clone(), name));
        }
        if secret {
            watches.push(ticks(self.secrets.clone(), &self.service.secret()));
        }
        select_all(watches).boxed()
    }

    fn of_secret<'a>(&'a self, verb: &'static str, name: &'a str) -> Call<'a> {
        let namespace = Some(self.service.namespace.as_str());
        Call { verb, group: "", resource: "secrets", namespace, name }
    }
}

impl Cluster for Kubernetes {
    async fn api_service(&self, name: &str) -> Result<Option<APIService>> {
        let call = of_api_service("get", name);
        self.api_services.get_opt(name).map_err(|error| call.failed(error)).await
    }

    async fn apply(&self, api_service: &APIService) -> Result<Written> {
        let name = api_service.metadata.name.as_deref().unwrap_or_default();
        let params = PatchParams::apply(MANAGER).force();
        let applied = self.api_services.patch(name, &params, &Patch::Apply(api_service)).await;
        written(applied, &of_api_service("patch", name))
    }

    /// The ClusterRole that grants us what we do. It is deleted when Formwork is, however that is
    /// done, and the garbage collector then removes APIServices that would lead nowhere.
    async fn owner(&self) -> Result<Option<OwnerReference>> {
        let name = self.service.name.as_str();
        let group = "rbac.authorization.k8s.io";
        let call = Call { verb: "get", group, resource: "clusterroles", namespace: None, name };
        let role = self.owners.get_opt(name).map_err(|error| call.failed(error)).await?;
        Ok(role.map(|role| OwnerReference {
            api_version: format!("{group}/v1"),
            kind: "ClusterRole".to_owned(),
            name: name.to_owned(),
            uid: role.metadata.uid.unwrap_or_default(),
            ..OwnerReference::default()
        }))
    }

    async fn secret(&self) -> Result<Option<Secret>> {
        let name = self.service.secret();
        let call = self.of_secret("get", &name);
        self.secrets.get_opt(&name).map_err(|error| call.failed(error)).await
    }

    async fn put_secret(&self, mut secret: Secret) -> Result<Written> {
        let name = self.service.secret();
        let params = PostParams { field_manager: Some(MANAGER.to_owned()), ..Default::default() };
        if secret.metadata.resource_version.is_some() {
            let replaced = self.secrets.replace(&name, &params, &secret).await;
            return written(replaced, &self.of_secret("update", &name));
        }
        secret.metadata.name = Some(name.clone());
        let created = self.secrets.create(&params, &secret).await;
        written(created, &self.of_secret("create", &name))
    }
}

/// A call for one APIService.
pub(super) fn of_api_service<'a>(verb: &'static str, name: &'a str) -> Call<'a> {
    let group = "apiregistration.k8s.io";
    Call { verb, group, resource: "apiservices", namespace: None, name }
}

/// Somebody else was first when the object has changed, is there already, or is gone.
fn written<K>(answer: Result<K, Error>, call: &Call<'_>) -> Result<Written> {
    let lost = |code| code == 409 || (code == 404 && call.verb != "create");
    match answer {
        Ok(_) => Ok(Written::Done),
        Err(Error::Api(status)) if lost(status.code) => Ok(Written::Lost),
        Err(error) => Err(call.failed(error)),
    }
}

fn ticks<K>(api: Api<K>, name: &str) -> BoxStream<'static, ()>
where
    K: kube::Resource
        + Clone
        + std::fmt::Debug
        + k8s_openapi::serde::de::DeserializeOwned
        + Send
        + 'static,
{
    let config = watcher::Config::default().fields(&format!("metadata.name={name}"));
    let name = name.to_owned();
    let events = watcher(api, config).default_backoff();
    events
        .map(move |event| {
            if let Err(error) = event {
                tracing::warn!(name, %error, "watch ended; it begins again");
            }
        })
        .boxed()
}
