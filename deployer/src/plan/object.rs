//! The object that a resource becomes.
//!
//! As in Deployment Manager, the properties of a primitive are the object. What it does not say itself
//! it takes from the resource: its kind from the type, its name from the name.

use serde_json::{Map, Value, json};

use crate::cluster::{Kind, Mapping, Target};
use crate::types::Deployment;

/// The label that says to which Deployment an object belongs: its uid.
pub(crate) const OWNER: &str = "dm.formwork.dev/deployment-uid";
/// The annotation that says the same for people: `NAMESPACE/NAME`.
pub(crate) const OWNER_NAME: &str = "dm.formwork.dev/deployment";
/// The annotation with the name of the resource.
pub(crate) const OWNER_RESOURCE: &str = "dm.formwork.dev/resource";

/// What a cluster writes into metadata, and what would be presumptions in an object that is applied.
const OF_THE_CLUSTER: [&str; 9] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "managedFields",
    "generateName",
];

/// As long as any part of a path may be: a group, a slash, and a version, each as long as names are.
const LONGEST: usize = 253 + 1 + 63;

/// An object before it is known where it goes.
#[derive(Debug, Default)]
pub(super) struct Object {
    pub(super) kind: Kind,
    pub(super) name: String,
    namespace: Option<String>,
    /// The kinds that it brings into the cluster, if it is a definition of one.
    defines: Option<Vec<(Kind, Mapping)>>,
}

/// To whom an object belongs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// To no Deployment.
    Nobody,
    /// To this one.
    Us,
    /// To another one.
    Other {
        /// Its uid.
        uid: String,
        /// What it is called, `NAMESPACE/NAME`; empty if nobody says.
        name: String,
    },
}

/// An object as it is applied.
pub(crate) struct Placed(pub(crate) Value);

/// The name of a resource, which may be a number.
pub(super) fn name(resource: &expansion::Value) -> String {
    match resource.get("name") {
        Some(expansion::Value::String(name)) => name.clone(),
        Some(other) => other.to_json(),
        None => String::new(),
    }
}

/// A value as a tree of `serde_json`.
pub(crate) fn json(value: &expansion::Value) -> Value {
    serde_json::to_value(value).expect("keys are strings and floats are finite")
}

/// As many lists and maps may be in one another in what is applied; no kind of Kubernetes has so many.
const DEEPEST: usize = 80;
/// What is said of more.
pub(super) const TOO_DEEP: &str = "more than 80 lists and maps are in one another";

/// Whether a value has more levels than a plan can be read back with.
pub(super) fn is_too_deep(value: &expansion::Value) -> bool {
    fn deeper(value: &expansion::Value, left: usize) -> bool {
        let below = |value: &expansion::Value| left == 0 || deeper(value, left - 1);
        match value {
            expansion::Value::List(items) => items.iter().any(below),
            expansion::Value::Map(members) => members.values().any(below),
            _ => false,
        }
    }
    deeper(value, DEEPEST)
}

/// Finds out which object a resource is.
///
/// # Errors
/// Everything that keeps it from being one, with the field that it is about.
pub(super) fn read(resource: &expansion::Value) -> Result<Object, Vec<String>> {
    let empty = expansion::Value::Map(expansion::Map::new());
    let properties = match resource.get("properties") {
        None | Some(expansion::Value::Null) => &empty,
        Some(properties) => properties,
    };
    if properties.as_map().is_none() {
        return Err(vec!["properties: must be an object of Kubernetes".to_owned()]);
    }
    if is_too_deep(properties) {
        return Err(vec![format!("properties: {TOO_DEEP}")]);
    }
    let metadata = properties.get("metadata");
    if metadata.is_some_and(|metadata| metadata.as_map().is_none()) {
        return Err(vec!["properties.metadata: must be a map".to_owned()]);
    }
    let of_metadata = |key: &str| metadata.and_then(|metadata| metadata.get(key));
    let mut wrong = Vec::new();
    let mut text = |path: &str, value: Option<&expansion::Value>, default: Option<&str>| {
        let found = match value {
            None | Some(expansion::Value::Null) => default.unwrap_or_default(),
            Some(value) => match value.as_str() {
                Some(found) => found,
                None => {
                    wrong.push(format!("properties.{path}: must be a string"));
                    return String::new();
                }
            },
        };
        let segments = if path == "apiVersion" { 2 } else { 1 };
        if found.contains("$(ref.") {
            wrong.push(format!("properties.{path}: has to be known before anything is applied"));
        } else if found.is_empty() && default.is_some() {
            wrong.push(format!("properties.{path}: Required value"));
        } else if found.len() > LONGEST {
            // Before it is looked for in the cluster, written into a status, or said to anybody.
            wrong.push(format!("properties.{path}: must have at most {LONGEST} bytes"));
        } else if !found.is_empty() && !found.splitn(segments, '/').all(is_segment) {
            wrong.push(format!("properties.{path}: cannot stand in a path: {found:?}"));
        }
        found.to_owned()
    };
    let kind = resource.get("type").and_then(expansion::Value::as_str).unwrap_or_default();
    let api_version = text("apiVersion", properties.get("apiVersion"), Some(""));
    let kind = text("kind", properties.get("kind"), Some(kind));
    let default = name(resource);
    let name = text("metadata.name", of_metadata("name"), Some(&default));
    let namespace = text("metadata.namespace", of_metadata("namespace"), None);
    if kind == "List" {
        wrong.push("properties.kind: a List is several objects; make each a resource".to_owned());
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let kind = Kind { api_version, kind };
    let defines = definition(&kind, properties);
    let namespace = Some(namespace).filter(|namespace| !namespace.is_empty());
    Ok(Object { kind, name, namespace, defines })
}

/// Whether a text may stand in a path and means nothing there but itself.
fn is_segment(text: &str) -> bool {
    let clean = |character: char| !character.is_control() && !"/%?#\\ ".contains(character);
    !matches!(text, "" | "." | "..") && text.chars().all(clean)
}

/// The kinds that a CustomResourceDefinition defines.
fn definition(kind: &Kind, properties: &expansion::Value) -> Option<Vec<(Kind, Mapping)>> {
    if kind.kind != "CustomResourceDefinition" {
        return None;
    }
    let spec = properties.get("spec")?;
    let group = spec.get("group")?.as_str()?;
    let names = spec.get("names")?;
    let (kind, plural) = (names.get("kind")?.as_str()?, names.get("plural")?.as_str()?);
    let namespaced = spec.get("scope")?.as_str()? == "Namespaced";
    let versions = spec.get("versions")?.as_list()?.iter();
    let names = versions.filter_map(|version| version.get("name")?.as_str());
    let defined = names.map(|version| {
        let kind = Kind { api_version: format!("{group}/{version}"), kind: kind.to_owned() };
        (kind, Mapping { resource: plural.to_owned(), namespaced })
    });
    Some(defined.collect())
}

impl Object {
    /// The kinds that it brings into the cluster.
    pub(super) fn defines(&self) -> Option<Vec<(Kind, Mapping)>> {
        self.defines.clone()
    }

    /// Says where the object goes.
    ///
    /// # Errors
    /// When the cluster does not have its kind; when the namespace cannot be one.
    pub(super) fn place(&self, mapping: Option<&Mapping>, default: &str) -> Result<Target, String> {
        let Self { kind, name, namespace, .. } = self;
        let Mapping { resource, namespaced } =
            mapping.ok_or_else(|| format!("the cluster has no kind {kind}"))?;
        let namespace = match namespace {
            _ if !namespaced => String::new(),
            Some(namespace) => namespace.clone(),
            None if is_segment(default) => default.to_owned(),
            None => {
                return Err(format!("spec.targetNamespace: cannot stand in a path: {default:?}"));
            }
        };
        Ok(Target {
            api_version: kind.api_version.clone(),
            kind: kind.kind.clone(),
            resource: resource.clone(),
            namespace,
            object_name: name.clone(),
        })
    }
}

impl Placed {
    /// The object of a resource with everything that the plan says of it, and with its owner.
    pub(crate) fn new(resource: &Value, name: &str, target: &Target, of: &Deployment) -> Self {
        let mut object = match &resource["properties"] {
            Value::Object(properties) => properties.clone(),
            _ => Map::new(),
        };
        object.insert("apiVersion".to_owned(), target.api_version.as_str().into());
        object.insert("kind".to_owned(), target.kind.as_str().into());
        // The status is its controller's to write, and no field of ours.
        object.remove("status");
        let metadata = member(&mut object, "metadata");
        for key in OF_THE_CLUSTER {
            metadata.remove(key);
        }
        metadata.insert("name".to_owned(), target.object_name.as_str().into());
        match target.namespace.as_str() {
            "" => _ = metadata.remove("namespace"),
            namespace => _ = metadata.insert("namespace".to_owned(), namespace.into()),
        }
        member(metadata, "labels").insert(OWNER.to_owned(), of.uid.as_str().into());
        let annotations = member(metadata, "annotations");
        let deployment = format!("{}/{}", of.namespace, of.name);
        annotations.insert(OWNER_NAME.to_owned(), deployment.into());
        annotations.insert(OWNER_RESOURCE.to_owned(), name.into());
        Self(Value::Object(object))
    }

    /// The same, presuming the object of that resourceVersion.
    pub(crate) fn over(mut self, live: &Value) -> Self {
        self.0["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
        self
    }
}

/// A member that is a map, made if it is not there.
fn member<'a>(map: &'a mut Map<String, Value>, key: &str) -> &'a mut Map<String, Value> {
    let value = map.entry(key).or_insert_with(|| json!({}));
    if !value.is_object() {
        *value = json!({});
    }
    value.as_object_mut().expect("it was made one")
}

/// To whom an object of the cluster belongs.
pub(crate) fn owner(live: &Value, uid: &str) -> Owner {
    match live["metadata"]["labels"][OWNER].as_str() {
        None | Some("") => Owner::Nobody,
        Some(owner) if owner == uid => Owner::Us,
        Some(other) => {
            let name = live["metadata"]["annotations"][OWNER_NAME].as_str();
            Owner::Other { uid: other.to_owned(), name: name.unwrap_or_default().to_owned() }
        }
    }
}

/// What takes an object of the cluster from its Deployment, as a merge patch.
pub(crate) fn bare(uid: &str) -> Value {
    json!({ "metadata": {
        "uid": uid,
        "labels": { OWNER: null },
        "annotations": { OWNER_NAME: null, OWNER_RESOURCE: null },
    }})
}
