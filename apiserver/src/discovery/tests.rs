use http::header::{ACCEPT, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use serde_json::{Value, json};

use super::*;
use crate::sample;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

fn ask(method: &Method, path: &str, headers: &[(http::HeaderName, &str)]) -> Option<Response> {
    let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
    let info = RequestInfo::new(method, &path.parse().unwrap());
    Discovery::new(&sample::groups()).answer(method, &info, &headers.collect())
}

fn read(response: Response) -> Value {
    serde_json::from_str(&sample::text(response)).unwrap()
}

fn get(path: &str) -> Value {
    let response = ask(&Method::GET, path, &[]).unwrap();
    assert_eq!(response.status(), 200);
    read(response)
}

#[test]
fn a_version_lists_its_resources_and_subresources_with_the_verbs_that_work() {
    let all = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
    let kept = ["delete", "deletecollection", "get", "list", "watch"];
    let expected = json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "shop.example/v1",
        "resources": [
            {"name": "carts", "singularName": "cart", "namespaced": true, "kind": "Cart", "verbs": all,
             "shortNames": ["ct"], "categories": ["all"], "storageVersionHash": storage_version_hash(&sample::cart())},
            {"name": "carts/checkout", "singularName": "", "namespaced": true, "kind": "Payment", "verbs": ["create"]},
            {"name": "carts/receipt", "singularName": "", "namespaced": true, "kind": "Receipt", "verbs": ["get"]},
            {"name": "carts/status", "singularName": "", "namespaced": true, "kind": "Cart", "verbs": ["get", "patch", "update"]},
            {"name": "invoices", "singularName": "invoice", "namespaced": true, "kind": "Invoice", "verbs": kept,
             "storageVersionHash": storage_version_hash(&sample::invoice())},
            {"name": "quotes", "singularName": "quote", "namespaced": true, "kind": "Quote", "verbs": ["create"]},
            {"name": "shops", "singularName": "shop", "namespaced": false, "kind": "Shop", "verbs": all,
             "storageVersionHash": storage_version_hash(&sample::shop())},
            {"name": "totals", "singularName": "total", "namespaced": true, "kind": "Total", "verbs": ["get", "list"]},
        ],
    });
    assert_eq!(get("/apis/shop.example/v1"), expected);
    assert_eq!(get("/apis/shop.example/v1/"), expected);
}

#[test]
fn the_storage_version_hash_is_upstreams() {
    let hash = |group, version, kind| {
        storage_version_hash(&Definition { group, version, kind, ..sample::cart() })
    };
    assert_eq!(hash("apps", "v1", "Deployment"), "8aSe+NMegvE=");
    assert_eq!(hash("", "v1", "Pod"), "xPOwRZ+Yhw8=");
}

#[test]
fn groups_are_listed_with_the_preferred_version_first() {
    let version = json!({"groupVersion": "shop.example/v1", "version": "v1"});
    let group = json!({"name": "shop.example", "versions": [version], "preferredVersion": version});
    let list = get("/apis");
    assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("APIGroupList"), &json!("v1")));
    assert_eq!(list["groups"], json!([group]));
    let mut described = get("/apis/shop.example");
    assert_eq!(described["kind"], "APIGroup");
    described.as_object_mut().unwrap().retain(|key, _| key != "kind" && key != "apiVersion");
    assert_eq!(described, group);
}

#[test]
fn the_core_group_is_known_and_empty() {
    assert_eq!(get("/api")["versions"], json!([]));
    let response = ask(&Method::GET, "/api", &[(ACCEPT, AGGREGATED)]).unwrap();
    assert_eq!(read(response)["items"], json!([]));
}

#[test]
fn the_aggregated_form_tells_all_at_once() {
    let response = ask(&Method::GET, "/apis", &[(ACCEPT, AGGREGATED)]).unwrap();
    let headers = response.headers().clone();
    assert_eq!(headers[CONTENT_TYPE], AGGREGATED);
    assert_eq!(
        (&headers[CACHE_CONTROL], &headers[VARY]),
        (&"public".parse().unwrap(), &"Accept".parse().unwrap())
    );
    let list = read(response);
    assert_eq!(list["apiVersion"], "apidiscovery.k8s.io/v2");
    let resources = &list["items"][0]["versions"][0]["resources"];
    assert_eq!(resources[0]["resource"], "carts");
    assert_eq!(
        resources[0]["responseKind"],
        json!({"group": "shop.example", "version": "v1", "kind": "Cart"})
    );
    assert_eq!(
        resources[0]["subresources"],
        json!([{"subresource": "checkout", "verbs": ["create"],
                "responseKind": {"group": "shop.example", "version": "v1", "kind": "Payment"}},
               {"subresource": "receipt", "verbs": ["get"],
                "responseKind": {"group": "shop.example", "version": "v1", "kind": "Receipt"}},
               {"subresource": "status", "verbs": ["get", "patch", "update"],
                "responseKind": {"group": "shop.example", "version": "v1", "kind": "Cart"}}])
    );
    assert_eq!(
        (&resources[1]["scope"], &resources[3]["scope"]),
        (&json!("Namespaced"), &json!("Cluster"))
    );

    let tag = headers[ETAG].to_str().unwrap();
    let again = ask(&Method::GET, "/apis", &[(ACCEPT, AGGREGATED), (IF_NONE_MATCH, tag)]).unwrap();
    assert_eq!(again.status(), 304);
}

#[test]
fn what_is_not_served_is_told_apart() {
    let status = |method, path, accept| {
        ask(&method, path, &[(ACCEPT, accept)]).map(|response| response.status().as_u16())
    };
    assert_eq!(status(Method::GET, "/apis/shop.example/v2", "*/*"), Some(404));
    assert_eq!(status(Method::GET, "/apis/other.example", "*/*"), None);
    assert_eq!(status(Method::GET, "/apis/other.example/v1", "*/*"), None);
    assert_eq!(status(Method::GET, "/version", "*/*"), None);
    assert_eq!(status(Method::POST, "/apis/shop.example/v1", "*/*"), Some(405));
    assert_eq!(status(Method::HEAD, "/apis/shop.example/v1", "*/*"), Some(200));
    assert_eq!(status(Method::GET, "/apis/shop.example/v1", "text/html"), Some(406));
    assert_eq!(status(Method::GET, "/apis/shop.example/v1", AGGREGATED), Some(406));
}

#[test]
fn documents_come_as_yaml_too() {
    let response =
        ask(&Method::GET, "/apis/shop.example", &[(ACCEPT, "application/yaml")]).unwrap();
    assert_eq!(
        sample::text(response),
        "apiVersion: v1\nkind: APIGroup\nname: shop.example\npreferredVersion:\n  groupVersion: shop.example/v1\n  version: v1\nversions:\n- groupVersion: shop.example/v1\n  version: v1\n"
    );
}
