//! How an object changes, as a unified diff of YAML. Values of Secrets are not shown, only whether they
//! change.

use serde_json::{Value, json};
use similar::TextDiff;

/// As many bytes of one difference are kept.
const LONGEST: usize = 16 << 10;

const LAST_APPLIED: &str =
    "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration";

/// The difference; empty if there is none.
pub(crate) fn between(before: Option<&Value>, after: Option<&Value>) -> String {
    let (old, new) = (before.map(bare), after.map(bare));
    if old == new {
        return String::new();
    }
    let (old, new) = masked(old.unwrap_or_default(), new.unwrap_or_default());
    let (old, new) = (text(&old), text(&new));
    let mut diff = TextDiff::from_lines(&old, &new).unified_diff().context_radius(3).to_string();
    if diff.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|at| diff.is_char_boundary(*at)).unwrap_or_default();
        diff.truncate(end);
        diff.push_str("\n…\n");
    }
    diff
}

/// An object without what the cluster counts and writes.
fn bare(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(members) = object.as_object_mut() {
        members.remove("status");
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for counted in
            ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"]
        {
            metadata.remove(counted);
        }
    }
    object
}

/// Both with the values of Secrets hidden. A value that changes is hidden by another text.
fn masked(mut old: Value, mut new: Value) -> (Value, Value) {
    if ![&old, &new].into_iter().any(|object| object["kind"] == "Secret") {
        return (old, new);
    }
    // What kubectl keeps there is all of the Secret.
    for object in [&mut old, &mut new] {
        if let Some(kept) = object.pointer_mut(LAST_APPLIED) {
            *kept = json!("<hidden>");
        }
    }
    for key in ["data", "stringData"] {
        let before = old.get(key).cloned().unwrap_or_default();
        for (object, hidden) in [(&mut old, "<hidden>"), (&mut new, "<hidden, changed>")] {
            let values = object.get_mut(key).and_then(Value::as_object_mut);
            for (name, value) in values.into_iter().flatten() {
                let same = before.get(name) == Some(value);
                *value = json!(if same { "<hidden>" } else { hidden });
            }
        }
    }
    (old, new)
}

/// YAML; empty where there is no object.
fn text(object: &Value) -> String {
    if object.is_null() {
        return String::new();
    }
    yaml::from_json(&object.to_string()).unwrap_or_else(|_| format!("{object:#}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_cluster_counts_is_no_difference() {
        let before = json!({ "metadata": { "resourceVersion": "1", "name": "a" }, "status": 1 });
        let after = json!({ "metadata": { "resourceVersion": "2", "name": "a" }, "status": 2 });
        assert_eq!(between(Some(&before), Some(&after)), "");
        let changed = json!({ "metadata": { "name": "a" }, "data": { "x": "y" } });
        let diff = between(Some(&before), Some(&changed));
        assert!(
            diff.contains("+") && diff.contains("+  x: \"y\"") || diff.contains("+  x: y"),
            "{diff}"
        );
    }

    #[test]
    fn values_of_secrets_are_not_shown() {
        let secret =
            |value: &str| json!({ "apiVersion": "v1", "kind": "Secret", "data": { "p": value } });
        let diff = between(Some(&secret("b2xk")), Some(&secret("bmV3")));
        assert!(!diff.contains("b2xk") && !diff.contains("bmV3"), "{diff}");
        assert!(diff.contains("changed"), "{diff}");
        let created = between(None, Some(&secret("bmV3")));
        assert!(!created.contains("bmV3") && created.contains("<hidden"), "{created}");
        let kept = json!({ "kubectl.kubernetes.io/last-applied-configuration": "bmV3" });
        let mut applied = secret("b2xk");
        applied["metadata"] = json!({ "annotations": kept });
        for diff in [between(Some(&applied), None), between(None, Some(&applied))] {
            assert!(!diff.contains("bmV3") && !diff.contains("b2xk"), "{diff}");
        }
    }
}
