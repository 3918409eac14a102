use std::sync::Arc;

use http::{Method, Request};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use storage::{Cache, Memory, cache};

use crate::api::Api;
use crate::authn::User;
use crate::chain::Dispatch as _;
use crate::environment::System;
use crate::field;
use crate::limits::Body;
use crate::object::Object;
use crate::openapi::Info;
use crate::request::RequestInfo;
use crate::resource::{Resource, Serves, Strategy};
use crate::response::Response;
use crate::sample;
use crate::store::Store;

const A: &str = "carts/a";
const STATUS: &str = "carts/a/status";

type Change = fn(&mut Value);

/// A shop with a cart `a` that wants one apple, and is empty.
struct Shop {
    api: Api,
}

struct Shops;

impl Strategy for Shops {
    fn validate(&self, _: &Object) -> Vec<field::Error> {
        Vec::new()
    }
}

/// A request to a shop.
struct Ask<'a> {
    method: &'a str,
    /// What follows the namespace, or the version for shops, which have none.
    path: &'a str,
    media: &'a str,
    accept: &'a str,
    manager: &'a str,
    body: Value,
}

const ASK: Ask<'_> = Ask {
    method: "GET",
    path: A,
    media: "application/json",
    accept: "*/*",
    manager: "user",
    body: Value::Null,
};

impl Shop {
    async fn open() -> Self {
        let cache = Cache::start(Arc::new(Memory::new()), cache::Options::default());
        let store = Store::new(Arc::new(cache.await.unwrap()), Arc::new(System));
        let shop = Self { api: Api::new(sample::groups(), store, &Info::new("Shop", "v1")) };
        let cart = json!({
            "metadata": { "name": "a", "generation": 7 },
            "spec": { "apples": 1, "pears": 2 },
            "status": { "phase": "Full" },
        });
        let created = Ask { method: "POST", path: "carts", body: cart, ..ASK };
        assert_eq!(shop.ask(created).await.0, 201);
        shop
    }

    async fn send(&self, ask: Ask<'_>) -> Response {
        let namespace = if ask.path.starts_with("shops") { "" } else { "namespaces/n/" };
        let uri = format!("/apis/shop.example/v1/{namespace}{}", ask.path);
        let body = if ask.body.is_null() { String::new() } else { ask.body.to_string() };
        let request = Request::builder()
            .method(ask.method)
            .uri(uri)
            .header("content-type", ask.media)
            .header("accept", ask.accept)
            .header("user-agent", ask.manager)
            .body(Body::from(body))
            .unwrap();
        let method = Method::from_bytes(ask.method.as_bytes()).unwrap();
        let info = RequestInfo::new(&method, request.uri());
        let user = Arc::new(User::authenticated("eve", vec![]));
        self.api.handle(request, Arc::new(info), user).await.unwrap()
    }

    async fn ask(&self, ask: Ask<'_>) -> (u16, Value) {
        let response = self.send(ask).await;
        let code = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (code, serde_json::from_slice(&body).unwrap())
    }

    /// The answer of a request that succeeds.
    async fn done(&self, ask: Ask<'_>) -> Value {
        let (code, body) = self.ask(ask).await;
        assert_eq!(code, 200, "{body}");
        body
    }

    async fn get(&self) -> Value {
        self.done(ASK).await
    }

    async fn merge(&self, path: &str, manager: &str, patch: Value) -> Value {
        let media = "application/merge-patch+json";
        self.done(Ask { method: "PATCH", path, media, manager, body: patch, ..ASK }).await
    }

    /// Replaces the cart by what `change` makes of it.
    async fn put(&self, path: &str, change: impl FnOnce(&mut Value)) -> (u16, Value) {
        let mut cart = self.get().await;
        change(&mut cart);
        self.ask(Ask { method: "PUT", path, body: cart, ..ASK }).await
    }

    /// What the controller does with a new cart.
    async fn fill(&self) -> Value {
        self.merge(STATUS, "controller", json!({ "status": { "phase": "Filled" } })).await
    }
}

fn revision(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap()
}

fn generation(object: &Value) -> &Value {
    &object["metadata"]["generation"]
}

/// `manager/subresource: fields` for every entry, whenever it was made.
fn owners(object: &Value) -> Vec<String> {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let line = |entry: &Value| {
        let subresource = entry["subresource"].as_str().unwrap_or_default();
        format!("{}/{subresource}: {}", entry["manager"].as_str().unwrap(), entry["fieldsV1"])
    };
    let mut lines: Vec<String> = entries.iter().map(line).collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn a_new_object_has_no_status_and_is_the_first_generation() {
    let cart = Shop::open().await.get().await;
    assert_eq!((cart.get("status"), generation(&cart)), (None, &json!(1)));
    assert_eq!(owners(&cart), [r#"user/: {"f:spec":{}}"#]);
}

#[tokio::test]
async fn what_is_written_to_the_object_leaves_the_status_alone() {
    let shop = Shop::open().await;
    let filled = shop.fill().await["status"].clone();
    assert_eq!(filled, json!({ "phase": "Filled" }));
    let apples = |count| json!({ "spec": { "apples": count }, "status": { "phase": "Lost" } });
    let patched = shop.merge(A, "user", apples(2)).await;
    assert_eq!((&patched["status"], &patched["spec"]["apples"]), (&filled, &json!(2)));
    let (code, replaced) = shop
        .put(A, |cart| {
            cart["spec"]["apples"] = json!(3);
            cart.as_object_mut().unwrap().remove("status");
        })
        .await;
    assert_eq!((code, &replaced["status"]), (200, &filled));
    assert_eq!(shop.get().await, replaced);
}

#[tokio::test]
async fn a_generation_is_a_change_of_what_is_wanted() {
    let shop = Shop::open().await;
    shop.fill().await;
    let patches = [
        (A, json!({ "spec": { "apples": 2 } }), 2),
        (A, json!({ "metadata": { "labels": { "x": "y" }, "generation": 9 } }), 2),
        (A, json!({ "status": { "phase": "Lost" } }), 2),
        (A, json!({ "spec": null }), 3),
        (A, json!({ "spec": { "apples": 2 }, "status": null }), 4),
        (STATUS, json!({ "spec": null, "status": { "phase": "Paid" } }), 4),
    ];
    for (path, patch, want) in patches {
        let cart = shop.merge(path, "user", patch.clone()).await;
        assert_eq!(generation(&cart), want, "{patch}");
    }
}

#[tokio::test]
async fn another_way_to_write_the_same_is_no_generation() {
    let shop = Shop::open().await;
    let uri = "/apis/shop.example/v1/namespaces/n/carts/a";
    let put = async |spec: &str| {
        let revision = revision(&shop.get().await).to_owned();
        let metadata = format!(r#"{{"name":"a","resourceVersion":"{revision}"}}"#);
        let body = format!(r#"{{"metadata":{metadata},"spec":{spec}}}"#);
        let request = Request::put(uri).header("content-type", "application/json");
        let request = request.body(Body::from(body)).unwrap();
        let info = Arc::new(RequestInfo::new(&Method::PUT, request.uri()));
        let user = Arc::new(User::authenticated("eve", vec![]));
        assert_eq!(shop.api.handle(request, info, user).await.unwrap().status(), 200);
        generation(&shop.get().await).clone()
    };
    assert_eq!(put(r#"{"pears":2.0, "apples":1}"#).await, 1);
    assert_eq!(put(r#"{"pears":2.5, "apples":1}"#).await, 2);
}

#[tokio::test]
async fn what_is_written_to_the_status_leaves_the_object_alone() {
    let shop = Shop::open().await;
    let before = shop.get().await;
    let (code, replaced) = shop
        .put(STATUS, |cart| {
            cart["spec"] = json!({ "apples": 9 });
            cart["status"] = json!({ "phase": "Filled", "observedGeneration": 1 });
            let metadata = cart["metadata"].as_object_mut().unwrap();
            metadata.extend(
                [
                    ("labels", json!({ "x": "y" })),
                    ("finalizers", json!(["x/y"])),
                    ("generation", json!(9)),
                    ("managedFields", json!([{}])),
                ]
                .map(|(name, value)| (name.to_owned(), value)),
            );
        })
        .await;
    assert_eq!(code, 200, "{replaced}");
    assert_eq!(replaced["status"], json!({ "phase": "Filled", "observedGeneration": 1 }));
    assert_ne!(revision(&replaced), revision(&before));
    assert_eq!(rest(&replaced), rest(&before));

    let patch = json!([
        { "op": "test", "path": "/spec/apples", "value": 1 },
        { "op": "replace", "path": "/spec/apples", "value": 9 },
        { "op": "replace", "path": "/metadata/uid", "value": "other" },
        { "op": "replace", "path": "/status/phase", "value": "Paid" },
    ]);
    let media = "application/json-patch+json";
    let patched = shop.done(Ask { method: "PATCH", path: STATUS, media, body: patch, ..ASK }).await;
    assert_eq!(patched["status"], json!({ "phase": "Paid", "observedGeneration": 1 }));
    assert_eq!(rest(&patched), rest(&before));

    let (_, gone) =
        shop.put(STATUS, |cart| drop(cart.as_object_mut().unwrap().remove("status"))).await;
    assert_eq!((gone.get("status"), rest(&gone)), (None, rest(&before)));
}

/// An object without what a write of the status changes.
fn rest(object: &Value) -> Value {
    let mut rest = object.clone();
    rest.as_object_mut().unwrap().remove("status");
    let metadata = rest["metadata"].as_object_mut().unwrap();
    metadata.retain(|name, _| name != "resourceVersion" && name != "managedFields");
    rest
}

#[tokio::test]
async fn a_write_that_changes_nothing_takes_no_revision() {
    let shop = Shop::open().await;
    let filled = shop.fill().await;
    assert_eq!(shop.fill().await, filled);
    let writes = [
        (STATUS, json!({ "spec": { "apples": 9 }, "metadata": { "labels": { "x": "y" } } })),
        (A, json!({ "status": { "phase": "Lost" } })),
    ];
    for (path, patch) in writes {
        assert_eq!(shop.merge(path, "other", patch).await, filled, "{path}");
    }
    let dry = format!("{STATUS}?dryRun=All");
    let told = shop.merge(&dry, "other", json!({ "status": { "phase": "Paid" } })).await;
    assert_eq!((&told["status"]["phase"], shop.get().await), (&json!("Paid"), filled));
}

#[tokio::test]
async fn each_path_owns_its_part_and_no_more() {
    let shop = Shop::open().await;
    let all = json!({
        "metadata": { "labels": { "x": "y" } }, "spec": { "apples": 2 },
        "status": { "phase": "Filled" },
    });
    let status = r#"both/status: {"f:status":{".":{},"f:phase":{}}}"#;
    let cart = shop.merge(STATUS, "both", all.clone()).await;
    assert_eq!(owners(&cart), [status, r#"user/: {"f:spec":{}}"#]);
    let cart = shop.merge(A, "both", all).await;
    let main = r#"both/: {"f:metadata":{"f:labels":{".":{},"f:x":{}}},"f:spec":{}}"#;
    assert_eq!(owners(&cart), [main, status]);
    let cart = shop.merge(STATUS, "other", json!({ "status": { "observedGeneration": 1 } })).await;
    let other = r#"other/status: {"f:status":{"f:observedGeneration":{}}}"#;
    assert_eq!(owners(&cart), [main, status, other]);
    let cart = shop.merge(A, "other", json!({ "status": null })).await;
    assert_eq!(owners(&cart), [main, status, other]);
}

#[tokio::test]
async fn a_wrong_write_of_the_status_is_told_what_is_wrong() {
    let shop = Shop::open().await;
    let strict = "carts/a/status?fieldValidation=Strict";
    let checks: [(&str, Change, u16, &str); 7] = [
        (STATUS, |it| it["status"] = json!({ "phase": "Stolen" }), 422, "status.phase: Forbidden"),
        (STATUS, |it| it["metadata"]["resourceVersion"] = json!("1000"), 409, "has been modified"),
        (STATUS, |it| it["metadata"]["resourceVersion"] = json!(""), 422, "must be specified"),
        (STATUS, |it| it["metadata"]["uid"] = json!("other"), 409, "UID in precondition"),
        (STATUS, |it| it["metadata"]["name"] = json!("b"), 400, "does not match the name"),
        (
            STATUS,
            |it| it["metadata"]["namespace"] = json!("m"),
            400,
            "does not match the namespace",
        ),
        (strict, |it| it["status"] = json!({ "x": 1 }), 400, "unknown field \"status.x\""),
    ];
    for (path, change, code, words) in checks {
        let answered = shop.put(path, change).await;
        assert_eq!(answered.0, code, "{words}: {}", answered.1);
        assert!(answered.1["message"].as_str().unwrap().contains(words), "{}", answered.1);
    }
    assert_eq!(shop.get().await.get("status"), None);
}

#[tokio::test]
async fn the_status_is_read_replaced_and_patched_and_nothing_else() {
    let shop = Shop::open().await;
    let body = json!({ "metadata": { "name": "b", "resourceVersion": "1" } });
    let checks = [
        ("GET", "carts/b/status", "", 404),
        ("PUT", "carts/b/status", "application/json", 404),
        ("PATCH", "carts/b/status", "application/merge-patch+json", 404),
        ("POST", STATUS, "application/json", 405),
        ("DELETE", STATUS, "application/json", 405),
        ("PATCH", STATUS, "application/strategic-merge-patch+json", 415),
        ("PATCH", STATUS, "application/apply-patch+yaml", 415),
        ("GET", "carts/a/status/phase", "", 404),
    ];
    for (method, path, media, want) in checks {
        let (code, told) = shop.ask(Ask { method, path, media, body: body.clone(), ..ASK }).await;
        assert_eq!(code, want, "{method} {path}: {told}");
    }
}

#[tokio::test]
async fn the_status_is_read_in_every_form_of_its_object() {
    let shop = Shop::open().await;
    assert_eq!(shop.fill().await, shop.done(Ask { path: STATUS, ..ASK }).await);
    for kind in ["Table", "PartialObjectMetadata"] {
        let accept = &*format!("application/json;as={kind};v=v1;g=meta.k8s.io");
        let read = async |path| shop.done(Ask { path, accept, ..ASK }).await;
        let status = read(STATUS).await;
        assert_eq!((&status["kind"], &status), (&json!(kind), &read(A).await));
    }
}

#[tokio::test]
async fn who_watches_the_objects_sees_their_status_change() {
    let shop = Shop::open().await;
    let created = shop.get().await;
    let filled = shop.fill().await;
    let path = &*format!("carts?watch=1&timeoutSeconds=5&resourceVersion={}", revision(&created));
    let mut events = shop.send(Ask { path, ..ASK }).await.into_body();
    let frame = events.frame().await.unwrap().unwrap().into_data().unwrap();
    let event: Value = serde_json::from_slice(&frame).unwrap();
    assert_eq!(event, json!({ "type": "MODIFIED", "object": filled }));
}

#[tokio::test]
async fn a_deletion_that_waits_is_a_generation_and_leaves_the_status() {
    let shop = Shop::open().await;
    let filled = shop.fill().await;
    shop.merge(A, "user", json!({ "metadata": { "finalizers": ["x/y"] } })).await;
    shop.done(Ask { method: "DELETE", ..ASK }).await;
    let deleting = shop.get().await;
    assert_eq!((generation(&deleting), &deleting["status"]), (&json!(2), &filled["status"]));
    let paid = shop.merge(STATUS, "controller", json!({ "status": { "phase": "Paid" } })).await;
    assert_eq!((generation(&paid), &paid["status"]["phase"]), (&json!(2), &json!("Paid")));
}

#[tokio::test]
async fn a_resource_without_a_status_has_no_path_for_it_and_does_not_count() {
    let shop = Shop::open().await;
    let body = json!({ "metadata": { "name": "s", "generation": 7 }, "spec": { "size": 1 } });
    assert_eq!(shop.ask(Ask { method: "POST", path: "shops", body, ..ASK }).await.0, 201);
    let grown = shop.merge("shops/s", "user", json!({ "spec": { "size": 2 } })).await;
    assert_eq!((generation(&grown), &grown["spec"]["size"]), (&json!(7), &json!(2)));
    assert_eq!(shop.ask(Ask { path: "shops/s/status", ..ASK }).await.0, 404);
}

#[test]
#[should_panic(expected = "the schema of Shop does not end with an optional status")]
fn a_kind_without_a_status_in_its_schema_is_not_served_with_one() {
    let _ = Resource::new(sample::shop(), Serves::Stored(Box::new(Shops))).with_status();
}
