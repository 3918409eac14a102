//! Carrying out a plan: wave after wave, then what is no longer wanted, then the end.

use futures::FutureExt as _;

use crate::authorize::Authorized;
use crate::changes::changes;
use crate::pass::{Act, Next, PERIOD, Pass, Step};
use crate::plan::{Of, Reference};
use crate::readiness::{Readiness, readiness};
use crate::together::together;
use crate::types::{Kind, Manifest, Phase, Resource, State, Truth};
use crate::values::{Unknown, Values};
use crate::{apply, history, prune, time};

/// Goes on with the operation of a Manifest.
pub(crate) async fn carry_out(pass: &mut Pass<'_>, manifest: &Manifest) -> Step<Next> {
    let mut work = Work { manifest, values: Values::new(&manifest.plan), authorized: None };
    for wave in 0..manifest.plan.waves() {
        work.apply(pass, wave).await?;
        work.observe(pass, wave).await?;
        work.progress(pass, wave).await?;
    }
    pass.set("Applied", Truth::True, "Applied", "");
    prune::prune(pass).await?;
    work.finish(pass).await
}

/// What became of an object that was applied.
const LOST: &str = "it was deleted or taken by somebody else";

/// What a pass has at hand.
struct Work<'a> {
    manifest: &'a Manifest,
    values: Values,
    authorized: Option<Authorized>,
}

impl Work<'_> {
    /// Applies what of a wave is not applied.
    async fn apply(&mut self, pass: &mut Pass<'_>, wave: usize) -> Step<()> {
        let undone = |resource: &Resource| matches!(resource.state, State::Pending | State::Failed);
        let members = self.members(pass, wave, undone);
        if members.is_empty() {
            return Ok(());
        }
        if self.authorized.is_none() {
            let changes = changes(pass, &self.manifest.plan);
            self.authorized = Some(pass.authorize(changes).await?);
        }
        let planned = &self.manifest.plan.resources;
        let references = members.iter().flat_map(|&at| &planned[at].references);
        self.gather(pass, references).await?;

        let authorized = self.authorized.as_ref().expect("it was made above");
        let reader = &*pass;
        let (values, configuration) = (&self.values, &self.manifest.expanded_config);
        let one = async |at: usize| {
            let planned = &planned[at];
            let resource = values.replaced(&planned.references, &configuration.resources[at])?;
            apply::apply(reader, authorized, planned, &resource).await
        };
        let applied = together(members.iter().map(|at| one(*at).boxed())).await;
        for (at, applied) in members.into_iter().zip(applied) {
            let resource = &mut pass.status.resources[at];
            match applied {
                Ok((live, made)) => {
                    resource.uid = live["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
                    let (target, uid) = (resource.target.clone(), resource.uid.clone());
                    pass.acts.push(Act { target, uid, made });
                    resource.set(State::Applied, None);
                    self.values.know(at, live);
                }
                // What it refers to is not there yet.
                Err(apply::Fault::Waiting(why)) => {
                    resource.set(State::Pending, Some(why));
                }
                Err(fault) => {
                    resource.set(State::Failed, Some(fault.to_string()));
                }
            }
        }
        Ok(())
    }

    /// Reads what references are about. What was ready and is gone since is applied again first.
    async fn gather<'r>(
        &mut self,
        pass: &mut Pass<'_>,
        references: impl Iterator<Item = &'r Reference> + Clone,
    ) -> Step<()> {
        self.values.gather(pass, references.clone()).await?;
        let mut lost = false;
        for reference in references {
            let Of::Resource(at) = reference.of else { continue };
            let resource = &mut pass.status.resources[at];
            if resource.state == State::Ready && !self.values.is_ours(at, &pass.deployment) {
                lost = true;
                resource.set(State::Pending, Some(LOST.to_owned()));
            }
        }
        if lost {
            pass.save().await?;
            return Err(pass.soon());
        }
        Ok(())
    }

    /// Finds out which of a wave are ready.
    async fn observe(&mut self, pass: &mut Pass<'_>, wave: usize) -> Step<()> {
        let applied = |resource: &Resource| resource.state == State::Applied;
        let members = self.members(pass, wave, applied);
        let unseen = members.iter().copied().filter(|at| !self.values.knows(*at));
        let unseen: Vec<_> = unseen.collect();
        self.values.read(pass, unseen.into_iter()).await?;
        for at in members {
            let resource = &mut pass.status.resources[at];
            let ours = self.values.is_ours(at, &pass.deployment);
            let (state, error) = match self.values.live(at).filter(|_| ours) {
                None => (State::Pending, Some(LOST.to_owned())),
                Some(live) => match readiness(live) {
                    Readiness::Ready => (State::Ready, None),
                    Readiness::InProgress(why) => (State::Applied, Some(why)),
                    Readiness::Failed(why) => (State::Failed, Some(why)),
                },
            };
            resource.set(state, error);
        }
        Ok(())
    }

    /// Writes down how far it is, and ends the pass unless the wave is ready.
    async fn progress(&mut self, pass: &mut Pass<'_>, wave: usize) -> Step<()> {
        let members = self.members(pass, wave, |resource| resource.state != State::Ready);
        let resources = &pass.status.resources[..self.manifest.plan.resources.len()];
        let undone = resources.iter().filter(|resource| resource.state != State::Ready);
        let done = resources.len() - undone.clone().count();
        let first = undone.map(|resource| resource.wave).min();
        if let Some(operation) = &mut pass.status.operation {
            operation.done = done;
            operation.wave = first.unwrap_or(operation.waves);
        }
        if members.is_empty() {
            return pass.save().await;
        }
        let told = |at: &usize| {
            let Resource { name, target, error, .. } = &pass.status.resources[*at];
            format!("{name} ({target}): {}", error.as_deref().unwrap_or("is not ready"))
        };
        let failed = |at: &&usize| pass.status.resources[**at].state == State::Failed;
        let failures: Vec<_> = members.iter().filter(failed).map(told).collect();
        let message = members.iter().map(told).collect::<Vec<_>>().join("\n");
        if !failures.is_empty() {
            let told = members.iter().filter(failed).map(|at| discreet(pass, *at, told(at)));
            let told = told.collect::<Vec<_>>().join("\n");
            pass.fail_telling("Applied", "Failed", &failures.join("\n"), &told).await?;
            return Err(Next::Retry);
        }
        if pass.is_over() {
            pass.fail("Applied", "Timeout", &message).await?;
            return Err(Next::Retry);
        }
        pass.status.phase = Phase::Applying;
        pass.set("Applied", Truth::False, "Waiting", &message);
        pass.set("Ready", Truth::False, "Waiting", &message);
        pass.save().await?;
        Err(pass.soon())
    }

    /// All is applied and nothing is left over.
    async fn finish(&mut self, pass: &mut Pass<'_>) -> Step<Next> {
        let outputs = &self.manifest.plan.outputs;
        if outputs.iter().any(|output| !output.references.is_empty()) {
            self.gather(pass, outputs.iter().flat_map(|output| &output.references)).await?;
        }
        match self.values.outputs(outputs) {
            Ok(outputs) => pass.status.outputs = outputs,
            Err(Unknown(why)) if pass.is_over() => {
                pass.fail("Ready", "Timeout", &why).await?;
                return Err(Next::Retry);
            }
            Err(Unknown(why)) => {
                pass.set("Ready", Truth::False, "Waiting", &why);
                pass.save().await?;
                return Ok(pass.soon());
            }
        }
        pass.status.deployed = Some(self.manifest.name.clone());
        pass.status.phase = Phase::Deployed;
        if let Some(operation) = &mut pass.status.operation {
            operation.end_time = Some(time::written(pass.now));
        }
        pass.set("Ready", Truth::True, "Deployed", "");
        pass.set("Drifted", Truth::False, "AsApplied", "");
        // Before it is written that all is done: nobody would come back for it.
        history::shorten(pass, &self.manifest.name).await?;
        pass.save().await?;
        let reason = match pass.status.operation.as_ref().map(|operation| operation.kind) {
            Some(Kind::Create) => "Created",
            Some(Kind::Rollback) => "RolledBack",
            _ => "Updated",
        };
        let message = format!("Manifest {} is deployed", self.manifest.name);
        pass.means.records.tell(&pass.deployment, reason, &message).await;
        Ok(Next::After(PERIOD))
    }

    /// The resources of a wave for which something is so, by their positions.
    fn members(&self, pass: &Pass<'_>, wave: usize, is: impl Fn(&Resource) -> bool) -> Vec<usize> {
        let planned = self.manifest.plan.resources.iter().enumerate();
        let of_wave = planned.filter(|(_, planned)| planned.wave == wave).map(|(at, _)| at);
        of_wave.filter(|at| pass.status.resources.get(*at).is_some_and(&is)).collect()
    }
}

/// What an Event says of a resource that failed. The cluster quotes the values that it does not take.
fn discreet(pass: &Pass<'_>, at: usize, told: String) -> String {
    let Resource { name, target, .. } = &pass.status.resources[at];
    if target.kind == "Secret" {
        return format!("{name} ({target}): why is said by the condition Applied");
    }
    told
}
