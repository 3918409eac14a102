//! All that is served behind the filters: from a request's path to discovery, OpenAPI or a verb of
//! a resource. Everything here follows from one list of [`ApiGroup`]s.

use std::sync::Arc;

use futures::future::BoxFuture;
use http::Request;

use crate::audit::Record;
use crate::authn::User;
use crate::chain::Dispatch;
use crate::codec::negotiate::Wish;
use crate::codec::{answer, gzip};
use crate::discovery::Discovery;
use crate::handlers::{self, Call};
use crate::limits::Body;
use crate::metrics::{Metrics, ResourceLabels, Sent, StoredResource};
use crate::openapi::{Info, OpenApi};
use crate::request::RequestInfo;
use crate::resource::{self, ApiGroup, Kinds, Resource};
use crate::response::Response;
use crate::status::Error;
use crate::store::{self, Store};

/// The APIs of a server.
pub struct Api {
    groups: Vec<ApiGroup>,
    kinds: Kinds,
    discovery: Discovery,
    openapi: OpenApi,
    store: Store,
    metrics: Option<Arc<Metrics>>,
}

impl Api {
    /// Serves `groups`, their objects kept in `store`. `info` heads the OpenAPI documents.
    pub fn new(groups: Vec<ApiGroup>, store: Store, info: &Info) -> Self {
        Self {
            kinds: Kinds::of(&groups),
            discovery: Discovery::new(&groups),
            openapi: OpenApi::new(&groups, info, store.environment().now()),
            groups,
            store,
            metrics: None,
        }
    }

    /// The same, with its objects and the events of its watches counted.
    #[must_use]
    pub fn observed_by(mut self, metrics: &Arc<Metrics>) -> Self {
        let stored: Vec<Arc<Resource>> = resource::all(&self.groups)
            .filter(|resource| resource.strategy().is_some())
            .cloned()
            .collect();
        let store = self.store.clone();
        metrics
            .show_objects(move || stored.iter().map(|resource| count(&store, resource)).collect());
        self.metrics = Some(metrics.clone());
        self
    }

    /// What counts that which is sent to watchers of a resource.
    fn sent(&self, resource: &Resource) -> Option<Sent> {
        let definition = &resource.definition;
        let labels = ResourceLabels {
            group: definition.group,
            version: definition.version,
            resource: definition.plural,
        };
        self.metrics.as_ref().map(|metrics| metrics.sent(&labels))
    }

    async fn resource(&self, request: Request<Body>, info: &RequestInfo, user: &User) -> Response {
        let (parts, body) = request.into_parts();
        let headers = &parts.headers;
        let audit = parts.extensions.get::<Arc<Record>>().map(Arc::as_ref);
        let resource = resource::find(&self.groups, &info.group, &info.version, &info.resource);
        let answered = async {
            let resource = resource.ok_or_else(Error::no_route)?;
            let (store, kinds) = (&self.store, &self.kinds);
            let sent = info.is_long_running().then(|| self.sent(resource)).flatten();
            let call = Call { store, kinds, resource, info, user, headers, audit, sent };
            gzip::compress(headers, call.answer(body).await?).await
        };
        answered.await.unwrap_or_else(|error| {
            if let (Some(record), Some(resource)) = (audit, resource) {
                record.failed(&error, &handlers::secrets(resource, &info.subresource));
            }
            let wish = Wish::new(headers, info.query.get("pretty"));
            answer::failure(&error, wish)
        })
    }

    /// A document about what is served, if the path is one's.
    async fn document(&self, request: &Request<Body>, info: &RequestInfo) -> Option<Response> {
        let (method, headers) = (request.method(), request.headers());
        let now = || self.store.environment().now();
        let document = self
            .discovery
            .answer(method, info, headers)
            .or_else(|| self.openapi.answer(method, info, headers, now()))?;
        let compressed = gzip::compress(headers, document).await;
        let wish = Wish::new(headers, info.query.get("pretty"));
        Some(compressed.unwrap_or_else(|error| answer::failure(&error, wish)))
    }
}

/// How many objects of a resource there are.
fn count(store: &Store, resource: &Resource) -> (StoredResource, u64) {
    let definition = &resource.definition;
    let labels = StoredResource {
        group: definition.group.to_owned(),
        resource: definition.plural.to_owned(),
    };
    let count = store::prefix(definition, "")
        .map_or(0, |prefix| store.cache().snapshot().list(&prefix).count());
    (labels, count as u64)
}

impl Dispatch for Api {
    fn handle(
        &self,
        request: Request<Body>,
        info: Arc<RequestInfo>,
        user: Arc<User>,
    ) -> BoxFuture<'_, Option<Response>> {
        Box::pin(async move {
            if !info.is_resource_request {
                return self.document(&request, &info).await;
            }
            let served = self.groups.iter().any(|group| group.name == info.group);
            if served { Some(self.resource(request, &info, &user).await) } else { None }
        })
    }

    fn serves(&self, info: &RequestInfo) -> bool {
        let resource = resource::find(&self.groups, &info.group, &info.version, &info.resource);
        let below = info.subresource.as_str();
        resource.is_some_and(|resource| below.is_empty() || resource.subresource(below).is_some())
    }

    fn paths(&self) -> Vec<String> {
        let documents = ["/apis", "/openapi/v2", "/openapi/v3"].map(str::to_owned);
        let groups = self.groups.iter().flat_map(|group| {
            let versions = group.versions.iter();
            let versions = versions.map(|version| format!("/apis/{}/{}", group.name, version.name));
            std::iter::once(format!("/apis/{}", group.name)).chain(versions)
        });
        documents.into_iter().chain(groups).collect()
    }
}
