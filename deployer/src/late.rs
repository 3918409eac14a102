//! A pass that comes too late: another process has taken over, and what is asked for is another
//! thing, or the Deployment is gone.
//!
//! One leads at a time, but nobody can take back a request that was under way when the lead was lost.
//! An object that such a pass has made although nothing speaks of it any longer would stay forever;
//! so who finds that somebody else has written since looks whether what it made is still named.

use crate::authorize::{Changes, authorize};
use crate::cluster::Verb;
use crate::pass::{Act, Pass};
use crate::plan::{Owner, owner};
use crate::types::{DeletePolicy, Phase, State};

/// Whether nobody else has written since this pass last did, as far as that can be known.
pub(crate) async fn is_current(pass: &Pass<'_>) -> bool {
    let read = &pass.deployment;
    let current = pass.means.records.deployment(&read.namespace, &read.name).await;
    let version = current.ok().flatten().map(|current| current.resource_version);
    version.as_ref() == Some(&read.resource_version)
}

/// Deletes what a pass has made and the Deployment does not name; has what it has touched and the
/// Deployment names applied again, since it did so for what was wanted before. Objects are deleted as
/// the user for whom they were made; what that user may not delete stays, and so does everything if
/// nobody can be asked.
pub(crate) async fn take_back(pass: &Pass<'_>) {
    if pass.acts.is_empty() {
        return;
    }
    let read = &pass.deployment;
    let Ok(current) = pass.means.records.deployment(&read.namespace, &read.name).await else {
        return;
    };
    let current = current.filter(|current| current.uid == read.uid);
    let mut status = current.as_ref().map(|current| current.status.clone()).unwrap_or_default();
    for act in &pass.acts {
        match status.resources.iter_mut().find(|resource| resource.target.is(&act.target)) {
            Some(resource) if resource.state == State::Obsolete => {}
            Some(resource) => resource.state = State::Pending,
            None if act.made => delete(pass, act).await,
            None => {}
        }
    }
    let Some(current) = current.filter(|current| current.status != status) else { return };
    if status.phase == Phase::Deployed {
        status.phase = Phase::Applying;
    }
    if let Err(error) = pass.means.records.write_status(&current, &status).await {
        tracing::warn!(namespace = %read.namespace, name = %read.name, %error, "objects may have been changed too late");
    }
}

async fn delete(pass: &Pass<'_>, Act { target, uid, .. }: &Act) {
    let user = &pass.deployment.spec.requester;
    let changes = Changes::default().give_up([target], DeletePolicy::Delete);
    let Ok(authorized) = authorize(pass.cluster(), user, changes).await else { return };
    let Ok(user) = authorized.user(Verb::Delete, target) else { return };
    // By now it may be somebody else's.
    let live = pass.cluster().get(user, target).await.ok().flatten();
    if !live.is_some_and(|live| owner(&live, &pass.deployment.uid) == Owner::Us) {
        return;
    }
    let deleted = pass.cluster().delete(user, target, uid).await;
    tracing::warn!(%target, ?deleted, "an object was made too late");
}
