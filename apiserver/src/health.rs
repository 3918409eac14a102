//! `/healthz`, `/livez` and `/readyz`: named checks, asked one after the other.
//!
//! Liveness must not depend on storage or on another server: restarting this one would not mend
//! them. Such checks belong to readiness alone.

use std::fmt::Write as _;
use std::sync::{Arc, PoisonError, RwLock};

use futures::future::BoxFuture;
use http::header::{CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, StatusCode};

use crate::field::quote;
use crate::request::Query;
use crate::response::{Response, ResponseBody};

/// What a check of this kind says about the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Without it the process is of no use and should be restarted. It counts for all three paths.
    Live,
    /// Without it no request should come now. It counts for `/readyz` only.
    Ready,
}

type Probe = Arc<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

#[derive(Clone)]
struct Check {
    name: String,
    scope: Scope,
    probe: Probe,
}

/// The checks of a server. Clones share them.
#[derive(Clone, Default)]
pub struct Health {
    checks: Arc<RwLock<Vec<Check>>>,
    informers: Arc<RwLock<Vec<Informer>>>,
    notes: Arc<RwLock<Vec<Note>>>,
}

struct Note {
    name: &'static str,
    text: Box<dyn Fn() -> String + Send + Sync>,
}

struct Informer {
    of: &'static str,
    has_synced: Box<dyn Fn() -> bool + Send + Sync>,
}

/// One of the three paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Healthz,
    Livez,
    Readyz,
}

impl Endpoint {
    pub(crate) const ALL: [Self; 3] = [Self::Healthz, Self::Livez, Self::Readyz];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Healthz => "healthz",
            Self::Livez => "livez",
            Self::Readyz => "readyz",
        }
    }

    fn asks(self, scope: Scope) -> bool {
        scope == Scope::Live || self == Self::Readyz
    }
}

impl Health {
    /// A registry with the check that every server passes, `ping`.
    pub fn new() -> Self {
        let health = Self::default();
        health.add("ping", Scope::Live, || async { Ok(()) });
        health
    }

    /// Adds a check. `probe` is asked on every request; what it says is logged and shown to
    /// nobody. A check of the same name is replaced.
    pub fn add<F>(&self, name: &str, scope: Scope, probe: impl Fn() -> F + Send + Sync + 'static)
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        let probe: Probe = Arc::new(move || Box::pin(probe()));
        let check = Check { name: name.to_owned(), scope, probe };
        let mut checks = self.checks.write().unwrap_or_else(PoisonError::into_inner);
        match checks.iter_mut().find(|known| known.name == name) {
            Some(known) => *known = check,
            None => checks.push(check),
        }
    }

    /// Adds an informer to the check `informer-sync`, which counts for `/readyz`: before everything
    /// is known once, requests would be answered wrongly. `of` says what it informs about.
    pub fn add_informer(
        &self,
        of: &'static str,
        has_synced: impl Fn() -> bool + Send + Sync + 'static,
    ) {
        let informer = Informer { of, has_synced: Box::new(has_synced) };
        self.informers.write().unwrap_or_else(PoisonError::into_inner).push(informer);
        let informers = self.informers.clone();
        self.add("informer-sync", Scope::Ready, move || {
            let informers = informers.read().unwrap_or_else(PoisonError::into_inner);
            let waiting: Vec<_> = informers
                .iter()
                .filter(|informer| !(informer.has_synced)())
                .map(|informer| informer.of)
                .collect();
            std::future::ready(match waiting.as_slice() {
                [] => Ok(()),
                waiting => Err(format!("not yet synced: {}", waiting.join(", "))),
            })
        });
    }

    /// Adds a line to what `/readyz?verbose` shows: something to know about this server that keeps no request away from
    /// it. `text` is one line, asked for whenever somebody looks, and fit to be seen by whoever may look.
    pub fn add_note(&self, name: &'static str, text: impl Fn() -> String + Send + Sync + 'static) {
        let note = Note { name, text: Box::new(text) };
        self.notes.write().unwrap_or_else(PoisonError::into_inner).push(note);
    }

    fn of(&self, endpoint: Endpoint) -> Vec<Check> {
        let checks = self.checks.read().unwrap_or_else(PoisonError::into_inner);
        checks.iter().filter(|check| endpoint.asks(check.scope)).cloned().collect()
    }

    /// The paths served, for the index of all paths.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        for endpoint in Endpoint::ALL {
            let name = endpoint.name();
            paths.push(format!("/{name}"));
            paths.extend(self.of(endpoint).iter().map(|check| format!("/{name}/{}", check.name)));
        }
        paths
    }

    /// Answers one of the three paths. `?verbose` lists the checks, `?exclude=NAME` leaves one out.
    pub(crate) async fn answer(&self, endpoint: Endpoint, query: &Query) -> Response {
        let mut unknown: Vec<&str> = query.all("exclude").collect();
        let mut report = String::new();
        let mut failed = false;
        for check in self.of(endpoint) {
            let name = &check.name;
            // Writing to a String cannot fail.
            let _ = if query.all("exclude").any(|excluded| excluded == name) {
                unknown.retain(|excluded| excluded != name);
                writeln!(report, "[+]{name} excluded: ok")
            } else if let Err(why) = (check.probe)().await {
                failed = true;
                tracing::warn!(
                    check = name,
                    endpoint = endpoint.name(),
                    why,
                    "health check failed"
                );
                writeln!(report, "[-]{name} failed: reason withheld")
            } else {
                writeln!(report, "[+]{name} ok")
            };
        }
        if !unknown.is_empty() {
            unknown.sort_unstable();
            unknown.dedup();
            let names = unknown.iter().map(|name| quote(name)).collect::<Vec<_>>().join(", ");
            let _ = writeln!(
                report,
                "warn: some health checks cannot be excluded: no matches for {names}"
            );
        }
        if endpoint == Endpoint::Readyz {
            let notes = self.notes.read().unwrap_or_else(PoisonError::into_inner);
            for Note { name, text } in notes.iter() {
                let _ = writeln!(report, "[i]{name} {}", text());
            }
        }
        let name = endpoint.name();
        if failed {
            let report = format!("{report}{name} check failed\n");
            return text(StatusCode::INTERNAL_SERVER_ERROR, report, Sniff::Forbidden);
        }
        let body = if query.has("verbose") {
            format!("{report}{name} check passed\n")
        } else {
            "ok".into()
        };
        text(StatusCode::OK, body, Sniff::Forbidden)
    }

    /// Answers the path of a single check; `None` when there is no such check. Whoever may ask for
    /// it also learns the reason of a failure.
    pub(crate) async fn answer_one(&self, endpoint: Endpoint, name: &str) -> Option<Response> {
        let check = self.of(endpoint).into_iter().find(|check| check.name == name)?;
        Some(match (check.probe)().await {
            Ok(()) => text(StatusCode::OK, "ok".into(), Sniff::Unsaid),
            Err(why) => text(
                StatusCode::INTERNAL_SERVER_ERROR,
                format!("internal server error: {why}\n"),
                Sniff::Forbidden,
            ),
        })
    }
}

/// Whether the client is told not to guess another media type; upstream is not consistent in it.
#[derive(Clone, Copy, PartialEq)]
enum Sniff {
    Forbidden,
    Unsaid,
}

fn text(code: StatusCode, body: String, sniff: Sniff) -> Response {
    let mut response = Response::new(ResponseBody::from(body));
    *response.status_mut() = code;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    if sniff == Sniff::Forbidden {
        let nosniff = HeaderValue::from_static("nosniff");
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, nosniff);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt as _;

    fn health() -> Health {
        let health = Health::new();
        health.add("log", Scope::Live, || async { Ok(()) });
        health.add("storage", Scope::Ready, || async { Err("disk on fire".into()) });
        health
    }

    async fn check(endpoint: Endpoint, query: &str, code: u16, want: &str) {
        let response = health().answer(endpoint, &Query::parse(query)).await;
        assert_eq!(response.status(), code, "{query}");
        assert_eq!(response.headers()[X_CONTENT_TYPE_OPTIONS], "nosniff");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(String::from_utf8_lossy(&body), want, "{query}");
    }

    #[tokio::test]
    async fn a_healthy_server_says_ok_and_lists_its_checks_on_request() {
        check(Endpoint::Livez, "", 200, "ok").await;
        let all = "[+]ping ok\n[+]log ok\nlivez check passed\n";
        check(Endpoint::Livez, "verbose", 200, all).await;
        let some = "[+]ping ok\n[+]log excluded: ok\nlivez check passed\n";
        check(Endpoint::Livez, "exclude=log&verbose=1", 200, some).await;
        let warned = "[+]ping ok\n[+]log ok\nwarn: some health checks cannot be excluded: no matches for \"nope\"\nhealthz check passed\n";
        check(Endpoint::Healthz, "exclude=nope&verbose", 200, warned).await;
    }

    #[tokio::test]
    async fn all_informers_are_one_check() {
        let health = Health::new();
        health.add_informer("namespaces", || true);
        let one = health.answer_one(Endpoint::Readyz, "informer-sync").await.unwrap();
        assert_eq!(one.status(), 200);
        health.add_informer("settings", || false);
        let one = health.answer_one(Endpoint::Readyz, "informer-sync").await.unwrap();
        let body = one.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, "internal server error: not yet synced: settings\n");
    }

    #[tokio::test]
    async fn a_note_is_shown_where_readiness_is_and_fails_nothing() {
        let health = Health::new();
        health.add_note("engine", || "cold".to_owned());
        for (endpoint, want) in [
            (Endpoint::Readyz, "[+]ping ok\n[i]engine cold\nreadyz check passed\n"),
            (Endpoint::Livez, "[+]ping ok\nlivez check passed\n"),
        ] {
            let response = health.answer(endpoint, &Query::parse("verbose")).await;
            assert_eq!(response.status(), 200);
            assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), want);
        }
    }

    #[tokio::test]
    async fn a_failing_check_is_always_listed_and_its_reason_withheld() {
        let want =
            "[+]ping ok\n[+]log ok\n[-]storage failed: reason withheld\nreadyz check failed\n";
        check(Endpoint::Readyz, "", 500, want).await;
        check(Endpoint::Readyz, "exclude=storage", 200, "ok").await;
        let health = health();
        let one = health.answer_one(Endpoint::Readyz, "storage").await.unwrap();
        let body = one.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, "internal server error: disk on fire\n");
        assert!(health.answer_one(Endpoint::Livez, "storage").await.is_none());
    }
}
