//! A Deployment that is deployed: is everything still as it was applied?
//!
//! The question is put to the cluster, by applying everything again without storing it. So defaults,
//! conversions and webhooks are the cluster's, and what others may own is no drift.

use std::time::Duration;

use futures::FutureExt as _;
use serde_json::Value;

use crate::cluster::{Apply, Cluster, ClusterError};
use crate::pass::{Next, PERIOD, Pass, Step};
use crate::plan::Placed;
use crate::readiness::{Readiness, readiness};
use crate::together::together;
use crate::types::{Deployment, Manifest, Phase, Reconcile, State, Truth};
use crate::values::{Unknown, Values};
use crate::{apply, carry, time};

/// How often it is looked while something is not ready.
const UNREADY: Duration = Duration::from_secs(30);

/// What became of an object.
enum Found {
    AsApplied,
    Drifted(String),
    Unknown(ClusterError),
}

/// What is to be said of all objects.
#[derive(Default)]
struct Report {
    drifted: Vec<String>,
    unready: Vec<String>,
    unknown: Vec<String>,
    /// Whether waiting alone may help with what is unknown.
    passes: bool,
}

/// Looks at everything that was applied.
pub(crate) async fn watch(pass: &mut Pass<'_>, manifest: &Manifest) -> Step<Next> {
    let mut values = Values::new(&manifest.plan);
    let mut unread = values.look(pass, 0..manifest.plan.resources.len()).await;
    if values.ask(pass, manifest.plan.deployments.iter().map(String::as_str)).await?.is_err() {
        tracing::info!(namespace = %pass.deployment.namespace, name = %pass.deployment.name, "cannot look at outputs of others");
    }
    let (cluster, deployment) = (pass.cluster(), &pass.deployment);
    let known = &values;
    let looks = (0..manifest.plan.resources.len())
        .map(|at| (at, unread.remove(&at)))
        .map(|(at, unread)| look(cluster, deployment, manifest, known, (at, unread)).boxed());
    let found = together(looks).await;

    let report = note(pass, &values, found);
    if report.unknown.is_empty()
        && let Ok(outputs) = values.outputs(&manifest.plan.outputs)
    {
        pass.status.outputs = outputs;
    }
    let news = !report.drifted.is_empty() && !pass.deployment.status.is("Drifted");
    let enforce = pass.deployment.spec.reconcile == Reconcile::Enforce && pass.status.is("Drifted");
    if enforce {
        correct(pass);
    }
    pass.save().await?;
    if news {
        pass.means.records.tell(&pass.deployment, "Drifted", &report.drifted.join("\n")).await;
    }
    Ok(match report {
        _ if enforce => return carry::carry_out(pass, manifest).await,
        Report { passes: true, .. } => Next::Retry,
        Report { unready, .. } if !unready.is_empty() => Next::After(UNREADY),
        _ => Next::After(PERIOD),
    })
}

/// Says of every resource what became of it, and of all of them in the conditions.
fn note(pass: &mut Pass<'_>, values: &Values, found: Vec<Found>) -> Report {
    let mut report = Report::default();
    for (at, found) in found.into_iter().enumerate() {
        let resource = &mut pass.status.resources[at];
        let named = |why: &str| format!("{} ({}): {why}", resource.name, resource.target);
        let readiness = match values.live(at) {
            Some(live) => readiness(live),
            None => Readiness::InProgress("it is not there".to_owned()),
        };
        if let Found::Unknown(error) = found {
            // Of the object nothing is known, so nothing is said.
            report.passes |= error.passes();
            report.unknown.push(named(&error.to_string()));
            continue;
        }
        let mut state = (State::Ready, None);
        if let Readiness::InProgress(why) | Readiness::Failed(why) = readiness {
            report.unready.push(named(&why));
            state = (State::Applied, Some(why));
        }
        if let Found::Drifted(why) = found {
            report.drifted.push(named(&why));
            state = (State::Drifted, Some(why));
        }
        resource.set(state.0, state.1);
    }
    let Report { drifted, unready, unknown, passes } = &report;
    match (drifted.is_empty(), unknown.is_empty()) {
        (false, _) => pass.set("Drifted", Truth::True, "Changed", &drifted.join("\n")),
        (true, true) => pass.set("Drifted", Truth::False, "AsApplied", ""),
        (true, false) if *passes => {}
        (true, false) => pass.set("Drifted", Truth::Unknown, "Unknown", &unknown.join("\n")),
    }
    match (unready.is_empty(), unknown.is_empty()) {
        (false, _) => pass.set("Ready", Truth::False, "NotReady", &unready.join("\n")),
        (true, true) => pass.set("Ready", Truth::True, "Deployed", ""),
        (true, false) => {}
    }
    report
}

/// What has drifted is applied again, as an operation that begins now.
fn correct(pass: &mut Pass<'_>) {
    for resource in &mut pass.status.resources {
        if resource.state == State::Drifted {
            resource.state = State::Pending;
        }
    }
    pass.status.phase = Phase::Applying;
    if let Some(operation) = &mut pass.status.operation {
        operation.start_time = time::written(pass.now);
        operation.end_time = None;
    }
}

async fn look(
    cluster: &dyn Cluster,
    deployment: &Deployment,
    manifest: &Manifest,
    values: &Values,
    (at, unread): (usize, Option<ClusterError>),
) -> Found {
    if let Some(error) = unread {
        return Found::Unknown(error);
    }
    let planned = &manifest.plan.resources[at];
    let Some(live) = values.live(at) else { return Found::Drifted("it was deleted".to_owned()) };
    if !values.is_ours(at, deployment) {
        return Found::Drifted("it is no longer this Deployment's".to_owned());
    }
    let written = &manifest.expanded_config.resources[at];
    let resource = match values.replaced(&planned.references, written) {
        Ok(resource) => resource,
        // That the object is gone which it refers to is said of that.
        Err(Unknown(why)) => return Found::Unknown(ClusterError::NotFound(why)),
    };
    let object = Placed::new(&resource, &planned.name, &planned.target, deployment);
    let manager = apply::manager(deployment);
    let apply = Apply { object: &object.0, manager: &manager, force: true, dry_run: true };
    match cluster.apply(&deployment.spec.requester, &planned.target, apply).await {
        Ok(applied) if same(&applied, live) => Found::AsApplied,
        Ok(applied) => Found::Drifted(format!("others changed {}", changed(&applied, live))),
        Err(error) => Found::Unknown(error),
    }
}

/// Whether two states of an object are the same, but for what the cluster counts.
fn same(left: &Value, right: &Value) -> bool {
    desired(left) == desired(right)
}

fn desired(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(members) = object.as_object_mut() {
        members.remove("status");
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for counted in ["managedFields", "resourceVersion", "generation"] {
            metadata.remove(counted);
        }
    }
    object
}

/// The paths at which two objects differ, a few of them.
fn changed(left: &Value, right: &Value) -> String {
    const TOLD: usize = 5;
    let mut paths = Vec::new();
    differ(&desired(left), &desired(right), &mut String::new(), &mut paths);
    let more = if paths.len() > TOLD { ", …" } else { "" };
    paths.truncate(TOLD);
    format!("{}{more}", paths.join(", "))
}

fn differ(left: &Value, right: &Value, path: &mut String, paths: &mut Vec<String>) {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: std::collections::BTreeSet<_> = left.keys().chain(right.keys()).collect();
            for key in keys {
                let length = path.len();
                path.push_str(if path.is_empty() { "" } else { "." });
                path.push_str(key);
                let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned();
                differ(&of(left).unwrap_or_default(), &of(right).unwrap_or_default(), path, paths);
                path.truncate(length);
            }
        }
        _ if left == right => {}
        _ => paths.push(path.clone()),
    }
}
