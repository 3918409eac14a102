//! Bearer tokens that kube-apiserver is asked about, with a TokenReview.
//!
//! Service accounts that call this server directly have such tokens. Audiences are not asked for: a
//! token that is good for kube-apiserver is good here, as for every aggregated server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use http::HeaderMap;
use k8s_openapi::api::authentication::v1::{TokenReviewStatus, UserInfo};
use kube::Client;
use moka::future::Cache;
use serde_json::json;

use super::bearer::{Digest, Digests, bearer};
use super::{Authenticator, Peer, Rejected, User, Verdict};
use crate::metrics::Metrics;
use crate::metrics::identity::TokenCache;
use crate::review::Reviews;

const PATH: &str = "/apis/authentication.k8s.io/v1/tokenreviews";

/// How long all tries together may take.
const WITHIN: Duration = Duration::from_secs(10);

/// How many answers are remembered; a margin over the nodes and namespaces of a large cluster.
const REMEMBERED: u64 = 32 * 1024;

/// What kube-apiserver said about a token: whose it is, or that it is nobody's.
type Answer = Option<Arc<User>>;

/// Asks kube-apiserver whose a token is.
///
/// Answers are remembered, good ones and bad ones alike; that there was none is not. Requests with
/// the same token wait for one lookup, which goes on when the request that began it is gone. A token
/// that nobody can judge is refused like a bad one: it never makes its bearer anonymous.
pub struct TokenReviews {
    reviews: Reviews,
    answers: Cache<Digest, Answer>,
    digests: Digests,
    metrics: TokenCache,
}

impl TokenReviews {
    /// Asks through `client` and remembers answers for `ttl`.
    pub fn new(client: Client, ttl: Duration, metrics: &Metrics) -> Self {
        let metrics = metrics.identity();
        Self {
            reviews: Reviews::new(client, PATH, metrics.token_reviews.clone()),
            answers: Cache::builder().max_capacity(REMEMBERED).time_to_live(ttl).build(),
            digests: Digests::new(),
            metrics: metrics.token_cache.clone(),
        }
    }

    async fn judge(&self, token: &str) -> Verdict {
        let started = Instant::now();
        let key = self.digests.of(token);
        let known = self.answers.get(&key).await;
        let from_memory = known.is_some();
        let answer = match known {
            Some(answer) => Ok(answer),
            None => self.look_up(key, token).await,
        };
        self.metrics.judged(from_memory, started.elapsed());
        match answer? {
            Some(user) => Ok(Some(user)),
            None => Err(Rejected("invalid bearer token".into())),
        }
    }

    /// The lookup runs by itself, so that it ends and is remembered whoever still waits for it.
    async fn look_up(&self, key: Digest, token: &str) -> Result<Answer, Rejected> {
        let question = question(token);
        let (reviews, answers) = (self.reviews.clone(), self.answers.clone());
        let (metrics, _blocked) = (self.metrics.clone(), self.metrics.blocked());
        let lookup = async move {
            let _fetching = metrics.fetching();
            let answer = ask(&reviews, question).await;
            metrics.fetched(answer.is_ok());
            answer
        };
        let shared = tokio::spawn(async move { answers.try_get_with(key, lookup).await });
        match shared.await {
            Ok(answer) => answer.map_err(|why| Rejected::clone(&why)),
            Err(_panic) => Err(Rejected("the lookup of a token panicked".into())),
        }
    }
}

fn question(token: &str) -> Vec<u8> {
    let review = json!({
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenReview",
        "spec": { "token": token },
    });
    review.to_string().into_bytes()
}

async fn ask(reviews: &Reviews, question: Vec<u8>) -> Result<Answer, Rejected> {
    let status: TokenReviewStatus = reviews.ask(question, WITHIN).await.map_err(|why| {
        tracing::error!(%why, "cannot review a token");
        Rejected(format!("review a token: {why}"))
    })?;
    match status {
        TokenReviewStatus { authenticated: Some(true), user: Some(user), .. } => {
            named(user).map(Some)
        }
        // Whoever says why could not find out; the next request asks again.
        TokenReviewStatus { error: Some(why), .. } if !why.is_empty() => Err(Rejected(why)),
        _ => Ok(None),
    }
}

/// The user of a good token, which has a name: an empty one would be nobody in particular.
fn named(info: UserInfo) -> Result<Arc<User>, Rejected> {
    let name = info.username.filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Rejected("a token of a user without a name".into()))?;
    let mut user = User::authenticated(name, info.groups.unwrap_or_default());
    user.uid = info.uid.unwrap_or_default();
    user.extra = info.extra.unwrap_or_default();
    Ok(Arc::new(user))
}

impl Authenticator for TokenReviews {
    fn authenticate<'a>(&'a self, headers: &'a HeaderMap, _: &'a Peer) -> BoxFuture<'a, Verdict> {
        Box::pin(async {
            match bearer(headers) {
                Some(token) => self.judge(token).await,
                None => Ok(None),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::fake::{Asked, reviewer};
    use crate::version::Version;
    use serde_json::Value;

    /// A cluster in which `good` is jane's token, `bad` nobody's, and any other cannot be judged.
    fn cluster(ttl: Duration) -> (TokenReviews, Asked) {
        let (client, asked) = reviewer(|spec: &Value| match spec["token"].as_str().unwrap() {
            "good" => Ok(json!({ "authenticated": true, "user": {
                "username": "jane", "uid": "42", "groups": ["dev"], "extra": { "k": ["v"] } } })),
            "nameless" => Ok(json!({ "authenticated": true, "user": {} })),
            "bad" => Ok(json!({ "authenticated": false })),
            "doubtful" => Ok(json!({ "authenticated": false, "error": "lookup failed" })),
            "both" => Ok(json!({ "user": { "username": "admin" } })),
            _ => Err(403),
        });
        (TokenReviews::new(client, ttl, &Metrics::new(&Version::new("v1.0.0"))), asked)
    }

    const TTL: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn a_good_token_names_its_user() {
        let (reviews, asked) = cluster(TTL);
        let user = reviews.judge("good").await.unwrap().unwrap();
        assert_eq!((user.name.as_str(), user.uid.as_str()), ("jane", "42"));
        assert_eq!(user.groups, ["dev", "system:authenticated"]);
        assert_eq!(user.extra["k"], ["v"]);
        let question = asked.lock().unwrap()[0].clone();
        assert_eq!(question["kind"], "TokenReview");
        assert_eq!(question["spec"], json!({ "token": "good" }));
    }

    #[tokio::test]
    async fn whatever_is_not_good_is_rejected_and_nobody_becomes_anonymous() {
        let (reviews, _) = cluster(TTL);
        for token in ["bad", "doubtful", "unreviewed", "nameless", "both"] {
            assert!(reviews.judge(token).await.is_err(), "{token}");
        }
    }

    #[tokio::test]
    async fn answers_are_remembered_and_failures_to_answer_are_not() {
        let (reviews, asked) = cluster(TTL);
        let check = async |token: &str, want: usize| {
            asked.lock().unwrap().clear();
            for _ in 0..3 {
                let _ = reviews.judge(token).await;
            }
            assert_eq!(asked.lock().unwrap().len(), want, "{token}");
        };
        check("good", 1).await;
        check("bad", 1).await;
        check("doubtful", 3).await;
        check("unreviewed", 3).await;
        let (reviews, asked) = cluster(Duration::ZERO);
        for _ in 0..3 {
            assert!(reviews.judge("good").await.is_ok());
        }
        assert_eq!(asked.lock().unwrap().len(), 3);
    }

    #[tokio::test]
    async fn a_thousand_requests_with_one_token_are_one_question() {
        let (reviews, asked) = cluster(TTL);
        let all = (0..1000).map(|_| reviews.judge("good"));
        let verdicts = futures::future::join_all(all).await;
        assert!(verdicts.iter().all(|verdict| verdict.as_ref().unwrap().is_some()));
        assert_eq!(asked.lock().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_lookup_goes_on_without_the_request_that_began_it() {
        let (reviews, asked) = cluster(TTL);
        {
            let mut first = std::pin::pin!(reviews.judge("good"));
            assert!(futures::poll!(first.as_mut()).is_pending());
        }
        reviews.judge("good").await.unwrap().unwrap();
        assert_eq!(asked.lock().unwrap().len(), 1);
    }
}
