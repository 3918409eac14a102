//! The way of a request: every filter in its fixed order, on one page.

use std::sync::Arc;

use futures::future::BoxFuture;
use http::Request;

use crate::authn::User;
use crate::limits::Body;
use crate::request::RequestInfo;

/// The body of an answer.
pub use axum::body::Body as ResponseBody;

/// An answer.
pub type Response = http::Response<ResponseBody>;

/// What stands behind the filters: discovery, OpenAPI and the resources.
///
/// A request arrives here with its sender known and allowed. Its `Authorization`, `X-Remote-*`
/// and `Impersonate-*` headers are gone. The chain adds `Audit-Id` and, unless the answer has
/// one, `Cache-Control`; it cuts a request off at its deadline by dropping the future, and ends
/// the body of a watch when the server stops.
pub trait Dispatch: Send + Sync + 'static {
    /// Answers a request, or says with `None` that nothing lives at a path which is no resource
    /// of a served group: the chain then answers 404 with the list of paths, as upstream does.
    fn handle(
        &self,
        request: Request<Body>,
        info: Arc<RequestInfo>,
        user: Arc<User>,
    ) -> BoxFuture<'_, Option<Response>>;

    /// Whether the resource of this request is one that is served. It bounds the labels of
    /// metrics: what is not served is counted without its name.
    fn serves(&self, info: &RequestInfo) -> bool;

    /// The paths served that are no resources, such as `/apis/g.example/v1`, for `/` and for 404.
    fn paths(&self) -> Vec<String>;
}
