//! Questions to kube-apiserver: TokenReviews and SubjectAccessReviews, which are created to be
//! answered and never stored.
//!
//! A question is the text that is sent, so whoever remembers answers by it remembers all of it.

use std::time::{Duration, Instant};

use http::{Method, Request, header::CONTENT_TYPE};
use kube::Client;
use rand::RngExt as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::metrics::identity;

/// How long one try may take.
const ONE_TRY: Duration = Duration::from_secs(10);

/// Upstream's `DefaultAuthWebhookRetryBackoff`: so many tries, …
const TRIES: u32 = 5;
/// … so long between the first two, …
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// … so much longer each time, …
const GROWTH: f64 = 1.5;
/// … and up to so much longer by chance, so that replicas do not ask in step.
const JITTER: f64 = 0.2;

/// One kind of question.
#[derive(Clone)]
pub(crate) struct Reviews {
    client: Client,
    path: &'static str,
    metrics: identity::Reviews,
}

/// Why there is no answer. It never holds any of the question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unanswered {
    /// kube-apiserver refused the question.
    #[error("kube-apiserver answered {code}: {message}")]
    Refused {
        /// The code of the answer.
        code: u16,
        /// What kube-apiserver said.
        message: String,
    },
    /// It could not be reached, or went away.
    #[error("ask kube-apiserver: {0}")]
    Unreachable(String),
    /// It took too long.
    #[error("no answer from kube-apiserver in time")]
    Late,
    /// The answer is no review.
    #[error("the answer is no review")]
    Nonsense,
}

impl Unanswered {
    /// Whether the same question may be answered a moment later.
    fn is_worth_another_try(&self) -> bool {
        match self {
            Self::Refused { code, .. } => matches!(code, 429 | 500 | 503 | 504),
            Self::Unreachable(_) | Self::Late => true,
            Self::Nonsense => false,
        }
    }

    fn code(&self) -> Option<u16> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
struct Answer<S> {
    status: S,
}

impl Reviews {
    /// Questions that are posted to `path`.
    pub(crate) fn new(client: Client, path: &'static str, metrics: identity::Reviews) -> Self {
        Self { client, path, metrics }
    }

    /// Asks until there is an answer, at most for `within`, and gives back its `status`.
    pub(crate) async fn ask<S: DeserializeOwned>(
        &self,
        question: Vec<u8>,
        within: Duration,
    ) -> Result<S, Unanswered> {
        let asked = tokio::time::timeout(within, self.ask_again(question)).await;
        asked.unwrap_or(Err(Unanswered::Late))
    }

    async fn ask_again<S: DeserializeOwned>(&self, question: Vec<u8>) -> Result<S, Unanswered> {
        let mut wait = FIRST_WAIT;
        for _ in 1..TRIES {
            match self.ask_once(question.clone()).await {
                Err(why) if why.is_worth_another_try() => {
                    tracing::debug!(%why, path = self.path, "asking again");
                }
                answered => return answered,
            }
            let chance = rand::rng().random_range(0.0..JITTER);
            tokio::time::sleep(wait.mul_f64(1.0 + chance)).await;
            wait = wait.mul_f64(GROWTH);
        }
        self.ask_once(question).await
    }

    async fn ask_once<S: DeserializeOwned>(&self, question: Vec<u8>) -> Result<S, Unanswered> {
        let started = Instant::now();
        let asked = tokio::time::timeout(ONE_TRY, self.post(question)).await;
        let answer = asked.unwrap_or(Err(Unanswered::Late));
        let code = answer.as_ref().map_or_else(Unanswered::code, |_| Some(201));
        self.metrics.answered(code, started.elapsed());
        // Not by the client's own decoder, which logs what it cannot read: a token may be in it.
        let answer = serde_json::from_str::<Answer<S>>(&answer?);
        answer.map(|answer| answer.status).map_err(|_| Unanswered::Nonsense)
    }

    async fn post(&self, question: Vec<u8>) -> Result<String, Unanswered> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(self.path)
            .header(CONTENT_TYPE, "application/json")
            .body(question)
            .expect("a fixed path and header make a request");
        self.client.request_text(request).await.map_err(|error| match error {
            kube::Error::Api(status) => {
                Unanswered::Refused { code: status.code, message: status.message }
            }
            other => Unanswered::Unreachable(chain(&other)),
        })
    }
}

/// An error with its causes: the outermost of a client's errors says little.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
pub(crate) mod fake {
    //! A kube-apiserver that only answers reviews.

    use std::convert::Infallible;
    use std::sync::{Arc, Mutex};

    use http::{Request, Response, StatusCode};
    use kube::Client;
    use kube::client::Body;
    use serde_json::{Value, json};

    /// What was asked.
    pub(crate) type Asked = Arc<Mutex<Vec<Value>>>;

    /// A client whose reviews get the status that `answer` gives, or fail with a code. Several
    /// questions can be under way at once, since every answer takes a moment.
    pub(crate) fn reviewer(
        answer: impl Fn(&Value) -> Result<Value, u16> + Clone + Send + Sync + 'static,
    ) -> (Client, Asked) {
        let asked = Asked::default();
        let all = asked.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (answer, all) = (answer.clone(), all.clone());
            async move {
                let body = request.into_body().collect_bytes().await.unwrap();
                let mut review: Value = serde_json::from_slice(&body).unwrap();
                all.lock().unwrap().push(review.clone());
                tokio::task::yield_now().await;
                let (code, body) = match answer(&review["spec"]) {
                    Ok(status) => {
                        review["status"] = status;
                        (StatusCode::CREATED, review)
                    }
                    Err(code) => {
                        let status = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {},
                            "status": "Failure", "message": "no", "reason": "", "code": code });
                        (StatusCode::from_u16(code).unwrap(), status)
                    }
                };
                let mut response = Response::new(Body::from(body.to_string().into_bytes()));
                *response.status_mut() = code;
                Ok::<_, Infallible>(response)
            }
        });
        (Client::new(service, "default"), asked)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use std::sync::Arc;

    use k8s_openapi::api::authorization::v1::SubjectAccessReviewStatus;
    use serde_json::json;

    /// Asks a server that first fails in these ways; whether there was an answer, and how many tries.
    async fn ask(failures: &'static [u16]) -> (Result<bool, Unanswered>, usize) {
        let tries = Arc::new(AtomicU32::new(0));
        let (client, asked) = fake::reviewer(move |_| {
            let tried = tries.fetch_add(1, Ordering::Relaxed) as usize;
            failures.get(tried).map_or_else(|| Ok(json!({ "allowed": true })), |code| Err(*code))
        });
        let reviews = Reviews::new(client, "/review", identity::Reviews::default());
        let answer = reviews.ask(b"{}".to_vec(), Duration::from_secs(30)).await;
        let tries = asked.lock().unwrap().len();
        (answer.map(|status: SubjectAccessReviewStatus| status.allowed), tries)
    }

    #[tokio::test(start_paused = true)]
    async fn what_may_pass_is_asked_again_five_times_and_no_more() {
        assert_eq!(ask(&[]).await, (Ok(true), 1));
        assert_eq!(ask(&[500, 503, 429, 504]).await, (Ok(true), 5));
        let (answer, tries) = ask(&[500; 9]).await;
        assert_eq!((answer.unwrap_err().code(), tries), (Some(500), 5));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_is_final() {
        for code in [&[401], &[403], &[404], &[422]] {
            assert_eq!(ask(code).await.1, 1, "{code:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_longer_than_they_want() {
        let service = tower::service_fn(|_: Request<kube::client::Body>| {
            std::future::pending::<Result<http::Response<kube::client::Body>, std::io::Error>>()
        });
        let client = Client::new(service, "default");
        let reviews = Reviews::new(client, "/review", identity::Reviews::default());
        let asked = reviews.ask::<SubjectAccessReviewStatus>(vec![], Duration::from_secs(3)).await;
        assert_eq!(asked.unwrap_err(), Unanswered::Late);
    }

    #[tokio::test]
    async fn an_answer_that_is_no_review_is_not_shown_to_anybody() {
        let (client, _) = fake::reviewer(|_| Ok(json!("the token")));
        let reviews = Reviews::new(client, "/review", identity::Reviews::default());
        let asked = reviews.ask::<SubjectAccessReviewStatus>(b"{}".to_vec(), ONE_TRY).await;
        assert_eq!(asked.unwrap_err().to_string(), "the answer is no review");
    }
}
