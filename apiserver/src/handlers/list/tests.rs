//! Fields of a kind of one's own as selectors of stored objects.

use std::time::Duration;

use http::{Method, Request};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::api::Api;
use crate::authn::User;
use crate::chain::Dispatch as _;
use crate::limits::Body;
use crate::openapi::Info;
use crate::request::RequestInfo;
use crate::resource::{Resource, Serves};
use crate::sample;

const SOON: Duration = Duration::from_secs(10);
const CARTS: &str = "namespaces/n/carts";

/// A shop whose carts are told apart by their owners: two are Ann's, one is Bob's, one nobody's.
async fn shop() -> Api {
    let carts = Resource::new(sample::cart(), Serves::Stored(Box::new(sample::Anything)))
        .with_status()
        .selectable_by(&["spec.owner.name", "status.phase"]);
    let api = Api::new(sample::group(vec![carts]), sample::store().await, &Info::new("Shop", "v1"));
    for (name, owner) in [("a1", "ann"), ("a2", "ann"), ("b", "bob"), ("c", "")] {
        let cart = json!({ "metadata": { "name": name }, "spec": { "owner": { "name": owner } } });
        assert_eq!(sample::ask(&api, "POST", CARTS, cart).await.0, 201);
    }
    api
}

async fn names(api: &Api, selector: &str) -> Vec<String> {
    let path = format!("{CARTS}?fieldSelector={selector}");
    let (code, list) = sample::ask(api, "GET", &path, Value::Null).await;
    assert_eq!(code, 200, "{list}");
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn stored_objects_are_listed_by_fields_of_their_kind() {
    let api = shop().await;
    assert_eq!(names(&api, "spec.owner.name=ann").await, ["a1", "a2"]);
    assert_eq!(names(&api, "spec.owner.name!=ann").await, ["b", "c"]);
    assert_eq!(names(&api, "spec.owner.name=ann,metadata.name!=a1").await, ["a2"]);
    assert_eq!(names(&api, "spec.owner.name=").await, ["c"]);
    assert_eq!(names(&api, "status.phase=").await.len(), 4, "an absent field is empty");
}

#[tokio::test]
async fn a_collection_is_deleted_by_fields_of_its_kind() {
    let api = shop().await;
    let path = format!("{CARTS}?fieldSelector=spec.owner.name=ann");
    assert_eq!(sample::ask(&api, "DELETE", &path, Value::Null).await.0, 200);
    assert_eq!(names(&api, "").await, ["b", "c"]);
}

#[tokio::test]
async fn a_watch_follows_objects_into_its_selection_and_out_of_it() {
    let api = shop().await;
    let uri = "/apis/shop.example/v1/carts?watch=1&fieldSelector=spec.owner.name=bob";
    let request = Request::get(uri).body(Body::from(String::new())).unwrap();
    let info = RequestInfo::new(&Method::GET, request.uri());
    let user = User::authenticated("eve", vec![]);
    let mut events = api.handle(request, info.into(), user.into()).await.unwrap().into_body();
    let mut next = async || {
        let piece = timeout(SOON, events.frame()).await.expect("an event was not told");
        let piece = piece.unwrap().unwrap().into_data().unwrap();
        let event: Value = serde_json::from_slice(&piece).unwrap();
        (event["type"].clone(), event["object"]["metadata"]["name"].clone())
    };
    assert_eq!(next().await, (json!("ADDED"), json!("b")));
    for (name, owner, told) in [("c", "bob", "ADDED"), ("b", "ann", "DELETED")] {
        let patch = json!({ "spec": { "owner": { "name": owner } } });
        assert_eq!(sample::ask(&api, "PATCH", &format!("{CARTS}/{name}"), patch).await.0, 200);
        assert_eq!(next().await, (json!(told), json!(name)));
    }
}

#[test]
#[should_panic(expected = "no field of Cart")]
fn only_fields_of_the_kind_can_be_selected_by() {
    let carts = Serves::Stored(Box::new(sample::Anything));
    let _ = Resource::new(sample::cart(), carts).selectable_by(&["spec.owner", "owner"]);
}
