use apiserver::authn::User;
use apiserver::meta::{ObjectMeta, OwnerReference, Time};
use apiserver::object::Fields;
use apiserver::schema::{self, Limits};
use jiff::Timestamp;

use super::*;

/// An object as the server decodes it from a spec.
fn object(spec: &str) -> Object {
    let body = format!(r#"{{"spec":{spec}}}"#);
    let decoded = schema::decode(&kinds::deployment().schema, &body, Limits::default()).unwrap();
    let meta = ObjectMeta { name: "web".to_owned(), ..ObjectMeta::default() };
    Object { meta, fields: Fields::new(decoded.fields) }
}

fn wrong(spec: &str) -> Vec<String> {
    Deployments.validate(&object(spec)).iter().map(ToString::to_string).collect()
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    assert_eq!(wrong(r#"{"configuration":"resources: []"}"#), [""; 0]);
    assert_eq!(
        wrong(r#"{"template":{"type":"t.py"},"imports":[{"path":"t.py","content":""}]}"#),
        [""; 0]
    );
    assert_eq!(wrong(r#"{"rollBackTo":"web-1"}"#), [""; 0]);
    assert_eq!(wrong("{}"), ["spec.configuration: Required value: or spec.template"]);
    let spec = r#"{"configuration":"a","template":{"type":"b"},"targetNamespace":"A.b","timeoutSeconds":0,
        "dependsOn":["web","other","other"],"rollBackTo":"_"}"#;
    let errors = wrong(spec);
    let fields: Vec<_> = errors.iter().map(|error| error.split(": ").next().unwrap()).collect();
    let want = [
        "spec.template",
        "spec.targetNamespace",
        "spec.rollBackTo",
        "spec.dependsOn[0]",
        "spec.dependsOn[2]",
        "spec.timeoutSeconds",
    ];
    assert_eq!(fields, want, "{errors:?}");
    let nameless = wrong(r#"{"configuration":"a","imports":[{"content":"x"}]}"#);
    assert_eq!(nameless, ["spec.imports[0].name: Required value: or a path"]);
}

#[test]
fn a_new_deployment_is_held_until_what_it_deploys_is_gone() {
    let mut object = object(r#"{"configuration":"a"}"#);
    let user = User { name: "bob".to_owned(), ..User::default() };
    let cx = Context::of(&user, "demo", "web", Timestamp::UNIX_EPOCH);
    Deployments.prepare_for_create(&cx, &mut object);
    assert_eq!(object.meta.finalizers, [FINALIZER]);
    assert_eq!(spec(&object).unwrap().requester.username, "bob");
    Deployments.prepare_for_create(&cx, &mut object);
    assert_eq!(object.meta.finalizers, [FINALIZER], "once");

    let mut old = object.clone();
    let replaced = |old: &Object| {
        let mut object = old.clone();
        object.meta.finalizers.clear();
        Deployments.prepare_for_update(&cx, &mut object, old);
        object.meta.finalizers
    };
    assert_eq!(replaced(&old), [FINALIZER]);
    old.meta.deletion_timestamp = Some(Time::at(Timestamp::UNIX_EPOCH));
    assert_eq!(replaced(&old), [""; 0], "nobody could end a deletion that hangs");
}

#[test]
fn who_deletes_is_who_has_to_be_allowed_to_but_for_those_who_delete_for_others() {
    let deleted_by = |name: &str| {
        let mut object = object(r#"{"configuration":"a","requester":{"username":"ann"}}"#);
        let user = User { name: name.to_owned(), ..User::default() };
        let cx = Context::of(&user, "demo", "web", Timestamp::UNIX_EPOCH);
        Deployments.prepare_for_delete(&cx, &mut object);
        spec(&object).unwrap().requester.username
    };
    assert_eq!(deleted_by("bob"), "bob");
    assert_eq!(deleted_by("system:serviceaccount:kube-system:namespace-controller"), "ann");
    assert_eq!(deleted_by("system:serviceaccount:kube-system:generic-garbage-collector"), "ann");
    assert_eq!(
        deleted_by("system:serviceaccount:demo:namespace-controller"),
        "system:serviceaccount:demo:namespace-controller"
    );
    assert_eq!(deleted_by("system:kube-controller-manager"), "ann");
}

/// For whom a Deployment of Ann's is carried out after somebody has changed it.
fn requester_after(name: &str, change: impl FnOnce(&mut Object)) -> String {
    let old = object(r#"{"configuration":"a","requester":{"username":"ann"}}"#);
    let (mut new, user) = (old.clone(), User { name: name.to_owned(), ..User::default() });
    change(&mut new);
    let cx = Context::of(&user, "demo", "web", Timestamp::UNIX_EPOCH);
    Deployments.prepare_for_update(&cx, &mut new, &old);
    spec(&new).unwrap().requester.username
}

#[test]
fn who_has_the_collector_delete_is_who_has_to_be_allowed_to() {
    let tie = |object: &mut Object| object.meta.owner_references.push(OwnerReference::default());
    assert_eq!(requester_after("bob", tie), "bob");
    let collector = "system:serviceaccount:kube-system:generic-garbage-collector";
    assert_eq!(requester_after(collector, tie), "ann");
    let label = |object: &mut Object| _ = object.meta.labels.insert("a".into(), "b".into());
    assert_eq!(requester_after("bob", label), "ann");
}

#[test]
fn what_is_being_deleted_is_given_nothing_else_to_do() {
    let changed = |deleting: bool, spec: &str| {
        let mut old = object(r#"{"configuration":"a: b","requester":{"username":"bob"}}"#);
        old.meta.deletion_timestamp = deleting.then(|| Time::at(Timestamp::UNIX_EPOCH));
        let mut new = object(spec);
        new.meta = old.meta.clone();
        let wrong = Deployments.validate_update(&new, &old);
        wrong.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let other = r#"{"configuration":"a: c"}"#;
    assert_eq!(changed(false, other), [""; 0]);
    let why = "spec: Forbidden: only deletePolicy and timeoutSeconds may change while this is being deleted";
    assert_eq!(changed(true, other), [why]);
    let end = r#"{"configuration":"a: b","deletePolicy":"Abandon","timeoutSeconds":5}"#;
    assert_eq!(changed(true, end), [""; 0]);
}

#[test]
fn what_the_controller_writes_fits_the_schema() {
    let status = Status {
        phase: deployer::types::Phase::Applying,
        manifest: Some("web-1".to_owned()),
        conditions: vec![deployer::types::Condition {
            kind: "Ready".to_owned(),
            last_transition_time: "2026-01-01T00:00:00Z".to_owned(),
            ..Default::default()
        }],
        ..Status::default()
    };
    let body = format!(
        r#"{{"spec":{{"configuration":"a"}},"status":{}}}"#,
        serde_json::to_string(&status).unwrap()
    );
    let decoded = schema::decode(&kinds::deployment().schema, &body, Limits::default()).unwrap();
    assert!(decoded.fields.contains("\"phase\":\"Applying\""), "{}", decoded.fields);
    let meta = ObjectMeta { name: "web".to_owned(), ..ObjectMeta::default() };
    let object = Object { meta, fields: Fields::new(decoded.fields) };
    let cells = Deployments.cells(&object);
    assert_eq!(cells, [json!("Applying"), json!("0/0"), json!("web-1"), json!(""), json!("")]);
    assert_eq!(cells.len(), COLUMNS.len());
}
