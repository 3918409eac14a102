//! One pass over a Deployment: what is to be done next, and doing it.
//!
//! A pass reads the Deployment, goes as far as it can without waiting, and says when to come again. It
//! keeps nothing that the status does not hold, so it may end anywhere, and another one, perhaps of
//! another process, goes on.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::authorize::{Authorized, Changes, Denied, authorize};
use crate::cluster::{Cluster, Collection, Target};
use crate::late::{self, Act};
use crate::records::{RecordError, Records};
use crate::resolve::Expand;
use crate::types::{Deployment, Phase, Status, Truth, keep_times};
use crate::{begin, carry, remove, watch};

/// When to come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// When something was changed.
    Idle,
    /// As it was: it is what the last pass left behind.
    Unchanged,
    /// At once: somebody else was faster.
    Again,
    /// After this time.
    After(Duration),
    /// After a while that grows each time.
    Retry,
}

/// How a step of a pass ends. An error ends the pass.
pub(crate) type Step<T> = Result<T, Next>;

/// Carries out Deployments.
#[derive(Clone)]
pub struct Deployer {
    pub(crate) records: Arc<dyn Records>,
    pub(crate) cluster: Arc<dyn Cluster>,
    pub(crate) expand: Arc<dyn Expand>,
    pub(crate) clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Deployer {
    /// One that works on these; `clock` is asked for the time.
    pub fn new(
        records: Arc<dyn Records>,
        cluster: Arc<dyn Cluster>,
        expand: Arc<dyn Expand>,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> Self {
        Self { records, cluster, expand, clock: Arc::new(clock) }
    }

    /// Goes on with a Deployment as far as that is possible now, unless it is still of the version
    /// that is `known`. Answers how it is then; none if it is not there, or was not seen.
    pub async fn pass(
        &self,
        namespace: &str,
        name: &str,
        known: Option<&str>,
    ) -> (Next, Option<Seen>) {
        let deployment = match self.records.deployment(namespace, name).await {
            Ok(Some(deployment)) => deployment,
            Ok(None) => return (Next::Idle, None),
            Err(error) => return (error.into(), None),
        };
        if known == Some(&*deployment.resource_version) {
            return (Next::Unchanged, Some(Seen::of(&deployment)));
        }
        let mut pass = Pass::new(self, deployment);
        let next = pass.go().await.unwrap_or_else(|next| next);
        let late = !pass.acts.is_empty() && !late::is_current(&pass).await;
        if late {
            late::take_back(&pass).await;
        }
        (if late { Next::Again } else { next }, Some(Seen::of(&pass.deployment)))
    }
}

/// What a pass has seen last of a Deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its version.
    pub version: String,
    /// Which Deployment it is.
    pub uid: String,
    /// Where its objects are.
    pub collections: BTreeSet<Collection>,
}

impl Seen {
    fn of(deployment: &Deployment) -> Self {
        let Deployment { resource_version, uid, spec, status, .. } = deployment;
        let collection = |target: &Target| Collection {
            user: spec.requester.clone(),
            api_version: target.api_version.clone(),
            resource: target.resource.clone(),
            namespace: target.namespace.clone(),
        };
        let collections = status.resources.iter().map(|it| collection(&it.target)).collect();
        Self { version: resource_version.clone(), uid: uid.clone(), collections }
    }
}

/// A pass: a Deployment as it was read, and its status as it becomes.
pub(crate) struct Pass<'a> {
    pub(crate) deployer: &'a Deployer,
    pub(crate) deployment: Deployment,
    pub(crate) status: Status,
    pub(crate) now: Timestamp,
    /// What this pass has done.
    pub(crate) acts: Vec<Act>,
}

impl<'a> Pass<'a> {
    pub(crate) fn new(deployer: &'a Deployer, deployment: Deployment) -> Self {
        let (status, now) = (deployment.status.clone(), (deployer.clock)());
        Self { deployer, deployment, status, now, acts: Vec::new() }
    }

    /// Goes as far as that is possible now.
    pub(crate) async fn go(&mut self) -> Step<Next> {
        if self.deployment.deleting {
            return remove::remove(self).await;
        }
        if self.deployment.spec.paused {
            return self.pause().await;
        }
        let Some(manifest) = begin::underway(self).await? else { return Ok(Next::Idle) };
        if self.status.phase == Phase::Deployed {
            return watch::watch(self, &manifest).await;
        }
        carry::carry_out(self, &manifest).await
    }

    /// The cluster.
    pub(crate) fn cluster(&self) -> &'a dyn Cluster {
        &*self.deployer.cluster
    }

    /// Where objects go that do not name a namespace.
    pub(crate) fn namespace(&self) -> &str {
        let Deployment { namespace, spec, .. } = &self.deployment;
        spec.target_namespace.as_deref().unwrap_or(namespace)
    }

    /// Sets a condition.
    pub(crate) fn set(&mut self, kind: &str, status: Truth, reason: &str, message: &str) {
        let about = (self.deployment.generation, self.now);
        self.status.set((kind, status), reason, message, about);
    }

    /// Writes the status, unless it is as it was.
    pub(crate) async fn save(&mut self) -> Step<()> {
        self.status.observed_generation = self.deployment.generation;
        keep_times(&mut self.status.conditions, &self.deployment.status.conditions);
        if self.status == self.deployment.status {
            return Ok(());
        }
        match self.deployer.records.write_status(&self.deployment, &self.status).await {
            Ok(version) => {
                self.deployment.resource_version = version;
                self.deployment.status = self.status.clone();
                Ok(())
            }
            Err(RecordError::Refused(why)) => self.refused(&why).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Says in the status as it was that it cannot become another: most likely it is too large.
    async fn refused(&mut self, why: &str) -> Step<()> {
        self.status = self.deployment.status.clone();
        self.status.observed_generation = self.deployment.generation;
        self.status.phase = Phase::Failed;
        self.set("Ready", Truth::False, "Refused", &format!("the status cannot be written: {why}"));
        if self.status != self.deployment.status {
            self.deployer.records.write_status(&self.deployment, &self.status).await?;
        }
        Err(Next::Retry)
    }

    /// Notes that something failed, which is what a condition says: it is not so, and why.
    pub(crate) async fn fail(&mut self, kind: &str, reason: &str, message: &str) -> Step<()> {
        let known = self.deployment.status.condition(kind).is_some_and(|condition| {
            condition.status == Truth::False && condition.message == message
        });
        self.set(kind, Truth::False, reason, message);
        self.set("Ready", Truth::False, reason, message);
        self.status.phase = Phase::Failed;
        self.save().await?;
        if !known {
            tracing::info!(namespace = %self.deployment.namespace, name = %self.deployment.name, %reason, message, "a deployment failed");
            self.deployer.records.tell(&self.deployment, reason, message).await;
        }
        Ok(())
    }

    /// Has changes reviewed. The condition `Authorized` says what came of it.
    pub(crate) async fn authorize(&mut self, changes: Changes) -> Step<Authorized> {
        match authorize(self.cluster(), &self.deployment.spec.requester, changes).await {
            Ok(authorized) => {
                self.set("Authorized", Truth::True, "Allowed", "");
                Ok(authorized)
            }
            Err(denied) => self.denied(denied).await,
        }
    }

    /// Notes that changes may not be made, or that nobody could say whether they may.
    pub(crate) async fn denied<T>(&mut self, denied: Denied) -> Step<T> {
        let reason = match &denied {
            Denied::Forbidden(_) => "Forbidden",
            Denied::Cluster(error) => error.reason(),
        };
        self.fail("Authorized", reason, &denied.to_string()).await?;
        Err(Next::Retry)
    }

    async fn pause(&mut self) -> Step<Next> {
        self.status.phase = Phase::Paused;
        self.set("Ready", Truth::False, "Paused", "spec.paused is set");
        self.save().await?;
        Ok(Next::Idle)
    }
}

impl From<RecordError> for Next {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Conflict => Self::Again,
            RecordError::Unavailable(_) | RecordError::Refused(_) => {
                tracing::warn!(%error, "a deployment cannot be carried out");
                Self::Retry
            }
        }
    }
}
