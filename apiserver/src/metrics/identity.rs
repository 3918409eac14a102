//! Metrics of authentication and authorization: what was decided, and how kube-apiserver answered
//! where it was asked.
//!
//! No label comes from a client: users are counted by upstream's few classes of names.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::{MetricType, TypedMetric};

use super::{Histograms, Metrics};
use crate::authn::{User, Verdict};
use crate::authz::{Decision, Undecided};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Username {
    username: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Code {
    code: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct State {
    status: &'static str,
}

/// A counter that kube-apiserver named without `_total`, which the encoder would append.
#[derive(Clone, Debug, Default)]
struct Untotalled(Arc<AtomicU64>);

impl Untotalled {
    fn inc(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl TypedMetric for Untotalled {
    const TYPE: MetricType = MetricType::Unknown;
}

impl EncodeMetric for Untotalled {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        encoder.encode_gauge(&self.0.load(Ordering::Relaxed))
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

/// The metrics of who asks and what they may do. Clones count together.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    authentications: Family<Outcome, Untotalled>,
    authentication_durations: Histograms<Outcome>,
    users: Family<Username, Untotalled>,
    authorizations: Family<Outcome, Counter>,
    authorization_durations: Histograms<Outcome>,
    certificates: Histogram,
    /// TokenReviews that kube-apiserver was asked for.
    pub(crate) token_reviews: Reviews,
    /// SubjectAccessReviews that kube-apiserver was asked for.
    pub(crate) access_reviews: Reviews,
    /// The answers to TokenReviews that are remembered.
    pub(crate) token_cache: TokenCache,
}

impl Default for Identity {
    fn default() -> Self {
        Self {
            authentications: Family::default(),
            authentication_durations: Family::new_with_constructor(decisions),
            users: Family::default(),
            authorizations: Family::default(),
            authorization_durations: Family::new_with_constructor(decisions),
            certificates: lifetimes(),
            token_reviews: Reviews::default(),
            access_reviews: Reviews::default(),
            token_cache: TokenCache::default(),
        }
    }
}

fn decisions() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 15))
}

fn round_trips() -> Histogram {
    Histogram::new([0.25, 0.5, 0.7, 1.0, 1.5, 3.0, 5.0, 10.0])
}

/// From half an hour to a year.
fn lifetimes() -> Histogram {
    const HOUR: f64 = 3600.0;
    const DAY: f64 = 24.0 * HOUR;
    Histogram::new([
        0.0,
        HOUR / 2.0,
        HOUR,
        2.0 * HOUR,
        6.0 * HOUR,
        12.0 * HOUR,
        DAY,
        2.0 * DAY,
        4.0 * DAY,
        7.0 * DAY,
        30.0 * DAY,
        90.0 * DAY,
        180.0 * DAY,
        360.0 * DAY,
    ])
}

impl Identity {
    /// Shows these metrics among the others.
    pub(super) fn register(&self, metrics: &Metrics) {
        let Self { token_reviews, access_reviews, token_cache, .. } = self;
        metrics.register(
            "authentication_attempts",
            "Requests by whether their sender could be told",
            self.authentications.clone(),
        );
        metrics.register(
            "authentication_duration_seconds",
            "Time to tell a request's sender",
            self.authentication_durations.clone(),
        );
        metrics.register(
            "authenticated_user_requests",
            "Requests by classes of user names",
            self.users.clone(),
        );
        metrics.register(
            "authorization_attempts",
            "Requests by what the authorizers said",
            self.authorizations.clone(),
        );
        metrics.register(
            "authorization_duration_seconds",
            "Time to decide whether a request may pass",
            self.authorization_durations.clone(),
        );
        metrics.register(
            "apiserver_client_certificate_expiration_seconds",
            "For how long the client certificates that are shown are still valid",
            self.certificates.clone(),
        );
        token_reviews.register(metrics, "apiserver_delegated_authn", "TokenReviews");
        access_reviews.register(metrics, "apiserver_delegated_authz", "SubjectAccessReviews");
        token_cache.register(metrics);
    }

    /// Counts an attempt to tell who sent a request.
    pub(crate) fn authenticated(&self, verdict: &Verdict, took: Duration) {
        let result = match verdict {
            Ok(Some(user)) => {
                self.users.get_or_create(&Username { username: class(user) }).inc();
                "success"
            }
            Ok(None) => "failure",
            Err(_) => "error",
        };
        self.authentications.get_or_create(&Outcome { result }).inc();
        let durations = self.authentication_durations.get_or_create(&Outcome { result });
        durations.observe(took.as_secs_f64());
    }

    /// Counts a decision about a request.
    pub(crate) fn authorized(&self, decided: &Result<Decision, Undecided>, took: Duration) {
        let result = match decided {
            Ok(Decision::Allow(_)) => "allowed",
            Ok(Decision::Deny(_)) => "denied",
            Ok(Decision::NoOpinion(_)) => "no-opinion",
            Err(_) => "error",
        };
        self.authorizations.get_or_create(&Outcome { result }).inc();
        let durations = self.authorization_durations.get_or_create(&Outcome { result });
        durations.observe(took.as_secs_f64());
    }

    /// Counts a client certificate that is valid for so many seconds.
    pub(crate) fn certificate_shown(&self, remaining: i64) {
        // Certificates do not live for 2^53 seconds.
        #[expect(clippy::cast_precision_loss, reason = "a histogram takes floats")]
        self.certificates.observe(remaining as f64);
    }
}

/// Upstream's classes of user names.
fn class(user: &User) -> &'static str {
    const KNOWN: [&str; 5] =
        ["admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"];
    match KNOWN.into_iter().find(|&known| known == user.name) {
        Some(known) => known,
        None if user.name.contains('@') => "email_id",
        None => "other",
    }
}

/// Calls of kube-apiserver, by the code of the answer.
#[derive(Clone, Debug)]
pub(crate) struct Reviews {
    total: Family<Code, Counter>,
    durations: Histograms<Code>,
}

impl Default for Reviews {
    fn default() -> Self {
        Self { total: Family::default(), durations: Family::new_with_constructor(round_trips) }
    }
}

impl Reviews {
    fn register(&self, metrics: &Metrics, prefix: &str, what: &str) {
        let (total, durations) =
            (format!("{prefix}_request"), format!("{prefix}_request_duration_seconds"));
        metrics.register(&total, &format!("{what} by status code"), self.total.clone());
        let help = format!("Time kube-apiserver took to answer {what}");
        metrics.register(&durations, &help, self.durations.clone());
    }

    /// Counts a call; `code` is `None` when there was no answer.
    pub(crate) fn answered(&self, code: Option<u16>, took: Duration) {
        let code = code.map_or_else(|| "<error>".to_owned(), |code| code.to_string());
        let code = Code { code };
        self.total.get_or_create(&code).inc();
        self.durations.get_or_create(&code).observe(took.as_secs_f64());
    }
}

/// How the cache of tokens does.
#[derive(Clone, Debug)]
pub(crate) struct TokenCache {
    requests: Family<State, Counter>,
    durations: Histograms<State>,
    fetches: Family<State, Counter>,
    active: Family<State, Gauge>,
}

impl Default for TokenCache {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            durations: Family::new_with_constructor(round_trips),
            fetches: Family::default(),
            active: Family::default(),
        }
    }
}

impl TokenCache {
    fn register(&self, metrics: &Metrics) {
        metrics.register(
            "authentication_token_cache_request",
            "Tokens by whether they were known",
            self.requests.clone(),
        );
        metrics.register(
            "authentication_token_cache_request_duration_seconds",
            "Time to judge a token",
            self.durations.clone(),
        );
        metrics.register(
            "authentication_token_cache_fetch",
            "Lookups of tokens",
            self.fetches.clone(),
        );
        metrics.register(
            "authentication_token_cache_active_fetch_count",
            "Lookups under way, and requests that wait for one",
            self.active.clone(),
        );
    }

    /// Counts a token that was judged, from memory or not.
    pub(crate) fn judged(&self, from_memory: bool, took: Duration) {
        let status = if from_memory { "hit" } else { "miss" };
        self.requests.get_or_create(&State { status }).inc();
        self.durations.get_or_create(&State { status }).observe(took.as_secs_f64());
    }

    /// Counts a lookup that ended.
    pub(crate) fn fetched(&self, found_out: bool) {
        let status = if found_out { "ok" } else { "error" };
        self.fetches.get_or_create(&State { status }).inc();
    }

    /// A lookup under way, until dropped.
    pub(crate) fn fetching(&self) -> Active {
        self.active("in_flight")
    }

    /// A request that waits for a lookup, until dropped.
    pub(crate) fn blocked(&self) -> Active {
        self.active("blocked")
    }

    fn active(&self, status: &'static str) -> Active {
        let gauge = self.active.get_or_create_owned(&State { status });
        gauge.inc();
        Active(gauge)
    }
}

/// Something that is counted as long as it lasts.
pub(crate) struct Active(Gauge);

impl Drop for Active {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authn::Rejected;
    use crate::version::Version;
    use prometheus_client::encoding::text::encode;

    #[test]
    fn decisions_are_counted_under_upstreams_names() {
        let metrics = Metrics::new(&Version::new("v1.2.3"));
        let identity = metrics.identity();
        let user = |name: &str| Ok(Some(Arc::new(User::authenticated(name, vec![]))));
        let at_once = Duration::ZERO;
        identity.authenticated(&user("jane@example.com"), at_once);
        identity.authenticated(&user("somebody"), at_once);
        identity.authenticated(&Ok(None), at_once);
        identity.authenticated(&Err(Rejected("no".into())), at_once);
        identity.authorized(&Ok(Decision::NoOpinion("".into())), at_once);
        identity.certificate_shown(-1);
        identity.token_reviews.answered(Some(201), at_once);
        identity.access_reviews.answered(None, at_once);
        identity.token_cache.judged(true, at_once);
        let waiting = identity.token_cache.blocked();
        let mut text = String::new();
        encode(&mut text, &metrics.locked()).unwrap();
        for want in [
            "authentication_attempts{result=\"success\"} 2\n",
            "authentication_attempts{result=\"failure\"} 1\n",
            "authentication_attempts{result=\"error\"} 1\n",
            "authenticated_user_requests{username=\"email_id\"} 1\n",
            "authenticated_user_requests{username=\"other\"} 1\n",
            "authorization_attempts_total{result=\"no-opinion\"} 1\n",
            "apiserver_client_certificate_expiration_seconds_bucket{le=\"0.0\"} 1\n",
            "apiserver_delegated_authn_request_total{code=\"201\"} 1\n",
            "apiserver_delegated_authz_request_duration_seconds_count{code=\"<error>\"} 1\n",
            "authentication_token_cache_request_total{status=\"hit\"} 1\n",
            "authentication_token_cache_active_fetch_count{status=\"blocked\"} 1\n",
        ] {
            assert!(text.contains(want), "{want} in {text}");
        }
        drop(waiting);
        assert_eq!(
            identity.token_cache.active.get_or_create(&State { status: "blocked" }).get(),
            0
        );
    }
}
