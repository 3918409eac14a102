//! The end of a Deployment: what it deployed is deleted in reverse order, then its Manifests, then
//! itself.
//!
//! The user who deletes is the one who has to be allowed to. A namespace that is about to go does not
//! wait for that: what is in it goes with it, and what the user may not delete elsewhere is left where
//! it is, with an Event that says so, and after a while so is what cannot be deleted for another reason.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use crate::authorize::{Changes, Denied, authorize};
use crate::cluster::Target;
use crate::pass::{Next, Pass, Step};
use crate::types::{Kind, Operation, Phase, Resource};
use crate::{history, prune, time};

/// How long a namespace that is about to go waits at most for objects elsewhere.
const PATIENCE: SignedDuration = SignedDuration::from_mins(10);

/// Deletes everything, and lets the Deployment go.
pub(crate) async fn remove(pass: &mut Pass<'_>) -> Step<Next> {
    begin(pass);
    leave_to_namespaces(pass).await?;
    prune::clear(pass, |_| true).await?;
    history::forget(pass).await?;
    pass.means.records.release(&pass.deployment).await?;
    Ok(Next::Idle)
}

/// The operation is written down with the first thing that takes longer than a pass.
fn begin(pass: &mut Pass<'_>) {
    pass.status.phase = Phase::Deleting;
    let known = pass.status.operation.as_ref().is_some_and(|known| known.kind == Kind::Delete);
    if !known {
        pass.status.operation = Some(Operation {
            kind: Kind::Delete,
            generation: pass.deployment.generation,
            start_time: time::written(pass.now),
            end_time: None,
            wave: 0,
            waves: 0,
            done: 0,
            total: pass.status.resources.len(),
        });
    }
}

/// Strikes out what goes with its namespace; and, if the Deployment's own is about to go, what the user
/// may not delete.
async fn leave_to_namespaces(pass: &mut Pass<'_>) -> Step<()> {
    let resources = &pass.status.resources;
    let namespaces: BTreeSet<String> =
        resources.iter().map(|resource| resource.target.namespace.clone()).collect();
    let own = pass.deployment.namespace.clone();
    let mut ending = BTreeSet::new();
    for namespace in namespaces.into_iter().chain([own.clone()]).filter(|name| !name.is_empty()) {
        match pass.cluster().is_ending(&namespace).await {
            Ok(true) => _ = ending.insert(namespace),
            Ok(false) => {}
            Err(_) if pass.status.resources.is_empty() => {}
            Err(error) => {
                pass.fail("Applied", error.reason(), &error.to_string()).await?;
                return Err(Next::Retry);
            }
        }
    }
    pass.status.resources.retain(|resource| !ending.contains(&resource.target.namespace));
    // It waits for this Deployment, so this Deployment cannot wait for it.
    let is_own = |target: &Target| {
        (&*target.api_version, &*target.kind, &*target.object_name) == ("v1", "Namespace", &*own)
    };
    if ending.contains(&own) {
        pass.status.resources.retain(|resource| !is_own(&resource.target));
    }
    if ending.contains(&own) {
        let mut kept = Vec::new();
        let is_over = pass.is_over() || pass.elapsed() > PATIENCE;
        for resource in std::mem::take(&mut pass.status.resources) {
            if !is_over && may_give_up(pass, &resource).await? {
                kept.push(resource);
            } else {
                let message = format!("{} is left where it is", resource.target);
                pass.means.records.tell(&pass.deployment, "Abandoned", &message).await;
            }
        }
        pass.status.resources = kept;
    }
    Ok(())
}

async fn may_give_up(pass: &Pass<'_>, resource: &Resource) -> Step<bool> {
    let policy = pass.deployment.spec.delete_policy;
    let changes = Changes::default().give_up([&resource.target], policy);
    match authorize(pass.cluster(), &pass.deployment.spec.requester, changes).await {
        Ok(_) => Ok(true),
        Err(Denied::Forbidden(_)) => Ok(false),
        Err(Denied::Cluster(_)) => Err(Next::Retry),
    }
}
