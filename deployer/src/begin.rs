//! The beginning of an operation: what is wanted now, the plan for it, every review, and the journal.
//!
//! The journal is the last of it. Before it is written nothing was changed, and from then on the
//! status names everything that may come to exist.

use expansion::Expanded;

use crate::authorize::Changes;
use crate::changes::{changes, own};
use crate::pass::{Next, Pass, Step};
use crate::plan::Plan;
use crate::resolve::Resolved;
use crate::types::{Configuration, Kind, Manifest, Operation, Phase, Resource, State, Truth};
use crate::{dependencies, history, preview, time};

/// The reason of the condition `Expanded` where the files that the last Manifest keeps were not used,
/// because the requester may not read it.
pub const FETCHED_ANEW: &str = "FetchedAnew";

/// The Manifest of the operation for what is wanted now, which is begun if it was not. None, where
/// there is nothing to carry out.
pub(crate) async fn underway(pass: &mut Pass<'_>) -> Step<Option<Manifest>> {
    let generation = pass.deployment.generation;
    let begun = pass.status.operation.as_ref().filter(|begun| begun.generation == generation);
    match begun.map(|begun| begun.kind) {
        Some(Kind::Preview) => return Ok(None),
        Some(_) => {
            let name = pass.status.manifest.clone().unwrap_or_default();
            if let Some(manifest) = pass.means.records.manifest(&pass.deployment, &name).await? {
                return Ok(Some(manifest));
            }
            // Somebody has deleted it: it is made again.
        }
        None => {}
    }
    begin(pass).await
}

async fn begin(pass: &mut Pass<'_>) -> Step<Option<Manifest>> {
    dependencies::await_ready(pass).await?;
    let (manifest, kind) = match pass.deployment.spec.roll_back_to.clone() {
        Some(name) => (earlier(pass, &name).await?, Kind::Rollback),
        None => {
            let first = pass.status.deployed.is_none() && pass.status.resources.is_empty();
            let kind = if first { Kind::Create } else { Kind::Update };
            let Some(manifest) = made(pass).await? else { return Ok(None) };
            (manifest, kind)
        }
    };
    if pass.deployment.spec.preview {
        preview::show(pass, &manifest).await?;
        return Ok(None);
    }
    let manifest = history::keep(pass, manifest).await?;
    let changes = changes(pass, &manifest.plan);
    pass.authorize(changes).await?;
    journal(pass, &manifest, kind).await?;
    Ok(Some(manifest))
}

/// The Manifest of what is wanted, not stored yet. None, if nothing but a change can help.
async fn made(pass: &mut Pass<'_>) -> Step<Option<Manifest>> {
    let Resolved { input, expanded, digest, anew } =
        match pass.means.expand.expand(&pass.deployment).await {
            Ok(resolved) => resolved,
            Err(refusal) => {
                let reason = if refusal.passes { "Unavailable" } else { "Invalid" };
                pass.fail("Expanded", reason, &refusal.to_string()).await?;
                return if refusal.passes { Err(Next::Retry) } else { Ok(None) };
            }
        };
    match anew {
        Some(why) => pass.set("Expanded", Truth::True, FETCHED_ANEW, &why),
        None => pass.set("Expanded", Truth::True, "Expanded", ""),
    }
    let plan = plan(pass, &expanded).await?;
    let resources = expanded.resources.iter().map(crate::plan::json).collect();
    Ok(Some(Manifest {
        name: history::name(&pass.deployment),
        created: String::new(),
        deployment: pass.deployment.name.clone(),
        generation: pass.deployment.generation,
        input_config: input,
        expanded_config: Configuration { resources },
        layout: history::layout(&expanded),
        plan,
        digest,
    }))
}

async fn plan(pass: &mut Pass<'_>, expanded: &Expanded) -> Step<Plan> {
    match Plan::make(expanded, pass.namespace(), pass.cluster()).await {
        Ok(plan) => {
            pass.set("Planned", Truth::True, "Planned", "");
            Ok(plan)
        }
        Err(error) => {
            pass.fail("Planned", error.reason, &error.to_string()).await?;
            Err(if error.passes { Next::Retry } else { Next::Idle })
        }
    }
}

/// An earlier Manifest, as a new one. Its plan is that of then: a kind that is gone since is found out
/// when it is applied.
async fn earlier(pass: &mut Pass<'_>, name: &str) -> Step<Manifest> {
    // A preview would show what is in it.
    let read = Changes::default().read([&own("Manifest", &pass.deployment.namespace, name)]);
    pass.authorize(read).await?;
    let found = pass.means.records.manifest(&pass.deployment, name).await?;
    let Some(earlier) = found else {
        let message = format!("spec.rollBackTo: this Deployment has no Manifest {name}");
        pass.fail("Planned", "NotFound", &message).await?;
        return Err(Next::Idle);
    };
    pass.set("Expanded", Truth::True, "Manifest", &format!("as in Manifest {name}"));
    pass.set("Planned", Truth::True, "Manifest", &format!("as in Manifest {name}"));
    let (name, generation) = (history::name(&pass.deployment), pass.deployment.generation);
    Ok(Manifest { name, generation, ..earlier })
}

/// Writes down everything that may come to exist, or is to go, before any of it is touched.
async fn journal(pass: &mut Pass<'_>, manifest: &Manifest, kind: Kind) -> Step<()> {
    let planned = manifest.plan.resources.iter().map(|planned| Resource {
        name: planned.name.clone(),
        target: planned.target.clone(),
        uid: String::new(),
        wave: planned.wave,
        state: State::Pending,
        error: None,
    });
    let mut resources: Vec<_> = planned.collect();
    for old in std::mem::take(&mut pass.status.resources) {
        match resources.iter_mut().find(|new| new.target.is(&old.target)) {
            Some(new) => new.uid = old.uid,
            None => resources.push(Resource { state: State::Obsolete, error: None, ..old }),
        }
    }
    pass.status.resources = resources;
    pass.status.manifest = Some(manifest.name.clone());
    pass.status.preview = Vec::new();
    pass.status.operation = Some(Operation {
        kind,
        generation: pass.deployment.generation,
        start_time: time::written(pass.now),
        end_time: None,
        wave: 0,
        waves: manifest.plan.waves(),
        done: 0,
        total: manifest.plan.resources.len(),
    });
    pass.status.phase = Phase::Applying;
    pass.set("Applied", Truth::False, "Applying", "");
    pass.set("Ready", Truth::False, "Applying", "");
    pass.save().await
}
