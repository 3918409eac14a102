//! Objects that stand for pods.

use serde_json::Value;

use super::{Readiness, condition, unless};

/// A number of the status; 0 where it is not written.
fn count(object: &Value, key: &str) -> i64 {
    object["status"][key].as_i64().unwrap_or_default()
}

/// How many replicas are wanted.
fn wanted(object: &Value) -> i64 {
    object["spec"]["replicas"].as_i64().unwrap_or(1)
}

/// The first of some counts that is not reached.
fn reached(object: &Value, wanted: i64, counts: &[(&str, &str)]) -> Readiness {
    for (key, what) in counts {
        let found = count(object, key);
        if found < wanted {
            return Readiness::InProgress(format!("{found} of {wanted} replicas are {what}"));
        }
    }
    Readiness::Ready
}

/// Whether the controller has written anything yet.
fn unseen(object: &Value) -> bool {
    object["status"]["observedGeneration"].is_null()
}

const UNSEEN: &str = "its controller has not seen it yet";

pub(super) fn deployment(object: &Value) -> Readiness {
    if let Some((_, "ProgressDeadlineExceeded", message)) = condition(object, "Progressing") {
        return Readiness::Failed(format!("it does not progress: {message}"));
    }
    if unseen(object) {
        return Readiness::InProgress(UNSEEN.to_owned());
    }
    let wanted = wanted(object);
    let counts = [("replicas", "there"), ("updatedReplicas", "updated")];
    let updated = reached(object, wanted, &counts);
    if updated != Readiness::Ready {
        return updated;
    }
    let surplus = count(object, "replicas") - count(object, "updatedReplicas");
    if surplus > 0 {
        return Readiness::InProgress(format!("{surplus} old replicas are still there"));
    }
    let counts = [("availableReplicas", "available"), ("readyReplicas", "ready")];
    match reached(object, wanted, &counts) {
        Readiness::Ready => match condition(object, "Available") {
            Some(("True", ..)) => Readiness::Ready,
            _ => Readiness::InProgress("it is not available".to_owned()),
        },
        other => other,
    }
}

pub(super) fn stateful_set(object: &Value) -> Readiness {
    if unseen(object) {
        return Readiness::InProgress(UNSEEN.to_owned());
    }
    let strategy = &object["spec"]["updateStrategy"];
    let wanted = wanted(object);
    let there = reached(object, wanted, &[("replicas", "there"), ("readyReplicas", "ready")]);
    if there != Readiness::Ready || strategy["type"] == "OnDelete" {
        return there;
    }
    if count(object, "replicas") > wanted {
        return Readiness::InProgress("there are more replicas than wanted".to_owned());
    }
    let partition = strategy["rollingUpdate"]["partition"].as_i64().unwrap_or_default();
    if partition > 0 {
        return reached(object, (wanted - partition).max(0), &[("updatedReplicas", "updated")]);
    }
    let revision = |key: &str| object["status"][key].as_str().unwrap_or_default();
    unless(revision("currentRevision") != revision("updateRevision"), "it is being updated")
}

pub(super) fn daemon_set(object: &Value) -> Readiness {
    if unseen(object) {
        return Readiness::InProgress(UNSEEN.to_owned());
    }
    let wanted = count(object, "desiredNumberScheduled");
    let counts = [
        ("currentNumberScheduled", "scheduled"),
        ("updatedNumberScheduled", "updated"),
        ("numberAvailable", "available"),
        ("numberReady", "ready"),
    ];
    reached(object, wanted, &counts)
}

/// A ReplicaSet or a ReplicationController.
pub(super) fn replicas(object: &Value) -> Readiness {
    if unseen(object) {
        return Readiness::InProgress(UNSEEN.to_owned());
    }
    if let Some(("True", _, message)) = condition(object, "ReplicaFailure") {
        return Readiness::InProgress(format!("replicas cannot be made: {message}"));
    }
    let wanted = wanted(object);
    let counts = [
        ("fullyLabeledReplicas", "labelled"),
        ("availableReplicas", "available"),
        ("readyReplicas", "ready"),
    ];
    match reached(object, wanted, &counts) {
        Readiness::Ready => {
            unless(count(object, "replicas") > wanted, "there are more replicas than wanted")
        }
        other => other,
    }
}

pub(super) fn pod(object: &Value) -> Readiness {
    let status = &object["status"];
    match status["phase"].as_str().unwrap_or_default() {
        "Succeeded" => Readiness::Ready,
        "Failed" => {
            let message = status["message"].as_str().unwrap_or_default();
            Readiness::Failed(format!("it failed {message}").trim_end().to_owned())
        }
        "Running" if matches!(condition(object, "Ready"), Some(("True", ..))) => Readiness::Ready,
        phase => match waiting(status) {
            Some(container) => Readiness::Failed(container),
            None => Readiness::InProgress(format!("its phase is {phase}")),
        },
    }
}

/// The first container that crashes again and again.
fn waiting(status: &Value) -> Option<String> {
    let containers = status["containerStatuses"].as_array()?.iter();
    let crashing = |container: &&Value| {
        container["state"]["waiting"]["reason"].as_str() == Some("CrashLoopBackOff")
    };
    let container = { containers }.find(crashing)?;
    Some(format!("container {} crashes", container["name"].as_str().unwrap_or_default()))
}

pub(super) fn job(object: &Value) -> Readiness {
    if let Some(("True", reason, message)) = condition(object, "Failed") {
        return Readiness::Failed(format!("it failed: {reason} {message}").trim_end().to_owned());
    }
    let suspended = object["spec"]["suspend"] == true;
    let complete = matches!(condition(object, "Complete"), Some(("True", ..)));
    unless(!suspended && !complete, "it is not complete")
}
