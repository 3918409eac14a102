//! What must not be read in the log: values at the paths that a resource calls secret.

use serde_json::Value;

const HIDDEN: &str = "<redacted>";

/// kubectl keeps the whole object here that it applied last.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Paths of secrets, from the top of an object, such as `spec.password`, `users[].token` for every
/// item of a list or `data.*` for every member of a map.
#[derive(Default)]
pub(crate) struct Secrets<'a>(Vec<&'a [&'static str]>);

impl<'a> Secrets<'a> {
    /// Those of a resource, and of a subresource if there is one.
    pub(crate) fn new(paths: impl IntoIterator<Item = &'a [&'static str]>) -> Self {
        Self(paths.into_iter().filter(|paths| !paths.is_empty()).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Replaces every secret in an object, a list, a Table, a merge patch or a JSON patch.
    pub(crate) fn hide(&self, value: &mut Value) {
        if self.is_empty() {
            return;
        }
        // The paths of a JSON patch could name anything, from any side.
        if let Value::Array(operations) = value {
            for operation in operations {
                hide_path(operation, "value");
            }
            return;
        }
        each_object(value, &mut |object| {
            for path in self.0.iter().copied().flatten() {
                hide_path(object, path);
            }
            let annotations = object.pointer_mut("/metadata/annotations");
            if let Some(applied) = annotations.and_then(|all| all.get_mut(LAST_APPLIED)) {
                *applied = HIDDEN.into();
            }
        });
    }
}

/// Calls `change` with a value and, if it is a list or a Table, with every object in it.
pub(super) fn each_object(value: &mut Value, change: &mut impl FnMut(&mut Value)) {
    // Whatever a body calls itself: it may be wrong about that.
    change(value);
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
    let (place, within) = match kind {
        "Table" => ("rows", Some("object")),
        kind if kind.ends_with("List") => ("items", None),
        _ => return,
    };
    let items = value.get_mut(place).and_then(Value::as_array_mut);
    for item in items.into_iter().flatten() {
        let object = match within {
            None => Some(item),
            Some(within) => item.get_mut(within),
        };
        object.into_iter().for_each(&mut *change);
    }
}

/// Where the shape is not what the path expects, everything from there on counts as secret.
fn hide_path(value: &mut Value, path: &str) {
    let (segment, rest) = match path.split_once('.') {
        Some((segment, rest)) => (segment, Some(rest)),
        None => (path, None),
    };
    let (name, is_list) = match segment.strip_suffix("[]") {
        Some(name) => (name, true),
        None => (segment, false),
    };
    let Value::Object(members) = value else {
        return hide_whole(value);
    };
    for (_, member) in members.iter_mut().filter(|(key, _)| name == "*" || *key == name) {
        match (member, rest) {
            (Value::Array(items), rest) if is_list => {
                for item in items {
                    match rest {
                        Some(rest) => hide_path(item, rest),
                        None => hide_whole(item),
                    }
                }
            }
            (member, Some(rest)) if !is_list => hide_path(member, rest),
            (member, _) => hide_whole(member),
        }
    }
}

fn hide_whole(value: &mut Value) {
    if !value.is_null() {
        *value = HIDDEN.into();
    }
}

/// Replaces the sentences of a `Status`; what kind of mistakes they were, and where, stays.
pub(super) fn hide_sentences(status: &mut Value) {
    status["message"] = HIDDEN.into();
    let causes = status.pointer_mut("/details/causes").and_then(Value::as_array_mut);
    for cause in causes.into_iter().flatten() {
        cause["message"] = HIDDEN.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(mut value: Value, want: &Value) {
        let paths: &[_] = &["users[].token", "data.*", "spec.password"];
        Secrets::new([paths, &[]]).hide(&mut value);
        assert_eq!(value, *want);
    }

    #[test]
    fn secrets_are_hidden_wherever_objects_are() {
        let object = |secret: &str| {
            json!({
                "users": [{ "name": "a", "token": secret }, { "name": "b" }],
                "data": { "x": secret },
                "spec": { "password": secret, "size": 1 },
                "metadata": { "annotations": { LAST_APPLIED: secret, "y": "y" } },
            })
        };
        check(object("s3cret"), &object(HIDDEN));
        let list =
            |secret| json!({ "kind": "ThingList", "items": [object(secret), object(secret)] });
        check(list("s3cret"), &list(HIDDEN));
        let table = |secret| json!({ "kind": "Table", "rows": [{ "cells": [1], "object": object(secret) }] });
        check(table("s3cret"), &table(HIDDEN));
    }

    #[test]
    fn what_has_another_shape_is_hidden_whole() {
        check(json!({ "users": "s3cret" }), &json!({ "users": HIDDEN }));
        check(json!({ "users": ["s3cret"] }), &json!({ "users": [HIDDEN] }));
        check(json!({ "spec": ["s3cret"] }), &json!({ "spec": HIDDEN }));
        check(
            json!({ "spec": { "password": ["s3cret"] } }),
            &json!({ "spec": { "password": HIDDEN } }),
        );
        check(json!({ "data": null }), &json!({ "data": null }));
    }

    #[test]
    fn a_json_patch_loses_all_its_values() {
        let patch =
            |value: &str| json!([{ "op": "add", "path": "/spec/password", "value": value }]);
        check(patch("s3cret"), &patch(HIDDEN));
    }
}
