//! `typeinstances`: every resource of every Deployment, on all levels of its layout, with its type.

use std::fmt::Write as _;

use apiserver::object::Object;
use apiserver::resource::{Cell, Column, Compute, Context, Resource, Serves};
use apiserver::status::Error;
use apiserver::store::View;
use serde::Serialize;

use super::kinds;
use super::layouts::{Layout, Layouts, Node, object};

struct TypeInstances(Layouts);

/// The resource.
pub fn resource() -> Resource {
    let serves = Serves::Computed(Box::new(TypeInstances(Layouts::new())));
    Resource::new(kinds::type_instance(), serves).selectable_by(&["type", "deployment", "manifest"])
}

const COLUMNS: [Column; 3] = [
    Column::text("Type", "The type of the resource."),
    Column::text("Deployment", "The Deployment that it is of."),
    Column::text("Path", "Where it stands in the layout."),
];

#[derive(Serialize)]
struct TypeInstance<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    resource: &'a str,
    deployment: &'a str,
    manifest: &'a str,
    path: String,
}

impl Compute for TypeInstances {
    fn list(&self, _: &Context<'_>, view: &View, namespace: &str) -> Result<Vec<Object>, Error> {
        let mut instances = Vec::new();
        for layout in self.0.current(view, namespace)? {
            for node in layout.nodes() {
                instances.push(instance(&layout, &node)?);
            }
        }
        Ok(instances)
    }

    fn columns(&self) -> &'static [Column] {
        &COLUMNS
    }

    fn cells(&self, object: &Object) -> Vec<Cell> {
        ["type", "deployment", "path"].map(|field| object.fields.scalar(field).into()).into()
    }
}

/// The instance is called `DEPLOYMENT:0.1`. No Deployment has a colon in its name, so that no two
/// instances are called the same.
fn instance(layout: &Layout, node: &Node<'_>) -> Result<Object, Error> {
    let places: Vec<_> = node.place.iter().map(usize::to_string).collect();
    let name = format!("{}:{}", layout.deployment, places.join("."));
    let mut path = "$".to_owned();
    for place in &places {
        // Writing to a String cannot fail.
        let _ = write!(path, ".resources[{place}]");
    }
    let members = TypeInstance {
        kind: &node.kind,
        resource: &node.name,
        deployment: &layout.deployment,
        manifest: layout.manifest(),
        path,
    };
    object(layout.metadata(name), &members)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::layouts::tests::{Shelf, node};
    use super::*;

    #[tokio::test]
    async fn every_resource_on_every_level_is_an_instance_of_its_type() {
        let shelf = Shelf::new().await;
        let inner = node("inner", "inner.jinja", &[node("pod", "Pod", &[])]);
        let top = [node("alone", "Pod", &[]), node("outer", "outer.py", &[inner])];
        for (at, manifest) in [("demo/web", "web-3"), ("demo/web.1", "web.1-1")] {
            shelf.deployment(at, json!({ "deployed": manifest })).await;
            shelf.manifest(at, manifest, json!({ "layout": { "resources": top } })).await;
        }
        let instances = shelf.list(&resource(), "demo").await;
        let names: Vec<_> = instances.iter().map(|(name, _)| name.as_str()).collect();
        let want = ["web:0", "web:1", "web:1.0", "web:1.0.0"];
        assert_eq!(names[..4], want);
        assert_eq!(names[4..], want.map(|name| name.replacen("web", "web.1", 1)));
        let want = json!({
            "type": "Pod", "resource": "pod", "deployment": "web", "manifest": "web-3",
            "path": "$.resources[1].resources[0].resources[0]",
        });
        assert_eq!(instances[3].1, want);
    }
}
