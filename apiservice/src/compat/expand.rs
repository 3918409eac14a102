//! The manager's `POST /expand`: a Template in, in JSON or YAML and under any media type; a Manifest out.

use apiserver::limits::{Limits, heavy};
use axum::body::Body;
use axum::response::Response;
use expander::Registries;
use expansion::{Expanded, Map, Value};
use http::StatusCode;
use serde::Serialize;

use super::actor::Actor;
use super::answer::{Fault, JSON, answer};
use super::library::Library;
use super::template::{Failed, Template, read, whole};
use crate::engine::Engine;

/// Answers 201, or 400 with the reason in front of the configuration. Registries are those of `actor`, if there is one.
pub(super) async fn expand(
    engine: &Engine,
    actor: Option<&Actor>,
    body: Body,
) -> Result<Response, Fault> {
    let body = whole(body, Limits::default().body).await?;
    // It answered 200 and nothing.
    let template: Template = read(&body).map_err(Fault::bad)?;
    let library = actor.map(Library::new);
    let registries = library.as_ref().map(|library| library as &dyn Registries);
    let done = template.expand(engine, registries).await.map_err(|failed| match failed {
        Failed::Template(why) => template.unexpandable(&why),
        Failed::Request(error) => error.into(),
    })?;
    let manifest = heavy(done.size(), move || manifest(&done.expanded)).await?;
    Ok(answer(StatusCode::CREATED, JSON, manifest))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest<'a> {
    expanded_config: List<'a>,
    layout: List<'a>,
}

#[derive(Serialize)]
struct List<'a> {
    resources: Vec<Resource<'a>>,
}

/// What the manager knows of a resource; the rest it forgot, and its clients do not know it either.
#[derive(Serialize)]
struct Resource<'a> {
    name: &'a Value,
    r#type: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<&'a Map>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resources: Vec<Resource<'a>>,
}

fn manifest(expanded: &Expanded) -> String {
    let list = |values| List { resources: resources(values) };
    let manifest =
        Manifest { expanded_config: list(&expanded.resources), layout: list(&expanded.layout) };
    serde_json::to_string(&manifest).expect("values are JSON")
}

fn resources(values: &[Value]) -> Vec<Resource<'_>> {
    let resource = |value| Resource {
        name: member(value, "name"),
        r#type: member(value, "type"),
        // Go leaves out what is empty.
        properties: member(value, "properties").as_map().filter(|map| !map.is_empty()),
        resources: resources(member(value, "resources").as_list().unwrap_or_default()),
    };
    values.iter().map(resource).collect()
}

fn member<'a>(value: &'a Value, name: &str) -> &'a Value {
    value.get(name).unwrap_or(&Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_has_what_the_manager_knows_of_resources() {
        let values = |json: &str| match Value::from_json(json).unwrap() {
            Value::List(list) => list,
            other => panic!("{other:?}"),
        };
        let expanded = Expanded {
            resources: values(
                r#"[{"type":"T","name":"a","properties":{"n":1},"metadata":{}},{"name":"b","type":"T","properties":{}}]"#,
            ),
            layout: values(
                r#"[{"name":"x","type":"x.py","resources":[{"name":"a","type":"T"}],"outputs":[]}]"#,
            ),
            ..Expanded::default()
        };
        let want = r#"{"expandedConfig":{"resources":[{"name":"a","type":"T","properties":{"n":1}},{"name":"b","type":"T"}]},"layout":{"resources":[{"name":"x","type":"x.py","resources":[{"name":"a","type":"T"}]}]}}"#;
        assert_eq!(manifest(&expanded), want);
    }
}
