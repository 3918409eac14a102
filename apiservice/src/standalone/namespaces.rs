//! Every namespace exists when there is no cluster.
//!
//! kubectl looks at the namespace before it says that an object is not there, and would say that
//! the namespace is not there instead. So a namespace that is asked for by name is answered; there
//! is no list of them, nothing is stored, and discovery does not know them.

use std::sync::Arc;

use apiserver::authn::User;
use apiserver::chain::Dispatch;
use apiserver::limits::Body;
use apiserver::request::{RequestInfo, Verb};
use apiserver::response::{Response, ResponseBody};
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request};
use serde_json::json;

/// Answers for namespaces, and passes everything else on.
pub(super) struct EveryNamespace<D>(pub(super) D);

impl<D: Dispatch> Dispatch for EveryNamespace<D> {
    fn handle(
        &self,
        request: Request<Body>,
        info: Arc<RequestInfo>,
        user: Arc<User>,
    ) -> BoxFuture<'_, Option<Response>> {
        if is_namespace(&info) {
            return ready(Some(namespace(&info.name))).boxed();
        }
        self.0.handle(request, info, user)
    }

    fn serves(&self, info: &RequestInfo) -> bool {
        is_namespace(info) || self.0.serves(info)
    }

    fn paths(&self) -> Vec<String> {
        self.0.paths()
    }
}

fn is_namespace(info: &RequestInfo) -> bool {
    let of_core = info.group.is_empty() && info.version == "v1" && info.resource == "namespaces";
    let of_itself = info.segments == 2 && info.subresource.is_empty();
    of_core && of_itself && info.verb == Verb::Get && info.required_name().is_ok()
}

fn namespace(name: &str) -> Response {
    let namespace = json!({
        "kind": "Namespace",
        "apiVersion": "v1",
        "metadata": {"name": name},
        "spec": {},
        "status": {"phase": "Active"},
    });
    let mut response = Response::new(ResponseBody::from(namespace.to_string()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

#[cfg(test)]
mod tests {
    use http::{Method, Uri};

    use super::*;

    fn check(method: &Method, path: &'static str, expected: bool) {
        let info = RequestInfo::new(method, &Uri::from_static(path));
        assert_eq!(is_namespace(&info), expected, "{method} {path}");
    }

    #[test]
    fn a_namespace_is_read_by_name_and_nothing_more() {
        check(&Method::GET, "/api/v1/namespaces/a", true);
        check(&Method::GET, "/api/v1/namespaces", false);
        check(&Method::DELETE, "/api/v1/namespaces/a", false);
        check(&Method::GET, "/api/v1/namespaces/a/status", false);
        check(&Method::GET, "/api/v1/namespaces/a/pods", false);
        check(&Method::GET, "/apis/g/v1/namespaces/a", false);
    }
}
