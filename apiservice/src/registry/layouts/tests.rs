use std::sync::Arc;

use apiserver::authn::User;
use apiserver::environment::System;
use apiserver::meta::OwnerReference;
use apiserver::options::Wanted;
use apiserver::resource::{Compute, Context, Resource, Serves};
use apiserver::storage::memory::Memory;
use apiserver::storage::{Cache, Expect, Key, cache};
use apiserver::store::Store;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;

/// A store with Deployments and Manifests as the server would have written them.
pub(in crate::registry) struct Shelf(Store);

impl Shelf {
    pub(in crate::registry) async fn new() -> Self {
        let cache = Cache::start(Arc::new(Memory::new()), cache::Options::default()).await;
        Self(Store::new(Arc::new(cache.unwrap()), Arc::new(System)))
    }

    async fn put(&self, definition: &Definition, meta: ObjectMeta, fields: &str) {
        let key = format!("{}{}/{}", definition.key_prefix(), meta.namespace, meta.name);
        let value = Object { meta, fields: Fields::new(fields.to_owned()) }.to_stored();
        let cache = self.0.cache();
        cache.put(&Key::new(key).unwrap(), value.into(), Expect::Absent).await.unwrap();
    }

    /// A Deployment `namespace/name` with this status.
    pub(in crate::registry) async fn deployment(&self, at: &str, status: Value) {
        let (namespace, name) = at.split_once('/').unwrap();
        let uid = format!("uid of {at}");
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        let meta = ObjectMeta { namespace, name, uid, ..ObjectMeta::default() };
        self.put(&kinds::deployment(), meta, &format!(r#""spec":{{}},"status":{status}"#)).await;
    }

    /// A Manifest of the Deployment `of`.
    pub(in crate::registry) async fn manifest(&self, of: &str, name: &str, members: Value) {
        let namespace = of.split_once('/').unwrap().0.to_owned();
        let uid = format!("uid of {of}");
        let owner_references = vec![OwnerReference { uid, ..OwnerReference::default() }];
        let name = name.to_owned();
        let meta = ObjectMeta { namespace, name, owner_references, ..ObjectMeta::default() };
        let text = members.to_string();
        self.put(&kinds::manifest(), meta, &text[1..text.len() - 1]).await;
    }

    /// What a computed resource lists: names, and everything but metadata.
    pub(in crate::registry) async fn list(
        &self,
        resource: &Resource,
        namespace: &str,
    ) -> Vec<(String, Value)> {
        let view = self.0.view(Wanted::Newest).await.unwrap();
        let user = User::default();
        let cx = Context::of(&user, namespace, "", Timestamp::UNIX_EPOCH);
        let Serves::Computed(compute) = &resource.serves else { panic!("it is computed") };
        let objects = Compute::list(&**compute, &cx, &view, namespace).unwrap();
        let columns = compute.columns().len();
        objects
            .into_iter()
            .map(|object| {
                assert_eq!(compute.cells(&object).len(), columns);
                let fields = serde_json::from_str(&object.fields.to_json()).unwrap();
                (object.meta.name, fields)
            })
            .collect()
    }
}

/// A node of a layout.
pub(in crate::registry) fn node(name: &str, kind: &str, below: &[Value]) -> Value {
    match below {
        [] => json!({ "name": name, "type": kind }),
        below => json!({ "name": name, "type": kind, "properties": {}, "resources": below }),
    }
}

fn names(layouts: &[Layout]) -> Vec<String> {
    layouts.iter().map(|layout| format!("{} {}", layout.deployment, layout.manifest())).collect()
}

#[tokio::test]
async fn the_current_manifest_is_what_was_last_applied_in_full_or_else_what_is_being_applied() {
    let shelf = Shelf::new().await;
    for at in ["demo/both", "demo/first", "demo/none", "demo/lost", "other/far"] {
        let (_, name) = at.split_once('/').unwrap();
        for number in [1, 2] {
            shelf.manifest(at, &format!("{name}-{number}"), json!({})).await;
        }
    }
    shelf.deployment("demo/both", json!({ "deployed": "both-1", "manifest": "both-2" })).await;
    shelf.deployment("demo/first", json!({ "manifest": "first-1" })).await;
    shelf.deployment("demo/none", json!({})).await;
    shelf.deployment("demo/lost", json!({ "deployed": "lost-7" })).await;
    shelf.deployment("demo/stranger", json!({ "deployed": "both-1" })).await;
    shelf.deployment("other/far", json!({ "deployed": "far-2" })).await;
    let view = shelf.0.view(Wanted::Newest).await.unwrap();
    let layouts = Layouts::new();
    let demo = layouts.current(&view, "demo").unwrap();
    assert_eq!(names(&demo), ["both both-1", "first first-1"]);
    let all = layouts.current(&view, "").unwrap();
    assert_eq!(names(&all), ["both both-1", "first first-1", "far far-2"]);
}

#[tokio::test]
async fn a_deployment_that_cannot_be_read_hides_no_other() {
    let shelf = Shelf::new().await;
    for at in ["demo/a", "demo/b", "demo/c"] {
        let (_, name) = at.split_once('/').unwrap();
        shelf.deployment(at, json!({ "deployed": format!("{name}-1") })).await;
    }
    shelf.deployment("demo/odd", json!([])).await;
    let layout = |layout: Value| json!({ "layout": layout });
    shelf.manifest("demo/a", "a-1", layout(json!({ "resources": 1 }))).await;
    shelf.manifest("demo/b", "b-1", layout(json!({ "resources": [node("x", "X", &[])] }))).await;
    shelf.manifest("demo/c", "c-1", json!({})).await;
    let view = shelf.0.view(Wanted::Newest).await.unwrap();
    let layouts = Layouts::new().current(&view, "demo").unwrap();
    let nodes: Vec<_> = layouts.iter().map(|layout| layout.nodes().len()).collect();
    assert_eq!(nodes, [0, 1, 0]);
}

#[test]
fn resources_are_found_on_all_levels_in_the_order_of_the_document() {
    let below = [node("b", "b.py", &[node("c", "C", &[])]), node("d", "D", &[])];
    let top = [node("a", "a.py", &below), node("\u{e9}\"", "E", &[])];
    let text = json!({ "resources": top, "outputs": [{ "name": "o", "value": 1 }] }).to_string();
    let found: Vec<_> =
        nodes(&text).unwrap().into_iter().map(|it| format!("{:?} {}", it.place, it.name)).collect();
    assert_eq!(found, ["[0] a", "[0, 0] b", "[0, 0, 0] c", "[0, 1] d", "[1] \u{e9}\""]);
}

#[test]
fn no_depth_is_too_deep() {
    let deep = 400;
    let open = r#"{"name":"a","type":"t","resources":["#.repeat(deep);
    let text = format!("{{\"resources\":[{open}{}]}}", "]}".repeat(deep));
    assert_eq!(nodes(&text).unwrap().last().unwrap().place.len(), deep);
}
