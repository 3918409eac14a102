//! The rules of metadata, with apimachinery's words (`api/validation/objectmeta.go`).

use std::collections::BTreeMap;

use super::{FINALIZER_FOREGROUND, FINALIZER_ORPHAN, ObjectMeta, OwnerReference};
use crate::field::{self, quote};
use crate::names;

/// The largest sum of the lengths of all annotations' keys and values, in bytes.
const ANNOTATIONS_LIMIT: usize = 256 * 1024;
/// Everything that is wrong with the metadata of an object to be created.
pub fn validate_create(meta: &ObjectMeta, namespaced: bool) -> Vec<field::Error> {
    let mut errors = Vec::new();
    if !meta.generate_name.is_empty() {
        for problem in names::dns1123_subdomain_prefix(&meta.generate_name) {
            errors.push(invalid("metadata.generateName", &meta.generate_name, problem));
        }
    }
    if meta.name.is_empty() {
        errors.push(field::Error::required("metadata.name", "name or generateName is required"));
    } else {
        for problem in names::dns1123_subdomain(&meta.name) {
            errors.push(invalid("metadata.name", &meta.name, problem));
        }
    }
    validate_namespace(meta, namespaced, &mut errors);
    validate_common(meta, &mut errors);
    errors
}

/// Everything that is wrong with the metadata of an object that replaces `old`.
pub fn validate_update(meta: &ObjectMeta, old: &ObjectMeta) -> Vec<field::Error> {
    let mut errors = Vec::new();
    if meta.generation < old.generation {
        errors.push(field::Error::invalid(
            "metadata.generation",
            meta.generation.to_string(),
            "must not be decremented",
        ));
    }
    let immutable = "field is immutable";
    for (path, new, old) in [
        ("metadata.name", &meta.name, &old.name),
        ("metadata.namespace", &meta.namespace, &old.namespace),
        ("metadata.uid", &meta.uid, &old.uid),
    ] {
        if new != old {
            errors.push(invalid(path, new, immutable));
        }
    }
    for (path, new, old) in [
        ("metadata.creationTimestamp", meta.creation_timestamp, old.creation_timestamp),
        ("metadata.deletionTimestamp", meta.deletion_timestamp, old.deletion_timestamp),
    ] {
        if new != old {
            let time = printed(new.map(|time| quote(&time.to_string())));
            errors.push(field::Error::invalid(path, time, immutable));
        }
    }
    if meta.deletion_grace_period_seconds != old.deletion_grace_period_seconds {
        let seconds = printed(meta.deletion_grace_period_seconds);
        let path = "metadata.deletionGracePeriodSeconds";
        errors.push(field::Error::invalid(path, seconds, immutable));
    }
    if old.is_deleting() {
        let new: Vec<String> = meta
            .finalizers
            .iter()
            .filter(|finalizer| !old.finalizers.contains(finalizer))
            .map(|finalizer| quote(finalizer))
            .collect();
        if !new.is_empty() {
            let new = new.join(", ");
            errors.push(field::Error::forbidden(
                "metadata.finalizers",
                format!("no new finalizers can be added if the object is being deleted, found new finalizers []string{{{new}}}"),
            ));
        }
    }
    validate_common(meta, &mut errors);
    errors
}

fn validate_namespace(meta: &ObjectMeta, namespaced: bool, errors: &mut Vec<field::Error>) {
    if !namespaced {
        if !meta.namespace.is_empty() {
            errors.push(field::Error::forbidden("metadata.namespace", "not allowed on this type"));
        }
    } else if meta.namespace.is_empty() {
        errors.push(field::Error::required("metadata.namespace", ""));
    } else {
        for problem in names::dns1123_label(&meta.namespace) {
            errors.push(invalid("metadata.namespace", &meta.namespace, problem));
        }
    }
}

fn validate_common(meta: &ObjectMeta, errors: &mut Vec<field::Error>) {
    if meta.generation < 0 {
        errors.push(field::Error::invalid(
            "metadata.generation",
            meta.generation.to_string(),
            "must be greater than or equal to 0",
        ));
    }
    validate_labels(&meta.labels, "metadata.labels", errors);
    validate_annotations(&meta.annotations, errors);
    validate_owners(&meta.owner_references, errors);
    validate_finalizers(&meta.finalizers, errors);
}

fn validate_labels(labels: &BTreeMap<String, String>, path: &str, errors: &mut Vec<field::Error>) {
    for (key, value) in labels {
        for problem in names::qualified_name(key) {
            errors.push(invalid(path, key, problem));
        }
        for problem in names::label_value(value) {
            errors.push(invalid(path, value, problem));
        }
    }
}

fn validate_annotations(annotations: &BTreeMap<String, String>, errors: &mut Vec<field::Error>) {
    let path = "metadata.annotations";
    let mut size = 0;
    for (key, value) in annotations {
        // Upper case is tolerated here and only here, for old clients.
        for problem in names::qualified_name(&key.to_lowercase()) {
            errors.push(invalid(path, key, problem));
        }
        size += key.len() + value.len();
    }
    if size > ANNOTATIONS_LIMIT {
        errors.push(field::Error::too_long(path, ANNOTATIONS_LIMIT));
    }
}

fn validate_owners(owners: &[OwnerReference], errors: &mut Vec<field::Error>) {
    let path = "metadata.ownerReferences";
    let mut controller: Option<&OwnerReference> = None;
    for owner in owners {
        if owner.api_version.rsplit('/').next().is_none_or(str::is_empty) {
            let path = "metadata.ownerReferences.apiVersion";
            errors.push(invalid(path, &owner.api_version, "version must not be empty"));
        }
        for (field, value) in [("kind", &owner.kind), ("name", &owner.name), ("uid", &owner.uid)] {
            if value.is_empty() {
                errors.push(invalid(&format!("{path}.{field}"), value, "must not be empty"));
            }
        }
        if owner.api_version == "v1" && owner.kind == "Event" {
            let value = format!("{}, Kind={}", owner.api_version, owner.kind);
            errors.push(field::Error::invalid(
                path,
                quote(&value),
                format!("{value} is disallowed from being an owner"),
            ));
        }
        if owner.controller == Some(true) {
            match controller {
                None => controller = Some(owner),
                Some(first) => {
                    let value = serde_json::to_string(owners).unwrap_or_default();
                    let detail = format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {}/{} and {}/{}",
                        first.kind, first.name, owner.kind, owner.name
                    );
                    errors.push(field::Error::invalid(path, value, detail));
                    break;
                }
            }
        }
    }
}

fn validate_finalizers(finalizers: &[String], errors: &mut Vec<field::Error>) {
    let path = "metadata.finalizers";
    for finalizer in finalizers {
        for problem in names::qualified_name(finalizer) {
            errors.push(invalid(path, finalizer, problem));
        }
    }
    for (index, finalizer) in finalizers.iter().enumerate() {
        let standard =
            matches!(finalizer.as_str(), FINALIZER_ORPHAN | FINALIZER_FOREGROUND | "kubernetes");
        if !finalizer.contains('/') && !standard {
            let problem = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(invalid(&format!("{path}[{index}]"), finalizer, problem));
        }
    }
    let both = [FINALIZER_ORPHAN, FINALIZER_FOREGROUND]
        .iter()
        .all(|finalizer| finalizers.iter().any(|present| present == finalizer));
    if both {
        let value = serde_json::to_string(finalizers).unwrap_or_default();
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(field::Error::invalid(path, value, detail));
    }
}

/// A value that may be absent, as Go prints a pointer to it.
fn printed(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "null".to_owned(), |value| value.to_string())
}

fn invalid(path: &str, value: &str, detail: impl Into<String>) -> field::Error {
    field::Error::invalid(path, quote(value), detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(errors: &[field::Error]) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    fn meta(name: &str) -> ObjectMeta {
        ObjectMeta { name: name.into(), namespace: "ns".into(), ..ObjectMeta::default() }
    }

    #[test]
    fn a_good_name_passes_and_a_bad_one_is_named() {
        assert!(validate_create(&meta("a.b-c"), true).is_empty());
        let told = bodies(&validate_create(&meta("Upper"), true));
        assert_eq!(told.len(), 1);
        assert!(
            told[0].starts_with("metadata.name: Invalid value: \"Upper\": a lowercase RFC 1123")
        );
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let mut meta = meta("");
        meta.labels.insert("a b".into(), "x".repeat(64));
        meta.finalizers = vec!["nodomain".into()];
        assert_eq!(validate_create(&meta, true).len(), 4);
    }

    #[test]
    fn a_deleting_object_takes_no_new_finalizer() {
        let old = ObjectMeta {
            deletion_timestamp: Some(crate::meta::Time::at(jiff::Timestamp::UNIX_EPOCH)),
            ..meta("a")
        };
        let new = ObjectMeta { finalizers: vec!["example.com/g".into()], ..old.clone() };
        assert_eq!(
            bodies(&validate_update(&new, &old)),
            [
                "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"example.com/g\"}"
            ]
        );
    }

    #[test]
    fn a_cluster_scoped_object_has_no_namespace() {
        assert_eq!(
            bodies(&validate_create(&meta("a"), false)),
            ["metadata.namespace: Forbidden: not allowed on this type"]
        );
    }
}
