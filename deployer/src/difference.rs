//! How an object changes, as a unified diff of YAML. Values of Secrets are not shown, only whether they
//! change.

use serde_json::{Value, json};
use similar::TextDiff;

/// As many bytes of one difference are kept.
const LONGEST: usize = 16 << 10;

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
    for key in ["data", "stringData"] {
        let before = old[key].clone();
        for (object, hidden) in [(&mut old, "<hidden>"), (&mut new, "<hidden, changed>")] {
            for (name, value) in object[key].as_object_mut().into_iter().flatten() {
                let same = before.get(name) == Some(value);
                *value = json!(if same { "<hidden>" } else { hidden });
            }
        }
        for object in [&mut old, &mut new] {
            if object[key].is_null()
                && let Some(members) = object.as_object_mut()
            {
                members.remove(key);
            }
        }
    }
    (old, new)
}

/// YAML; empty where there is no object.
fn text(object: &Value) -> String {
    if object.is_null() { String::new() } else { yaml(object) }
}

fn yaml(object: &Value) -> String {
    serde_json::to_string_pretty(object).expect("it is JSON")
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
        assert!(diff.contains("+") && diff.contains("\"x\": \"y\""), "{diff}");
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
    }
}
