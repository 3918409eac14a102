//! A Deployment that is deployed: is everything still as it was applied?
//!
//! The question is put to the cluster, by applying everything again without storing it. So defaults,
//! conversions and webhooks are the cluster's, and what others may own is no drift.

use std::time::Duration;

use futures::FutureExt as _;
use serde_json::Value;

use crate::cluster::{Apply, Cluster, ClusterError};
use crate::deployer::{Next, Pass, Step};
use crate::plan::{Owner, Placed, owner};
use crate::readiness::{Readiness, readiness};
use crate::together::together;
use crate::types::{Deployment, Manifest, Phase, Reconcile, State, Truth};
use crate::values::Values;
use crate::{apply, carry};

/// How often it is looked whether everything is as it was applied.
pub(crate) const PERIOD: Duration = Duration::from_secs(300);

/// What became of an object.
enum Found {
    AsApplied(Value),
    Drifted(String),
    Unknown(ClusterError),
}

/// Looks at everything that was applied.
pub(crate) async fn watch(pass: &mut Pass<'_>, manifest: &Manifest) -> Step<Next> {
    let mut values = Values::new(&manifest.plan);
    values.read(pass, 0..manifest.plan.resources.len()).await?;
    let (cluster, deployment) = (pass.cluster(), &pass.deployment);
    let values = &values;
    let looks = (0..manifest.plan.resources.len())
        .map(|at| look(cluster, deployment, manifest, values, at).boxed());
    let found = together(looks).await;

    let (mut drifted, mut unready) = (Vec::new(), Vec::new());
    for (at, found) in found.into_iter().enumerate() {
        let resource = &mut pass.status.resources[at];
        let named = |why: &str| format!("{} ({}): {why}", resource.name, resource.target);
        (resource.state, resource.error) = match found {
            Found::AsApplied(live) => match readiness(&live) {
                Readiness::Ready => (State::Ready, None),
                Readiness::InProgress(why) | Readiness::Failed(why) => {
                    unready.push(named(&why));
                    (State::Applied, Some(why))
                }
            },
            Found::Drifted(why) => {
                drifted.push(named(&why));
                (State::Drifted, Some(why))
            }
            // Nothing is known, so nothing is said.
            Found::Unknown(error) => {
                tracing::info!(%error, target = %resource.target, "cannot look for drift");
                (resource.state, resource.error.take())
            }
        };
    }
    if drifted.is_empty() {
        pass.set("Drifted", Truth::False, "AsApplied", "");
    } else {
        pass.set("Drifted", Truth::True, "Changed", &drifted.join("\n"));
    }
    if unready.is_empty() {
        pass.set("Ready", Truth::True, "Deployed", "");
    } else {
        pass.set("Ready", Truth::False, "NotReady", &unready.join("\n"));
    }
    if !drifted.is_empty() && pass.deployment.spec.reconcile == Reconcile::Enforce {
        for resource in &mut pass.status.resources {
            if resource.state == State::Drifted {
                resource.state = State::Pending;
            }
        }
        pass.status.phase = Phase::Applying;
        pass.save().await?;
        pass.deployer.records.tell(&pass.deployment, "Drifted", &drifted.join("\n")).await;
        return carry::carry_out(pass, manifest).await;
    }
    pass.save().await?;
    Ok(Next::After(PERIOD))
}

async fn look(
    cluster: &dyn Cluster,
    deployment: &Deployment,
    manifest: &Manifest,
    values: &Values,
    at: usize,
) -> Found {
    let planned = &manifest.plan.resources[at];
    let Some(live) = values.live(at) else { return Found::Drifted("it was deleted".to_owned()) };
    if owner(live, &deployment.uid) != Owner::Us {
        return Found::Drifted("it is no longer this Deployment's".to_owned());
    }
    let written = &manifest.expanded_config.resources[at];
    let Ok(resource) = values.replaced(&planned.references, written) else {
        return Found::Drifted("a value that it refers to is gone".to_owned());
    };
    let object = Placed::new(&resource, &planned.name, &planned.target, deployment);
    let manager = apply::manager(deployment);
    let apply = Apply { object: &object.0, manager: &manager, force: true, dry_run: true };
    match cluster.apply(&deployment.spec.requester, &planned.target, apply).await {
        Ok(applied) if same(&applied, live) => Found::AsApplied(live.clone()),
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
