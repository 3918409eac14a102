//! A real cluster, through kube-apiserver.
//!
//! One client, whose user may impersonate; every request says for whom it is made. Discovery is asked
//! again only when a kind is not known, or what is known is old.

mod follow;

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use futures::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, Request};
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use kube::api::PostParams;
use kube::{Api, Client};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::{
    Access, Applied, Apply, Cluster, ClusterError, Collection, Following, Kind, Mapping, Target,
};
use crate::types::Requester;

/// How long a request may take.
const TIME: Duration = Duration::from_secs(30);
/// How long it is believed what resources a group has.
const BELIEVED: Duration = Duration::from_secs(300);
/// How long it is believed that a group does not have a kind.
const DISBELIEVED: Duration = Duration::from_secs(2);

/// A cluster behind a client.
pub struct Kube {
    client: Client,
    /// What the cluster serves, by group and version.
    known: Mutex<HashMap<String, Known>>,
}

struct Known {
    at: Instant,
    kinds: HashMap<String, Mapping>,
}

impl Known {
    /// How long any of it is believed.
    fn believed(&self) -> Duration {
        if self.kinds.is_empty() { DISBELIEVED } else { BELIEVED }
    }
}

impl Kube {
    /// The cluster of a client, whose user may impersonate others and create
    /// `subjectaccessreviews`.
    pub fn new(client: Client) -> Self {
        Self { client, known: Mutex::default() }
    }

    /// What is known of a kind; nothing if that has to be asked again.
    fn recall(&self, kind: &Kind) -> Option<Option<Mapping>> {
        let known = self.known.lock().expect("nobody panics with it");
        let group = known.get(&kind.api_version)?;
        let mapping = group.kinds.get(&kind.kind);
        let believed = if mapping.is_some() { BELIEVED } else { DISBELIEVED };
        (group.at.elapsed() < believed).then(|| mapping.cloned())
    }

    async fn discover(&self, api_version: &str) -> Result<HashMap<String, Mapping>, ClusterError> {
        let path = root(api_version);
        let request = Request::get(&path).header(ACCEPT, JSON).body(Vec::new()).map_err(unsound)?;
        let list: APIResourceList = match self.send(request).await {
            Ok(list) => list,
            Err(ClusterError::NotFound(_)) => return Ok(HashMap::new()),
            Err(error) => return Err(error),
        };
        let own = list.resources.into_iter().filter(|resource| !resource.name.contains('/'));
        let mapping = |resource: k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResource| {
            let (name, namespaced) = (resource.name, resource.namespaced);
            (resource.kind, Mapping { resource: name, namespaced })
        };
        Ok(own.map(mapping).collect())
    }

    async fn send<T: DeserializeOwned>(
        &self,
        request: Request<Vec<u8>>,
    ) -> Result<T, ClusterError> {
        match timeout(TIME, self.client.request(request)).await {
            Ok(answer) => answer.map_err(failed),
            Err(_) => Err(unavailable("kube-apiserver did not answer in time")),
        }
    }

    /// Sends something for a user.
    async fn act<T: DeserializeOwned>(
        &self,
        user: &Requester,
        method: Method,
        path: &str,
        body: Option<(&str, &Value)>,
    ) -> Result<T, ClusterError> {
        let mut request = Request::builder().method(method).uri(path).header(ACCEPT, JSON);
        if let Some((content_type, _)) = body {
            request = request.header(CONTENT_TYPE, content_type);
        }
        for (name, value) in impersonation(user)? {
            request = request.header(name, value);
        }
        let body = body.map(|(_, body)| body.to_string().into_bytes()).unwrap_or_default();
        self.send(request.body(body).map_err(unsound)?).await
    }
}

const JSON: &str = "application/json";
const APPLY: &str = "application/apply-patch+yaml";
const MERGE: &str = "application/merge-patch+json";

impl Cluster for Kube {
    fn mapping<'a>(
        &'a self,
        kind: &'a Kind,
    ) -> BoxFuture<'a, Result<Option<Mapping>, ClusterError>> {
        Box::pin(async move {
            if let Some(known) = self.recall(kind) {
                return Ok(known);
            }
            let kinds = self.discover(&kind.api_version).await?;
            let mapping = kinds.get(&kind.kind).cloned();
            let known = Known { at: Instant::now(), kinds };
            let mut all = self.known.lock().expect("nobody panics with it");
            // Anybody may name groups that are not there, as many as they like.
            all.retain(|_, known| known.at.elapsed() < known.believed());
            all.insert(kind.api_version.clone(), known);
            Ok(mapping)
        })
    }

    fn review<'a>(
        &'a self,
        user: &'a Requester,
        access: &'a Access,
    ) -> BoxFuture<'a, Result<Result<(), String>, ClusterError>> {
        Box::pin(async move {
            let reviews: Api<SubjectAccessReview> = Api::all(self.client.clone());
            let (parameters, review) = (PostParams::default(), review_of(user, access));
            let answer = timeout(TIME, reviews.create(&parameters, &review)).await;
            let answer = answer
                .map_err(|_| unavailable("kube-apiserver did not answer in time"))?
                .map_err(failed)?;
            let status = answer.status.unwrap_or_default();
            Ok(if status.allowed && status.denied != Some(true) {
                Ok(())
            } else {
                Err(status.reason.or(status.evaluation_error).unwrap_or_default())
            })
        })
    }

    fn get<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
    ) -> BoxFuture<'a, Result<Option<Value>, ClusterError>> {
        Box::pin(async move {
            match self.act(user, Method::GET, &path(target), None).await {
                Ok(object) => Ok(Some(object)),
                Err(ClusterError::NotFound(_)) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    fn apply<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
        apply: Apply<'a>,
    ) -> BoxFuture<'a, Result<Applied, ClusterError>> {
        Box::pin(async move {
            let Apply { object, manager, force, dry_run } = apply;
            let dry_run = if dry_run { "&dryRun=All" } else { "" };
            let path = format!("{}?fieldManager={manager}&force={force}{dry_run}", path(target));
            self.act(user, Method::PATCH, &path, Some((APPLY, object))).await
        })
    }

    fn patch<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
        patch: &'a Value,
    ) -> BoxFuture<'a, Result<(), ClusterError>> {
        Box::pin(async move {
            let body = Some((MERGE, patch));
            self.act::<Value>(user, Method::PATCH, &path(target), body).await.map(drop)
        })
    }

    fn delete<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
        uid: &'a str,
    ) -> BoxFuture<'a, Result<(), ClusterError>> {
        Box::pin(async move {
            let options = json!({
                "apiVersion": "v1", "kind": "DeleteOptions",
                "propagationPolicy": "Foreground", "preconditions": { "uid": uid },
            });
            let body = Some((JSON, &options));
            match self.act::<Value>(user, Method::DELETE, &path(target), body).await {
                Ok(_) | Err(ClusterError::NotFound(_)) => Ok(()),
                Err(error) => Err(error),
            }
        })
    }

    fn follow(&self, collection: &Collection) -> Following {
        follow::follow(self.client.clone(), collection.clone())
    }

    fn is_ending<'a>(&'a self, namespace: &'a str) -> BoxFuture<'a, Result<bool, ClusterError>> {
        Box::pin(async move {
            let namespaces: Api<Namespace> = Api::all(self.client.clone());
            let found = timeout(TIME, namespaces.get(namespace)).await;
            let found = found.map_err(|_| unavailable("kube-apiserver did not answer in time"))?;
            match found.map_err(failed) {
                Ok(found) => Ok(found.metadata.deletion_timestamp.is_some()),
                Err(ClusterError::NotFound(_)) => Ok(true),
                Err(error) => Err(error),
            }
        })
    }
}

fn review_of(user: &Requester, access: &Access) -> SubjectAccessReview {
    let Access { verb, target } = access;
    let (group, version) = target.group_version();
    let attributes = ResourceAttributes {
        verb: Some(verb.as_str().to_owned()),
        group: Some(group.to_owned()),
        version: Some(version.to_owned()),
        resource: Some(target.resource.clone()),
        namespace: Some(target.namespace.clone()),
        name: Some(target.object_name.clone()),
        ..ResourceAttributes::default()
    };
    let spec = SubjectAccessReviewSpec {
        user: Some(user.username.clone()),
        uid: Some(user.uid.clone()).filter(|uid| !uid.is_empty()),
        groups: Some(user.groups.clone()),
        extra: Some(user.extra.clone()),
        resource_attributes: Some(attributes),
        ..SubjectAccessReviewSpec::default()
    };
    SubjectAccessReview { spec, ..SubjectAccessReview::default() }
}

/// The headers that say for whom a request is made. A user without a name is never impersonated: the
/// request would be the deployer's own.
fn impersonation(user: &Requester) -> Result<Vec<(HeaderName, HeaderValue)>, ClusterError> {
    if user.username.is_empty() {
        return Err(ClusterError::Forbidden("nobody is known for whom to act".to_owned()));
    }
    let mut headers = vec![("impersonate-user".to_owned(), user.username.as_str())];
    if !user.uid.is_empty() {
        headers.push(("impersonate-uid".to_owned(), &user.uid));
    }
    headers.extend(user.groups.iter().map(|group| ("impersonate-group".to_owned(), &**group)));
    for (key, values) in &user.extra {
        let name = format!("impersonate-extra-{}", escaped(&key.to_lowercase()));
        headers.extend(values.iter().map(|value| (name.clone(), &**value)));
    }
    let header = |(name, value): (String, &str)| {
        let unusable = || {
            ClusterError::Forbidden(format!(
                "cannot act for a user whose {name} is no text of a header"
            ))
        };
        // What stands around a header's value is lost on the way, and somebody else is left.
        if value.trim() != value {
            return Err(unusable());
        }
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| unusable())?;
        Ok((HeaderName::try_from(&name).map_err(|_| unusable())?, value))
    };
    headers.into_iter().map(header).collect()
}

/// Percent-encodes what may not stand in a URL's segment or a header's name.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Where a group and version is served.
fn root(api_version: &str) -> String {
    match api_version.split_once('/') {
        Some((group, version)) => format!("/apis/{}/{}", escaped(group), escaped(version)),
        None => format!("/api/{}", escaped(api_version)),
    }
}

fn path(target: &Target) -> String {
    let root = root(&target.api_version);
    let (resource, name) = (escaped(&target.resource), escaped(&target.object_name));
    match target.namespace.as_str() {
        "" => format!("{root}/{resource}/{name}"),
        namespace => format!("{root}/namespaces/{}/{resource}/{name}", escaped(namespace)),
    }
}

fn unsound(error: impl std::fmt::Display) -> ClusterError {
    ClusterError::Invalid(error.to_string())
}

fn unavailable(message: impl Into<String>) -> ClusterError {
    ClusterError::Unavailable { message: message.into(), after: None }
}

/// What a failed request means.
fn failed(error: kube::Error) -> ClusterError {
    let kube::Error::Api(status) = error else { return unavailable(error.to_string()) };
    let message = status.message.clone();
    match status.code {
        404 => ClusterError::NotFound(message),
        409 => ClusterError::Conflict(message),
        403 => ClusterError::Forbidden(message),
        400 | 405 | 413 | 415 | 422 => ClusterError::Invalid(message),
        _ => {
            let seconds = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
            let after = Some(Duration::from_secs(seconds.into())).filter(|after| !after.is_zero());
            ClusterError::Unavailable { message, after }
        }
    }
}

#[cfg(test)]
mod tests;
