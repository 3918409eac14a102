//! Applying one object.
//!
//! Two Deployments that want the same object must not take turns with it. One that is there is applied
//! over the version that was read, after it was seen whose it is. One that is not there is applied
//! without force: if another Deployment makes it in the meantime, both want the label with the owner
//! to be theirs, and the cluster refuses the second.

use serde_json::Value;

use crate::authorize::Authorized;
use crate::cluster::{Apply, ClusterError, Verb};
use crate::late;
use crate::pass::Pass;
use crate::plan::{Owner, Placed, Planned, owner};
use crate::types::{CreatePolicy, Deployment};
use crate::values::Unknown;

/// How often an object is read again that others write at the same time.
const ATTEMPTS: usize = 4;

/// Why an object was not applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    /// It belongs to another Deployment.
    #[error("it belongs to Deployment {0}, which has to abandon or delete it first")]
    Owned(String),
    /// It has to be there already.
    #[error("it is not there, and spec.createPolicy is Acquire")]
    Absent,
    /// What it needs is not there yet.
    #[error("{0}")]
    Waiting(String),
    /// The cluster did not do it.
    #[error("{0}")]
    Cluster(#[from] ClusterError),
}

impl From<Unknown> for Fault {
    fn from(Unknown(why): Unknown) -> Self {
        Self::Waiting(why)
    }
}

/// Who owns the fields that a Deployment applies.
pub(crate) fn manager(deployment: &Deployment) -> String {
    format!("formwork-{}", deployment.uid)
}

/// Applies the object of a resource, whose references are replaced, and answers it as it is then, and
/// whether it was made.
pub(crate) async fn apply(
    pass: &Pass<'_>,
    authorized: &Authorized,
    planned: &Planned,
    resource: &Value,
) -> Result<(Value, bool), Fault> {
    let (target, cluster, deployment) = (&planned.target, pass.cluster(), &pass.deployment);
    let manager = manager(deployment);
    let mut last = ClusterError::Conflict(String::new());
    for _ in 0..ATTEMPTS {
        let live = cluster.get(authorized.user(Verb::Get, target)?, target).await?;
        let object = prepared(pass, planned, resource, live.as_ref()).await?;
        let force = live.is_some();
        if !force {
            authorized.user(Verb::Create, target)?;
        }
        let apply = Apply { object: &object.0, manager: &manager, force, dry_run: false };
        match cluster.apply(authorized.user(Verb::Patch, target)?, target, apply).await {
            Ok(applied) => return Ok((applied, !force)),
            // The other may be one of us, who carries out what was asked for since.
            Err(ClusterError::Conflict(why)) if !late::is_current(pass).await => {
                return Err(Fault::Waiting(why));
            }
            Err(conflict @ ClusterError::Conflict(_)) => last = conflict,
            // What an earlier wave has made may not be served yet.
            Err(ClusterError::NotFound(why)) if planned.wave > 0 => {
                return Err(Fault::Waiting(why));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(last.into())
}

/// The object as it is applied, if that may be: over what is there, if anything is.
pub(crate) async fn prepared(
    pass: &Pass<'_>,
    planned: &Planned,
    resource: &Value,
    live: Option<&Value>,
) -> Result<Placed, Fault> {
    let deployment = &pass.deployment;
    let object = Placed::new(resource, &planned.name, &planned.target, deployment);
    let Some(live) = live else {
        return match deployment.spec.create_policy {
            CreatePolicy::Acquire => Err(Fault::Absent),
            CreatePolicy::CreateOrAcquire => Ok(object),
        };
    };
    match owner(live, &deployment.uid) {
        Owner::Other { uid, name } if !is_gone(pass, &uid, &name).await => {
            Err(Fault::Owned(if name.is_empty() { uid } else { name }))
        }
        _ if live["metadata"]["deletionTimestamp"].is_string() => {
            Err(Fault::Waiting("it is being deleted".to_owned()))
        }
        _ => Ok(object.over(live)),
    }
}

/// Whether a Deployment is certainly not there any longer. Somebody has taken its finalizer from it, or
/// its store was lost; nobody else could ever give up what it had.
async fn is_gone(pass: &Pass<'_>, uid: &str, name: &str) -> bool {
    let Some((namespace, name)) = name.split_once('/') else { return false };
    match pass.means.records.deployment(namespace, name).await {
        Ok(found) => found.is_none_or(|found| found.uid != uid),
        Err(_) => false,
    }
}
