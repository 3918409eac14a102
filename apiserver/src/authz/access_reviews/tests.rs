//! The authorizer before a kube-apiserver of a few lines.

use super::super::{AllowedPaths, Union};
use super::*;
use crate::authn::{MASTERS, User};
use crate::request::RequestInfo;
use crate::review::fake::{Asked, reviewer};
use crate::version::Version;
use serde_json::{Value, json};

fn asked(user: &User, method: &str, uri: &str) -> Value {
    let info = RequestInfo::new(&method.parse().unwrap(), &uri.parse().unwrap());
    serde_json::from_slice(&question(&Attributes::of(user, &info))).unwrap()
}

#[test]
fn all_that_is_known_of_user_and_resource_is_asked_with() {
    let mut user = User::authenticated("jane", vec!["dev".into()]);
    user.uid = "42".into();
    user.extra.insert("scopes".into(), vec!["a".into(), "b".into()]);
    let uri = "/apis/g.example/v1/namespaces/n/things/a/status";
    assert_eq!(
        asked(&user, "PUT", uri),
        json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": "jane",
                "uid": "42",
                "groups": ["dev", "system:authenticated"],
                "extra": { "scopes": ["a", "b"] },
                "resourceAttributes": {
                    "verb": "update", "group": "g.example", "version": "v1",
                    "resource": "things", "subresource": "status",
                    "namespace": "n", "name": "a",
                },
            },
        })
    );
}

#[test]
fn a_path_is_asked_for_with_its_verb_alone() {
    let spec = asked(&User::anonymous(), "GET", "/metrics?x=y")["spec"].clone();
    assert_eq!(spec["nonResourceAttributes"], json!({ "path": "/metrics", "verb": "get" }));
    assert_eq!(spec.get("resourceAttributes"), None);
}

/// A cluster in which users may do what they are called after, and admin is denied all.
fn cluster(ttl: DecisionTtl) -> (AccessReviews, Asked) {
    let (client, asked) = reviewer(|spec: &Value| {
        let verb = spec["resourceAttributes"]["verb"].as_str().unwrap_or("path");
        match spec["user"].as_str().unwrap() {
            "broken" => Err(403),
            "admin" => Ok(json!({ "allowed": true, "denied": true, "reason": "so it is" })),
            user if user == verb => Ok(json!({ "allowed": true })),
            _ => Ok(json!({ "allowed": false, "reason": "no rule" })),
        }
    });
    (AccessReviews::new(client, ttl, &Metrics::new(&Version::new("v1.0.0"))), asked)
}

async fn ask(reviews: &AccessReviews, user: &str, uri: &str) -> Result<Decision, Undecided> {
    let user = User::authenticated(user, vec![]);
    let info = RequestInfo::new(&http::Method::GET, &uri.parse().unwrap());
    reviews.authorize(&Attributes::of(&user, &info)).await
}

const THING: &str = "/apis/g/v1/namespaces/n/things/a";

#[tokio::test]
async fn the_cluster_decides_and_its_silence_decides_nothing() {
    let (reviews, _) = cluster(DecisionTtl::default());
    assert!(matches!(ask(&reviews, "get", THING).await, Ok(Decision::Allow(_))));
    let no_rule = Decision::NoOpinion("no rule".into());
    assert_eq!(ask(&reviews, "list", THING).await, Ok(no_rule));
    assert!(matches!(ask(&reviews, "path", "/metrics").await, Ok(Decision::Allow(_))));
    let denied = Decision::Deny("so it is".into());
    assert_eq!(ask(&reviews, "admin", THING).await, Ok(denied));
    assert!(ask(&reviews, "broken", THING).await.is_err());
}

#[tokio::test]
async fn decisions_are_remembered_each_for_its_time_and_failures_are_not() {
    let forever = Duration::from_secs(1000);
    let ttl = DecisionTtl { authorized: forever, unauthorized: Duration::ZERO };
    let (reviews, asked) = cluster(ttl);
    let check = async |user: &str, uri: &str, want: usize| {
        asked.lock().unwrap().clear();
        for _ in 0..3 {
            let _ = ask(&reviews, user, uri).await;
        }
        assert_eq!(asked.lock().unwrap().len(), want, "{user} {uri}");
    };
    check("get", THING, 1).await;
    check("list", THING, 3).await;
    check("broken", THING, 3).await;
    check("get", &format!("/apis/g/v1/namespaces/n/things/{}", "a".repeat(LONGEST)), 3).await;
    let ttl = DecisionTtl { authorized: Duration::ZERO, unauthorized: forever };
    let (reviews, asked) = cluster(ttl);
    for _ in 0..3 {
        let _ = ask(&reviews, "list", THING).await;
        let _ = ask(&reviews, "get", THING).await;
    }
    assert_eq!(asked.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn no_two_questions_share_a_decision() {
    let (reviews, asked) = cluster(DecisionTtl::default());
    let uris = [
        THING,
        "/apis/g/v1/namespaces/n/things/b",
        "/apis/g/v1/namespaces/m/things/a",
        "/apis/g/v2/namespaces/n/things/a",
        "/apis/h/v1/namespaces/n/things/a",
        "/apis/g/v1/namespaces/n/other/a",
        "/apis/g/v1/namespaces/n/things/a/status",
        "/apis/g/v1/namespaces/n/things?labelSelector=a",
        "/apis/g/v1/namespaces/n/things?labelSelector=b",
        "/apis/g/v1/namespaces/n/things?fieldSelector=metadata.namespace=n",
        "/apis/g/v1/namespaces/n/things",
        "/apis/g/v1/namespaces/n/things?watch=1",
        "/metrics",
    ];
    for uri in uris {
        ask(&reviews, "jane", uri).await.unwrap();
    }
    let mut user = User::authenticated("jane", vec!["dev".into()]);
    let changes: [fn(&mut User); 3] = [
        |_| {},
        |user| user.uid = "1".into(),
        |user| drop(user.extra.insert("k".into(), vec!["v".into()])),
    ];
    for change in changes {
        change(&mut user);
        let info = RequestInfo::new(&http::Method::GET, &THING.parse().unwrap());
        reviews.authorize(&Attributes::of(&user, &info)).await.unwrap();
    }
    assert_eq!(asked.lock().unwrap().len(), uris.len() + 3);
}

#[tokio::test]
async fn a_thousand_equal_requests_are_one_question() {
    let (reviews, asked) = cluster(DecisionTtl::default());
    let all = (0..1000).map(|_| ask(&reviews, "get", THING));
    let decisions = futures::future::join_all(all).await;
    assert!(decisions.iter().all(|decision| matches!(decision, Ok(Decision::Allow(_)))));
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn masters_and_probes_are_served_when_nobody_answers() {
    let (reviews, asked) = cluster(DecisionTtl::default());
    let union = Union::delegated(AllowedPaths::default(), reviews);
    let check = async |user: &User, uri: &str| {
        let info = RequestInfo::new(&http::Method::GET, &uri.parse().unwrap());
        let checked = super::super::check(&union, &Attributes::of(user, &info)).await;
        checked.map_err(|error| error.reason().code())
    };
    let master = User::authenticated("broken", vec![MASTERS.into()]);
    assert_eq!(check(&master, THING).await, Ok(()));
    assert_eq!(check(&User::anonymous(), "/readyz").await, Ok(()));
    assert_eq!(asked.lock().unwrap().len(), 0);
    assert_eq!(check(&User::anonymous(), "/readyz/ping").await, Err(403));
    assert_eq!(check(&User::authenticated("broken", vec![]), THING).await, Err(500));
}

#[test]
fn selectors_are_part_of_the_question_for_collections() {
    let user = User::anonymous();
    let query = "fieldSelector=metadata.name!%3Da&labelSelector=app+in+(x,y),!old";
    let uri = format!("/apis/g/v1/namespaces/n/things?{query}");
    for method in ["GET", "DELETE"] {
        let spec = asked(&user, method, &uri)["spec"]["resourceAttributes"].clone();
        assert_eq!(
            spec["fieldSelector"],
            json!({ "requirements": [
                { "key": "metadata.name", "operator": "NotIn", "values": ["a"] },
            ]})
        );
        assert_eq!(
            spec["labelSelector"],
            json!({ "requirements": [
                { "key": "app", "operator": "In", "values": ["x", "y"] },
                { "key": "old", "operator": "DoesNotExist" },
            ]})
        );
    }
    let uri = format!("/apis/g/v1/namespaces/n/things/a?{query}");
    let spec = asked(&user, "GET", &uri)["spec"]["resourceAttributes"].clone();
    assert_eq!((spec.get("fieldSelector"), spec.get("labelSelector")), (None, None));
}

#[test]
fn what_cannot_narrow_a_request_is_left_out() {
    let uri = "/apis/g/v1/things?labelSelector=weight%3E5&fieldSelector=nonsense";
    let spec = asked(&User::anonymous(), "GET", uri)["spec"]["resourceAttributes"].clone();
    assert_eq!((spec.get("fieldSelector"), spec.get("labelSelector")), (None, None));
}
