//! OpenAPI 2.0 in protobuf, the only form in which kubectl reads it: without it, kubectl does not create what can only be
//! created, since it looks for a PATCH first and then asks for this document.
//!
//! The messages are gnostic's (`openapi.v2`): one for each kind of JSON object, which the tables below lay down by the
//! members that our documents have. JSON goes in, and what a table does not know is no part of our documents.

use serde_json::{Map, Value};

/// A message: its fields, and the number of the field for `x-` members, 0 if it has none.
struct Message {
    fields: &'static [Field],
    extensions: u32,
}

/// The member's name, the field's number, and what stands there.
struct Field(&'static str, u32, Form);

enum Form {
    Text,
    Flag,
    /// Texts; a single one counts as a list of one.
    Texts,
    /// Any JSON, as the text of YAML.
    Any,
    /// A list of those.
    Anys,
    /// A message, inside of messages that have nothing but it, at these numbers.
    One(&'static [u32], &'static Message),
    /// A map: a message with a list of pairs at that number; the values are in these wraps.
    Pairs(u32, &'static [u32], &'static Message),
    /// A schema, or whether anything is allowed.
    SchemaOrFlag,
    /// Parameters, of which each place has a message of its own.
    Parameters,
    /// Requirements: maps of names to texts.
    Requirements,
}

use Form::{Any, Anys, Flag, One, Pairs, Parameters, Requirements, SchemaOrFlag, Text, Texts};

static DOCUMENT: Message = Message {
    fields: &[
        Field("swagger", 1, Text),
        Field("info", 2, One(&[], &INFO)),
        Field("paths", 8, Pairs(2, &[], &PATH)),
        Field("definitions", 9, Pairs(1, &[], &SCHEMA)),
        Field("security", 12, Requirements),
        Field("securityDefinitions", 13, Pairs(1, &[2], &API_KEY)),
    ],
    extensions: 16,
};

static INFO: Message =
    Message { fields: &[Field("title", 1, Text), Field("version", 2, Text)], extensions: 7 };

static API_KEY: Message = Message {
    fields: &[
        Field("type", 1, Text),
        Field("name", 2, Text),
        Field("in", 3, Text),
        Field("description", 4, Text),
    ],
    extensions: 5,
};

static PATH: Message = Message {
    fields: &[
        Field("get", 2, One(&[], &OPERATION)),
        Field("put", 3, One(&[], &OPERATION)),
        Field("post", 4, One(&[], &OPERATION)),
        Field("delete", 5, One(&[], &OPERATION)),
        Field("options", 6, One(&[], &OPERATION)),
        Field("head", 7, One(&[], &OPERATION)),
        Field("patch", 8, One(&[], &OPERATION)),
        Field("parameters", 9, Parameters),
    ],
    extensions: 10,
};

static OPERATION: Message = Message {
    fields: &[
        Field("tags", 1, Texts),
        Field("description", 3, Text),
        Field("operationId", 5, Text),
        Field("produces", 6, Texts),
        Field("consumes", 7, Texts),
        Field("parameters", 8, Parameters),
        Field("responses", 9, Pairs(1, &[1], &RESPONSE)),
        Field("schemes", 10, Texts),
    ],
    extensions: 13,
};

static RESPONSE: Message = Message {
    fields: &[Field("description", 1, Text), Field("schema", 2, One(&[1], &SCHEMA))],
    extensions: 5,
};

static BODY_PARAMETER: Message = Message {
    fields: &[
        Field("description", 1, Text),
        Field("name", 2, Text),
        Field("in", 3, Text),
        Field("required", 4, Flag),
        Field("schema", 5, One(&[], &SCHEMA)),
    ],
    extensions: 6,
};

static QUERY_PARAMETER: Message = Message {
    fields: &[
        Field("required", 1, Flag),
        Field("in", 2, Text),
        Field("description", 3, Text),
        Field("name", 4, Text),
        Field("type", 6, Text),
        Field("uniqueItems", 20, Flag),
    ],
    extensions: 23,
};

static PATH_PARAMETER: Message = Message {
    fields: &[
        Field("required", 1, Flag),
        Field("in", 2, Text),
        Field("description", 3, Text),
        Field("name", 4, Text),
        Field("type", 5, Text),
        Field("uniqueItems", 19, Flag),
    ],
    extensions: 22,
};

static SCHEMA: Message = Message {
    fields: &[
        Field("$ref", 1, Text),
        Field("format", 2, Text),
        Field("description", 4, Text),
        Field("default", 5, Any),
        Field("required", 19, Texts),
        Field("enum", 20, Anys),
        Field("additionalProperties", 21, SchemaOrFlag),
        // A message with a list of texts.
        Field("type", 22, One(&[], &TYPE)),
        Field("items", 23, One(&[1], &SCHEMA)),
        Field("properties", 25, Pairs(1, &[], &SCHEMA)),
    ],
    extensions: 31,
};

/// What a type is: not an object in JSON, so that it stands under no name.
static TYPE: Message = Message { fields: &[Field("", 1, Texts)], extensions: 0 };

/// A document of OpenAPI 2.0 in protobuf.
pub(super) fn document(document: &Value) -> Vec<u8> {
    message(&DOCUMENT, document)
}

fn message(kind: &Message, value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    let Value::Object(members) = value else {
        // The one message that is no object.
        if let [Field("", number, form)] = kind.fields {
            field(*number, form, value, &mut out);
        }
        return out;
    };
    for Field(name, number, form) in kind.fields {
        if let Some(value) = members.get(*name) {
            field(*number, form, value, &mut out);
        }
    }
    for (name, value) in members.iter().filter(|(name, _)| name.starts_with("x-")) {
        bytes(kind.extensions, &pair(name, &any(value)), &mut out);
    }
    debug_assert_eq!(unknown(kind, members), None, "a member that no table knows");
    out
}

fn unknown<'a>(kind: &Message, members: &'a Map<String, Value>) -> Option<&'a String> {
    let known = |name: &str| kind.fields.iter().any(|Field(known, ..)| *known == name);
    members.keys().find(|name| !name.starts_with("x-") && !known(name))
}

fn field(number: u32, form: &Form, value: &Value, out: &mut Vec<u8>) {
    match form {
        Text => text(number, value, out),
        Flag => flag(number, value, out),
        Texts => match value {
            Value::Array(items) => items.iter().for_each(|item| text(number, item, out)),
            one => text(number, one, out),
        },
        Any => bytes(number, &any(value), out),
        Anys => items(value).for_each(|item| bytes(number, &any(item), out)),
        One(wraps, kind) => bytes(number, &wrapped(wraps, message(kind, value)), out),
        Pairs(at, wraps, kind) => {
            let mut list = Vec::new();
            for (name, value) in value.as_object().into_iter().flatten() {
                bytes(*at, &pair(name, &wrapped(wraps, message(kind, value))), &mut list);
            }
            bytes(number, &list, out);
        }
        SchemaOrFlag => {
            let mut item = Vec::new();
            match value {
                Value::Bool(_) => flag(2, value, &mut item),
                schema => bytes(1, &message(&SCHEMA, schema), &mut item),
            }
            bytes(number, &item, out);
        }
        Parameters => items(value).for_each(|item| {
            let (wraps, kind): (&[u32], _) = match item["in"].as_str() {
                Some("body") => (&[1, 1], &BODY_PARAMETER),
                Some("path") => (&[1, 2, 4], &PATH_PARAMETER),
                _ => (&[1, 2, 3], &QUERY_PARAMETER),
            };
            bytes(number, &wrapped(wraps, message(kind, item)), out);
        }),
        Requirements => items(value).for_each(|item| {
            let mut requirement = Vec::new();
            for (name, scopes) in item.as_object().into_iter().flatten() {
                bytes(1, &pair(name, &message(&TYPE, scopes)), &mut requirement);
            }
            bytes(number, &requirement, out);
        }),
    }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A message inside of others that have nothing but the next one; the outermost number comes first.
fn wrapped(wraps: &[u32], inner: Vec<u8>) -> Vec<u8> {
    wraps.iter().rev().fold(inner, |inner, number| {
        let mut outer = Vec::new();
        bytes(*number, &inner, &mut outer);
        outer
    })
}

/// A name and a value.
fn pair(name: &str, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    bytes(1, name.as_bytes(), &mut out);
    bytes(2, value, &mut out);
    out
}

/// JSON is YAML.
fn any(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    bytes(2, value.to_string().as_bytes(), &mut out);
    out
}

// === The wire format ===

fn text(number: u32, value: &Value, out: &mut Vec<u8>) {
    // What is empty is the same as what is not there.
    if let Some(text) = value.as_str().filter(|text| !text.is_empty()) {
        bytes(number, text.as_bytes(), out);
    }
}

fn flag(number: u32, value: &Value, out: &mut Vec<u8>) {
    if value.as_bool() == Some(true) {
        varint(u64::from(number) << 3, out);
        varint(1, out);
    }
}

fn bytes(number: u32, content: &[u8], out: &mut Vec<u8>) {
    varint(u64::from(number) << 3 | 2, out);
    varint(content.len() as u64, out);
    out.extend_from_slice(content);
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The contents at a path of field numbers, of all that are there.
    fn at<'a>(message: &'a [u8], path: &[u32]) -> Vec<&'a [u8]> {
        let Some((first, rest)) = path.split_first() else { return vec![message] };
        let mut found = Vec::new();
        let mut left = message;
        while !left.is_empty() {
            let key = read(&mut left);
            if key & 7 == 0 {
                read(&mut left);
                continue;
            }
            let length = usize::try_from(read(&mut left)).unwrap();
            let (content, after) = left.split_at(length);
            left = after;
            if key >> 3 == u64::from(*first) {
                found.extend(at(content, rest));
            }
        }
        found
    }

    fn read(left: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (byte, rest) = left.split_first().unwrap();
            *left = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }

    fn texts(message: &[u8], path: &[u32]) -> Vec<String> {
        let text = |content: &[u8]| String::from_utf8(content.to_vec()).unwrap();
        at(message, path).into_iter().map(text).collect()
    }

    #[test]
    fn definitions_and_paths_stand_where_gnostic_has_them() {
        let long = "d".repeat(300);
        let kind = json!([{"group": "g", "kind": "K", "version": "v1"}]);
        let json = json!({
            "swagger": "2.0",
            "definitions": { "a.K": {
                "type": "object", "description": long, "required": ["x"],
                "properties": {
                    "x": { "type": "array", "items": { "$ref": "#/definitions/b" } },
                    "m": { "additionalProperties": { "type": "string", "default": "t" } },
                },
                "x-kubernetes-group-version-kind": kind,
            } },
            "paths": { "/p": {
                "patch": {
                    "operationId": "patch",
                    "parameters": [{ "name": "q", "in": "query" }, { "name": "b", "in": "body" }],
                    "responses": { "200": { "description": "OK", "schema": { "type": "string" } } },
                },
                "parameters": [{ "name": "n", "in": "path", "required": true }],
            } },
        });
        let made = document(&json);
        assert_eq!(texts(&made, &[1]), ["2.0"]);
        assert_eq!(texts(&made, &[9, 1, 1]), ["a.K"]);
        assert_eq!(texts(&made, &[9, 1, 2, 22, 1]), ["object"]);
        assert_eq!(texts(&made, &[9, 1, 2, 4]), [long]);
        assert_eq!(texts(&made, &[9, 1, 2, 19]), ["x"]);
        assert_eq!(texts(&made, &[9, 1, 2, 25, 1, 1]), ["m", "x"]);
        assert_eq!(texts(&made, &[9, 1, 2, 25, 1, 2, 23, 1, 1]), ["#/definitions/b"]);
        assert_eq!(texts(&made, &[9, 1, 2, 25, 1, 2, 21, 1, 5, 2]), ["\"t\""]);
        assert_eq!(texts(&made, &[9, 1, 2, 31, 1]), ["x-kubernetes-group-version-kind"]);
        assert_eq!(texts(&made, &[9, 1, 2, 31, 2, 2]), [kind.to_string()]);
        assert_eq!(texts(&made, &[8, 2, 1]), ["/p"]);
        assert_eq!(texts(&made, &[8, 2, 2, 8, 5]), ["patch"]);
        assert_eq!(texts(&made, &[8, 2, 2, 8, 8, 1, 2, 3, 4]), ["q"]);
        assert_eq!(texts(&made, &[8, 2, 2, 8, 8, 1, 1, 2]), ["b"]);
        assert_eq!(texts(&made, &[8, 2, 2, 9, 1, 2, 4, 4]), ["n"]);
        assert_eq!(texts(&made, &[8, 2, 2, 8, 9, 1, 1]), ["200"]);
        assert_eq!(texts(&made, &[8, 2, 2, 8, 9, 1, 2, 1, 2, 1, 22, 1]), ["string"]);
    }
}
