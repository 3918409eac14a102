use serde_json::{Value, json};

use super::*;
use crate::api::Api;
use crate::field;
use crate::object::Fields;
use crate::openapi::Info;
use crate::resource::{Serves, Strategy};
use crate::sample;

fn check(present: &[&str], propagation: Propagation, expected: &[&str]) {
    let finalizers = present.iter().map(ToString::to_string).collect();
    let meta = ObjectMeta { finalizers, ..ObjectMeta::default() };
    assert_eq!(finalizers_after(&meta, propagation), expected, "{present:?} {propagation:?}");
}

#[test]
fn the_policy_decides_over_the_collectors_finalizers_and_no_others() {
    check(&[], Propagation::Unset, &[]);
    check(&[], Propagation::Orphan, &["orphan"]);
    check(&["x/y"], Propagation::Foreground, &["x/y", "foregroundDeletion"]);
    check(&["orphan", "x/y"], Propagation::Background, &["x/y"]);
    check(&["foregroundDeletion", "x/y"], Propagation::Unset, &["foregroundDeletion", "x/y"]);
    check(&["foregroundDeletion"], Propagation::Orphan, &["orphan"]);
}

/// Notes who deletes a cart, where it is held and where it is wanted.
struct Returns {
    waits: bool,
}

impl Strategy for Returns {
    fn validate(&self, _: &Object) -> Vec<field::Error> {
        Vec::new()
    }

    fn prepare_for_delete(&self, cx: &Context<'_>, cart: &mut Object) {
        assert!(cart.meta.is_deleting(), "the mark is there already");
        let user = &cx.user.name;
        cart.meta.annotations.insert("returned-by".into(), user.clone());
        cart.fields = Fields::new(format!(r#""spec":{{"returnedBy":"{user}"}}"#));
    }

    fn waits_for_collector(&self) -> bool {
        self.waits
    }
}

async fn carts(rules: Returns) -> Api {
    let carts = Resource::new(sample::cart(), Serves::Stored(Box::new(rules))).with_status();
    Api::new(sample::group(vec![carts]), sample::store().await, &Info::new("Shop", "v1"))
}

/// Puts a cart there that is held by `finalizers`.
async fn put(api: &Api, name: &str, finalizers: &[&str]) -> Value {
    let cart = json!({ "metadata": { "name": name, "finalizers": finalizers }, "spec": {} });
    let (code, cart) = sample::ask(api, "POST", "namespaces/n/carts", cart).await;
    assert_eq!(code, 201, "{cart}");
    cart
}

async fn get(api: &Api, name: &str) -> (u16, Value) {
    sample::ask(api, "GET", &format!("namespaces/n/carts/{name}"), Value::Null).await
}

async fn delete(api: &Api, path: &str) -> (u16, Value) {
    sample::ask(api, "DELETE", &format!("namespaces/n/{path}"), Value::Null).await
}

fn note(cart: &Value) -> (&Value, &Value, &Value) {
    let meta = &cart["metadata"];
    (&meta["annotations"]["returned-by"], &cart["spec"]["returnedBy"], &meta["generation"])
}

#[tokio::test]
async fn every_deletion_of_what_is_held_leaves_a_note_and_counts_if_that_is_another() {
    let api = carts(Returns { waits: true }).await;
    let created = put(&api, "a", &["x/y"]).await;
    let noted = (&json!("eve"), &json!("eve"), &json!(2));

    let (code, told) = delete(&api, "carts/a?dryRun=All").await;
    assert_eq!((code, note(&told)), (200, noted));
    assert_eq!(get(&api, "a").await.1, created, "a dry run stores nothing");

    let (code, marked) = delete(&api, "carts/a").await;
    assert_eq!((code, note(&marked)), (200, noted));
    assert_eq!(get(&api, "a").await.1, marked);

    let (_, again) = delete(&api, "carts/a").await;
    assert_eq!(again, marked, "the same again is no write");

    // What somebody wrote since is noted over.
    let patch = json!({ "spec": { "returnedBy": "bob" } });
    let path = "namespaces/n/carts/a";
    assert_eq!(sample::ask(&api, "PATCH", path, patch).await.0, 200);
    let (_, taken) = delete(&api, "carts/a").await;
    assert_eq!(note(&taken), (&json!("eve"), &json!("eve"), &json!(4)));
    assert_eq!(taken["metadata"]["deletionTimestamp"], marked["metadata"]["deletionTimestamp"]);
}

#[tokio::test]
async fn a_deleted_collection_is_noted_object_by_object() {
    let api = carts(Returns { waits: true }).await;
    put(&api, "held", &["x/y"]).await;
    put(&api, "free", &[]).await;
    assert_eq!(delete(&api, "carts").await.0, 200);
    assert_eq!(note(&get(&api, "held").await.1).0, "eve");
    assert_eq!(get(&api, "free").await.0, 404);
}

#[tokio::test]
async fn only_a_kind_that_waits_for_the_collector_is_held_by_its_finalizers() {
    for (waits, policy, code) in [
        (true, "Orphan", 200),
        (true, "Foreground", 200),
        (true, "Background", 404),
        (false, "Orphan", 404),
        (false, "Foreground", 404),
    ] {
        let api = carts(Returns { waits }).await;
        put(&api, "a", &[]).await;
        delete(&api, &format!("carts/a?propagationPolicy={policy}")).await;
        assert_eq!(get(&api, "a").await.0, code, "{waits} {policy}");
    }
}
