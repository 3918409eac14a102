//! The manager's `POST /expand`: a Template in, in JSON or YAML and under any media type; a Manifest out.

use apiserver::limits::heavy;
use apiserver::status::Reason;
use apiserver::yaml;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use expansion::{Expanded, Map, Value};
use http::StatusCode;
use serde::Serialize;

use super::{Failed, Template, answer, code, refusal, text, whole};
use crate::engine::Engine;

const JSON: &str = "application/json; charset=UTF-8";

/// Answers 201, or 400 with the reason in front of the configuration.
pub(super) async fn expand(State(engine): State<Engine>, body: Body) -> Response {
    let body = match whole(body).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    let template = match read(&body) {
        Ok(template) => template,
        // It answered 200 and nothing.
        Err(why) => return text(code(Reason::BadRequest), format!("{why}\n")),
    };
    match template.expand(&engine).await {
        Ok(done) => match heavy(done.size(), move || manifest(&done.expanded)).await {
            Ok(manifest) => answer(StatusCode::CREATED, JSON, manifest),
            Err(error) => refusal(&error),
        },
        Err(Failed::Template(why)) => {
            let Template { name, content, .. } = &template;
            let message = format!(
                "cannot expand template named {name} (template expansion: expandybird response:\n\
                 error expanding template: error expanding template {name}: {why}\n):\n{content}\n"
            );
            text(code(Reason::BadRequest), message)
        }
        Err(Failed::Request(error)) => refusal(&error),
    }
}

fn read(body: &[u8]) -> Result<Template, String> {
    if let Ok(template) = Template::from_json(body) {
        return Ok(template);
    }
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    let loaded = yaml::safe_load::<Value>(text).map_err(|error| error.to_string())?;
    Template::from_json(loaded.value.to_json().as_bytes())
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

    #[test]
    fn a_body_is_json_or_yaml_and_null_is_nothing() {
        for body in [r#"{"name":"n","content":"c","imports":null}"#, "name: n\ncontent: c\n"] {
            let template = read(body.as_bytes()).ok().unwrap();
            assert_eq!((&*template.name, &*template.content), ("n", "c"));
            assert!(template.imports.is_empty());
        }
        for body in ["{{{", "[]", r#"{"content":7}"#] {
            assert!(read(body.as_bytes()).is_err(), "{body}");
        }
    }
}
