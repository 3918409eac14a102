//! What would be done, and how each object would change. Nothing is stored but this answer.
//!
//! The cluster applies every object without storing it, so the answer has its defaults and the
//! refusals of its webhooks.

use futures::FutureExt as _;

use crate::changes::changes;
use crate::cluster::{Apply, ClusterError, Target};
use crate::pass::{Pass, Step};
use crate::together::together;
use crate::types::{Action, DeletePolicy, Kind, Manifest, Operation, Phase, Preview, Truth};
use crate::values::Values;
use crate::{apply, difference, time};

/// As many bytes of differences are shown.
const ROOM: usize = 512 << 10;

/// Shows what would be done.
pub(crate) async fn show(pass: &mut Pass<'_>, manifest: &Manifest) -> Step<()> {
    let changes = changes(pass, &manifest.plan);
    pass.authorize(changes).await?;
    let mut values = Values::new(&manifest.plan);
    let references = manifest.plan.resources.iter().flat_map(|planned| &planned.references);
    values.gather(pass, references).await?;
    let (reader, values) = (&*pass, &values);
    let shown =
        (0..manifest.plan.resources.len()).map(|at| one(reader, manifest, values, at).boxed());
    let mut shown = together(shown).await;
    shown.extend(obsolete(pass, manifest));
    fit(&mut shown);

    let total = shown.len();
    pass.status.preview = shown;
    pass.status.phase = Phase::Previewed;
    pass.status.operation = Some(Operation {
        kind: Kind::Preview,
        generation: pass.deployment.generation,
        start_time: time::written(pass.now),
        end_time: Some(time::written(pass.now)),
        wave: 0,
        waves: manifest.plan.waves(),
        done: total,
        total,
    });
    pass.set("Ready", Truth::False, "Preview", "spec.preview is set");
    pass.save().await
}

/// Leaves out differences that a status has no room for.
fn fit(shown: &mut [Preview]) {
    let mut room = ROOM;
    for preview in shown {
        match room.checked_sub(preview.diff.len()) {
            Some(left) => room = left,
            None => preview.diff = "(there is no room to show it)\n".to_owned(),
        }
    }
}

async fn one(pass: &Pass<'_>, manifest: &Manifest, values: &Values, at: usize) -> Preview {
    let (cluster, deployment) = (pass.cluster(), &pass.deployment);
    let planned = &manifest.plan.resources[at];
    let (name, target) = (planned.name.clone(), planned.target.clone());
    let user = &deployment.spec.requester;
    let failed = |error: String| Preview {
        name: name.clone(),
        target: target.clone(),
        action: Action::None,
        diff: String::new(),
        error: Some(error),
        unknown: None,
    };
    let live = match cluster.get(user, &target).await {
        Ok(live) => live,
        Err(error) => return failed(error.to_string()),
    };
    let written = &manifest.expanded_config.resources[at];
    let (resource, unknown) = match values.replaced(&planned.references, written) {
        Ok(resource) => (resource, None),
        Err(unknown) => (written.clone(), Some(unknown.0)),
    };
    let object = match apply::prepared(pass, planned, &resource, live.as_ref()).await {
        Ok(object) => object.0,
        Err(fault) => return failed(fault.to_string()),
    };
    let action = if live.is_some() { Action::Update } else { Action::Create };
    let (after, error) = if unknown.is_some() {
        (object, None)
    } else {
        let manager = apply::manager(deployment);
        let force = live.is_some();
        let apply = Apply { object: &object, manager: &manager, force, dry_run: true };
        match cluster.apply(user, &target, apply).await {
            Ok(after) => (after, None),
            // Its kind or its namespace is still to be made.
            Err(ClusterError::NotFound(_)) if live.is_none() && planned.wave > 0 => (object, None),
            Err(error) => (object, Some(error.to_string())),
        }
    };
    let diff = difference::between(live.as_ref(), Some(&after));
    let action = if diff.is_empty() { Action::None } else { action };
    Preview { name, target, action, diff, error, unknown }
}

/// What would be deleted, or left.
fn obsolete(pass: &Pass<'_>, manifest: &Manifest) -> Vec<Preview> {
    let planned =
        |target: &Target| manifest.plan.resources.iter().any(|planned| planned.target.is(target));
    let action = match pass.deployment.spec.delete_policy {
        DeletePolicy::Delete => Action::Delete,
        DeletePolicy::Abandon => Action::Abandon,
    };
    let old = pass.status.resources.iter().filter(|resource| !planned(&resource.target));
    old.map(|resource| Preview {
        name: resource.name.clone(),
        target: resource.target.clone(),
        action,
        diff: String::new(),
        error: None,
        unknown: None,
    })
    .collect()
}
