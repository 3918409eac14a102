use std::collections::BTreeSet;

use http::header::{ETAG, IF_NONE_MATCH};

use super::*;
use crate::sample;

fn openapi() -> OpenApi {
    let info = Info { title: "Shop".into(), version: "v1".into() };
    OpenApi::new(&sample::groups(), &info, Timestamp::UNIX_EPOCH)
}

fn request(method: &Method, path: &str, headers: &[(http::HeaderName, &str)]) -> Option<Response> {
    let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
    let info = RequestInfo::new(method, &path.parse().unwrap());
    openapi().answer(method, &info, &headers.collect(), Timestamp::UNIX_EPOCH)
}

fn ask(path: &str, headers: &[(http::HeaderName, &str)]) -> Option<Response> {
    request(&Method::GET, path, headers)
}

fn get(path: &str) -> Value {
    let response = ask(path, &[]).unwrap();
    assert_eq!(response.status(), 200, "{path}");
    serde_json::from_str(&sample::text(response)).unwrap()
}

/// Every operation of a document with its path and method.
fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if method != "parameters" {
                operations.push((path.clone(), method.clone(), operation));
            }
        }
    }
    operations
}

fn check_references(root: &Value, value: &Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref") {
                let pointer = reference.strip_prefix('#').unwrap();
                assert!(root.pointer(pointer).is_some(), "{reference}");
            }
            members.values().for_each(|value| check_references(root, value));
        }
        Value::Array(items) => items.iter().for_each(|item| check_references(root, item)),
        _ => {}
    }
}

const V3: &str = "/openapi/v3/apis/shop.example/v1";

#[test]
fn every_reference_resolves() {
    for path in [V3, "/openapi/v3/apis/shop.example", "/openapi/v2"] {
        let document = get(path);
        check_references(&document, &document);
    }
}

#[test]
fn every_operation_has_a_name_of_its_own_and_says_what_it_is_about() {
    for path in [V3, "/openapi/v2"] {
        let document = get(path);
        let mut ids = BTreeSet::new();
        for (path, method, operation) in operations(&document) {
            assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{path}");
            assert!(!operation["description"].as_str().unwrap().is_empty());
            if path.ends_with('/') {
                continue;
            }
            let kind = &operation["x-kubernetes-group-version-kind"];
            assert_eq!(kind["group"], "shop.example", "{method} {path}");
            assert!(kind["kind"].is_string() && operation["x-kubernetes-action"].is_string());
        }
    }
}

#[test]
fn there_is_an_operation_for_every_verb_and_for_nothing_else() {
    let expected: Vec<(&str, &str, &str)> = vec![
        ("/apis/shop.example/v1/", "get", "getShopExampleV1APIResources"),
        ("/apis/shop.example/v1/carts", "get", "listShopExampleV1CartForAllNamespaces"),
        ("/apis/shop.example/v1/invoices", "get", "listShopExampleV1InvoiceForAllNamespaces"),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/carts",
            "delete",
            "deleteShopExampleV1CollectionNamespacedCart",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/carts",
            "get",
            "listShopExampleV1NamespacedCart",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/carts",
            "post",
            "createShopExampleV1NamespacedCart",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/carts/{name}",
            "delete",
            "deleteShopExampleV1NamespacedCart",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/carts/{name}",
            "get",
            "readShopExampleV1NamespacedCart",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/carts/{name}",
            "patch",
            "patchShopExampleV1NamespacedCart",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/carts/{name}",
            "put",
            "replaceShopExampleV1NamespacedCart",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/carts/{name}/checkout",
            "post",
            "createShopExampleV1NamespacedCartCheckout",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/carts/{name}/receipt",
            "get",
            "readShopExampleV1NamespacedCartReceipt",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/carts/{name}/status",
            "get",
            "readShopExampleV1NamespacedCartStatus",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/carts/{name}/status",
            "patch",
            "patchShopExampleV1NamespacedCartStatus",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/carts/{name}/status",
            "put",
            "replaceShopExampleV1NamespacedCartStatus",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/invoices",
            "delete",
            "deleteShopExampleV1CollectionNamespacedInvoice",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/invoices",
            "get",
            "listShopExampleV1NamespacedInvoice",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/invoices/{name}",
            "delete",
            "deleteShopExampleV1NamespacedInvoice",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/invoices/{name}",
            "get",
            "readShopExampleV1NamespacedInvoice",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/quotes",
            "post",
            "createShopExampleV1NamespacedQuote",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/totals",
            "get",
            "listShopExampleV1NamespacedTotal",
        ),
        (
            "/apis/shop.example/v1/namespaces/{namespace}/totals/{name}",
            "get",
            "readShopExampleV1NamespacedTotal",
        ),
        ("/apis/shop.example/v1/shops", "delete", "deleteShopExampleV1CollectionShop"),
        ("/apis/shop.example/v1/shops", "get", "listShopExampleV1Shop"),
        ("/apis/shop.example/v1/shops", "post", "createShopExampleV1Shop"),
        ("/apis/shop.example/v1/shops/{name}", "delete", "deleteShopExampleV1Shop"),
        ("/apis/shop.example/v1/shops/{name}", "get", "readShopExampleV1Shop"),
        ("/apis/shop.example/v1/shops/{name}", "patch", "patchShopExampleV1Shop"),
        ("/apis/shop.example/v1/shops/{name}", "put", "replaceShopExampleV1Shop"),
        ("/apis/shop.example/v1/totals", "get", "listShopExampleV1TotalForAllNamespaces"),
    ];
    let document = get(V3);
    let operations = operations(&document);
    let found: Vec<_> = operations
        .iter()
        .map(|(path, method, operation)| {
            (path.as_str(), method.as_str(), operation["operationId"].as_str().unwrap())
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn kubectl_finds_field_validation_and_the_patches_that_are_served() {
    let document = get(V3);
    for (path, _, patch) in
        operations(&document).into_iter().filter(|(_, method, _)| method == "patch")
    {
        let parameters = patch["parameters"].as_array().unwrap();
        assert!(
            parameters.iter().any(|one| one["name"] == "fieldValidation" && one["in"] == "query"),
            "{path}"
        );
        let types: Vec<&String> =
            patch["requestBody"]["content"].as_object().unwrap().keys().collect();
        assert_eq!(types, ["application/json-patch+json", "application/merge-patch+json"]);
    }
    let kinds = &document["components"]["schemas"]["example.shop.v1.Cart"]["x-kubernetes-group-version-kind"];
    assert_eq!(kinds, &json!([{"group": "shop.example", "kind": "Cart", "version": "v1"}]));
}

#[test]
fn the_second_version_has_the_same_operations() {
    let ids = |document: &Value, below: &str| -> BTreeSet<String> {
        operations(document)
            .into_iter()
            .filter(|(path, ..)| path.starts_with(below))
            .map(|(_, _, operation)| operation["operationId"].as_str().unwrap().to_owned())
            .collect()
    };
    let below = "/apis/shop.example/v1/";
    assert_eq!(ids(&get("/openapi/v2"), below), ids(&get(V3), below));
    assert_eq!(get("/openapi/v2")["swagger"], "2.0");
}

#[test]
fn the_index_leads_to_documents_that_may_be_kept() {
    let index = ask("/openapi/v3", &[]).unwrap();
    assert_eq!(index.headers()[CONTENT_TYPE], "text/plain; charset=utf-8");
    assert_eq!(index.headers()[LAST_MODIFIED], "Thu, 01 Jan 1970 00:00:00 GMT");
    let index: Value = serde_json::from_str(&sample::text(index)).unwrap();
    let keys: Vec<&String> = index["paths"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["apis/shop.example", "apis/shop.example/v1"]);
    let url = index["paths"]["apis/shop.example/v1"]["serverRelativeURL"].as_str().unwrap();
    let kept = ask(url, &[]).unwrap();
    assert_eq!(
        (kept.status().as_u16(), &kept.headers()[CACHE_CONTROL]),
        (200, &HeaderValue::from_static("public, immutable"))
    );
    assert_eq!(kept.headers()[EXPIRES], "Fri, 01 Jan 1971 00:00:00 GMT");

    let moved = ask(&format!("{V3}?hash=ABC"), &[]).unwrap();
    assert_eq!((moved.status().as_u16(), moved.headers()[LOCATION].to_str().unwrap()), (301, url));
    assert!(!moved.headers().contains_key(CACHE_CONTROL));
    let tag = moved.headers()[ETAG].to_str().unwrap();
    assert_eq!(ask(V3, &[(IF_NONE_MATCH, tag)]).unwrap().status(), 304);
}

#[test]
fn what_is_no_document_is_refused_without_words() {
    let status = |path, accept| {
        ask(path, &[(ACCEPT, accept)])
            .map(|answer| (answer.status().as_u16(), sample::text(answer)))
    };
    assert_eq!(status("/openapi/v3/apis/nope/v1", "*/*"), Some((404, String::new())));
    assert_eq!(status(V3, "application/yaml"), Some((406, String::new())));
    assert_eq!(status("/openapi/v2", "text/html"), Some((406, String::new())));
    assert_eq!(status("/openapi/v2", "text/html,application/*").map(|(code, _)| code), Some(200));
    assert_eq!(status("/openapi/v1", "*/*"), None);
    assert_eq!(status("/swagger.json", "*/*"), None);
    assert_eq!(request(&Method::POST, V3, &[]).unwrap().status(), 405);
}

#[test]
fn version_2_is_in_protobuf_for_whoever_prefers_it() {
    let media = |path, accept: &str| {
        let answer = ask(path, &[(ACCEPT, accept)]).unwrap();
        answer.headers().get(CONTENT_TYPE).map(|value| value.to_str().unwrap().to_owned())
    };
    let both = format!("{PROTOBUF_ASKED},application/json");
    assert_eq!(media("/openapi/v2", PROTOBUF_ASKED).as_deref(), Some(PROTOBUF));
    assert_eq!(media("/openapi/v2", &both).as_deref(), Some(PROTOBUF));
    assert_eq!(media("/openapi/v2", &format!("*/*,{PROTOBUF}")).as_deref(), Some(JSON));
    assert_eq!(media(V3, PROTOBUF_ASKED), None, "version 3 has other messages");
}

/// What the documents look like as a whole. `FORMWORK_UPDATE_GOLDEN=1` writes them anew.
#[test]
fn the_documents_are_the_golden_ones() {
    for (name, path) in [("v2", "/openapi/v2"), ("v3", V3)] {
        let document = serde_json::to_string_pretty(&get(path)).unwrap() + "\n";
        let file = format!("{}/src/openapi/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("FORMWORK_UPDATE_GOLDEN").is_some() {
            std::fs::write(&file, &document).unwrap();
        }
        let golden = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(document == golden, "{name} differs from {file}");
    }
}
