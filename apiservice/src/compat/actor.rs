//! The client of the Kubernetes API that Deployment Manager's paths act as, in one namespace.
//!
//! It is a client like any other: what it may do is for the API to say, and nothing here has rights of the server.

use std::time::Duration;

use apiserver::status::Reason;
use futures::{Stream, StreamExt as _};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{
    DeleteParams, DynamicObject, ListParams, ObjectMeta, Patch, PatchParams, PostParams,
};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, watch_object};
use kube::{Api, Client};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::Fault;
use crate::sources;

/// What is written down as the writer of fields.
const MANAGER: &str = "dm-compat";

/// Whom to act as, where, and how long to wait for what was begun.
#[derive(Clone)]
pub(super) struct Actor {
    client: Client,
    namespace: String,
    pub(super) patience: Duration,
}

/// One of our kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Deployment,
    Manifest,
    Type,
    TypeInstance,
    Registry,
}

impl Kind {
    fn resource(self) -> ApiResource {
        let (kind, plural) = match self {
            Self::Deployment => ("Deployment", "deployments"),
            Self::Manifest => ("Manifest", "manifests"),
            Self::Type => ("Type", "types"),
            Self::TypeInstance => ("TypeInstance", "typeinstances"),
            Self::Registry => ("Registry", "registries"),
        };
        let gvk = GroupVersionKind::gvk("dm.formwork.dev", "v1alpha1", kind);
        ApiResource::from_gvk_with_plural(&gvk, plural)
    }
}

impl Actor {
    pub(super) fn new(client: Client, namespace: String, patience: Duration) -> Self {
        Self { client, namespace, patience }
    }

    fn api(&self, kind: Kind) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &self.namespace, &kind.resource())
    }

    /// Credentials of registries are Secrets.
    pub(super) fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// The object of that name, if there is one. What is no name of an object is that of none.
    pub(super) async fn get(&self, kind: Kind, name: &str) -> Result<Option<DynamicObject>, Fault> {
        if !is_name(name) {
            return Ok(None);
        }
        Ok(self.api(kind).get_opt(name).await?)
    }

    /// A Secret or a ConfigMap of that name, if there is one.
    pub(super) async fn referred(
        &self,
        kind: sources::Kind,
        name: &str,
    ) -> Result<Option<DynamicObject>, kube::Error> {
        if !is_name(name) {
            return Ok(None);
        }
        let gvk = GroupVersionKind::gvk("", "v1", &kind.to_string());
        let resource = ApiResource::from_gvk_with_plural(&gvk, kind.resource());
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), &self.namespace, &resource);
        api.get_opt(name).await
    }

    /// What stands below an object's name, asked with this parameter of the query, if any.
    pub(super) async fn below<T: DeserializeOwned>(
        &self,
        kind: Kind,
        name: &str,
        below: &str,
        query: Option<(&str, &str)>,
    ) -> Result<T, kube::Error> {
        let query = query.map(|(key, value)| format!("?{key}={}", escaped(value)));
        let url = self.api(kind).resource_url().to_owned();
        let path = format!("{url}/{name}/{below}{}", query.unwrap_or_default());
        let request = http::Request::get(path).body(Vec::new()).map_err(kube::Error::HttpError)?;
        self.client.request(request).await
    }

    /// All objects of a kind.
    pub(super) async fn list(&self, kind: Kind) -> Result<Vec<DynamicObject>, Fault> {
        Ok(self.api(kind).list(&ListParams::default()).await?.items)
    }

    /// The metadata of all objects of a kind.
    pub(super) async fn list_metadata(&self, kind: Kind) -> Result<Vec<ObjectMeta>, Fault> {
        let list = self.api(kind).list_metadata(&ListParams::default()).await?;
        Ok(list.items.into_iter().map(|item| item.metadata).collect())
    }

    /// Creates an object with these members.
    pub(super) async fn create(
        &self,
        kind: Kind,
        name: &str,
        data: Value,
    ) -> Result<DynamicObject, kube::Error> {
        let object = DynamicObject::new(name, &kind.resource()).data(data);
        let parameters =
            PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
        self.api(kind).create(&parameters, &object).await
    }

    /// Changes an object by a JSON merge patch.
    pub(super) async fn patch(
        &self,
        kind: Kind,
        name: &str,
        patch: &Value,
    ) -> Result<DynamicObject, kube::Error> {
        let parameters =
            PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
        self.api(kind).patch(name, &parameters, &Patch::Merge(patch)).await
    }

    /// Asks for an object to be deleted, unless another one has its name by now.
    pub(super) async fn delete(&self, kind: Kind, name: &str, uid: &str) -> Result<(), Fault> {
        let parameters = DeleteParams {
            preconditions: Some(kube::api::Preconditions {
                uid: Some(uid.to_owned()),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        match self.api(kind).delete(name, &parameters).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// An object as it is and as it becomes; none while it is not there. Whatever passes is waited out; an error is the end.
    pub(super) fn follow(
        &self,
        kind: Kind,
        name: &str,
    ) -> impl Stream<Item = Result<Option<DynamicObject>, Fault>> + Send + use<> {
        let changes = watch_object(self.api(kind), name).default_backoff();
        changes.filter_map(|change| async {
            match change {
                Ok(object) => Some(Ok(object)),
                Err(error) => refused(error).map(Err),
            }
        })
    }
}

/// What an error of a watch says, if no other attempt can help.
fn refused(error: watcher::Error) -> Option<Fault> {
    use watcher::Error::{InitialListFailed, WatchFailed, WatchStartFailed};
    match error {
        InitialListFailed(error) | WatchStartFailed(error) | WatchFailed(error) => match &error {
            kube::Error::Api(status) if matches!(status.code, 400..=409) => Some(error.into()),
            _ => None,
        },
        _ => None,
    }
}

/// A value as it stands in a query.
fn escaped(value: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    value.bytes().map(byte).collect()
}

/// Whether an object may be called so. Anything else could mean another path of the API.
pub(super) fn is_name(name: &str) -> bool {
    apiserver::names::dns1123_subdomain(name).is_empty()
}

/// The name that an object is to have.
///
/// # Errors
/// When no object may be called so.
pub(super) fn named<'a>(what: &str, name: &'a str) -> Result<&'a str, Fault> {
    let wrong = apiserver::names::dns1123_subdomain(name);
    match wrong.first() {
        None => Ok(name),
        Some(why) => Err(Fault::new(
            Reason::BadRequest,
            format!(
                "{name:?} cannot be the name of a {what}, which is that of an object in Kubernetes: {why}"
            ),
        )),
    }
}
