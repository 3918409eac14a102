//! All that is served behind the filters: from a request's path to discovery, OpenAPI or a verb of
//! a resource. Everything here follows from one list of [`ApiGroup`]s.

use std::sync::Arc;

use futures::future::BoxFuture;
use http::Request;

use crate::authn::User;
use crate::chain::{Dispatch, Response};
use crate::codec::answer;
use crate::codec::negotiate::Wish;
use crate::handlers::Call;
use crate::limits::Body;
use crate::request::RequestInfo;
use crate::resource::{self, ApiGroup, Kinds};
use crate::status::Error;
use crate::store::Store;

/// The APIs of a server.
pub struct Api {
    groups: Vec<ApiGroup>,
    kinds: Kinds,
    store: Store,
}

impl Api {
    /// Serves `groups`, their objects kept in `store`.
    pub fn new(groups: Vec<ApiGroup>, store: Store) -> Self {
        let kinds = Kinds::of(&groups);
        Self { groups, kinds, store }
    }

    async fn resource(&self, request: Request<Body>, info: &RequestInfo, user: &User) -> Response {
        let (parts, body) = request.into_parts();
        let answered =
            match resource::find(&self.groups, &info.group, &info.version, &info.resource) {
                Some(resource) => {
                    let headers = &parts.headers;
                    let (store, kinds) = (&self.store, &self.kinds);
                    let call = Call { store, kinds, resource, info, user, headers };
                    call.answer(body).await
                }
                None => Err(Error::no_route()),
            };
        answered.unwrap_or_else(|error| {
            let wish = Wish::new(&parts.headers, info.query.get("pretty"));
            answer::failure(&error, wish)
        })
    }
}

impl Dispatch for Api {
    fn handle(
        &self,
        request: Request<Body>,
        info: Arc<RequestInfo>,
        user: Arc<User>,
    ) -> BoxFuture<'_, Option<Response>> {
        Box::pin(async move {
            let served = self.groups.iter().any(|group| group.name == info.group);
            if info.is_resource_request && served {
                return Some(self.resource(request, &info, &user).await);
            }
            None
        })
    }

    fn serves(&self, info: &RequestInfo) -> bool {
        resource::find(&self.groups, &info.group, &info.version, &info.resource).is_some()
    }

    fn paths(&self) -> Vec<String> {
        let mut paths = vec!["/apis".to_owned()];
        for group in &self.groups {
            paths.push(format!("/apis/{}", group.name));
            for version in &group.versions {
                paths.push(format!("/apis/{}/{}", group.name, version.name));
            }
        }
        paths
    }
}
