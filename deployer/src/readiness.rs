//! Whether an object of the cluster is ready, kind by kind.
//!
//! The rules are those of kstatus, the library behind kpt and Flux, but for two. A Job is ready when
//! it is complete, because who refers to one waits for what it does. A PersistentVolumeClaim that is
//! pending does not hold anybody up: what it waits for may be its first consumer.

mod workloads;

use serde_json::Value;

/// What is known of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// It is as it is meant to be.
    Ready,
    /// It will be, after what is said here.
    InProgress(String),
    /// It will not be, unless somebody does something.
    Failed(String),
}

/// Finds out whether an object is ready.
pub(crate) fn readiness(object: &Value) -> Readiness {
    let metadata = &object["metadata"];
    if metadata["deletionTimestamp"].is_string() {
        return Readiness::InProgress("is being deleted".to_owned());
    }
    let seen = object["status"]["observedGeneration"].as_i64();
    if seen.is_some_and(|seen| seen < metadata["generation"].as_i64().unwrap_or_default()) {
        return Readiness::InProgress("its controller has not seen it yet".to_owned());
    }
    let api_version = object["apiVersion"].as_str().unwrap_or_default();
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let kind = object["kind"].as_str().unwrap_or_default();
    match (group, kind) {
        ("apps", "Deployment") => workloads::deployment(object),
        ("apps", "StatefulSet") => workloads::stateful_set(object),
        ("apps", "DaemonSet") => workloads::daemon_set(object),
        ("apps", "ReplicaSet") | ("", "ReplicationController") => workloads::replicas(object),
        ("", "Pod") => workloads::pod(object),
        ("batch", "Job") => workloads::job(object),
        ("", "PersistentVolumeClaim") => claim(object),
        ("", "Service") => service(object),
        ("", "Namespace") => {
            unless(object["status"]["phase"].as_str() != Some("Active"), "it is not active")
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition(object),
        ("apiregistration.k8s.io", "APIService") => required(object, "Available"),
        _ => anything(object),
    }
}

/// Ready, unless something keeps it from that.
fn unless(hindered: bool, why: &str) -> Readiness {
    if hindered { Readiness::InProgress(why.to_owned()) } else { Readiness::Ready }
}

/// Status, reason and message of a condition.
fn condition<'a>(object: &'a Value, kind: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let conditions = object["status"]["conditions"].as_array()?;
    let found = conditions.iter().find(|condition| condition["type"] == kind)?;
    let text = |key: &str| found[key].as_str().unwrap_or_default();
    Some((text("status"), text("reason"), text("message")))
}

/// Ready when a condition is true.
fn required(object: &Value, kind: &str) -> Readiness {
    match condition(object, kind) {
        Some(("True", ..)) => Readiness::Ready,
        Some((_, reason, message)) => {
            Readiness::InProgress(format!("{kind} is not True: {reason} {message}"))
        }
        None => Readiness::InProgress(format!("there is no condition {kind} yet")),
    }
}

fn claim(object: &Value) -> Readiness {
    match object["status"]["phase"].as_str() {
        Some("Lost") => Readiness::Failed("its volume is lost".to_owned()),
        _ => Readiness::Ready,
    }
}

fn service(object: &Value) -> Readiness {
    let address = object["spec"]["clusterIP"].as_str().unwrap_or_default();
    let balanced = object["spec"]["type"] == "LoadBalancer";
    unless(balanced && address.is_empty(), "it has no address yet")
}

fn definition(object: &Value) -> Readiness {
    if let Some(("False", _, message)) = condition(object, "NamesAccepted") {
        return Readiness::Failed(format!("its names are not accepted: {message}"));
    }
    required(object, "Established")
}

/// What every controller may say: that it is stalled, at work, or that its object is not ready.
fn anything(object: &Value) -> Readiness {
    if let Some(("True", reason, message)) = condition(object, "Stalled") {
        return Readiness::Failed(format!("it is stalled: {reason} {message}"));
    }
    if let Some(("True", reason, message)) = condition(object, "Reconciling") {
        return Readiness::InProgress(format!("it is being reconciled: {reason} {message}"));
    }
    match condition(object, "Ready") {
        Some(_) => required(object, "Ready"),
        None => Readiness::Ready,
    }
}

#[cfg(test)]
mod tests;
