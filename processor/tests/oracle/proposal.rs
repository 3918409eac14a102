//! The proposal's dialect as a plain tree walk: substitute everything, then add labels.
//!
//! It says only *that* something is wrong. Equal keys in the text of an object are beyond it: a
//! tree has one of each.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use regex::Regex;
use serde_json::{Map, Value, json};

use super::{list, text};

/// The proposal's rules with the values of one template.
pub(crate) struct Proposal {
    values: BTreeMap<String, String>,
    used: RefCell<BTreeSet<String>>,
    is_wrong: Cell<bool>,
    reference: Regex,
}

/// The environment of a container: the names of its variables, and whether there are others.
struct Variables {
    names: Vec<String>,
    has_more: bool,
}

/// What Kubernetes would expand in a string: so many of the variables.
type Sees<'v> = Option<(&'v Variables, usize)>;

impl Proposal {
    /// `objects` and `labels` of the processed template; none when it is refused.
    pub(crate) fn process(template: &Value) -> Option<Value> {
        let mut values = BTreeMap::new();
        for parameter in list(&template["parameters"]) {
            let mut value = match &parameter["value"] {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                scalar => scalar.to_string(),
            };
            if [&parameter["type"], &parameter["parameterType"]].contains(&&json!("base64")) {
                value = base64::engine::general_purpose::STANDARD.encode(value);
            }
            let name = parameter["name"].as_str().unwrap().to_owned();
            assert_eq!(values.insert(name, value), None, "the tests have no equal names");
        }
        let reference = r"(\$+)(?:\(\((?<unquoted>[a-zA-Z0-9_]+)\)\)|\((?<quoted>[a-zA-Z0-9_]+)\))";
        let walk = Proposal {
            values,
            used: RefCell::default(),
            is_wrong: Cell::new(false),
            reference: Regex::new(reference).unwrap(),
        };
        let labels = walk.labels(template["labels"].as_object());
        let objects: Vec<Value> = list(&template["objects"])
            .iter()
            .map(|object| walk.object_or_list(object, &labels))
            .collect();
        let all_used = walk.used.borrow().len() == walk.values.len();
        (all_used && !walk.is_wrong.get()).then(|| json!({ "objects": objects, "labels": labels }))
    }

    fn wrong(&self) {
        self.is_wrong.set(true);
    }

    fn labels(&self, labels: Option<&Map<String, Value>>) -> Map<String, Value> {
        let word = Regex::new(r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$").unwrap();
        let prefixes =
            Regex::new(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
                .unwrap();
        let mut substituted = Map::new();
        for (name, value) in labels.into_iter().flatten() {
            let (name, value) = (self.plain(name), self.plain(value.as_str().unwrap()));
            let (prefix, rest) = name.rsplit_once('/').unwrap_or(("x", &name));
            let is_name = prefixes.is_match(prefix) && !rest.is_empty() && word.is_match(rest);
            if !is_name || !word.is_match(&value) {
                self.wrong();
            }
            if substituted.insert(name, value.into()).is_some() {
                self.wrong();
            }
        }
        substituted
    }

    fn object_or_list(&self, object: &Value, labels: &Map<String, Value>) -> Value {
        let is_list = |object: &Value| {
            self.plain(text_of(object, "kind")).ends_with("List") && object["items"].is_array()
        };
        if !object.is_object() || !is_list(object) {
            return self.object(object, labels);
        }
        self.identity(object);
        let mut shell = object.clone();
        let items = shell["items"].take();
        if list(&items).iter().any(is_list) {
            self.wrong();
        }
        let items: Vec<_> = list(&items).iter().map(|item| self.object(item, labels)).collect();
        let mut list = self.value(&shell, false);
        list["items"] = items.into();
        list
    }

    fn object(&self, object: &Value, labels: &Map<String, Value>) -> Value {
        if !object.is_object() {
            self.wrong();
            return Value::Null;
        }
        let (group, kind) = self.identity(object);
        let mut object = self.value(object, false);
        if !labels.is_empty() {
            let adding = Labels { labels, is_wrong: &self.is_wrong };
            adding.add(&mut object, &group, &kind);
        }
        object
    }

    /// Group and kind, of which both must be there.
    fn identity(&self, object: &Value) -> (String, String) {
        let said = |key: &str| match object.get(key) {
            Some(Value::String(text)) => self.string(text, None),
            other => other.cloned().unwrap_or_default(),
        };
        let (version, kind) = (said("apiVersion"), said("kind"));
        let (version, kind) =
            (version.as_str().unwrap_or_default(), kind.as_str().unwrap_or_default());
        if version.is_empty() || kind.is_empty() || version.matches('/').count() > 1 {
            self.wrong();
        }
        let group = version.split_once('/').map_or("", |(group, _)| group);
        (group.to_owned(), kind.to_owned())
    }

    // === Substitution ===

    fn value(&self, value: &Value, in_container: bool) -> Value {
        match value {
            Value::String(text) => self.string(text, None),
            Value::Array(list) => {
                list.iter().map(|element| self.value(element, in_container)).collect()
            }
            Value::Object(map) => self.map(map, |name, value| match (name, value) {
                ("containers" | "initContainers" | "ephemeralContainers", Value::Array(list))
                    if !in_container =>
                {
                    list.iter().map(|container| self.container(container)).collect()
                }
                _ => self.value(value, in_container),
            }),
            other => other.clone(),
        }
    }

    fn map(&self, map: &Map<String, Value>, each: impl Fn(&str, &Value) -> Value) -> Value {
        let mut substituted = Map::new();
        for (key, value) in map {
            let key = self.plain(key);
            let value = each(&key, value);
            if substituted.insert(key, value).is_some() {
                self.wrong();
            }
        }
        Value::Object(substituted)
    }

    fn container(&self, container: &Value) -> Value {
        let Some(map) = container.as_object() else { return self.value(container, false) };
        let name = |variable: &Value| match &variable["name"] {
            Value::String(text) => {
                self.string(text, None).as_str().map(str::to_owned).unwrap_or_default()
            }
            _ => String::new(),
        };
        let variables = Variables {
            names: list(&container["env"]).iter().map(name).collect(),
            has_more: !list(&container["envFrom"]).is_empty(),
        };
        let all = Some((&variables, usize::MAX));
        self.map(map, |name, value| match (name, value) {
            ("command" | "args", Value::Array(list)) => {
                list.iter().map(|text| self.expanded(text, all)).collect()
            }
            ("env", Value::Array(list)) => {
                let variable = |(index, variable): (usize, &Value)| match variable {
                    Value::Object(map) => self.map(map, |name, value| match name {
                        "value" => self.expanded(value, Some((&variables, index))),
                        _ => self.value(value, true),
                    }),
                    other => self.value(other, true),
                };
                list.iter().enumerate().map(variable).collect()
            }
            ("livenessProbe" | "readinessProbe" | "startupProbe", _) => {
                self.along(&["exec", "command"], value, all)
            }
            ("volumeMounts", Value::Array(list)) => {
                list.iter().map(|mount| self.along(&["subPathExpr"], mount, all)).collect()
            }
            _ => self.value(value, true),
        })
    }

    /// A value in which Kubernetes expands only what is at the end of a path.
    fn along(&self, path: &[&str], value: &Value, sees: Sees) -> Value {
        match (path, value) {
            ([], Value::Array(list)) => list.iter().map(|text| self.expanded(text, sees)).collect(),
            ([], _) => self.expanded(value, sees),
            ([first, rest @ ..], Value::Object(map)) => self.map(map, |name, value| {
                if name == *first { self.along(rest, value, sees) } else { self.value(value, true) }
            }),
            _ => self.value(value, true),
        }
    }

    fn expanded(&self, value: &Value, sees: Sees) -> Value {
        match value {
            Value::String(text) => self.string(text, sees),
            other => self.value(other, true),
        }
    }

    /// Text that is text whatever it says.
    fn plain(&self, text: &str) -> String {
        self.replaced(text, None).0
    }

    fn string(&self, text: &str, sees: Sees) -> Value {
        let (text, is_unquoted) = self.replaced(text, sees);
        if !is_unquoted {
            return text.into();
        }
        match serde_json::from_str(&text) {
            _ if text.is_empty() => Value::Null,
            Ok(Value::Array(_) | Value::Object(_)) | Err(_) => text.into(),
            Ok(scalar) => scalar,
        }
    }

    /// The text, and whether all its references are unquoted ones.
    fn replaced(&self, text: &str, sees: Sees) -> (String, bool) {
        let (mut quoted, mut unquoted) = (false, false);
        let out = self.reference.replace_all(text, |found: &regex::Captures| {
            let signs = &found[1];
            if signs.len().is_multiple_of(2) {
                return found[0].to_owned();
            }
            let is_quoted = found.name("quoted").is_some();
            quoted |= is_quoted;
            unquoted |= !is_quoted;
            let name = found.name("quoted").or_else(|| found.name("unquoted")).unwrap().as_str();
            let value = self.values.get(name);
            if value.is_some() {
                self.used.borrow_mut().insert(name.to_owned());
            }
            let sees = sees.filter(|_| is_quoted);
            let variable =
                sees.and_then(|(known, _)| known.names.iter().position(|known| known == name));
            match (value, sees) {
                (Some(_), Some((_, count))) if variable.is_some_and(|place| place < count) => {
                    self.wrong();
                    String::new()
                }
                (Some(value), _) => format!("{}{value}", &signs[1..]),
                (None, Some((known, _))) if variable.is_some() || known.has_more => {
                    found[0].to_owned()
                }
                (None, _) => {
                    self.wrong();
                    String::new()
                }
            }
        });
        (out.into_owned(), unquoted && !quoted)
    }
}

fn text_of<'v>(object: &'v Value, key: &str) -> &'v str {
    object.as_object().map_or("", |object| text(object, key))
}

// === Labels ===

struct Labels<'l> {
    labels: &'l Map<String, Value>,
    is_wrong: &'l Cell<bool>,
}

impl Labels<'_> {
    fn add(&self, object: &mut Value, group: &str, kind: &str) {
        self.to_metadata(object);
        match (group, kind) {
            ("", "Service") if object["spec"]["type"] != "ExternalName" => {
                self.to_map_selector(object.pointer_mut("/spec/selector"));
            }
            ("", "ReplicationController") | ("" | "apps.openshift.io", "DeploymentConfig") => {
                self.to_map_selector(object.pointer_mut("/spec/selector"));
                self.to_template(object.pointer_mut("/spec/template"));
            }
            ("apps" | "extensions", "Deployment" | "ReplicaSet" | "DaemonSet")
            | ("apps", "StatefulSet") => {
                self.to_selector(object.pointer_mut("/spec/selector"));
                self.to_template(object.pointer_mut("/spec/template"));
            }
            ("batch", "Job") => {
                let is_manual = &object["spec"]["manualSelector"];
                if is_manual == true || is_manual == "true" {
                    self.to_selector(object.pointer_mut("/spec/selector"));
                }
                self.to_template(object.pointer_mut("/spec/template"));
            }
            ("batch", "CronJob") => {
                self.to_template(object.pointer_mut("/spec/jobTemplate"));
                self.to_template(object.pointer_mut("/spec/jobTemplate/spec/template"));
            }
            ("", "PodTemplate") => self.to_template(object.pointer_mut("/template")),
            ("policy", "PodDisruptionBudget") => {
                self.to_selector(object.pointer_mut("/spec/selector"));
            }
            ("networking.k8s.io" | "extensions", "NetworkPolicy") => {
                self.to_selector(object.pointer_mut("/spec/podSelector"));
            }
            _ => {}
        }
    }

    fn to_template(&self, template: Option<&mut Value>) {
        if let Some(template) = template.filter(|template| template.is_object()) {
            self.to_metadata(template);
        }
    }

    fn to_metadata(&self, object: &mut Value) {
        if let Some(metadata) = self.map_at(object, "metadata")
            && let Some(labels) = self.map_at(metadata, "labels")
        {
            self.merge(labels);
        }
    }

    fn to_map_selector(&self, selector: Option<&mut Value>) {
        if let Some(selector) = selector
            && selector.as_object().is_some_and(|map| !map.is_empty())
        {
            self.merge(selector);
        }
    }

    fn to_selector(&self, selector: Option<&mut Value>) {
        let Some(selector) = selector.filter(|selector| selector.is_object()) else { return };
        let is_full = |value: &Value| {
            value.as_object().is_some_and(|map| !map.is_empty()) || !list(value).is_empty()
        };
        if (is_full(&selector["matchLabels"]) || is_full(&selector["matchExpressions"]))
            && let Some(labels) = self.map_at(selector, "matchLabels")
        {
            self.merge(labels);
        }
    }

    fn map_at<'v>(&self, value: &'v mut Value, key: &str) -> Option<&'v mut Value> {
        let member = value.as_object_mut()?.entry(key).or_insert_with(|| json!({}));
        if member.is_null() {
            *member = json!({});
        }
        if !member.is_object() {
            self.is_wrong.set(true);
            return None;
        }
        Some(member)
    }

    fn merge(&self, map: &mut Value) {
        let map = map.as_object_mut().unwrap();
        for value in map.values_mut().filter(|value| value.is_null()) {
            *value = "".into();
        }
        map.extend(self.labels.clone());
    }
}
