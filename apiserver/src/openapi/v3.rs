//! OpenAPI 3.0.

use serde_json::{Value, json};

use super::operation::{Api, Body, Content, Operation};
use super::parameter::{PRETTY, Parameter};

/// The document of an API.
pub(super) fn document(info: &Value, api: &Api) -> Value {
    json!({
        "openapi": "3.0.0",
        "info": info,
        "paths": super::paths(api, item, describe),
        "components": {
            "schemas": schema::openapi::schemas_v3(&api.schemas),
            "securitySchemes": { "BearerToken": {
                "type": "apiKey", "name": "authorization", "in": "header",
                "description": "Bearer token",
            } },
        },
    })
}

/// A path and what all of its operations take.
fn item(operation: &Operation) -> Value {
    let Some(_) = operation.about else { return json!({}) };
    let mut parameters: Vec<Value> = super::path_parameters(&operation.path)
        .map(|(name, description)| {
            json!({
                "name": name, "in": "path", "required": true, "description": description,
                "schema": { "type": "string", "uniqueItems": true },
            })
        })
        .collect();
    parameters.push(query(&PRETTY));
    json!({ "parameters": parameters })
}

fn describe(operation: &Operation) -> Value {
    let mut out = json!({
        "description": operation.description,
        "operationId": operation.id,
        "tags": [operation.tag],
        "responses": {
            operation.success.code(): {
                "description": operation.success.words(),
                "content": content(&operation.answer, operation.produces),
            },
            "401": { "description": "Unauthorized" },
        },
    });
    if !operation.parameters.is_empty() {
        out["parameters"] = operation.parameters.iter().map(query).collect();
    }
    if let Some(Body { content: body, media, required }) = &operation.body {
        out["requestBody"] = json!({ "content": content(body, media) });
        if *required {
            out["requestBody"]["required"] = json!(true);
        }
    }
    super::extend(&mut out, operation);
    out
}

fn query(parameter: &Parameter) -> Value {
    let Parameter { name, kind, description } = parameter;
    json!({
        "name": name, "in": "query", "description": description,
        "schema": { "type": kind, "uniqueItems": true },
    })
}

fn content(content: &Content, media: &[&str]) -> Value {
    let schema = match content {
        Content::Defined(name) => json!({ "$ref": format!("#/components/schemas/{name}") }),
        Content::Object => json!({ "type": "object" }),
    };
    media.iter().map(|media| ((*media).to_owned(), json!({ "schema": schema }))).collect()
}
