use serde_json::{Value, json};

use super::super::layouts::tests::{Shelf, node};
use super::*;

/// Two Deployments that share a template, and a third elsewhere.
async fn shelf() -> Shelf {
    let shelf = Shelf::new().await;
    let pods = [node("one", "Pod", &[]), node("two", "Pod", &[])];
    for (at, schema) in [("demo/a", None), ("demo/b", Some("S")), ("demo/c", Some("T"))] {
        let name = format!("{}-1", at.split_once('/').unwrap().1);
        shelf.deployment(at, json!({ "deployed": name })).await;
        let file = |path: &str, content: &str| json!({ "path": path, "content": content });
        let mut imports = vec![file("lib/t.py", "")];
        imports.extend(schema.map(|schema| file("lib/t.py.schema", schema)));
        let resources = [node("t", "t.py", &pods), node("empty", "e.jinja", &[])];
        let primitive = |name: &str| json!({ "name": name, "type": "Pod", "properties": {} });
        let manifest = json!({
            "inputConfig": { "name": "c", "content": "", "imports": imports },
            "layout": { "resources": resources },
            "expandedConfig": { "resources": [primitive("one"), primitive("two")] },
        });
        shelf.manifest(at, &name, manifest).await;
    }
    shelf
}

fn of<'a>(types: &'a [(String, Value)], name: &str) -> &'a Value {
    &types.iter().find(|(found, _)| found == name).unwrap().1
}

#[tokio::test]
async fn a_type_is_told_once_with_who_uses_it() {
    let types = shelf().await.list(&resource(), "demo").await;
    let names: Vec<_> = types.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Pod", "e.jinja", "t.py"]);
    let want = json!({
        "type": "Pod", "template": false, "instances": 6, "deployments": ["a", "b", "c"],
    });
    assert_eq!(of(&types, "Pod"), &want);
}

#[tokio::test]
async fn a_template_is_one_even_if_it_gave_nothing_and_has_the_first_schema_that_there_is() {
    let types = shelf().await.list(&resource(), "demo").await;
    let want = json!({
        "type": "t.py", "template": true, "instances": 3, "deployments": ["a", "b", "c"],
        "schema": "S",
    });
    assert_eq!(of(&types, "t.py"), &want);
    assert_eq!(of(&types, "e.jinja")["template"], true);
    assert_eq!(of(&types, "e.jinja").get("schema"), None);
}

#[tokio::test]
async fn namespaces_have_types_of_their_own() {
    let shelf = shelf().await;
    shelf.deployment("other/d", json!({ "deployed": "d-1" })).await;
    let layout = json!({ "layout": { "resources": [node("p", "Pod", &[])] } });
    shelf.manifest("other/d", "d-1", layout).await;
    let of_all = shelf.list(&resource(), "").await;
    let pods: Vec<_> =
        of_all.iter().filter(|(name, _)| name == "Pod").map(|(_, it)| &it["instances"]).collect();
    assert_eq!(pods, [6, 1]);
}

#[test]
fn a_type_has_a_name_that_stands_in_a_url_and_others_have_others() {
    for kind in ["Pod", "t.py", "web:v1.2", "a_b-c", "user@host"] {
        assert_eq!(segment(kind), kind);
    }
    for (kind, shown) in [
        ("github.com/o/r/c/t:v1", "github.com-o-r-c-t:v1-"),
        ("https://h/t.py?x=%41", "https:--h-t.py-x--41-"),
        ("..", "..-"),
        ("", "-"),
        ("a b\n\u{e9}", "a-b---"),
    ] {
        let name = segment(kind);
        let hash = name.strip_prefix(shown).unwrap_or_else(|| panic!("{kind}: {name}"));
        assert!(hash.len() == 8 && apiserver::names::path_segment(&name).is_empty(), "{name}");
    }
    assert_ne!(segment("a/b"), segment("a%b"));
    let long = "x".repeat(5000);
    assert!(segment(&long).len() < 200 && segment(&long) != segment(&long[1..]));
}
