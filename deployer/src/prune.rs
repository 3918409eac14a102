//! Deleting objects that are no longer wanted, the last wave first.
//!
//! Only what stands in the status is looked at, and only what carries the Deployment's uid is touched.
//! A wave is gone before the one in front of it is deleted.

use futures::FutureExt as _;

use crate::authorize::{Authorized, Changes};
use crate::carry::{elapsed, patience};
use crate::cluster::{ClusterError, Target, Verb};
use crate::deployer::{Next, Pass, Step};
use crate::plan::{Owner, bare, owner};
use crate::together::together;
use crate::types::{DeletePolicy, Phase, Resource, State, Truth};

/// Deletes or abandons the resources that are obsolete. It ends the pass while some are left.
pub(crate) async fn prune(pass: &mut Pass<'_>) -> Step<()> {
    let obsolete = |resource: &Resource| resource.state == State::Obsolete;
    if pass.status.resources.iter().any(obsolete) {
        pass.status.phase = Phase::Pruning;
        clear(pass, obsolete).await?;
    }
    Ok(())
}

/// Deletes or abandons some resources, and strikes them out. It ends the pass while some are left.
pub(crate) async fn clear(pass: &mut Pass<'_>, which: impl Fn(&Resource) -> bool) -> Step<()> {
    let policy = pass.deployment.spec.delete_policy;
    loop {
        let chosen = pass.status.resources.iter().filter(|resource| which(resource));
        let Some(wave) = chosen.clone().map(|resource| resource.wave).max() else { return Ok(()) };
        let all = chosen.clone().map(|resource| &resource.target);
        let changes = match policy {
            DeletePolicy::Delete => Changes::default().delete(all),
            DeletePolicy::Abandon => Changes::default().abandon(all),
        };
        let last: Vec<_> = chosen
            .filter(|resource| resource.wave == wave)
            .map(|resource| resource.target.clone())
            .collect();
        let authorized = pass.authorize(changes).await?;
        let (cluster, uid) = (pass.cluster(), &pass.deployment.uid);
        let cleared = last.iter().map(|target| match policy {
            DeletePolicy::Delete => delete(cluster, &authorized, uid, target).boxed(),
            DeletePolicy::Abandon => abandon(cluster, &authorized, uid, target).boxed(),
        });
        let cleared = together(cleared).await;
        let (mut left, mut failures) = (Vec::new(), Vec::new());
        for (target, outcome) in last.iter().zip(cleared) {
            let message = match outcome {
                Ok(Left::Nothing) => {
                    pass.status.resources.retain(|resource| !resource.target.is(target));
                    continue;
                }
                Ok(Left::Deleting) => {
                    left.push(target.to_string());
                    "is being deleted".to_owned()
                }
                Err(error) => {
                    failures.push(format!("{target}: {error}"));
                    error.to_string()
                }
            };
            let of = |resource: &&mut Resource| resource.target.is(target);
            if let Some(resource) = pass.status.resources.iter_mut().find(of) {
                resource.error = Some(message);
            }
        }
        if !failures.is_empty() {
            pass.fail("Applied", "Failed", &failures.join("\n")).await?;
            return Err(Next::Retry);
        }
        if !left.is_empty() {
            let message = format!("waits until it is gone: {}", left.join(", "));
            pass.set("Ready", Truth::False, "Deleting", &message);
            pass.save().await?;
            return Err(Next::After(patience(elapsed(pass))));
        }
        pass.save().await?;
    }
}

/// What is left of an object.
enum Left {
    /// Nothing that is ours.
    Nothing,
    /// It is on its way.
    Deleting,
}

async fn delete(
    cluster: &dyn crate::Cluster,
    authorized: &Authorized,
    uid: &str,
    target: &Target,
) -> Result<Left, ClusterError> {
    let user = authorized.user(Verb::Get, target)?;
    let Some(live) = cluster.get(user, target).await? else { return Ok(Left::Nothing) };
    if owner(&live, uid) != Owner::Us {
        return Ok(Left::Nothing);
    }
    if !live["metadata"]["deletionTimestamp"].is_string() {
        let live_uid = live["metadata"]["uid"].as_str().unwrap_or_default();
        cluster.delete(authorized.user(Verb::Delete, target)?, target, live_uid).await?;
        if cluster.get(user, target).await?.is_none() {
            return Ok(Left::Nothing);
        }
    }
    Ok(Left::Deleting)
}

async fn abandon(
    cluster: &dyn crate::Cluster,
    authorized: &Authorized,
    uid: &str,
    target: &Target,
) -> Result<Left, ClusterError> {
    let live = cluster.get(authorized.user(Verb::Get, target)?, target).await?;
    let Some(live) = live.filter(|live| owner(live, uid) == Owner::Us) else {
        return Ok(Left::Nothing);
    };
    let live_uid = live["metadata"]["uid"].as_str().unwrap_or_default();
    match cluster.patch(authorized.user(Verb::Patch, target)?, target, &bare(live_uid)).await {
        Ok(()) | Err(ClusterError::NotFound(_)) => Ok(Left::Nothing),
        Err(error) => Err(error),
    }
}
