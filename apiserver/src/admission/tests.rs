//! Which requests admission is asked about, through the whole of an API.

use std::sync::Mutex;

use http::{Method, Request};
use http_body_util::BodyExt as _;
use storage::{Cache, Memory, cache};

use super::*;
use crate::api::Api;
use crate::authn::User;
use crate::chain::Dispatch as _;
use crate::environment::System;
use crate::limits::Body;
use crate::openapi::Info;
use crate::request::RequestInfo;
use crate::sample;
use crate::store::Store;

/// Notes what it is asked, and refuses what it is told to.
#[derive(Default)]
struct Notes {
    asked: Mutex<Vec<String>>,
    refused: Mutex<Option<Operation>>,
}

struct Notebook(Arc<Notes>);

impl Plugin for Notebook {
    fn name(&self) -> &'static str {
        "Notebook"
    }

    fn handles(&self, _: Operation) -> bool {
        true
    }

    fn admit<'a>(&'a self, attributes: &'a Attributes<'a>) -> BoxFuture<'a, Result<(), Error>> {
        let Attributes { operation, definition, subresource, .. } = attributes;
        let has = |object: Option<&Object>| if object.is_some() { "+" } else { "-" };
        let note = format!(
            "{} {}/{subresource} {} {}{}",
            operation.as_str(),
            definition.plural,
            attributes.name(),
            has(attributes.object),
            has(attributes.old)
        );
        self.0.asked.lock().unwrap().push(note);
        let refused = *self.0.refused.lock().unwrap() == Some(*operation);
        let verdict = if refused { Err(attributes.forbidden("as noted")) } else { Ok(()) };
        Box::pin(std::future::ready(verdict))
    }
}

struct Shop {
    api: Api,
    notes: Arc<Notes>,
}

impl Shop {
    async fn open() -> Self {
        let cache = Cache::start(Arc::new(Memory::new()), cache::Options::default());
        let notes = Arc::new(Notes::default());
        let store = Store::new(Arc::new(cache.await.unwrap()), Arc::new(System))
            .guarded_by(Admission::new(vec![Box::new(Notebook(notes.clone()))]));
        Self { api: Api::new(sample::groups(), store, &Info::new("Shop", "v1")), notes }
    }

    /// Sends a request; its path goes on after the namespace.
    async fn ask(&self, method: &str, path: &str, body: &'static str) -> (u16, String) {
        let uri = format!("/apis/shop.example/v1/namespaces/n/{path}");
        let media =
            if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let request = Request::builder().method(method).uri(uri).header("content-type", media);
        let request = request.body(Body::from(body)).unwrap();
        let info = RequestInfo::new(&Method::from_bytes(method.as_bytes()).unwrap(), request.uri());
        let user = Arc::new(User::authenticated("eve", vec![]));
        let response = self.api.handle(request, Arc::new(info), user).await.unwrap();
        let code = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (code, String::from_utf8(body.to_vec()).unwrap())
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.notes.asked.lock().unwrap())
    }
}

const CART: &str = r#"{"metadata":{"name":"a"}}"#;

#[tokio::test]
async fn every_write_is_admitted_with_what_is_and_what_is_to_be() {
    let shop = Shop::open().await;
    assert_eq!(shop.ask("POST", "carts", CART).await.0, 201);
    assert_eq!(shop.ask("PATCH", "carts/a", r#"{"spec":{"x":1}}"#).await.0, 200);
    let paid = r#"{"status":{"phase":"Paid"}}"#;
    assert_eq!(shop.ask("PATCH", "carts/a/status", paid).await.0, 200);
    assert_eq!(shop.ask("POST", "carts/a/checkout", "{}").await.0, 201);
    assert_eq!(shop.ask("POST", "quotes", r#"{"metadata":{"generateName":"q-"}}"#).await.0, 201);
    assert_eq!(shop.ask("GET", "carts/a", "").await.0, 200);
    assert_eq!(shop.ask("DELETE", "carts", "").await.0, 200);
    assert_eq!(
        shop.asked(),
        [
            "CREATE carts/ a +-",
            "UPDATE carts/ a ++",
            "UPDATE carts/status a ++",
            "CREATE carts/checkout a +-",
            "CREATE quotes/ q- +-",
            "DELETE carts/ a -+",
        ]
    );
}

#[tokio::test]
async fn what_is_refused_does_not_happen_and_a_dry_run_tells_so() {
    let shop = Shop::open().await;
    *shop.notes.refused.lock().unwrap() = Some(Operation::Create);
    for path in ["carts", "carts?dryRun=All"] {
        let (code, body) = shop.ask("POST", path, CART).await;
        assert_eq!(code, 403, "{path}");
        assert!(body.contains(r#"carts.shop.example \"a\" is forbidden: as noted"#), "{body}");
    }
    assert_eq!(shop.ask("GET", "carts/a", "").await.0, 404);

    *shop.notes.refused.lock().unwrap() = None;
    assert_eq!(shop.ask("POST", "carts", CART).await.0, 201);
    *shop.notes.refused.lock().unwrap() = Some(Operation::Update);
    assert_eq!(shop.ask("PATCH", "carts/a", r#"{"spec":{"x":1}}"#).await.0, 403);
    *shop.notes.refused.lock().unwrap() = Some(Operation::Delete);
    assert_eq!(shop.ask("DELETE", "carts/a", "").await.0, 403);
    assert!(!shop.ask("GET", "carts/a", "").await.1.contains("\"x\""));
}
