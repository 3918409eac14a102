use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use storage::{Memory, cache};
use tokio::time::timeout;

use super::*;
use crate::api::Api;
use crate::authn::User;
use crate::environment::System;
use crate::object::{Fields, Object, Stored};
use crate::openapi::Info;
use crate::options::Wanted;
use crate::resource::{Context, Part, Resource, Serves};
use crate::sample;
use crate::status::Reason;

const SOON: Duration = Duration::from_secs(10);
const FINALIZER: &str = "shop.example/till";

/// A shop that remembers few events, and whoever serves its carts.
struct Shop {
    api: Api,
    store: Store,
    carts: Resource,
    user: User,
}

impl Shop {
    async fn open() -> Self {
        let options = cache::Options { history: 10_000 };
        let cache = Cache::start(Arc::new(Memory::new()), options).await.unwrap();
        let store = Store::new(Arc::new(cache), Arc::new(System));
        Self {
            api: Api::new(sample::groups(), store.clone(), &Info::new("Shop", "v1")),
            store,
            carts: Resource::new(sample::cart(), Serves::Stored(Box::new(sample::Anything)))
                .with_status(),
            user: User::authenticated("system:shop", vec![]),
        }
    }

    /// What a customer does.
    async fn ask(&self, method: &str, path: &str, body: Value) -> Value {
        let (code, answer) = sample::ask(&self.api, method, path, body).await;
        assert!((200..300).contains(&code), "{method} {path}: {answer}");
        answer
    }

    async fn put(&self, name: &str, finalizers: &[&str]) {
        let cart =
            json!({ "metadata": { "name": name, "finalizers": finalizers }, "spec": { "x": 0 } });
        self.ask("POST", "namespaces/n/carts", cart).await;
    }

    async fn delete(&self, name: &str) {
        self.ask("DELETE", &format!("namespaces/n/carts/{name}"), Value::Null).await;
    }

    async fn list(&self) -> Vec<Value> {
        let list = self.ask("GET", "carts", Value::Null).await;
        list["items"].as_array().unwrap().clone()
    }

    /// What the controller does about a cart: one step towards where it should be.
    async fn reconcile(&self, key: &ObjectKey) -> Result<(), Error> {
        let ObjectKey { namespace, name } = key;
        let entry =
            match self.store.get(&self.carts.definition, namespace, name, Wanted::Newest).await {
                Err(error) if error.reason() == Reason::NotFound => return Ok(()),
                entry => entry?,
            };
        let cart = Stored::new(&entry.value, entry.revision)?.to_object()?;
        let cx = Context::of(&self.user, namespace, name, self.store.environment().now());
        let (part, change): (_, fn(&mut Object)) = if cart.meta.is_deleting() {
            (Part::Main, |cart| cart.meta.finalizers.retain(|held| held != FINALIZER))
        } else {
            (Part::Status, |cart| cart.fields = Fields::new(r#""status":{"phase":"Seen"}"#.into()))
        };
        let change = |cart: &mut Object| {
            change(cart);
            Ok(())
        };
        self.store.change(&self.carts, part, &cx, "till", change).await.map(drop)
    }

    /// Lets the controller act until `done`.
    async fn serve(&self, follower: &mut Follower, done: impl Fn(&[Value]) -> bool) {
        while !done(&self.list().await) {
            let key = timeout(SOON, follower.next()).await.expect("a key was lost").unwrap();
            self.reconcile(&key).await.unwrap();
        }
    }

    /// Changes carts that nobody serves until whoever follows has missed something.
    async fn outrun(&self, act: impl AsyncFn(&Self)) {
        let (_, mut slow) = self.store.cache.watch_current(&prefix(&sample::cart(), "").unwrap());
        act(self).await;
        for count in 0..20 {
            let patch = json!({ "spec": { "count": count, "padding": "x".repeat(1000) } });
            self.ask("PATCH", "namespaces/n/carts/busy", patch).await;
        }
        assert!(matches!(slow.next().await, Err(storage::Error::Slow)));
    }
}

fn all_seen(carts: &[Value]) -> bool {
    carts.iter().all(|cart| cart["status"]["phase"] == "Seen")
}

async fn told(follower: &mut Follower, count: usize) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    while names.len() < count {
        names.insert(timeout(SOON, follower.next()).await.expect("a key was lost").unwrap().name);
    }
    names
}

#[tokio::test]
async fn a_controller_sees_every_object_to_its_end_whatever_it_missed() {
    let shop = Shop::open().await;
    shop.put("early", &[FINALIZER]).await;
    let mut follower = shop.store.follow(&sample::cart()).unwrap();
    shop.put("busy", &[FINALIZER]).await;
    shop.serve(&mut follower, all_seen).await;

    shop.outrun(async |shop| shop.put("missed", &[FINALIZER]).await).await;
    shop.serve(&mut follower, all_seen).await;
    assert_eq!(shop.list().await.len(), 3);

    shop.outrun(async |shop| {
        shop.delete("early").await;
        shop.delete("missed").await;
    })
    .await;
    assert_eq!(shop.list().await.len(), 3, "held until the controller lets go");
    shop.serve(&mut follower, |carts| carts.len() == 1).await;

    shop.delete("busy").await;
    shop.serve(&mut follower, <[Value]>::is_empty).await;
}

#[tokio::test]
async fn after_a_gap_what_changed_and_what_is_gone_is_told_and_nothing_else() {
    let shop = Shop::open().await;
    for name in ["busy", "gone", "same"] {
        shop.put(name, &[]).await;
    }
    let mut follower = shop.store.follow(&sample::cart()).unwrap();
    assert_eq!(told(&mut follower, 3).await, ["busy", "gone", "same"].map(String::from).into());
    shop.outrun(async |shop| {
        shop.delete("gone").await;
        shop.put("new", &[]).await;
    })
    .await;
    assert_eq!(told(&mut follower, 3).await, ["busy", "gone", "new"].map(String::from).into());
    shop.put("last", &[]).await;
    assert_eq!(told(&mut follower, 1).await, ["last"].map(String::from).into());
}

#[tokio::test]
async fn a_steady_state_writes_nothing_and_the_controller_is_named_as_the_manager() {
    let shop = Shop::open().await;
    shop.put("a", &[]).await;
    let key = ObjectKey { namespace: "n".into(), name: "a".into() };
    shop.reconcile(&key).await.unwrap();
    let seen = shop.list().await;
    let managers = seen[0]["metadata"]["managedFields"].as_array().unwrap();
    let till = managers.iter().find(|entry| entry["manager"] == "till").unwrap();
    assert_eq!(
        (&till["subresource"], &till["fieldsV1"]),
        (&json!("status"), &json!({ "f:status": { ".": {}, "f:phase": {} } }))
    );
    shop.reconcile(&key).await.unwrap();
    assert_eq!(shop.list().await, seen);
}

#[tokio::test]
async fn a_controller_may_insist_on_the_revision_that_it_has_seen() {
    let shop = Shop::open().await;
    shop.put("a", &[]).await;
    let seen = shop.list().await[0]["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    shop.ask("PATCH", "namespaces/n/carts/a", json!({ "spec": { "x": 1 } })).await;
    let cx = Context::of(&shop.user, "n", "a", shop.store.environment().now());
    let late = |cart: &mut Object| {
        cart.meta.resource_version.clone_from(&seen);
        Ok(())
    };
    let refused =
        shop.store.change(&shop.carts, Part::Status, &cx, "till", late).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::Conflict);
}

#[tokio::test]
async fn a_closed_store_ends_its_followers() {
    let shop = Shop::open().await;
    let mut follower = shop.store.follow(&sample::cart()).unwrap();
    drop(shop);
    assert_eq!(timeout(SOON, follower.next()).await.unwrap(), None);
}
