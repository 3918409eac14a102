//! What is sent to kube-apiserver, and what its answers mean.

use std::convert::Infallible;
use std::sync::Arc;

use http::Response;
use kube::client::Body;
use tower::service_fn;

use super::*;
use crate::cluster::Verb;
use crate::twin::{requester, target};

/// A request, as `METHOD PATH`, with its headers and its body.
#[derive(Clone, Debug)]
struct Sent {
    line: String,
    headers: Vec<String>,
    body: Value,
}

/// A cluster that answers everything with this, and remembers what it was asked.
struct Fake {
    kube: Kube,
    sent: Arc<Mutex<Vec<Sent>>>,
}

fn answering(status: u16, body: &Value) -> Fake {
    let (sent, body) = (Arc::new(Mutex::new(Vec::new())), body.to_string());
    let log = sent.clone();
    let service = service_fn(move |request: Request<Body>| {
        let (log, body) = (log.clone(), body.clone());
        async move {
            let (parts, sent) = request.into_parts();
            let mut headers: Vec<_> = parts
                .headers
                .iter()
                .filter(|(name, _)| name.as_str().starts_with("impersonate"))
                .map(|(name, value)| {
                    format!("{name}: {}", String::from_utf8_lossy(value.as_bytes()))
                })
                .collect();
            headers.sort();
            let sent = sent.collect_bytes().await.unwrap();
            log.lock().unwrap().push(Sent {
                line: format!("{} {}", parts.method, parts.uri),
                headers,
                body: serde_json::from_slice(&sent).unwrap_or_default(),
            });
            let answer = Response::builder().status(status);
            Ok::<_, Infallible>(answer.body(Body::from(body.into_bytes())).unwrap())
        }
    });
    Fake { kube: Kube::new(Client::new(service, "default")), sent }
}

impl Fake {
    fn sent(&self) -> Vec<Sent> {
        std::mem::take(&mut self.sent.lock().unwrap())
    }
}

fn failure(code: u16) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": "X",
        "message": "told",
    })
}

#[tokio::test]
async fn every_request_says_for_whom_it_is_made() {
    let user = Requester {
        username: "jörg".to_owned(),
        uid: "7".to_owned(),
        groups: vec!["one".to_owned(), "two".to_owned()],
        extra: [("example.com/Scopes".to_owned(), vec!["a b".to_owned(), "c".to_owned()])].into(),
    };
    let fake = answering(200, &json!({ "kind": "ConfigMap" }));
    let (map, patch) = (target("ConfigMap", "demo", "c"), json!({ "metadata": {} }));
    let apply = Apply { object: &patch, manager: "formwork-1", force: true, dry_run: true };
    fake.kube.get(&user, &map).await.unwrap();
    fake.kube.apply(&user, &map, apply.clone()).await.unwrap();
    fake.kube.apply(&user, &map, Apply { dry_run: false, force: false, ..apply }).await.unwrap();
    fake.kube.patch(&user, &map, &patch).await.unwrap();
    fake.kube.delete(&user, &map, "uid-1").await.unwrap();
    let sent = fake.sent();
    let path = "/api/v1/namespaces/demo/configmaps/c";
    let lines: Vec<_> = sent.iter().map(|sent| sent.line.clone()).collect();
    assert_eq!(
        lines,
        [
            format!("GET {path}"),
            format!("PATCH {path}?fieldManager=formwork-1&force=true&dryRun=All"),
            format!("PATCH {path}?fieldManager=formwork-1&force=false"),
            format!("PATCH {path}"),
            format!("DELETE {path}"),
        ]
    );
    for Sent { line, headers, .. } in &sent {
        assert_eq!(
            headers,
            &[
                "impersonate-extra-example.com%2fscopes: a b",
                "impersonate-extra-example.com%2fscopes: c",
                "impersonate-group: one",
                "impersonate-group: two",
                "impersonate-uid: 7",
                "impersonate-user: jörg",
            ],
            "{line}"
        );
    }
    assert_eq!(sent[4].body["preconditions"]["uid"], "uid-1");
    assert_eq!(sent[4].body["propagationPolicy"], "Foreground");
}

#[tokio::test]
async fn nobody_and_who_cannot_be_named_exactly_are_not_acted_for() {
    let fake = answering(200, &json!({}));
    let map = target("ConfigMap", "demo", "c");
    let mut users: Vec<_> =
        ["", " ", "admin ", "\tadmin", "a\nImpersonate-Group: system:masters", "a\0"]
            .map(requester)
            .into();
    users.push(Requester { groups: vec![" system:masters".to_owned()], ..requester("a") });
    users.push(Requester { uid: "1\r\n".to_owned(), ..requester("a") });
    let extra = [("k".to_owned(), vec!["v ".to_owned()])].into();
    users.push(Requester { extra, ..requester("a") });
    for user in users {
        let error = fake.kube.get(&user, &map).await.unwrap_err();
        assert!(matches!(error, ClusterError::Forbidden(_)), "{user:?}: {error}");
    }
    assert!(fake.sent().is_empty(), "nothing was asked in our own name");
}

#[tokio::test]
async fn names_mean_themselves_in_a_path() {
    let fake = answering(200, &json!({ "kind": "X" }));
    let mut strange = target("ClusterRole", "", "system:a/b?c#d%2f é");
    fake.kube.get(&requester("a"), &strange).await.unwrap();
    strange.namespace = "x/../y".to_owned();
    fake.kube.get(&requester("a"), &strange).await.unwrap();
    let root = "GET /apis/rbac.authorization.k8s.io/v1";
    let name = "clusterroles/system%3Aa%2Fb%3Fc%23d%252f%20%C3%A9";
    let lines: Vec<_> = fake.sent().into_iter().map(|sent| sent.line).collect();
    assert_eq!(lines, [format!("{root}/{name}"), format!("{root}/namespaces/x%2F..%2Fy/{name}")]);
}

#[tokio::test]
async fn answers_mean_what_kubernetes_means_by_them() {
    let (map, user) = (target("ConfigMap", "demo", "c"), requester("a"));
    let told = || "told".to_owned();
    let unavailable = ClusterError::Unavailable { message: told(), after: None };
    for (code, want) in [
        (400, ClusterError::Invalid(told())),
        (403, ClusterError::Forbidden(told())),
        (404, ClusterError::NotFound(told())),
        (405, ClusterError::Invalid(told())),
        (409, ClusterError::Conflict(told())),
        (413, ClusterError::Invalid(told())),
        (415, ClusterError::Invalid(told())),
        (422, ClusterError::Invalid(told())),
        (401, unavailable.clone()),
        (429, unavailable.clone()),
        (500, unavailable.clone()),
        (503, unavailable.clone()),
        (504, unavailable),
    ] {
        let fake = answering(code, &failure(code));
        let object = json!({});
        let apply = Apply { object: &object, manager: "m", force: true, dry_run: false };
        assert_eq!(fake.kube.apply(&user, &map, apply).await, Err(want), "{code}");
    }
    let mut later = failure(429);
    later["details"] = json!({ "retryAfterSeconds": 7 });
    let error = answering(429, &later).kube.get(&user, &map).await.unwrap_err();
    let after = Some(Duration::from_secs(7));
    assert_eq!(error, ClusterError::Unavailable { message: told(), after });
}

#[tokio::test]
async fn what_is_not_there_is_neither_read_nor_deleted_and_no_error() {
    let fake = answering(404, &failure(404));
    let (map, user) = (target("ConfigMap", "demo", "c"), requester("a"));
    assert_eq!(fake.kube.get(&user, &map).await, Ok(None));
    assert_eq!(fake.kube.delete(&user, &map, "uid").await, Ok(()));
    assert_eq!(fake.kube.is_ending("demo").await, Ok(true));
    let kind = Kind { api_version: "example.com/v1".to_owned(), kind: "Crontab".to_owned() };
    assert_eq!(fake.kube.mapping(&kind).await, Ok(None));
}

#[tokio::test]
async fn a_review_asks_about_the_user_in_our_own_name() {
    let review = |status: Value| json!({ "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {}, "status": status });
    let access = Access { verb: Verb::Delete, target: target("Deployment", "demo", "web") };
    let user = requester("alice");
    for (status, want) in [
        (json!({ "allowed": true }), Ok(())),
        (json!({ "allowed": false, "reason": "no" }), Err("no".to_owned())),
        (json!({ "allowed": true, "denied": true }), Err(String::new())),
        (json!({ "allowed": false, "evaluationError": "odd" }), Err("odd".to_owned())),
    ] {
        let fake = answering(201, &review(status));
        assert_eq!(fake.kube.review(&user, &access).await, Ok(want));
        let sent = fake.sent().remove(0);
        assert_eq!(sent.line, "POST /apis/authorization.k8s.io/v1/subjectaccessreviews?");
        assert!(sent.headers.is_empty(), "{:?}", sent.headers);
        let spec = &sent.body["spec"];
        assert_eq!(
            (&spec["user"], &spec["groups"][0]),
            (&json!("alice"), &json!("system:authenticated"))
        );
        assert_eq!(
            spec["resourceAttributes"],
            json!({
                "group": "apps", "version": "v1", "resource": "deployments", "verb": "delete",
                "namespace": "demo", "name": "web",
            })
        );
    }
}

#[tokio::test(start_paused = true)]
async fn discovery_is_believed_for_a_while_and_what_is_missing_is_soon_asked_again() {
    let resource = |name: &str, kind: &str, namespaced: bool| json!({ "name": name, "singularName": "", "kind": kind, "namespaced": namespaced, "verbs": [] });
    let list = json!({ "kind": "APIResourceList", "groupVersion": "apps/v1", "resources": [
        resource("deployments/scale", "Scale", true), resource("deployments", "Deployment", true),
        resource("deployments/status", "Deployment", true),
    ]});
    let fake = answering(200, &list);
    let kind = |kind: &str| Kind { api_version: "apps/v1".to_owned(), kind: kind.to_owned() };
    let mapping = Mapping { resource: "deployments".to_owned(), namespaced: true };
    for _ in 0..3 {
        assert_eq!(fake.kube.mapping(&kind("Deployment")).await, Ok(Some(mapping.clone())));
        assert_eq!(fake.kube.mapping(&kind("Scale")).await, Ok(None));
    }
    assert_eq!(fake.sent().len(), 1);
    tokio::time::advance(DISBELIEVED).await;
    fake.kube.mapping(&kind("Scale")).await.unwrap();
    fake.kube.mapping(&kind("Deployment")).await.unwrap();
    assert_eq!(fake.sent().len(), 1);
    tokio::time::advance(BELIEVED).await;
    fake.kube.mapping(&kind("Deployment")).await.unwrap();
    assert_eq!(fake.sent()[0].line, "GET /apis/apps/v1");
}

#[tokio::test(start_paused = true)]
async fn groups_that_are_not_there_are_forgotten() {
    let fake = answering(404, &failure(404));
    for number in 0..100 {
        let kind = Kind { api_version: format!("g{number}/v1"), kind: "Any".to_owned() };
        assert_eq!(fake.kube.mapping(&kind).await, Ok(None));
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    assert!(fake.kube.known.lock().unwrap().len() <= 3);
}
