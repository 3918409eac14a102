//! What clients may do with a resource that the server keeps for itself.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::api::Api;
use crate::meta::ObjectMeta;
use crate::object::Fields;
use crate::openapi::Info;
use crate::sample;
use crate::store::{Revised, Store};

const INVOICES: &str = "namespaces/n/invoices";
const A: &str = "namespaces/n/invoices/a";

/// A server that has made out an invoice, `a`.
struct Shop {
    store: Store,
    api: Api,
    invoices: Resource,
    user: User,
}

impl Shop {
    async fn open(finalizers: &[&str]) -> Self {
        let store = sample::store().await;
        let shop = Self {
            api: Api::new(sample::groups(), store.clone(), &Info::new("Shop", "v1")),
            store,
            invoices: Resource::new(sample::invoice(), Serves::Kept(Box::new(sample::Anything))),
            user: User::authenticated("system:shop", vec![]),
        };
        let meta = ObjectMeta {
            name: "a".into(),
            namespace: "n".into(),
            finalizers: finalizers.iter().map(ToString::to_string).collect(),
            ..ObjectMeta::default()
        };
        let invoice = Object { meta, fields: Fields::new(r#""spec":{"sum":1}"#.into()) };
        shop.store.create(&shop.invoices, &shop.cx(), invoice).await.unwrap();
        shop
    }

    fn cx(&self) -> Context<'_> {
        Context::of(&self.user, "n", "a", Timestamp::UNIX_EPOCH)
    }

    /// What the server itself makes of the invoice.
    async fn revise(&self, change: impl Fn(&mut Object)) -> Object {
        let revise = |old: &Object| {
            let mut object = old.clone();
            change(&mut object);
            Ok(Revised { object, uid_is_precondition: true })
        };
        self.store.update(&self.invoices, Part::Main, &self.cx(), revise).await.unwrap()
    }

    async fn ask(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        sample::ask(&self.api, method, path, body).await
    }

    async fn get(&self) -> (u16, Value) {
        self.ask("GET", A, Value::Null).await
    }
}

#[tokio::test]
async fn the_server_writes_what_it_keeps() {
    let shop = Shop::open(&[]).await;
    assert_eq!(shop.get().await.1["spec"], json!({ "sum": 1 }));
    shop.revise(|invoice| invoice.fields = Fields::new(r#""spec":{"sum":2}"#.into())).await;
    let (code, invoice) = shop.get().await;
    assert_eq!(
        (code, &invoice["spec"], &invoice["kind"]),
        (200, &json!({ "sum": 2 }), &json!("Invoice"))
    );
}

#[tokio::test]
async fn clients_write_nothing_of_what_is_kept_and_hear_what_they_hear_of_any_unknown_verb() {
    let shop = Shop::open(&[]).await;
    let before = shop.get().await.1;
    let (code, unknown) = shop.ask("POST", "shops/a", json!({})).await;
    assert_eq!((code, &unknown["reason"]), (405, &json!("MethodNotAllowed")));
    for (method, path) in
        [("POST", INVOICES), ("PUT", A), ("PATCH", A), ("POST", A), ("PUT", INVOICES)]
    {
        for path in [path.to_owned(), format!("{path}?dryRun=All")] {
            let refused = shop.ask(method, &path, before.clone()).await;
            assert_eq!(refused, (405, unknown.clone()), "{method} {path}");
        }
    }
    assert_eq!(shop.get().await.1, before);
}

#[tokio::test]
async fn clients_list_watch_and_delete_what_is_kept() {
    let shop = Shop::open(&[]).await;
    for path in [INVOICES, "invoices"] {
        let (code, list) = shop.ask("GET", path, Value::Null).await;
        assert_eq!((code, &list["kind"]), (200, &json!("InvoiceList")));
        assert_eq!(list["items"][0]["metadata"]["name"], "a");
    }
    // A table, too, for kubectl.
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let (_, table) = sample::ask_for(&shop.api, table, "GET", INVOICES, Value::Null).await;
    assert_eq!(table["rows"][0]["cells"][0], "a");
    let over = "invoices?watch=1&timeoutSeconds=-1&resourceVersion=0";
    assert_eq!(shop.ask("GET", over, Value::Null).await.0, 200);

    assert_eq!(shop.ask("DELETE", &format!("{INVOICES}?dryRun=All"), Value::Null).await.0, 200);
    assert_eq!(shop.get().await.0, 200);
    assert_eq!(shop.ask("DELETE", INVOICES, Value::Null).await.0, 200);
    assert_eq!(shop.get().await.0, 404);
}

#[tokio::test]
async fn no_deletion_leaves_a_kept_object_to_a_collector_who_cannot_release_it() {
    for policy in ["Orphan", "Foreground", "Background"] {
        let shop = Shop::open(&[]).await;
        let path = format!("{A}?propagationPolicy={policy}");
        assert_eq!(shop.ask("DELETE", &path, Value::Null).await.0, 200);
        assert_eq!(shop.get().await.0, 404, "{policy}");
    }
}

#[tokio::test]
async fn the_servers_own_finalizer_holds_a_kept_object_until_the_server_takes_it_off() {
    let shop = Shop::open(&["shop.example/book"]).await;
    let (code, marked) = shop.ask("DELETE", A, Value::Null).await;
    assert_eq!((code, marked["metadata"]["deletionTimestamp"].is_string()), (200, true));
    assert_eq!(shop.get().await.0, 200);
    shop.revise(|invoice| invoice.meta.finalizers.clear()).await;
    assert_eq!(shop.get().await.0, 404);
}

#[test]
#[should_panic(expected = "no client may write a Invoice")]
fn what_no_client_writes_has_no_status_of_its_own() {
    let kept = Serves::Kept(Box::new(sample::Anything));
    let _ = Resource::new(sample::invoice(), kept).with_status();
}
