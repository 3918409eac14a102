//! What every step of a pass has at hand: the Deployment as it was read, its status as it becomes, and
//! the means to go on.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::authorize::{Authorized, Changes, Denied, authorize};
use crate::cluster::{Cluster, Target};
use crate::records::{RecordError, Records};
use crate::resolve::Expand;
use crate::time;
use crate::types::{Deployment, Phase, Status, Truth, keep_times};

/// How often it is looked whether everything is as it was applied.
pub(crate) const PERIOD: Duration = Duration::from_secs(300);

/// What an Event says of a configuration that cannot be expanded.
const UNEXPANDED: &str =
    "the configuration cannot be expanded: why is said by the condition Expanded";

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
    /// The same, but not before this time: the cluster has asked for it.
    RetryAfter(Duration),
}

impl Next {
    /// Whether it is to be tried again because it failed.
    pub(crate) fn is_failure(self) -> bool {
        matches!(self, Self::Retry | Self::RetryAfter(_))
    }
}

/// How a step of a pass ends. An error ends the pass.
pub(crate) type Step<T> = Result<T, Next>;

/// What a deployer works with.
#[derive(Clone)]
pub(crate) struct Means {
    pub(crate) records: Arc<dyn Records>,
    pub(crate) cluster: Arc<dyn Cluster>,
    pub(crate) expand: Arc<dyn Expand>,
    pub(crate) clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

/// What a pass has done to an object.
pub(crate) struct Act {
    pub(crate) target: Target,
    pub(crate) uid: String,
    /// Whether the object was made, as far as can be known.
    pub(crate) made: bool,
}

impl Act {
    /// Something that did not make the object.
    pub(crate) fn on(target: &Target) -> Self {
        Self { target: target.clone(), uid: String::new(), made: false }
    }
}

/// A pass: a Deployment as it was read, and its status as it becomes.
pub(crate) struct Pass<'a> {
    pub(crate) means: &'a Means,
    pub(crate) deployment: Deployment,
    pub(crate) status: Status,
    pub(crate) now: Timestamp,
    /// What this pass has done.
    pub(crate) acts: Vec<Act>,
}

impl<'a> Pass<'a> {
    pub(crate) fn new(means: &'a Means, deployment: Deployment) -> Self {
        let (status, now) = (deployment.status.clone(), (means.clock)());
        Self { means, deployment, status, now, acts: Vec::new() }
    }

    /// The cluster.
    pub(crate) fn cluster(&self) -> &'a dyn Cluster {
        &*self.means.cluster
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
        match self.means.records.write_status(&self.deployment, &self.status).await {
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
            self.means.records.write_status(&self.deployment, &self.status).await?;
        }
        Err(Next::Retry)
    }

    /// Notes that something failed, which is what a condition says: it is not so, and why.
    pub(crate) async fn fail(&mut self, kind: &str, reason: &str, message: &str) -> Step<()> {
        // Why a configuration cannot be expanded may quote what templates were given.
        let told = if kind == "Expanded" { UNEXPANDED } else { message };
        self.fail_telling(kind, reason, message, told).await
    }

    /// The same with an Event that says something else: more people read Events, and logs, than may read
    /// the Deployment.
    pub(crate) async fn fail_telling(
        &mut self,
        kind: &str,
        reason: &str,
        message: &str,
        told: &str,
    ) -> Step<()> {
        let known = self.deployment.status.condition(kind).is_some_and(|condition| {
            condition.status == Truth::False && condition.message == message
        });
        self.set(kind, Truth::False, reason, message);
        self.set("Ready", Truth::False, reason, message);
        self.status.phase = Phase::Failed;
        self.save().await?;
        if !known {
            tracing::info!(namespace = %self.deployment.namespace, name = %self.deployment.name, %kind, %reason, "a deployment failed");
            self.means.records.tell(&self.deployment, reason, told).await;
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

    /// How long the operation has been going on.
    pub(crate) fn elapsed(&self) -> SignedDuration {
        let began = self.status.operation.as_ref();
        let began = began.and_then(|operation| time::read(&operation.start_time));
        began.map_or(SignedDuration::ZERO, |began| self.now.duration_since(began))
    }

    /// Whether the operation has been going on for longer than it may.
    pub(crate) fn is_over(&self) -> bool {
        self.elapsed() > SignedDuration::from_secs(self.deployment.spec.timeout())
    }

    /// When to look again for objects that are not ready: at what takes long less often.
    pub(crate) fn soon(&self) -> Next {
        let seconds = (self.elapsed().as_secs() / 10).clamp(1, 15);
        Next::After(Duration::from_secs(u64::try_from(seconds).unwrap_or(1)))
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
