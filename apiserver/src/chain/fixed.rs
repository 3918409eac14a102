//! The paths that every server has: health, metrics, the version and the index of all paths.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::routing::{MethodRouter, any};
use axum::{Extension, Router};
use http::header::ACCEPT;
use http::{HeaderMap, Method, Request, StatusCode};
use tower::ServiceExt as _;

use crate::codec::negotiate::Wish;
use crate::health::{Endpoint, Health, Scope};
use crate::limits::InFlight;
use crate::metrics::Metrics;
use crate::request::{RequestInfo, Verb};
use crate::status::Error;
use crate::stop::{Phase, Stop};
use crate::version::Version;

use super::{Dispatch, answer};
use crate::response::{Response, ResponseBody};

/// Marks the answer of the router to a path it does not know.
#[derive(Clone)]
struct Unknown;

pub(super) struct FixedPaths {
    router: Router,
    shared: Arc<Shared>,
}

struct Shared {
    health: Health,
    metrics: Arc<Metrics>,
    inflight: Arc<InFlight>,
    version: Vec<u8>,
    dispatch: Arc<dyn Dispatch>,
}

/// Readiness turns red as soon as the server is told to stop.
pub(super) fn report_shutdown(health: &Health, stop: &Arc<Stop>) {
    let stop = stop.clone();
    health.add("shutdown", Scope::Ready, move || {
        let phase = stop.phase();
        let stopping = || Err("process is shutting down".to_owned());
        std::future::ready(if phase == Phase::Serving { Ok(()) } else { stopping() })
    });
}

impl FixedPaths {
    pub(super) fn new(
        health: Health,
        metrics: &Arc<Metrics>,
        inflight: &Arc<InFlight>,
        version: &Version,
        dispatch: &Arc<dyn Dispatch>,
    ) -> Self {
        let version = serde_json::to_vec_pretty(version).expect("a version is plain data");
        let (metrics, inflight) = (metrics.clone(), inflight.clone());
        let dispatch = dispatch.clone();
        let shared = Arc::new(Shared { health, metrics, inflight, version, dispatch });
        let mut router = Router::new()
            .route("/", any(index))
            .route("/metrics", any(show_metrics))
            .route("/version", any(show_version))
            .route("/version/", any(show_version))
            .fallback(unknown);
        for endpoint in Endpoint::ALL {
            let name = endpoint.name();
            router = router
                .route(&format!("/{name}"), all_checks(endpoint))
                .route(&format!("/{name}/{{*check}}"), one_check(endpoint));
        }
        Self { router: router.with_state(shared.clone()), shared }
    }

    /// Answers a fixed path; `None` for any other.
    pub(super) async fn answer(
        &self,
        method: &Method,
        headers: &HeaderMap,
        info: &Arc<RequestInfo>,
    ) -> Option<Response> {
        let mut request = Request::new(ResponseBody::empty());
        *request.method_mut() = method.clone();
        // The decoded path may hold what a URI cannot; then it is none of the fixed ones.
        *request.uri_mut() = info.path.parse().ok()?;
        if let Some(accept) = headers.get(ACCEPT) {
            request.headers_mut().insert(ACCEPT, accept.clone());
        }
        request.extensions_mut().insert(info.clone());
        let response = match self.router.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        response.extensions().get::<Unknown>().is_none().then_some(response)
    }

    /// 404 with all paths, as upstream answers what lies outside of every group.
    pub(super) fn not_found(&self) -> Response {
        self.shared.index(StatusCode::NOT_FOUND)
    }

    /// The label of a fixed path in metrics.
    pub(super) fn label(path: &str) -> Option<&'static str> {
        let known = ["/healthz", "/livez", "/readyz", "/metrics", "/version"];
        known.into_iter().find(|known| {
            let below = path.strip_prefix(known);
            below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
        })
    }
}

impl Shared {
    fn index(&self, code: StatusCode) -> Response {
        let mut paths = self.dispatch.paths();
        paths.extend(self.health.paths());
        paths.extend(["/metrics".to_owned(), "/version".to_owned()]);
        paths.sort_unstable();
        paths.dedup();
        let body = serde_json::to_vec_pretty(&serde_json::json!({ "paths": paths }));
        answer::json(code, body.expect("a list of strings is plain data"))
    }
}

async fn index(State(shared): State<Arc<Shared>>) -> Response {
    shared.index(StatusCode::OK)
}

async fn show_metrics(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    shared.metrics.answer(shared.inflight.now(), accept.unwrap_or_default())
}

async fn show_version(
    State(shared): State<Arc<Shared>>,
    Extension(info): Extension<Arc<RequestInfo>>,
) -> Response {
    if info.verb != Verb::Get {
        return answer::refuse(&Error::method_not_allowed(), Wish::default());
    }
    answer::json(StatusCode::OK, shared.version.clone())
}

async fn unknown() -> (Extension<Unknown>, StatusCode) {
    (Extension(Unknown), StatusCode::NOT_FOUND)
}

fn all_checks(endpoint: Endpoint) -> MethodRouter<Arc<Shared>> {
    let answer = move |State(shared): State<Arc<Shared>>, info: Extension<Arc<RequestInfo>>| async move {
        shared.health.answer(endpoint, &info.query).await
    };
    any(answer)
}

fn one_check(endpoint: Endpoint) -> MethodRouter<Arc<Shared>> {
    let answer = move |State(shared): State<Arc<Shared>>, Path(check): Path<String>| async move {
        match shared.health.answer_one(endpoint, &check).await {
            Some(response) => response,
            None => shared.index(StatusCode::NOT_FOUND),
        }
    };
    any(answer)
}
