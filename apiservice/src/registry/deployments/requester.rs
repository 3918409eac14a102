//! For whom everything is done: whoever last changed what is wanted, or wants it gone.
//!
//! What a client writes there itself is never believed.

use apiserver::authn::User;
use apiserver::object::{Fields, Object};
use deployer::types::Requester;
use serde_json::Value;

/// Who deletes what others have made, in the course of things: what they delete is done for those.
const IN_THE_COURSE_OF_THINGS: [&str; 3] = [
    // All controllers in one, where they have no accounts of their own.
    "system:kube-controller-manager",
    "system:serviceaccount:kube-system:namespace-controller",
    "system:serviceaccount:kube-system:generic-garbage-collector",
];

/// What says which token was used. It will not be valid for long, and authorizes nothing.
const CREDENTIAL: &str = "authentication.kubernetes.io/credential-id";

/// Notes a user as the requester.
pub(super) fn stamp(object: &mut Object, user: &User) {
    write(object, &serde_json::to_string(&requester(user)).expect("strings are JSON"));
}

/// A user as a requester.
pub(crate) fn requester(user: &User) -> Requester {
    let mut extra = user.extra.clone();
    extra.remove(CREDENTIAL);
    let (username, uid) = (user.name.clone(), user.uid.clone());
    Requester { username, uid, groups: user.groups.clone(), extra }
}

/// Notes the requester that was noted.
pub(super) fn keep(object: &mut Object, old: &Object) {
    let spec = members(old);
    let requester = spec.get("requester").unwrap_or("{}").to_owned();
    write(object, &requester);
}

/// Whether a user deletes what others have made, in the course of things.
pub(super) fn acts_for_others(user: &User) -> bool {
    IN_THE_COURSE_OF_THINGS.contains(&user.name.as_str())
}

/// Whether an object goes with others than before. Whoever decides with what it goes decides when it is
/// deleted, as whose requester the garbage collector then deletes it.
pub(super) fn goes_with_others(object: &Object, old: &Object) -> bool {
    object.meta.owner_references != old.meta.owner_references
}

/// Whether two objects want the same, whoever wants it.
pub(super) fn same_but_for_it(left: &Object, right: &Object) -> bool {
    let wanted = |object: &Object| {
        let mut spec: Value = serde_json::from_str(object.fields.get("spec")?).ok()?;
        spec.as_object_mut()?.remove("requester");
        Some(spec)
    };
    matches!((wanted(left), wanted(right)), (Some(left), Some(right)) if left == right)
}

/// The members of the spec.
fn members(object: &Object) -> Fields {
    let spec = object.fields.get("spec").unwrap_or("{}").trim();
    let inner = spec.strip_prefix('{').and_then(|spec| spec.strip_suffix('}'));
    Fields::new(inner.unwrap_or_default().to_owned())
}

/// Writes the requester at the end of the spec, where its schema has it.
fn write(object: &mut Object, requester: &str) {
    let spec = members(object);
    let mut text = String::from("{");
    for (name, value) in spec.iter().filter(|(name, _)| *name != "requester") {
        text.extend(["\"", name, "\":", value, ","]);
    }
    text.extend(["\"requester\":", requester, "}"]);
    let mut fields = String::new();
    let mut add = |name: &str, value: &str| {
        let comma = if fields.is_empty() { "" } else { "," };
        fields.extend([comma, "\"", name, "\":", value]);
    };
    add("spec", &text);
    for (name, value) in object.fields.iter().filter(|(name, _)| *name != "spec") {
        add(name, value);
    }
    object.fields = Fields::new(fields);
}

#[cfg(test)]
mod tests {
    use apiserver::meta::ObjectMeta;

    use super::*;

    fn object(fields: &str) -> Object {
        Object { meta: ObjectMeta::default(), fields: Fields::new(fields.to_owned()) }
    }

    fn user(name: &str) -> User {
        let extra = [(CREDENTIAL.to_owned(), vec!["x".to_owned()])].into();
        User { name: name.to_owned(), extra, ..User::default() }
    }

    #[test]
    fn what_a_client_says_of_the_requester_is_not_believed() {
        let sent = r#""spec":{"requester":{"username":"root"},"configuration":"a, \"}\""},"status":{"x":1}"#;
        let mut sent = object(sent);
        stamp(&mut sent, &user("bob"));
        let want = r#""spec":{"configuration":"a, \"}\"","requester":{"username":"bob"}},"status":{"x":1}"#;
        assert_eq!(sent.fields.as_str(), want);
    }

    #[test]
    fn only_a_change_of_what_is_wanted_makes_another_requester() {
        let old = object(r#""spec":{"configuration":"a","requester":{"username":"ann"}}"#);
        let mut same =
            object(r#""spec":{ "configuration" : "a", "requester":{"username":"root"}}"#);
        assert!(same_but_for_it(&same, &old));
        keep(&mut same, &old);
        assert!(same.fields.as_str().contains(r#""requester":{"username":"ann"}"#));
        assert!(!same_but_for_it(&object(r#""spec":{"configuration":"b"}"#), &old));
        assert!(!same_but_for_it(&object(r#""spec":{"configuration":"a","paused":true}"#), &old));
    }

    #[test]
    fn an_empty_spec_gets_a_requester_too() {
        let mut empty = object("");
        stamp(&mut empty, &user("bob"));
        assert_eq!(empty.fields.as_str(), r#""spec":{"requester":{"username":"bob"}}"#);
    }
}
