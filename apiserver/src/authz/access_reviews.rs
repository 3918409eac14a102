//! What kube-apiserver's own authorizers say, asked with a SubjectAccessReview.
//!
//! So the roles of the cluster are the rules here too.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use k8s_openapi::api::authorization::v1::SubjectAccessReviewStatus;
use kube::Client;
use moka::Expiry;
use moka::future::Cache;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::selectors::{FieldRequirements, LabelRequirements};
use super::{Attributes, Authorizer, Decision, Undecided};
use crate::metrics::Metrics;
use crate::review::Reviews;

const PATH: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/// How long all tries together may take.
const WITHIN: Duration = Duration::from_secs(30);

/// How many decisions are remembered.
const REMEMBERED: u64 = 8192;

/// Longer attributes than this many bytes, all of a client's making, are not worth remembering: it
/// could push out everything else with them.
const LONGEST: usize = 10_000;

/// For how long decisions are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionTtl {
    /// Of what may be done.
    pub authorized: Duration,
    /// Of what may not be done.
    pub unauthorized: Duration,
}

/// Ten seconds each, as upstream: a change of roles is felt soon, a storm of requests is not.
impl Default for DecisionTtl {
    fn default() -> Self {
        let authorized = Duration::from_secs(10);
        Self { authorized, unauthorized: authorized }
    }
}

impl Expiry<Key, Decision> for DecisionTtl {
    fn expire_after_create(&self, _: &Key, decision: &Decision, _: Instant) -> Option<Duration> {
        Some(match decision {
            Decision::Allow(_) => self.authorized,
            Decision::Deny(_) | Decision::NoOpinion(_) => self.unauthorized,
        })
    }
}

/// A digest of the question as it is sent, so that nothing the decision may depend on is left out.
type Key = [u8; 32];

/// Asks kube-apiserver what may be done.
///
/// Equal questions wait for one lookup, which goes on when the request that began it is gone. Without
/// an answer nothing is decided, and so nothing may be done.
pub struct AccessReviews {
    reviews: Reviews,
    decisions: Cache<Key, Decision>,
}

impl AccessReviews {
    /// Asks through `client` and remembers decisions for `ttl`.
    pub fn new(client: Client, ttl: DecisionTtl, metrics: &Metrics) -> Self {
        let decisions = Cache::builder().max_capacity(REMEMBERED).expire_after(ttl).build();
        let metrics = metrics.identity().access_reviews.clone();
        Self { reviews: Reviews::new(client, PATH, metrics), decisions }
    }

    async fn decide(&self, attributes: &Attributes<'_>) -> Result<Decision, Undecided> {
        let question = question(attributes);
        if length(attributes) >= LONGEST {
            return ask(&self.reviews, question).await;
        }
        let key = Sha256::digest(&question).into();
        if let Some(decision) = self.decisions.get(&key).await {
            return Ok(decision);
        }
        let (reviews, decisions) = (self.reviews.clone(), self.decisions.clone());
        let lookup = async move { ask(&reviews, question).await };
        let shared = tokio::spawn(async move { decisions.try_get_with(key, lookup).await });
        match shared.await {
            Ok(decision) => decision.map_err(|why| Undecided::clone(&why)),
            Err(_panic) => Err(Undecided("the review of an access panicked".into())),
        }
    }
}

impl Authorizer for AccessReviews {
    fn authorize<'a>(
        &'a self,
        attributes: &'a Attributes<'a>,
    ) -> BoxFuture<'a, Result<Decision, Undecided>> {
        Box::pin(self.decide(attributes))
    }
}

async fn ask(reviews: &Reviews, question: Vec<u8>) -> Result<Decision, Undecided> {
    let asked = reviews.ask(question, WITHIN).await;
    let status: SubjectAccessReviewStatus =
        asked.map_err(|why| Undecided(format!("review an access: {why}")))?;
    let reason = status.reason.unwrap_or_default().into();
    Ok(match (status.denied.unwrap_or_default(), status.allowed) {
        (true, _) => Decision::Deny(reason),
        (false, true) => Decision::Allow(reason),
        (false, false) => Decision::NoOpinion(reason),
    })
}

/// How much of a question the client chose.
fn length(attributes: &Attributes<'_>) -> usize {
    let Attributes { user: _, verb, is_resource_request: _, path, group, version, .. } = attributes;
    let Attributes { namespace, resource, subresource, name, .. } = attributes;
    let Attributes { label_selector, field_selector, .. } = attributes;
    [verb, path, group, version, namespace, resource, subresource, name]
        .into_iter()
        .chain([label_selector, field_selector])
        .map(|text| text.len())
        .sum()
}

// === The question ===

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Review<'a> {
    api_version: &'static str,
    kind: &'static str,
    spec: Spec<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Spec<'a> {
    user: &'a str,
    uid: &'a str,
    groups: &'a [String],
    extra: &'a BTreeMap<String, Vec<String>>,
    #[serde(flatten)]
    what: What<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum What<'a> {
    ResourceAttributes(ResourceAttributes<'a>),
    NonResourceAttributes { path: &'a str, verb: &'a str },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceAttributes<'a> {
    verb: &'a str,
    group: &'a str,
    version: &'a str,
    resource: &'a str,
    subresource: &'a str,
    namespace: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field_selector: Option<FieldRequirements>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_selector: Option<LabelRequirements>,
}

fn question(attributes: &Attributes<'_>) -> Vec<u8> {
    let user = attributes.user;
    let what = if attributes.is_resource_request {
        What::ResourceAttributes(ResourceAttributes {
            verb: attributes.verb,
            group: attributes.group,
            version: attributes.version,
            resource: attributes.resource,
            subresource: attributes.subresource,
            namespace: attributes.namespace,
            name: attributes.name,
            field_selector: FieldRequirements::read(attributes.field_selector),
            label_selector: LabelRequirements::read(attributes.label_selector),
        })
    } else {
        What::NonResourceAttributes { path: attributes.path, verb: attributes.verb }
    };
    let review = Review {
        api_version: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec: Spec {
            user: &user.name,
            uid: &user.uid,
            groups: &user.groups,
            extra: &user.extra,
            what,
        },
    };
    serde_json::to_vec(&review).expect("texts and lists of texts have a JSON form")
}
