//! Server-side apply, as far as it matters here: maps are merged, everything else is one field, and
//! each field has owners.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::cluster::ClusterError;

/// Fields by their paths.
pub(super) type Fields = BTreeSet<Vec<String>>;

/// An object, and who owns which of its fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Owned {
    pub(super) object: Value,
    pub(super) managers: BTreeMap<String, Fields>,
}

/// What nobody owns.
fn is_identity(path: &[String]) -> bool {
    let path: Vec<_> = path.iter().map(String::as_str).collect();
    matches!(path[..], ["apiVersion" | "kind"])
        || matches!(path[..], ["metadata", "name" | "namespace" | "uid" | "resourceVersion"])
}

/// The fields of a value.
pub(super) fn fields(value: &Value) -> Fields {
    fn walk(value: &Value, path: &mut Vec<String>, found: &mut Fields) {
        match value.as_object().filter(|map| !map.is_empty()) {
            Some(map) => {
                for (key, value) in map {
                    path.push(key.clone());
                    walk(value, path, found);
                    path.pop();
                }
            }
            None if is_identity(path) => {}
            None => _ = found.insert(path.clone()),
        }
    }
    let mut found = Fields::new();
    walk(value, &mut Vec::new(), &mut found);
    found
}

fn get<'a>(object: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(object, |at, key| at.get(key))
}

fn set(object: &mut Value, path: &[String], value: Value) {
    let mut at = object;
    for key in path {
        if !at.is_object() {
            *at = Value::Object(serde_json::Map::new());
        }
        at = &mut at[key];
    }
    *at = value;
}

fn remove(object: &mut Value, path: &[String]) {
    let Some((last, parents)) = path.split_last() else { return };
    let parent = parents.iter().try_fold(&mut *object, |at, key| at.get_mut(key));
    if let Some(parent) = parent.and_then(Value::as_object_mut) {
        parent.remove(last);
        if parent.is_empty() && parents.len() > 1 {
            remove(object, parents);
        }
    }
}

impl Owned {
    /// Gives the object what is applied, and takes what the same manager applies no longer.
    pub(super) fn apply(
        &mut self,
        applied: &Value,
        manager: &str,
        force: bool,
    ) -> Result<(), ClusterError> {
        let wanted = fields(applied);
        for path in &wanted {
            let same = get(&self.object, path) == get(applied, path);
            for (other, owned) in self.managers.iter_mut().filter(|(other, _)| *other != manager) {
                if same || !owned.contains(path) {
                } else if force {
                    owned.remove(path);
                } else {
                    let path = path.join(".");
                    return Err(ClusterError::Conflict(format!("{other} owns .{path}")));
                }
            }
        }
        let before = self.managers.insert(manager.to_owned(), wanted.clone()).unwrap_or_default();
        for path in before.difference(&wanted) {
            if !self.managers.values().any(|owned| owned.contains(path)) {
                remove(&mut self.object, path);
            }
        }
        for path in &wanted {
            let value = get(applied, path).cloned().unwrap_or_default();
            let both_maps =
                value.is_object() && get(&self.object, path).is_some_and(Value::is_object);
            if !both_maps {
                set(&mut self.object, path, value);
            }
        }
        self.managers.retain(|_, owned| !owned.is_empty());
        Ok(())
    }

    /// Changes the object by a merge patch.
    pub(super) fn patch(&mut self, patch: &Value, manager: &str) {
        fn merge(object: &mut Value, patch: &Value) {
            let Some(patch) = patch.as_object() else {
                *object = patch.clone();
                return;
            };
            if !object.is_object() {
                *object = Value::Object(serde_json::Map::new());
            }
            for (key, value) in patch {
                if value.is_null() {
                    object.as_object_mut().unwrap().remove(key);
                } else {
                    merge(&mut object[key], value);
                }
            }
        }
        let before = self.object.clone();
        merge(&mut self.object, patch);
        let changed: Fields = fields(&self.object)
            .into_iter()
            .filter(|path| get(&before, path) != get(&self.object, path))
            .collect();
        for owned in self.managers.values_mut() {
            owned.retain(|path| !changed.contains(path) && get(&self.object, path).is_some());
        }
        self.managers.entry(manager.to_owned()).or_default().extend(changed);
        self.managers.retain(|_, owned| !owned.is_empty());
    }
}
