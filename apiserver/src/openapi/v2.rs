//! OpenAPI 2.0, alias Swagger.

use serde_json::{Value, json};

use super::operation::{Api, Body, Content, MEDIA, Operation};
use super::parameter::{PRETTY, Parameter};

/// The document of all APIs.
pub(super) fn document(info: &Value, api: &Api) -> Value {
    json!({
        "swagger": "2.0",
        "info": info,
        "paths": super::paths(api, item, describe),
        "definitions": schema::openapi::definitions_v2(&api.schemas),
        "securityDefinitions": { "BearerToken": {
            "type": "apiKey", "name": "authorization", "in": "header",
            "description": "Bearer token",
        } },
        "security": [{ "BearerToken": [] }],
    })
}

/// A path and what all of its operations take.
fn item(operation: &Operation) -> Value {
    let Some(_) = operation.about else { return json!({}) };
    let mut parameters: Vec<Value> = super::path_parameters(&operation.path)
        .map(|(name, description)| {
            json!({
                "name": name, "in": "path", "required": true, "description": description,
                "type": "string", "uniqueItems": true,
            })
        })
        .collect();
    parameters.push(query(&PRETTY));
    json!({ "parameters": parameters })
}

fn describe(operation: &Operation) -> Value {
    let consumes = operation.body.as_ref().map_or(MEDIA, |body| body.media);
    let mut out = json!({
        "description": operation.description,
        "operationId": operation.id,
        "tags": [operation.tag],
        "schemes": ["https"],
        "consumes": consumes,
        "produces": operation.produces,
        "responses": {
            operation.success.code(): {
                "description": operation.success.words(),
                "schema": reference(&operation.answer),
            },
            "401": { "description": "Unauthorized" },
        },
    });
    let body = operation.body.as_ref().map(body);
    let parameters: Vec<Value> =
        body.into_iter().chain(operation.parameters.iter().map(query)).collect();
    if !parameters.is_empty() {
        out["parameters"] = parameters.into();
    }
    super::extend(&mut out, operation);
    out
}

fn body(body: &Body) -> Value {
    let mut out = json!({ "name": "body", "in": "body", "schema": reference(&body.content) });
    if body.required {
        out["required"] = json!(true);
    }
    out
}

fn query(parameter: &Parameter) -> Value {
    let Parameter { name, kind, description } = parameter;
    json!({ "name": name, "in": "query", "description": description, "type": kind, "uniqueItems": true })
}

fn reference(content: &Content) -> Value {
    match content {
        Content::Defined(name) => json!({ "$ref": format!("#/definitions/{name}") }),
        Content::Object => json!({ "type": "object" }),
    }
}
