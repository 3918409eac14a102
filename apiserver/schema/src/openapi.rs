//! Schemas as OpenAPI publishes them: Swagger 2.0 `definitions` and OpenAPI 3.0
//! `components.schemas`. The paths around them are made where resources and verbs are known.
//!
//! Both follow kube-openapi. In v3 a reference that has something to say beside it goes into
//! `allOf`, and values that Go never leaves out carry their zero value as `default`; v2 knows no
//! defaults and puts the description beside `$ref`.

use serde_json::{Map, Value, json};

use crate::definition::{Field, Form, ListType, Object, Presence, Schema, Width};

/// The Swagger 2.0 definitions of these schemas and of everything that they refer to, by name.
pub fn definitions_v2<'a>(roots: impl IntoIterator<Item = &'a Schema>) -> Map<String, Value> {
    Collector::collect(Version::V2, roots)
}

/// The OpenAPI 3.0 schemas of these schemas and of everything that they refer to, by name.
pub fn schemas_v3<'a>(roots: impl IntoIterator<Item = &'a Schema>) -> Map<String, Value> {
    Collector::collect(Version::V3, roots)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    V2,
    V3,
}

/// Whether Go holds a value at a place directly, which gives it a zero value as default.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Direct,
    Optional,
}

struct Collector {
    version: Version,
    done: Map<String, Value>,
}

impl Collector {
    fn collect<'a>(
        version: Version,
        roots: impl IntoIterator<Item = &'a Schema>,
    ) -> Map<String, Value> {
        let mut collector = Self { version, done: Map::new() };
        for root in roots {
            collector.place(root, Held::Optional);
        }
        collector.done
    }

    /// A schema as it stands at a place: by reference if it has a definition of its own.
    fn place(&mut self, schema: &Schema, held: Held) -> Value {
        let mut out = Map::new();
        let default = self.default(schema, held);
        if let Some(name) = schema.definition() {
            self.define(name, schema);
            let prefix = if self.version == Version::V2 {
                "#/definitions/"
            } else {
                "#/components/schemas/"
            };
            let reference = json!(format!("{prefix}{name}"));
            describe(&mut out, &schema.description);
            extend(&mut out, schema, default);
            if self.version == Version::V2 || out.is_empty() {
                out.insert("$ref".into(), reference);
            } else {
                out.insert("allOf".into(), json!([{ "$ref": reference }]));
            }
            return Value::Object(out);
        }
        describe(&mut out, &schema.description);
        self.form(schema, &mut out);
        extend(&mut out, schema, default);
        Value::Object(out)
    }

    fn default(&self, schema: &Schema, held: Held) -> Option<Value> {
        if self.version == Version::V2 {
            return None;
        }
        if schema.default.is_some() {
            return schema.default.clone();
        }
        if held == Held::Optional || schema.pointer || schema.nullable {
            return None;
        }
        match &schema.form {
            Form::Object(_) => Some(json!({})),
            _ if schema.definition.is_some() => None,
            Form::String { .. } => Some(json!("")),
            Form::Integer(_) | Form::Number => Some(json!(0)),
            Form::Boolean => Some(json!(false)),
            Form::IntOrString | Form::Map(_) | Form::List(_) | Form::Opaque { .. } => None,
        }
    }

    /// Adds the definition of a named schema, once.
    fn define(&mut self, name: &str, schema: &Schema) {
        if self.done.contains_key(name) {
            return;
        }
        // The place is taken before the fields are visited.
        self.done.insert(name.to_owned(), Value::Null);
        let mut out = Map::new();
        match &schema.form {
            Form::Object(object) => self.object(object, &mut out),
            Form::Opaque { .. } => {
                out.insert("type".into(), json!("object"));
            }
            _ => self.form(schema, &mut out),
        }
        describe(&mut out, schema.definition_description());
        self.done.insert(name.to_owned(), Value::Object(out));
    }

    fn form(&mut self, schema: &Schema, out: &mut Map<String, Value>) {
        let mut set = |name: &str, value: Value| {
            out.insert(name.to_owned(), value);
        };
        match &schema.form {
            Form::String { format, values, .. } => {
                set("type", json!("string"));
                if let Some(format) = format {
                    set("format", json!(format));
                }
                if !values.is_empty() {
                    set("enum", json!(values));
                }
            }
            Form::Integer(width) => {
                set("type", json!("integer"));
                set("format", json!(if *width == Width::Int32 { "int32" } else { "int64" }));
            }
            Form::Number => {
                set("type", json!("number"));
                set("format", json!("double"));
            }
            Form::Boolean => set("type", json!("boolean")),
            Form::IntOrString => {
                set("x-kubernetes-int-or-string", json!(true));
                if self.version == Version::V3 {
                    set("anyOf", json!([{ "type": "integer" }, { "type": "string" }]));
                }
            }
            Form::Map(values) => {
                set("type", json!("object"));
                set("additionalProperties", self.place(values, Held::Direct));
            }
            Form::List(list) => {
                set("type", json!("array"));
                set("items", self.place(&list.items, Held::Direct));
                match &list.kind {
                    ListType::Unset => {}
                    ListType::Atomic => set("x-kubernetes-list-type", json!("atomic")),
                    ListType::Set => set("x-kubernetes-list-type", json!("set")),
                    ListType::Map(keys) => {
                        set("x-kubernetes-list-type", json!("map"));
                        set("x-kubernetes-list-map-keys", json!(keys));
                    }
                }
            }
            Form::Opaque { object_only } => {
                if *object_only {
                    set("type", json!("object"));
                }
                set("x-kubernetes-preserve-unknown-fields", json!(true));
                set("x-kubernetes-map-type", json!("atomic"));
            }
            Form::Object(_) => unreachable!("a struct has a definition"),
        }
        if schema.nullable && self.version == Version::V3 {
            set("nullable", json!(true));
        }
    }

    fn object(&mut self, object: &Object, out: &mut Map<String, Value>) {
        out.insert("type".into(), json!("object"));
        let properties: Map<String, Value> =
            object.fields.iter().map(|field| (field.name.to_string(), self.field(field))).collect();
        if !properties.is_empty() {
            out.insert("properties".into(), Value::Object(properties));
        }
        let is_required =
            |field: &&Field| matches!(field.presence, Presence::Required | Presence::Always);
        let required: Vec<&str> =
            object.fields.iter().filter(is_required).map(|field| &*field.name).collect();
        if !required.is_empty() {
            out.insert("required".into(), json!(required));
        }
        if object.atomic {
            out.insert("x-kubernetes-map-type".into(), json!("atomic"));
        }
        if !object.kinds.is_empty() {
            let kinds = object
                .kinds
                .iter()
                .map(|gvk| json!({ "group": gvk.group, "version": gvk.version, "kind": gvk.kind }));
            out.insert("x-kubernetes-group-version-kind".into(), kinds.collect());
        }
    }

    fn field(&mut self, field: &Field) -> Value {
        let held = match field.presence {
            Presence::Required | Presence::Always | Presence::ByValue => Held::Direct,
            Presence::Optional | Presence::OptionalOrEmpty => Held::Optional,
        };
        self.place(&field.schema, held)
    }
}

fn describe(out: &mut Map<String, Value>, description: &str) {
    if !description.is_empty() {
        out.insert("description".into(), json!(description));
    }
}

fn extend(out: &mut Map<String, Value>, schema: &Schema, default: Option<Value>) {
    if let Some(default) = default {
        out.insert("default".into(), default);
    }
    for (name, value) in &schema.extensions {
        out.insert(name.to_string(), value.clone());
    }
}

#[cfg(test)]
pub(crate) mod tests;
