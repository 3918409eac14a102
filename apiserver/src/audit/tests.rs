//! Requests through the whole chain, and what the log says of them.

use std::path::Path;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::Request;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use storage::{Cache, Memory, cache};

use super::*;
use crate::api::Api;
use crate::authn::{Anonymous, MASTERS, StaticTokens, Union};
use crate::authz;
use crate::chain::{Chain, Dispatch, Parties};
use crate::environment::System;
use crate::limits::Body;
use crate::openapi::Info;
use crate::response::Response;
use crate::sample;
use crate::store::Store;
use crate::version::Version;

const CARTS: &str = "/apis/shop.example/v1/namespaces/n/carts";
const POLICY: &str = "
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: None
  nonResourceURLs: ['/livez*']
- level: RequestResponse
  verbs: [create, update, patch, list]
- level: Metadata
";

struct Server {
    chain: Arc<Chain>,
    metrics: Arc<Metrics>,
    folder: tempfile::TempDir,
}

impl Server {
    async fn start() -> Self {
        let cache = Cache::start(Arc::new(Memory::new()), cache::Options::default());
        let store = Store::new(Arc::new(cache.await.unwrap()), Arc::new(System));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let api = Api::new(sample::groups(), store, &Info::new("Shop", "v1"));
        Self::of(api, &path, folder)
    }

    fn of(dispatch: impl Dispatch, log: &Path, folder: tempfile::TempDir) -> Self {
        let admin = User::authenticated("admin", vec![MASTERS.to_owned()]);
        let alice = User::authenticated("alice", vec![]);
        let tokens = StaticTokens::new([
            ("admin-token".to_owned(), admin),
            ("alice-token".to_owned(), alice),
        ]);
        let authenticator = Union::new(vec![Box::new(tokens)], Anonymous::Allowed);
        let version = Version::new("v1.0.0");
        let mut parties =
            Parties::new(authenticator, authz::Union::standalone(), dispatch, version);
        let log = Log::file(log, Rotation::default()).unwrap();
        let policy = Policy::parse(POLICY).unwrap();
        let audit = Audit::new(policy, log, Arc::new(System), &parties.metrics);
        parties.audit = Some(Arc::new(audit));
        let metrics = parties.metrics.clone();
        Self { chain: Chain::new(parties), metrics, folder }
    }

    fn send(
        &self,
        user: &str,
        method: &str,
        uri: &str,
        body: &'static str,
    ) -> BoxFuture<'_, Response> {
        let media = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let request = Request::builder()
            .method(method)
            .uri(uri)
            .header("authorization", format!("Bearer {user}-token"))
            .header("content-type", media)
            .header("audit-id", "the-id")
            .header("user-agent", "kubectl/v1.37");
        let request = request.body(Body::from(body)).unwrap();
        async { self.chain.serve(request, &Peer::default().at("10.1.2.3".parse().ok())).await }
            .boxed()
    }

    /// Sends a request and reads the answer to its end.
    async fn ask(&self, user: &str, method: &str, uri: &str, body: &'static str) -> u16 {
        let response = self.send(user, method, uri, body).await;
        let code = response.status().as_u16();
        response.into_body().collect().await.unwrap();
        code
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("audit.log")).unwrap()
    }

    fn events(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Stage and code of every event.
    fn stages(&self) -> Vec<(String, Option<u64>)> {
        let events = self.events();
        let of = |event: &Value| {
            let code = event["responseStatus"]["code"].as_u64();
            (event["stage"].as_str().unwrap().to_owned(), code)
        };
        events.iter().map(of).collect()
    }

    async fn metrics(&self) -> String {
        let body = self.metrics.answer((0, 0), "").into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(body.to_vec()).unwrap()
    }
}

fn stages(want: &[(&str, Option<u64>)]) -> Vec<(String, Option<u64>)> {
    want.iter().map(|(stage, code)| ((*stage).to_owned(), *code)).collect()
}

#[tokio::test]
async fn an_event_says_who_did_what_to_what_and_how_it_ended() {
    let server = Server::start().await;
    let uri = format!("{CARTS}/a?timeout=5s");
    assert_eq!(server.ask("admin", "GET", &uri, "").await, 404);
    let mut events = server.events();
    assert_eq!(
        server.stages(),
        stages(&[("RequestReceived", None), ("ResponseComplete", Some(404))])
    );
    let mut complete = events.remove(1);
    for time in ["requestReceivedTimestamp", "stageTimestamp"] {
        let time = complete[time].take();
        assert_eq!(time.as_str().unwrap().len(), "2026-01-01T00:00:00.000000Z".len(), "{time}");
    }
    let want = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": "the-id",
        "stage": "ResponseComplete", "requestURI": uri, "verb": "get",
        "user": { "username": "admin", "groups": ["system:masters", "system:authenticated"] },
        "sourceIPs": ["10.1.2.3"], "userAgent": "kubectl/v1.37",
        "objectRef": {
            "resource": "carts", "namespace": "n", "name": "a",
            "apiGroup": "shop.example", "apiVersion": "v1",
        },
        "responseStatus": {
            "metadata": {}, "status": "Failure", "message": "carts.shop.example \"a\" not found",
            "reason": "NotFound", "code": 404,
            "details": { "name": "a", "group": "shop.example", "kind": "carts" },
        },
        "requestReceivedTimestamp": null, "stageTimestamp": null,
        "annotations": { "authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "" },
    });
    assert_eq!(complete, want);
    assert!(server.metrics().await.contains("apiserver_audit_event_total 2"));
}

#[tokio::test]
async fn what_was_sent_and_answered_is_there_and_secrets_are_not() {
    let server = Server::start().await;
    let cart = r#"{"metadata":{"generateName":"a-"},"spec":{"card":"s3cret","size":1}}"#;
    assert_eq!(server.ask("admin", "POST", CARTS, cart).await, 201);
    let create = &server.events()[1];
    assert_eq!(create["requestObject"]["spec"], json!({ "card": "<redacted>", "size": 1 }));
    assert_eq!(create["responseObject"]["spec"], json!({ "card": "<redacted>", "size": 1 }));
    let name = create["responseObject"]["metadata"]["name"].as_str().unwrap().to_owned();
    let patch = r#"{"spec":{"card":"s3cret","size":2}}"#;
    assert_eq!(server.ask("admin", "PATCH", &format!("{CARTS}/{name}"), patch).await, 200);
    assert_eq!(server.ask("admin", "GET", CARTS, "").await, 200);
    let list = &server.events()[5];
    assert_eq!(
        list["responseObject"]["items"][0]["spec"],
        json!({ "card": "<redacted>", "size": 2 })
    );
    let nonsense = r#"{"spec":"s3cret"}"#;
    assert_eq!(server.ask("admin", "POST", CARTS, nonsense).await, 400);
    let refused = &server.events()[7]["responseStatus"];
    assert_eq!(refused["message"], "<redacted>");
    assert_eq!(refused["reason"], "BadRequest");
    assert!(!server.text().contains("s3cret"), "{}", server.text());
}

#[tokio::test]
async fn what_is_refused_is_noted_with_the_reason() {
    let server = Server::start().await;
    assert_eq!(server.ask("alice", "GET", CARTS, "").await, 403);
    let refused = &server.events()[1];
    assert_eq!(refused["annotations"]["authorization.k8s.io/decision"], "forbid");
    assert_eq!(refused["responseStatus"]["reason"], "Forbidden");
    assert_eq!(server.ask("nobody", "GET", CARTS, "").await, 401);
    let unknown = &server.events()[2];
    assert_eq!(unknown["stage"], "ResponseStarted");
    assert_eq!(unknown["responseStatus"]["code"], 401);
    assert_eq!(unknown["user"], json!({}));
    assert!(!server.text().contains("-token"));
}

#[tokio::test]
async fn a_status_is_allowed_and_noted_as_a_subresource() {
    let server = Server::start().await;
    let cart = r#"{"metadata":{"name":"a"},"spec":{"card":"s3cret"}}"#;
    assert_eq!(server.ask("admin", "POST", CARTS, cart).await, 201);
    let (uri, paid) = (format!("{CARTS}/a/status"), r#"{"status":{"phase":"Paid"}}"#);
    assert_eq!(server.ask("admin", "PATCH", &uri, paid).await, 200);
    let events = server.events();
    assert_eq!(events[3]["objectRef"]["subresource"], "status");
    assert_eq!(events[3]["responseObject"]["status"], json!({ "phase": "Paid" }));
    assert!(!server.text().contains("s3cret"), "{}", server.text());
    assert_eq!(server.ask("alice", "PATCH", &uri, paid).await, 403);
    let why = server.events()[5]["responseStatus"]["message"].to_string();
    assert!(why.contains("cannot patch resource \\\"carts/status\\\" in API group"), "{why}");
}

#[tokio::test]
async fn who_acts_as_somebody_else_is_noted_with_both() {
    let server = Server::start().await;
    let request = Request::get("/apis").header("authorization", "Bearer admin-token");
    let request = request.header("impersonate-user", "bob").body(Body::from("")).unwrap();
    assert_eq!(server.chain.serve(request, &Peer::default()).await.status(), 200);
    let event = &server.events()[1];
    assert_eq!(event["user"]["username"], "admin");
    assert_eq!(event["impersonatedUser"]["username"], "bob");
}

#[tokio::test]
async fn what_the_policy_does_not_want_is_not_written() {
    let server = Server::start().await;
    assert_eq!(server.ask("admin", "GET", "/livez", "").await, 200);
    assert_eq!(server.text(), "");
    assert!(server.metrics().await.contains("apiserver_audit_level_total{level=\"None\"} 1"));
}

#[tokio::test]
async fn a_watch_is_noted_when_it_starts_and_when_it_ends() {
    let server = Server::start().await;
    let watch = server.send("admin", "GET", &format!("{CARTS}?watch=1"), "").await;
    let open = [("RequestReceived", None), ("ResponseStarted", Some(200))];
    assert_eq!(server.stages(), stages(&open));
    drop(watch);
    assert_eq!(server.stages(), stages(&[open[0], open[1], ("ResponseComplete", Some(200))]));
}

/// Panics, or never answers.
struct Bad;

impl Dispatch for Bad {
    fn handle(
        &self,
        _: Request<Body>,
        info: Arc<RequestInfo>,
        _: Arc<User>,
    ) -> BoxFuture<'_, Option<Response>> {
        Box::pin(async move {
            assert!(info.name != "panic", "as asked for");
            std::future::pending().await
        })
    }

    fn serves(&self, _: &RequestInfo) -> bool {
        true
    }

    fn paths(&self) -> Vec<String> {
        Vec::new()
    }
}

#[tokio::test]
async fn panics_and_clients_that_go_away_are_noted_too() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::of(Bad, &folder.path().join("audit.log"), folder);
    assert_eq!(server.ask("admin", "GET", &format!("{CARTS}/panic"), "").await, 500);
    let panic = [("RequestReceived", None), ("Panic", Some(500))];
    assert_eq!(server.stages(), stages(&panic));
    let uri = format!("{CARTS}/never");
    assert!(server.send("admin", "GET", &uri, "").now_or_never().is_none());
    let gone = server.events().pop().unwrap();
    assert_eq!(gone["stage"], "ResponseComplete");
    assert_eq!(gone["responseStatus"]["message"], "Connection closed early");
}

#[tokio::test]
async fn an_event_that_cannot_be_written_is_counted() {
    let server = Server::of(Bad, Path::new("/dev/full"), tempfile::tempdir().unwrap());
    assert_eq!(server.ask("admin", "GET", &format!("{CARTS}/panic"), "").await, 500);
    let metrics = server.metrics().await;
    assert!(metrics.contains("apiserver_audit_error_total{plugin=\"log\"} 2"), "{metrics}");
}
