#![allow(clippy::needless_pass_by_value, reason = "values are written where they are passed")]

use serde_json::json;

use super::*;

/// `ready`, or the other word with its reason.
fn told(object: &Value) -> String {
    match readiness(object) {
        Readiness::Ready => "ready".to_owned(),
        Readiness::InProgress(why) => format!("waits: {why}"),
        Readiness::Failed(why) => format!("failed: {why}"),
    }
}

fn check(api_version: &str, kind: &str, spec: Value, status: Value, want: &str) {
    let metadata = json!({ "generation": 2 });
    let object = json!({
        "apiVersion": api_version, "kind": kind,
        "metadata": metadata, "spec": spec, "status": status,
    });
    assert_eq!(told(&object), want, "{object}");
}

#[test]
fn what_has_no_status_is_ready_when_it_is_there() {
    check("v1", "ConfigMap", Value::Null, Value::Null, "ready");
    check("rbac.authorization.k8s.io/v1", "Role", Value::Null, Value::Null, "ready");
}

#[test]
fn a_controller_that_has_not_seen_the_change_is_waited_for() {
    let want = "waits: its controller has not seen it yet";
    check("x.io/v1", "Any", Value::Null, json!({ "observedGeneration": 1 }), want);
    check("x.io/v1", "Any", Value::Null, json!({ "observedGeneration": 2 }), "ready");
    for kind in ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"] {
        check("apps/v1", kind, Value::Null, json!({}), want);
    }
    let deleted = json!({ "metadata": { "deletionTimestamp": "2020-01-01T00:00:00Z" } });
    assert_eq!(told(&deleted), "waits: is being deleted");
}

#[test]
fn a_deployment_is_ready_when_its_new_replicas_are_available() {
    let check = |status: Value, want: &str| {
        let mut status = status;
        status["observedGeneration"] = 2.into();
        check("apps/v1", "Deployment", json!({ "replicas": 2 }), status, want);
    };
    check(json!({ "replicas": 1 }), "waits: 1 of 2 replicas are there");
    check(json!({ "replicas": 2, "updatedReplicas": 1 }), "waits: 1 of 2 replicas are updated");
    check(json!({ "replicas": 3, "updatedReplicas": 2 }), "waits: 1 old replicas are still there");
    let all =
        json!({ "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2 });
    check(all.clone(), "waits: it is not available");
    let mut available = all;
    available["conditions"] = json!([{ "type": "Available", "status": "True" }]);
    check(available, "ready");
    let late = json!([{ "type": "Progressing", "status": "False",
        "reason": "ProgressDeadlineExceeded", "message": "too long" }]);
    check(json!({ "conditions": late }), "failed: it does not progress: too long");
}

#[test]
fn a_stateful_set_is_ready_when_all_replicas_have_the_new_revision() {
    let check = |spec: Value, status: Value, want: &str| {
        let mut status = status;
        status["observedGeneration"] = 2.into();
        check("apps/v1", "StatefulSet", spec, status, want);
    };
    let spec = json!({ "replicas": 2 });
    check(
        spec.clone(),
        json!({ "replicas": 2, "readyReplicas": 1 }),
        "waits: 1 of 2 replicas are ready",
    );
    let revisions = |current: &str| json!({ "replicas": 2, "readyReplicas": 2, "currentRevision": current, "updateRevision": "b" });
    check(spec.clone(), revisions("a"), "waits: it is being updated");
    check(spec, revisions("b"), "ready");
    let on_delete = json!({ "replicas": 2, "updateStrategy": { "type": "OnDelete" } });
    check(on_delete, revisions("a"), "ready");
    let half = json!({ "replicas": 2, "updateStrategy": { "rollingUpdate": { "partition": 1 } } });
    check(half.clone(), revisions("a"), "waits: 0 of 1 replicas are updated");
    let mut one = revisions("a");
    one["updatedReplicas"] = 1.into();
    check(half, one, "ready");
}

#[test]
fn a_controller_of_replicas_is_ready_when_all_are() {
    let check = |status: Value, want: &str| {
        let mut status = status;
        status["observedGeneration"] = 2.into();
        check("v1", "ReplicationController", json!({ "replicas": 2 }), status, want);
    };
    check(json!({ "fullyLabeledReplicas": 2 }), "waits: 0 of 2 replicas are available");
    let all = json!({ "replicas": 2, "fullyLabeledReplicas": 2, "availableReplicas": 2, "readyReplicas": 2 });
    check(all.clone(), "ready");
    let mut more = all;
    more["replicas"] = 3.into();
    check(more, "waits: there are more replicas than wanted");
    let failing = json!([{ "type": "ReplicaFailure", "status": "True", "message": "quota" }]);
    check(json!({ "conditions": failing }), "waits: replicas cannot be made: quota");
}

#[test]
fn a_daemon_set_is_ready_on_every_node_that_it_is_meant_for() {
    let status = |ready: i64| {
        json!({ "observedGeneration": 2, "desiredNumberScheduled": 2, "currentNumberScheduled": 2,
            "updatedNumberScheduled": 2, "numberAvailable": 2, "numberReady": ready })
    };
    check("apps/v1", "DaemonSet", Value::Null, status(1), "waits: 1 of 2 replicas are ready");
    check("apps/v1", "DaemonSet", Value::Null, status(2), "ready");
}

#[test]
fn a_pod_is_ready_when_it_runs_and_says_so_or_has_ended_well() {
    let pod = |status: Value, want: &str| check("v1", "Pod", Value::Null, status, want);
    pod(json!({ "phase": "Pending" }), "waits: its phase is Pending");
    pod(json!({ "phase": "Running" }), "waits: its phase is Running");
    let ready = json!([{ "type": "Ready", "status": "True" }]);
    pod(json!({ "phase": "Running", "conditions": ready }), "ready");
    pod(json!({ "phase": "Succeeded" }), "ready");
    pod(json!({ "phase": "Failed", "message": "evicted" }), "failed: it failed evicted");
    let crashing =
        json!([{ "name": "c", "state": { "waiting": { "reason": "CrashLoopBackOff" } } }]);
    pod(
        json!({ "phase": "Running", "containerStatuses": crashing }),
        "failed: container c crashes",
    );
}

#[test]
fn a_job_is_ready_when_it_is_complete() {
    let job = |spec: Value, status: Value, want: &str| check("batch/v1", "Job", spec, status, want);
    job(Value::Null, json!({ "active": 1 }), "waits: it is not complete");
    let is =
        |kind: &str| json!({ "conditions": [{ "type": kind, "status": "True", "reason": "R" }] });
    job(Value::Null, is("Complete"), "ready");
    job(Value::Null, is("Failed"), "failed: it failed: R");
    job(json!({ "suspend": true }), json!({}), "ready");
}

#[test]
fn definitions_namespaces_claims_and_services_have_rules_of_their_own() {
    let definition = |conditions: Value, want: &str| {
        let status = json!({ "conditions": conditions });
        let api_version = "apiextensions.k8s.io/v1";
        check(api_version, "CustomResourceDefinition", Value::Null, status, want);
    };
    definition(json!([]), "waits: there is no condition Established yet");
    definition(json!([{ "type": "Established", "status": "True" }]), "ready");
    let refused = json!([{ "type": "NamesAccepted", "status": "False", "message": "taken" }]);
    definition(refused, "failed: its names are not accepted: taken");

    let phase = |phase: &str| json!({ "phase": phase });
    check("v1", "Namespace", Value::Null, json!({}), "waits: it is not active");
    check("v1", "Namespace", Value::Null, phase("Active"), "ready");
    check("v1", "PersistentVolumeClaim", Value::Null, phase("Pending"), "ready");
    check("v1", "PersistentVolumeClaim", Value::Null, phase("Lost"), "failed: its volume is lost");
    check("v1", "Service", json!({ "type": "ClusterIP" }), json!({}), "ready");
    check(
        "v1",
        "Service",
        json!({ "type": "LoadBalancer" }),
        json!({}),
        "waits: it has no address yet",
    );
}

#[test]
fn whatever_says_ready_is_believed() {
    let any = |conditions: Value, want: &str| {
        check("x.io/v1", "Any", Value::Null, json!({ "conditions": conditions }), want);
    };
    any(json!([{ "type": "Ready", "status": "True" }]), "ready");
    let not = json!([{ "type": "Ready", "status": "False", "reason": "R", "message": "m" }]);
    any(not, "waits: Ready is not True: R m");
    let stalled = json!([{ "type": "Stalled", "status": "True", "reason": "R", "message": "m" }]);
    any(stalled, "failed: it is stalled: R m");
    let at_work =
        json!([{ "type": "Reconciling", "status": "True", "reason": "R", "message": "m" }]);
    any(at_work, "waits: it is being reconciled: R m");
}
