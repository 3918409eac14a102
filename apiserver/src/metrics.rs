//! Metrics under the names that kube-apiserver gave them, so that its dashboards and alerts read
//! this server too.
//!
//! Every label comes from a known set: verbs from a list, resources from those that are served,
//! paths from those that are fixed. A client cannot make a new series by asking for nonsense.

mod admission;
mod etcd;
pub(crate) mod identity;
mod objects;
mod process;
mod text;
mod watches;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};

use crate::request::{RequestInfo, Verb};
use crate::response::{Response, ResponseBody};
use crate::version::Version;

use self::identity::Identity;
use self::objects::Objects;
use self::watches::Watches;

pub(crate) use self::admission::AdmissionTimes;
pub use self::objects::StoredResource;
pub(crate) use self::watches::{ResourceLabels, Sent};

type Text = Cow<'static, str>;

/// What a request is counted under.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Route {
    verb: &'static str,
    group: Text,
    version: Text,
    resource: Text,
    subresource: Text,
    scope: &'static str,
    component: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Timed {
    dry_run: &'static str,
    #[prometheus(flatten)]
    route: Route,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    code: u16,
    #[prometheus(flatten)]
    timed: Timed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    request_kind: &'static str,
}

type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

/// The metrics of a server.
pub struct Metrics {
    registry: Mutex<Registry>,
    requests: Family<Answered, Counter>,
    durations: Histograms<Timed>,
    sizes: Histograms<Route>,
    terminations: Family<Answered, Counter>,
    inflight: Family<Kind, Gauge>,
    long_running: Family<Route, Gauge>,
    handshake_errors: Counter,
    sli: Histograms<Route>,
    aborts: Family<Route, Counter>,
    watches: Watches,
    admission: AdmissionTimes,
    identity: Identity,
}

fn durations() -> Histogram {
    Histogram::new([
        0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0,
        10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
    ])
}

fn sli() -> Histogram {
    Histogram::new([
        0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0,
        20.0, 30.0, 45.0, 60.0,
    ])
}

fn sizes() -> Histogram {
    Histogram::new([1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9])
}

impl Metrics {
    /// A registry with the metrics of this crate in it, and `version` as the build's information.
    pub fn new(version: &Version) -> Self {
        let this = Self {
            registry: Mutex::default(),
            requests: Family::default(),
            durations: Family::new_with_constructor(durations),
            sizes: Family::new_with_constructor(sizes),
            terminations: Family::default(),
            inflight: Family::default(),
            long_running: Family::default(),
            handshake_errors: Counter::default(),
            sli: Family::new_with_constructor(sli),
            aborts: Family::default(),
            watches: Watches::new(),
            admission: AdmissionTimes::new(),
            identity: Identity::default(),
        };
        // The encoder appends `_total` to counters, so their names end before it.
        this.register(
            "apiserver_request",
            "Requests by what they asked for and how they ended",
            this.requests.clone(),
        );
        this.register(
            "apiserver_request_duration_seconds",
            "Time to answer a request",
            this.durations.clone(),
        );
        this.register("apiserver_response_sizes", "Bytes of an answer", this.sizes.clone());
        this.register(
            "apiserver_request_terminations",
            "Requests cut off by the server in self-defence",
            this.terminations.clone(),
        );
        this.register(
            "apiserver_current_inflight_requests",
            "Requests at work now",
            this.inflight.clone(),
        );
        this.register(
            "apiserver_longrunning_requests",
            "Watches open now",
            this.long_running.clone(),
        );
        this.register(
            "apiserver_tls_handshake_errors",
            "TLS handshakes that failed",
            this.handshake_errors.clone(),
        );
        this.register(
            "apiserver_request_sli_duration_seconds",
            "Time to answer a request, for service levels",
            this.sli.clone(),
        );
        this.register(
            "apiserver_request_aborts",
            "Requests that were given up before their answer",
            this.aborts.clone(),
        );
        this.watches.register(&this);
        this.admission.register(&this);
        this.identity.register(&this);
        this.register("kubernetes_build_info", "What was built, from what", build_info(version));
        this.locked().register_collector(Box::new(process::Process::new()));
        this
    }

    /// Adds a metric. The name of a counter comes without `_total`; the encoder appends it.
    pub fn register(&self, name: &str, help: &str, metric: impl Metric) {
        self.locked().register(name, help, metric);
    }

    /// What is sent to watchers of a resource.
    pub(crate) fn sent(&self, resource: &ResourceLabels) -> Sent {
        self.watches.of(resource)
    }

    /// A request that is to be answered. One that is dropped instead counts as given up.
    pub(crate) fn asked(&self, route: Route) -> Unanswered<'_> {
        Unanswered { metrics: self, route: Some(route) }
    }

    /// The times of admission plugins.
    pub(crate) fn admission(&self) -> AdmissionTimes {
        self.admission.clone()
    }

    /// Shows how many objects are stored. `count` is asked whenever somebody looks.
    pub fn show_objects(
        &self,
        count: impl Fn() -> Vec<(StoredResource, u64)> + Send + Sync + 'static,
    ) {
        self.locked().register_collector(Box::new(Objects(Box::new(count))));
    }

    /// The metrics of authentication and authorization.
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn handshake_failed(&self) {
        self.handshake_errors.inc();
    }

    /// Counts a request as answered.
    pub(crate) fn answered(
        &self,
        route: Route,
        dry_run: &'static str,
        code: StatusCode,
        size: Option<u64>,
        took: Duration,
    ) {
        if let Some(size) = size {
            // Sizes beyond 2^53 bytes do not occur.
            #[expect(clippy::cast_precision_loss, reason = "a histogram takes floats")]
            self.sizes.get_or_create(&route).observe(size as f64);
        }
        let is_watch = route.verb == "WATCH";
        if !is_watch {
            // Upstream takes off what webhooks took; there are none.
            self.sli.get_or_create(&route).observe(took.as_secs_f64());
        }
        let timed = Timed { dry_run, route };
        if !is_watch {
            self.durations.get_or_create(&timed).observe(took.as_secs_f64());
        }
        let answered = Answered { code: code.as_u16(), timed };
        if matches!(code, StatusCode::TOO_MANY_REQUESTS | StatusCode::GATEWAY_TIMEOUT) {
            self.terminations.get_or_create(&answered).inc();
        }
        self.requests.get_or_create(&answered).inc();
    }

    /// Counts a watch as open until the result is dropped.
    pub(crate) fn opened(&self, route: &Route) -> Open {
        let gauge = self.long_running.get_or_create_owned(route);
        gauge.inc();
        Open(gauge)
    }

    /// Answers `/metrics`, in the format that is accepted. `inflight` are the readers and the changers
    /// at work.
    pub(crate) fn answer(&self, (reading, mutating): (usize, usize), accept: &str) -> Response {
        for (request_kind, now) in [("readOnly", reading), ("mutating", mutating)] {
            let now = i64::try_from(now).unwrap_or(i64::MAX);
            self.inflight.get_or_create(&Kind { request_kind }).set(now);
        }
        let mut text = String::new();
        encode(&mut text, &self.locked()).expect("writing to a String cannot fail");
        let (text, media) = match text::wants_open_metrics(accept) {
            true => (text, text::OPEN_METRICS),
            false => (text::classic(&text), text::CLASSIC),
        };
        let mut response = Response::new(ResponseBody::from(text));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
        response
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// A request without an answer: while it lasts, or for good when its client goes away.
pub(crate) struct Unanswered<'m> {
    metrics: &'m Metrics,
    route: Option<Route>,
}

impl Unanswered<'_> {
    /// There is an answer.
    pub(crate) fn answered(mut self) -> Route {
        self.route.take().expect("it is taken once, here")
    }
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        if let Some(route) = &self.route {
            self.metrics.aborts.get_or_create(route).inc();
        }
    }
}

/// A watch that is counted as open.
pub(crate) struct Open(Gauge);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Route {
    /// What a request is counted under. `served` says whether its resource is one of ours; `path`
    /// is the fixed path it asked for, if it is one.
    pub(crate) fn new(
        method: &Method,
        headers: &HeaderMap,
        info: &RequestInfo,
        served: bool,
        path: Option<&'static str>,
    ) -> Self {
        let (mut group, mut version, mut resource, mut subresource) = Default::default();
        if served {
            group = Text::Owned(info.group.clone());
            version = Text::Owned(info.version.clone());
            resource = Text::Owned(info.resource.clone());
            subresource = Text::Owned(info.subresource.clone());
        } else if let Some(path) = path {
            subresource = Text::Borrowed(path);
        }
        let (verb, scope) = (verb(method, headers, info), scope(info));
        Self { verb, group, version, resource, subresource, scope, component: "apiserver" }
    }
}

/// The value of the label `dry_run`.
pub(crate) fn dry_run(info: &RequestInfo) -> &'static str {
    match info.query.get("dryRun") {
        None | Some("") => "",
        Some("All") => "All",
        Some(_) => "invalid",
    }
}

fn verb(method: &Method, headers: &HeaderMap, info: &RequestInfo) -> &'static str {
    match (&info.verb, method) {
        (Verb::Watch, _) => "WATCH",
        (Verb::List, _) => "LIST",
        (Verb::Get, _) => "GET",
        (Verb::Create, _) | (_, &Method::POST) => "POST",
        (Verb::Update, _) | (_, &Method::PUT) => "PUT",
        (Verb::Patch, _) => match headers.get(CONTENT_TYPE) {
            Some(media) if media.as_bytes().starts_with(b"application/apply-patch+") => "APPLY",
            _ => "PATCH",
        },
        (Verb::Delete, _) => "DELETE",
        (Verb::DeleteCollection, _) => "DELETECOLLECTION",
        (Verb::Other(_), _) => "other",
    }
}

fn scope(info: &RequestInfo) -> &'static str {
    match info {
        _ if !info.name.is_empty() || info.verb == Verb::Create => "resource",
        _ if !info.namespace.is_empty() => "namespace",
        _ if info.is_resource_request => "cluster",
        _ => "",
    }
}

fn build_info(version: &Version) -> Family<Vec<(&'static str, String)>, Gauge> {
    let labels = vec![
        ("major", version.major.clone()),
        ("minor", version.minor.clone()),
        ("git_version", version.git_version.clone()),
        ("git_commit", version.git_commit.clone()),
        ("git_tree_state", version.git_tree_state.clone()),
        ("build_date", version.build_date.clone()),
        ("compiler", version.compiler.clone()),
        ("platform", version.platform.clone()),
    ];
    let family = Family::<_, Gauge>::default();
    family.get_or_create(&labels).set(1);
    family
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt as _;

    async fn text(metrics: &Metrics) -> String {
        let body = metrics.answer((1, 2), "").into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(body.to_vec()).unwrap()
    }

    fn count(metrics: &Metrics, method: &Method, uri: &str, served: bool) {
        let info = RequestInfo::new(method, &uri.parse().unwrap());
        let route = Route::new(method, &HeaderMap::new(), &info, served, None);
        metrics.answered(route, dry_run(&info), StatusCode::OK, Some(9), Duration::from_millis(1));
    }

    #[tokio::test]
    async fn requests_are_counted_under_upstreams_names() {
        let metrics = Metrics::new(&Version::new("v1.2.3"));
        count(&metrics, &Method::GET, "/apis/g/v1/namespaces/n/things?dryRun=All", true);
        let text = text(&metrics).await;
        let want = r#"apiserver_request_total{code="200",dry_run="All",verb="LIST",group="g",version="v1",resource="things",subresource="",scope="namespace",component="apiserver"} 1"#;
        assert!(text.contains(want), "{text}");
        for name in [
            "apiserver_request_duration_seconds_bucket{le=\"0.005\"",
            "apiserver_response_sizes_sum",
            "# TYPE apiserver_request_total counter",
            "apiserver_request_sli_duration_seconds_count{verb=\"LIST\"",
            "apiserver_tls_handshake_errors_total 0",
            "apiserver_current_inflight_requests{request_kind=\"mutating\"} 2",
            "kubernetes_build_info{major=\"1\"",
            "process_start_time_seconds",
            "process_resident_memory_bytes",
        ] {
            assert!(text.contains(name), "{name} in {text}");
        }
        assert!(!text.contains("_total_total"), "{text}");
    }

    #[tokio::test]
    async fn a_request_that_is_dropped_counts_as_aborted() {
        let metrics = Metrics::new(&Version::new("v1.2.3"));
        let route = || {
            let info = RequestInfo::new(&Method::GET, &"/apis/g/v1/things".parse().unwrap());
            Route::new(&Method::GET, &HeaderMap::new(), &info, true, None)
        };
        metrics.asked(route()).answered();
        drop(metrics.asked(route()));
        let text = text(&metrics).await;
        let aborted = text.lines().find(|line| line.starts_with("apiserver_request_aborts_total{"));
        assert!(aborted.is_some_and(|line| line.ends_with("} 1")), "{text}");
    }

    #[tokio::test]
    async fn what_is_not_served_makes_no_series_of_its_own() {
        let metrics = Metrics::new(&Version::new("v1.2.3"));
        for index in 0..100 {
            let uri = format!("/apis/g{index}/v1/namespaces/n/things{index}");
            count(&metrics, &format!("M{index}").parse().unwrap(), &uri, false);
        }
        let text = text(&metrics).await;
        assert_eq!(text.matches("\napiserver_request_total{").count(), 1, "{text}");
    }
}
