//! Processing as a plain tree walk: slow, obvious, and the yardstick for the rewriter.
//!
//! It follows upstream step by step (decode, strip the namespace, substitute, regroup, label) over
//! `serde_json::Value`. It says only *that* something is refused, and gives up on templates whose
//! keys collide after substitution: a sorted tree does not know which member came last.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(dead_code, reason = "every test binary uses one dialect")]

pub(crate) mod proposal;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Why there is no result.
#[derive(Debug, PartialEq)]
pub(crate) enum Stop {
    Refused,
    Collision,
}

type Outcome<T> = Result<T, Stop>;

pub(crate) struct Oracle {
    values: BTreeMap<String, String>,
}

/// A value after substitution; none when it removes its member.
type Substituted = Option<Value>;

impl Oracle {
    /// `objects`, `labels` and `message` of the processed template; generators are not run.
    pub(crate) fn process(template: &Value) -> Outcome<Value> {
        let mut values = BTreeMap::new();
        for parameter in list(&template["parameters"]) {
            let value = match &parameter["value"] {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                scalar => scalar.to_string(),
            };
            values.insert(parameter["name"].as_str().unwrap_or_default().to_owned(), value);
        }
        let oracle = Oracle { values };
        let labels = match &template["labels"] {
            Value::Object(labels) => Some(oracle.labels(labels)?),
            _ => None,
        };
        let objects = list(&template["objects"]).iter();
        let objects: Vec<Outcome<Value>> =
            objects.map(|object| oracle.object(object, labels.as_ref())).collect();
        if objects.iter().any(|object| object == &Err(Stop::Collision)) {
            return Err(Stop::Collision);
        }
        let objects = objects.into_iter().collect::<Outcome<Vec<Value>>>()?;
        let message = oracle.text(template["message"].as_str().unwrap_or_default());
        Ok(json!({ "objects": objects, "labels": labels, "message": message }))
    }

    fn labels(&self, labels: &Map<String, Value>) -> Outcome<Map<String, Value>> {
        let mut substituted = Map::new();
        for (name, value) in labels {
            let value = self.text(value.as_str().unwrap_or_default());
            if substituted.insert(self.text(name), value.into()).is_some() {
                return Err(Stop::Collision);
            }
        }
        Ok(substituted)
    }

    /// Outside objects a non-string reference stands for the text.
    fn text(&self, text: &str) -> String {
        self.whole(text).unwrap_or_else(|| self.references(text))
    }

    fn object(&self, object: &Value, labels: Option<&Map<String, Value>>) -> Outcome<Value> {
        let mut object = object.as_object().ok_or(Stop::Refused)?.clone();
        let is_list = object.contains_key("items");
        if is_list {
            complete_items(&mut object)?;
        }
        let version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
        if kind.is_empty() || version.matches('/').count() > 1 {
            return Err(Stop::Refused);
        }
        if !is_list {
            strip_namespace(&mut object);
        }
        let mut object = self.map(&object)?;
        regroup(&mut object);
        match labels {
            Some(_) if is_list => return Err(Stop::Refused),
            Some(labels) => add_labels(&mut object, labels),
            None => {}
        }
        Ok(Value::Object(object))
    }

    // === Substitution ===

    fn value(&self, value: &Value) -> Outcome<Substituted> {
        Ok(Some(match value {
            Value::String(text) => match self.whole(text) {
                Some(value) => match serde_json::from_str(&value) {
                    Ok(Value::Null) => return Ok(None),
                    Ok(json) => json,
                    Err(_) => Value::String(value),
                },
                None => Value::String(self.references(text)),
            },
            Value::Array(list) => Value::Array(
                list.iter()
                    .map(|element| self.value(element)?.ok_or(Stop::Refused))
                    .collect::<Outcome<_>>()?,
            ),
            Value::Object(map) => Value::Object(self.map(map)?),
            other => other.clone(),
        }))
    }

    fn map(&self, map: &Map<String, Value>) -> Outcome<Map<String, Value>> {
        let mut substituted = Map::new();
        let mut keys = std::collections::BTreeSet::new();
        let mut stop = None;
        for (key, value) in map {
            let Some(Value::String(key)) = self.value(&Value::String(key.clone()))? else {
                return Err(Stop::Refused);
            };
            if !keys.insert(key.clone()) {
                stop = Some(Stop::Collision);
            }
            if let Some(value) = self.value(value)? {
                substituted.insert(key, value);
            }
        }
        stop.map_or(Ok(substituted), Err)
    }

    /// The value of the parameter that `text` is a `${{NAME}}` of.
    fn whole(&self, text: &str) -> Option<String> {
        let name = text.strip_prefix("${{")?.strip_suffix("}}")?;
        self.values.get(name).filter(|_| is_name(name)).cloned()
    }

    fn references(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let (before, reference) = rest.split_at(start);
            out.push_str(before);
            let name = reference[2..].split('}').next().unwrap_or_default();
            let closed = reference[2 + name.len()..].starts_with('}');
            match self.values.get(name).filter(|_| closed && is_name(name)) {
                Some(value) => {
                    out.push_str(value);
                    rest = &reference[name.len() + 3..];
                }
                None => {
                    out.push_str("${");
                    rest = &reference[2..];
                }
            }
        }
        out + rest
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text<'v>(map: &'v Map<String, Value>, key: &str) -> &'v str {
    map.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Items without apiVersion and kind take the list's.
fn complete_items(object: &mut Map<String, Value>) -> Outcome<()> {
    let version = text(object, "apiVersion").to_owned();
    let kind = text(object, "kind").to_owned();
    let kind = kind.strip_suffix("List").unwrap_or(&kind);
    let mut items = match &object["items"] {
        Value::Null => Vec::new(),
        Value::Array(items) => items.clone(),
        _ => return Err(Stop::Refused),
    };
    for item in &mut items {
        if item.is_null() {
            *item = json!({});
        }
        let item = item.as_object_mut().ok_or(Stop::Refused)?;
        if text(item, "apiVersion").is_empty() && text(item, "kind").is_empty() {
            item.insert("apiVersion".into(), version.clone().into());
            item.insert("kind".into(), kind.into());
        }
    }
    object.insert("items".into(), items.into());
    Ok(())
}

fn strip_namespace(object: &mut Map<String, Value>) {
    let has_reference = |value: &Value| {
        regex::Regex::new(r"\$\{([a-zA-Z0-9_]+?)\}")
            .unwrap()
            .is_match(value.as_str().unwrap_or_default())
    };
    if let Some(metadata) = object.get_mut("metadata") {
        let Some(metadata) = metadata.as_object_mut() else { return };
        match metadata.get("namespace") {
            None => {}
            Some(namespace) if has_reference(namespace) || namespace == "" => {}
            Some(Value::String(_)) => drop(metadata.remove("namespace")),
            Some(_) => drop(metadata.insert("namespace".into(), "".into())),
        }
    } else if let Some(namespace) = object.get_mut("namespace")
        && !has_reference(namespace)
    {
        *namespace = "".into();
    }
}

/// Only the groups that the tests use: the table has its own test.
fn regroup(object: &mut Map<String, Value>) {
    let (version, kind) = (text(object, "apiVersion").to_owned(), text(object, "kind").to_owned());
    let parts: Vec<&str> = version.split('/').collect();
    let legacy = match kind.as_str() {
        "Route" | "RouteList" => Some("route.openshift.io"),
        "DeploymentConfig" => Some("apps.openshift.io"),
        _ => None,
    };
    let (version, kind) = match (parts.as_slice(), legacy) {
        ([version] | ["", version], Some(group)) => (format!("{group}/{version}"), kind),
        ([version] | ["", version], None) => ((*version).to_owned(), kind),
        ([_, _], _) => (version, kind),
        _ => (String::new(), String::new()),
    };
    object.insert("apiVersion".into(), version.into());
    object.insert("kind".into(), kind.into());
}

fn add_labels(object: &mut Map<String, Value>, labels: &Map<String, Value>) {
    let metadata = object.entry("metadata").or_insert_with(|| json!({}));
    let Some(metadata) = metadata.as_object_mut() else { return };
    let own = metadata.get("labels").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut merged = Map::new();
    if own.values().all(|value| value.is_string() || value.is_null()) {
        for (name, value) in own {
            merged.insert(name, value.as_str().unwrap_or_default().into());
        }
    }
    merged.extend(labels.clone());
    metadata.insert("labels".into(), merged.into());
}
