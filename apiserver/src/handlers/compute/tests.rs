use serde_json::{Value, json};

use crate::api::Api;
use crate::openapi::Info;
use crate::sample;

/// A shop with carts in two namespaces, one of them without apples.
async fn shop() -> Api {
    let api = Api::new(sample::groups(), sample::store().await, &Info::new("Shop", "v1"));
    for (namespace, name, spec) in [
        ("n", "b", json!({ "apples": 2 })),
        ("n", "a", json!({ "apples": 10 })),
        ("m", "c", json!({ "apples": 3 })),
        ("n", "empty", json!({ "pears": 1 })),
    ] {
        put(&api, namespace, name, spec).await;
    }
    api
}

async fn put(api: &Api, namespace: &str, name: &str, spec: Value) {
    let metadata = json!({ "name": name, "labels": { "of": name } });
    let cart = json!({ "metadata": metadata, "spec": spec });
    let path = format!("namespaces/{namespace}/carts");
    assert_eq!(sample::ask(api, "POST", &path, cart).await.0, 201);
}

async fn get(api: &Api, path: &str) -> (u16, Value) {
    sample::ask(api, "GET", path, Value::Null).await
}

/// The names in a list, in its order.
async fn names(api: &Api, path: &str) -> Vec<String> {
    let (code, list) = get(api, path).await;
    assert_eq!(code, 200, "{list}");
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

async fn message(api: &Api, path: &str) -> (u16, String) {
    let (code, status) = get(api, path).await;
    (code, status["message"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn what_follows_from_the_store_is_listed_of_one_namespace_or_all() {
    let api = shop().await;
    assert_eq!(names(&api, "namespaces/n/totals").await, ["a:Total", "b:Total"]);
    assert_eq!(names(&api, "totals").await, ["c:Total", "a:Total", "b:Total"]);
    let (_, list) = get(&api, "namespaces/m/totals").await;
    let cart = get(&api, "namespaces/m/carts/c").await.1;
    let revision = &cart["metadata"]["resourceVersion"];
    let total = json!({
        "metadata": { "name": "c:Total", "namespace": "m", "resourceVersion": revision, "labels": { "of": "c" } },
        "cart": "c",
        "apples": 3,
    });
    // The list is of the newest state, which is that of the last cart.
    let empty = get(&api, "namespaces/n/carts/empty").await.1;
    let head = json!({ "resourceVersion": empty["metadata"]["resourceVersion"] });
    let want = json!({ "kind": "TotalList", "apiVersion": "shop.example/v1", "metadata": head, "items": [total] });
    assert_eq!(list, want);
}

#[tokio::test]
async fn one_is_got_by_its_name_and_follows_the_store_at_once() {
    let api = shop().await;
    let path = "namespaces/n/totals/a:Total";
    let (code, total) = get(&api, path).await;
    assert_eq!((code, &total["kind"], &total["apples"]), (200, &json!("Total"), &json!(10)));
    let more = json!({ "spec": { "apples": 11 } });
    assert_eq!(sample::ask(&api, "PATCH", "namespaces/n/carts/a", more).await.0, 200);
    assert_eq!(get(&api, path).await.1["apples"], 11);
    let want = (404, "totals.shop.example \"c:Total\" not found".to_owned());
    assert_eq!(message(&api, "namespaces/n/totals/c:Total").await, want);
}

#[tokio::test]
async fn selectors_select_by_labels_and_by_the_fields_that_are_declared() {
    let api = shop().await;
    for (query, want) in [
        ("labelSelector=of=c", vec!["c:Total"]),
        ("labelSelector=of!=c", vec!["a:Total", "b:Total"]),
        ("fieldSelector=apples=2", vec!["b:Total"]),
        ("fieldSelector=cart=a,apples=10", vec!["a:Total"]),
        ("fieldSelector=cart!=a,metadata.namespace=n", vec!["b:Total"]),
        ("fieldSelector=metadata.name=c:Total", vec!["c:Total"]),
        ("fieldSelector=cart=z", vec![]),
    ] {
        assert_eq!(names(&api, &format!("totals?{query}")).await, want, "{query}");
    }
    let want = r#""pears" is not a known field selector: only "metadata.name", "metadata.namespace", "cart", "apples""#;
    assert_eq!(message(&api, "totals?fieldSelector=pears=1").await, (400, want.to_owned()));
}

#[tokio::test]
async fn kubectl_gets_a_table_of_them() {
    let api = shop().await;
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    for path in ["namespaces/m/totals", "namespaces/m/totals/c:Total"] {
        let (code, table) = sample::ask_for(&api, table, "GET", path, Value::Null).await;
        assert_eq!((code, &table["kind"]), (200, &json!("Table")));
        let columns: Vec<_> =
            table["columnDefinitions"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
        assert_eq!(columns, ["Name", "Apples", "Age"]);
        assert_eq!(table["rows"][0]["cells"], json!(["c:Total", "3", "<unknown>"]));
    }
}

#[tokio::test]
async fn a_list_is_one_piece_of_the_newest_state() {
    let api = shop().await;
    let all = get(&api, "totals").await.1;
    assert_eq!(get(&api, "totals?limit=1").await.1, all);
    let revision = all["metadata"]["resourceVersion"].as_str().unwrap();
    for query in ["resourceVersion=0", "resourceVersion=2&resourceVersionMatch=NotOlderThan"] {
        assert_eq!(get(&api, &format!("totals?{query}")).await.1, all, "{query}");
    }
    let exact = |revision| format!("totals?resourceVersionMatch=Exact&resourceVersion={revision}");
    assert_eq!(get(&api, &exact(revision)).await.1, all);
    assert_eq!(get(&api, &exact("2")).await.0, 410);
    let (code, why) = message(&api, "totals?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ").await;
    assert_eq!(
        (code, why.as_str()),
        (400, "invalid continue token: totals are listed in one piece")
    );
}

#[tokio::test]
async fn what_is_computed_is_neither_watched_nor_written() {
    let api = shop().await;
    let want =
        (405, "watch is not supported on resources of kind \"totals.shop.example\"".to_owned());
    assert_eq!(message(&api, "totals?watch=1").await, want);
    let one = "namespaces/n/totals?watch=1&fieldSelector=metadata.name=a:Total";
    assert_eq!(message(&api, one).await, want);
    for (method, path) in [
        ("POST", "namespaces/n/totals"),
        ("DELETE", "namespaces/n/totals"),
        ("PUT", "namespaces/n/totals/a:Total"),
        ("PATCH", "namespaces/n/totals/a:Total"),
        ("DELETE", "namespaces/n/totals/a:Total"),
    ] {
        let (code, status) = sample::ask(&api, method, path, json!({})).await;
        assert_eq!((code, &status["reason"]), (405, &json!("MethodNotAllowed")), "{method} {path}");
    }
}

#[tokio::test]
async fn what_no_url_can_name_is_left_out_and_the_rest_is_listed() {
    let api = shop().await;
    for (index, alias) in ["x/y", "..", "%2e", ""].into_iter().enumerate() {
        put(&api, "n", &format!("odd-{index}"), json!({ "apples": 1, "alias": alias })).await;
    }
    put(&api, "n", "fine", json!({ "apples": 1, "alias": "fine.Py jinja" })).await;
    assert_eq!(names(&api, "namespaces/n/totals").await, ["a:Total", "b:Total", "fine.Py jinja"]);
    assert_eq!(get(&api, "namespaces/n/totals/fine.Py%20jinja").await.1["cart"], "fine");
}
