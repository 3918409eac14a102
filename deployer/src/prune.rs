//! Deleting objects that are no longer wanted, the last wave first.
//!
//! Only what stands in the status is looked at, and only what carries the Deployment's uid is touched.
//! A wave is gone before the one in front of it is deleted.

use std::collections::BTreeSet;

use futures::FutureExt as _;
use serde_json::Value;

use crate::authorize::{Authorized, Changes};
use crate::cluster::{ClusterError, Target, Verb};
use crate::pass::{Act, Next, Pass, Step};
use crate::plan::{Owner, bare, owner};
use crate::together::together;
use crate::types::{DeletePolicy, Kind, Phase, Resource, State, Truth};

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
        let changes = Changes::default().give_up(all, policy);
        let last: Vec<_> = chosen
            .filter(|resource| resource.wave == wave)
            .map(|resource| resource.target.clone())
            .collect();
        let authorized = pass.authorize(changes).await?;
        let kept = pass.status.resources.iter().filter(|resource| !which(resource));
        let kept: BTreeSet<_> = kept.map(|resource| resource.uid.as_str()).collect();
        let (cluster, owned) = (pass.cluster(), Owned { by: &pass.deployment.uid, kept: &kept });
        let cleared = last.iter().map(|target| match policy {
            DeletePolicy::Delete => delete(cluster, &authorized, &owned, target).boxed(),
            DeletePolicy::Abandon => abandon(cluster, &authorized, &owned, target).boxed(),
        });
        let cleared = together(cleared).await;
        pass.acts.extend(last.iter().map(Act::on));
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
                resource.set(resource.state, Some(message));
            }
        }
        let left_over = pass.status.resources.len();
        if let Some(operation) = pass.status.operation.as_mut()
            && operation.kind == Kind::Delete
        {
            operation.done = operation.total.saturating_sub(left_over);
        }
        if !failures.is_empty() {
            pass.fail("Applied", "Failed", &failures.join("\n")).await?;
            return Err(Next::Retry);
        }
        if !left.is_empty() {
            let message = format!("waits until it is gone: {}", left.join(", "));
            if pass.is_over() {
                pass.fail("Applied", "Timeout", &message).await?;
                return Err(Next::Retry);
            }
            pass.set("Ready", Truth::False, "Deleting", &message);
            pass.save().await?;
            return Err(pass.soon());
        }
        pass.save().await?;
    }
}

/// Whose objects are cleared.
struct Owned<'a> {
    /// The uid of the Deployment.
    by: &'a str,
    /// The uids of objects that stay. One object may have two names, in two groups.
    kept: &'a BTreeSet<&'a str>,
}

impl Owned<'_> {
    /// The uid of an object, if that is to be cleared.
    fn uid<'l>(&self, live: &'l Value) -> Option<&'l str> {
        let uid = live["metadata"]["uid"].as_str().unwrap_or_default();
        (owner(live, self.by) == Owner::Us && !self.kept.contains(uid)).then_some(uid)
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
    owned: &Owned<'_>,
    target: &Target,
) -> Result<Left, ClusterError> {
    let user = authorized.user(Verb::Get, target)?;
    let Some(live) = cluster.get(user, target).await? else { return Ok(Left::Nothing) };
    let Some(uid) = owned.uid(&live) else { return Ok(Left::Nothing) };
    if !live["metadata"]["deletionTimestamp"].is_string() {
        cluster.delete(authorized.user(Verb::Delete, target)?, target, uid).await?;
        if cluster.get(user, target).await?.is_none() {
            return Ok(Left::Nothing);
        }
    }
    Ok(Left::Deleting)
}

async fn abandon(
    cluster: &dyn crate::Cluster,
    authorized: &Authorized,
    owned: &Owned<'_>,
    target: &Target,
) -> Result<Left, ClusterError> {
    let live = cluster.get(authorized.user(Verb::Get, target)?, target).await?;
    let uid = live.as_ref().and_then(|live| owned.uid(live));
    let Some(uid) = uid else { return Ok(Left::Nothing) };
    match cluster.patch(authorized.user(Verb::Patch, target)?, target, &bare(uid)).await {
        Ok(()) | Err(ClusterError::NotFound(_)) => Ok(Left::Nothing),
        Err(error) => Err(error),
    }
}
