//! The way of a request: every filter in its fixed order, on one page.
//!
//! panic → audit id → metrics → request info → deadline → authentication → audit → max in flight →
//! impersonation → authorization → dispatch. What a filter refuses never reaches a later one.

mod answer;
mod audited;
mod fixed;
mod watch;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::header::{AUTHORIZATION, CONNECTION};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Version as Protocol};

use crate::audit::Audit;
use crate::authn::{Authenticator, Peer, User, Verdict};
use crate::authz::{Attributes, Authorizer, settle};
use crate::codec::negotiate::Wish;
use crate::health::Health;
use crate::impersonation::impersonated;
use crate::limits::{Body, InFlight, Limits, Place};
use crate::metrics::{self, Metrics, Route};
use crate::request::RequestInfo;
use crate::response::Response;
use crate::status::Error;
use crate::stop::{Phase, Stop};
use crate::version::Version;

use self::audited::{Audited, Lasts, Ticket};
use self::fixed::FixedPaths;

/// What stands behind the filters: discovery, OpenAPI and the resources.
///
/// A request arrives here with its sender known and allowed. The headers that say who sent it, and
/// as whom it is to run, are gone. The chain adds `Audit-Id` and, unless the
/// answer has one, `Cache-Control`; it cuts a request off at its deadline by dropping the future,
/// and ends the body of a watch when the server stops.
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

/// What a chain is made of.
pub struct Parties {
    /// Finds out who asks.
    pub authenticator: Arc<dyn Authenticator>,
    /// Decides what they may do.
    pub authorizer: Arc<dyn Authorizer>,
    /// Answers.
    pub dispatch: Arc<dyn Dispatch>,
    /// The checks behind `/healthz`, `/livez` and `/readyz`; the chain adds `shutdown`.
    pub health: Health,
    /// What `/metrics` shows.
    pub metrics: Arc<Metrics>,
    /// What `/version` shows.
    pub version: Version,
    /// Bounds on every request.
    pub limits: Limits,
    /// The share of HTTP/2 requests after which the client is asked for a new connection, from 0 to 1.
    pub goaway_chance: f64,
    /// Notes requests, if they are to be noted.
    pub audit: Option<Arc<Audit>>,
}

impl Parties {
    /// These three, with the usual limits, no checks but `ping`, and metrics of their own.
    pub fn new(
        authenticator: impl Authenticator,
        authorizer: impl Authorizer,
        dispatch: impl Dispatch,
        version: Version,
    ) -> Self {
        Self {
            authenticator: Arc::new(authenticator),
            authorizer: Arc::new(authorizer),
            dispatch: Arc::new(dispatch),
            health: Health::new(),
            metrics: Arc::new(Metrics::new(&version)),
            version,
            limits: Limits::default(),
            goaway_chance: 0.0,
            audit: None,
        }
    }
}

/// The filters in front of a [`Dispatch`], for all connections of a server.
pub struct Chain {
    authenticator: Arc<dyn Authenticator>,
    authorizer: Arc<dyn Authorizer>,
    dispatch: Arc<dyn Dispatch>,
    fixed: FixedPaths,
    metrics: Arc<Metrics>,
    limits: Limits,
    goaway_chance: f64,
    audit: Option<Arc<Audit>>,
    inflight: Arc<InFlight>,
    stop: Arc<Stop>,
}

impl Chain {
    /// Puts the filters in front of `parties.dispatch`.
    pub fn new(parties: Parties) -> Arc<Self> {
        let Parties { authenticator, authorizer, dispatch, health, metrics, .. } = parties;
        let Parties { version, limits, goaway_chance, audit, .. } = parties;
        let stop = Arc::new(Stop::default());
        let inflight = Arc::new(InFlight::new(&limits));
        fixed::report_shutdown(&health, &stop);
        let fixed = FixedPaths::new(health, &metrics, &inflight, &version, &dispatch);
        Arc::new(Self {
            authenticator,
            authorizer,
            dispatch,
            fixed,
            metrics,
            limits,
            goaway_chance,
            audit,
            inflight,
            stop,
        })
    }

    /// Answers a request of `peer`. It never fails: whatever goes wrong is an answer too.
    pub async fn serve(&self, request: Request<Body>, peer: &Peer) -> Response {
        let started = Instant::now();
        let (parts, body) = request.into_parts();
        let audit_id = answer::audit_id(&parts.headers);
        let info = Arc::new(RequestInfo::new(&parts.method, &parts.uri));
        let unanswered = self.metrics.asked(self.route(&parts, &info));
        let is_http2 = parts.version == Protocol::HTTP_2;
        let is_head = parts.method == Method::HEAD;

        let ticket = Ticket { audit_id: &audit_id, audited: Audited::default() };
        let work = self.within_deadline(parts, body, &info, peer, &ticket);
        let done = AssertUnwindSafe(work).catch_unwind().await;
        let Ticket { audited, .. } = ticket;
        let route = unanswered.answered();
        let (mut outcome, audited) = match done {
            Ok(outcome) => (outcome, Some(audited)),
            Err(_panic) => {
                tracing::error!(path = info.path, verb = info.verb.as_str(), "request panicked");
                audited.panicked();
                (Outcome::known(answer::panicked()), None)
            }
        };

        let response = &mut outcome.response;
        answer::finish(response, &info, audit_id);
        if is_head {
            answer::drop_body(response);
        }
        // Whoever cannot be made to pay for it does not keep an HTTP/2 connection
        // (CVE-2023-44487); and now and then one is given up so that connections spread over the
        // replicas. A server that leaves says so on HTTP/1.1, where the client knows before it sends
        // more. A GOAWAY meets what is being sent, and a Go client cannot repeat what has a body
        // (kubernetes#135285): it waits until requests go elsewhere.
        let leaving = !is_http2 && self.stop.phase() != Phase::Serving;
        let moves_on =
            is_http2 && self.goaway_chance > 0.0 && rand::random::<f64>() < self.goaway_chance;
        if leaving || moves_on || (is_http2 && outcome.is_unknown_sender) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let size = http_body::Body::size_hint(response.body()).exact();
        let (code, took) = (response.status(), started.elapsed());
        let is_watch = info.is_long_running() && code.is_success();
        let lasts = match (info.is_long_running(), is_watch) {
            (false, _) => Lasts::No,
            (true, false) => Lasts::Refused,
            (true, true) => Lasts::Yes,
        };
        let watched = audited.and_then(|audited| audited.answered(code, lasts));
        let open = is_watch.then(|| self.metrics.opened(&route));
        self.metrics.answered(route, metrics::dry_run(&info), code, size, took);
        match open {
            Some(open) => {
                outcome.response.extensions_mut().insert(Lasting);
                outcome.response.map(|body| watch::until_stop(body, open, watched, &self.stop))
            }
            None => outcome.response,
        }
    }

    async fn within_deadline(
        &self,
        parts: Parts,
        body: Body,
        info: &Arc<RequestInfo>,
        peer: &Peer,
        ticket: &Ticket<'_>,
    ) -> Outcome {
        let deadline = match self.limits.deadline(info) {
            Ok(Some(deadline)) => deadline,
            Ok(None) => return self.identified(parts, body, info, peer, ticket).await,
            Err(error) => {
                let wish = Wish::new(&parts.headers, info.query.get("pretty"));
                return Outcome::known(answer::refuse(&error, wish));
            }
        };
        let work = self.identified(parts, body, info, peer, ticket);
        match tokio::time::timeout(deadline.after, work).await {
            Ok(outcome) => outcome,
            Err(_) => {
                let passed = deadline.passed();
                ticket.audited.refused(&passed);
                Outcome::known(answer::refuse(&passed, Wish::default()))
            }
        }
    }

    async fn identified(
        &self,
        mut parts: Parts,
        body: Body,
        info: &Arc<RequestInfo>,
        peer: &Peer,
        ticket: &Ticket<'_>,
    ) -> Outcome {
        let refuse = |error: &Error, headers: &HeaderMap| {
            answer::refuse(error, Wish::new(headers, info.query.get("pretty")))
        };
        let user = match self.authenticated(&parts.headers, peer).await {
            Ok(Some(user)) => user,
            unknown => {
                if let Err(why) = unknown {
                    tracing::info!(%why, path = info.path, "credential rejected");
                }
                let error = Error::unauthorized();
                self.audit_stranger(&parts, info, peer, ticket, &error);
                let response = refuse(&error, &parts.headers);
                return Outcome { response, is_unknown_sender: true };
            }
        };
        self.audit(&mut parts, info, peer, ticket, &user);
        strip_identity(&mut parts.headers);
        self.authenticator.strip(&mut parts.headers);
        // Behind a proxy that vouches for its users, the connection is not the anonymous user's.
        let is_unknown_sender = user.is_anonymous() && !peer.is_vouched_for();
        let response = match self.admitted(&mut parts.headers, info, user, &ticket.audited).await {
            Ok((user, _place)) => {
                let request = Request::from_parts(parts, body);
                self.dispatched(request, info, &user).await
            }
            Err(error) => {
                ticket.audited.refused(&error);
                refuse(&error, &parts.headers)
            }
        };
        Outcome { response, is_unknown_sender }
    }

    async fn authenticated(&self, headers: &HeaderMap, peer: &Peer) -> Verdict {
        let started = Instant::now();
        let verdict = self.authenticator.authenticate(headers, peer).await;
        self.metrics.identity().authenticated(&verdict, started.elapsed());
        verdict
    }

    /// Whom the request runs as, and its place among the requests at work, if it may be served.
    async fn admitted(
        &self,
        headers: &mut HeaderMap,
        info: &RequestInfo,
        requester: Arc<User>,
        audited: &Audited,
    ) -> Result<(Arc<User>, Place), Error> {
        // Upstream counts by the user who is impersonated. Finding out whether that is allowed is
        // work too, which may come from anybody.
        let place = self.inflight.enter(info, &requester)?;
        let authorizer = self.authorizer.as_ref();
        let user = match impersonated(headers, &requester, authorizer).await? {
            Some(user) => {
                audited.impersonated(&user);
                Arc::new(user)
            }
            None => requester,
        };
        let started = Instant::now();
        let attributes = Attributes::of(&user, info);
        let decided = authorizer.authorize(&attributes).await;
        self.metrics.identity().authorized(&decided, started.elapsed());
        audited.authorized(&decided);
        settle(decided, &attributes)?;
        Ok((user, place))
    }

    async fn dispatched(
        &self,
        request: Request<Body>,
        info: &Arc<RequestInfo>,
        user: &Arc<User>,
    ) -> Response {
        if !info.is_resource_request
            && let Some(response) =
                self.fixed.answer(request.method(), request.headers(), info).await
        {
            return response;
        }
        match self.dispatch.handle(request, info.clone(), user.clone()).await {
            Some(response) => response,
            None => self.fixed.not_found(),
        }
    }

    fn route(&self, parts: &Parts, info: &RequestInfo) -> Route {
        let served = info.is_resource_request && self.dispatch.serves(info);
        let path = if info.is_resource_request { None } else { FixedPaths::label(&info.path) };
        Route::new(&parts.method, &parts.headers, info, served, path)
    }

    pub(crate) fn stop(&self) -> &Arc<Stop> {
        &self.stop
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Makes durable what was noted of the requests.
    pub(crate) fn flush_audit(&self) {
        if let Some(audit) = &self.audit {
            audit.flush();
        }
    }
}

/// Marks the answer of a watch.
#[derive(Clone, Copy)]
pub(crate) struct Lasting;

/// An answer, and whether its receiver proved no identity.
struct Outcome {
    response: Response,
    is_unknown_sender: bool,
}

impl Outcome {
    fn known(response: Response) -> Self {
        Self { response, is_unknown_sender: false }
    }
}

/// Takes away what says who the sender is: from here on only the [`User`] does.
fn strip_identity(headers: &mut HeaderMap) {
    headers.remove(AUTHORIZATION);
    let is_remote = |name: &&HeaderName| name.as_str().starts_with("x-remote-");
    if headers.keys().any(|name| is_remote(&name)) {
        let names: Vec<_> = headers.keys().filter(is_remote).cloned().collect();
        for name in names {
            headers.remove(name);
        }
    }
}
