//! One pass over a Deployment: what is to be done next, and doing it.
//!
//! A pass reads the Deployment, goes as far as it can without waiting, and says when to come again. It
//! keeps nothing that the status does not hold, so it may end anywhere, and another one, perhaps of
//! another process, goes on.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::authorize::may_read;
use crate::changes::own;
use crate::cluster::{Cluster, ClusterError, Collection, Heeded, Target};
use crate::pass::{Means, Next, Pass, Step};
use crate::records::{RecordError, Records};
use crate::resolve::Expand;
use crate::scratch::Scratch;
use crate::types::{Deployment, Phase, Spec, Status, Truth};
use crate::{begin, carry, late, remove, watch};

/// Carries out Deployments.
#[derive(Clone)]
pub struct Deployer(pub(crate) Means);

impl Deployer {
    /// One that works on these; `clock` is asked for the time.
    pub fn new(
        records: Arc<dyn Records>,
        cluster: Arc<dyn Cluster>,
        expand: Arc<dyn Expand>,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> Self {
        Self(Means { records, cluster, expand, clock: Arc::new(clock) })
    }

    /// Goes on with a Deployment as far as that is possible now, unless it is still of the version
    /// that is `known`. Answers how it is then; none if it is not there, or was not seen.
    pub async fn pass(
        &self,
        namespace: &str,
        name: &str,
        known: Option<&str>,
    ) -> (Next, Option<Seen>) {
        let deployment = match self.0.records.deployment(namespace, name).await {
            Ok(Some(deployment)) => deployment,
            Ok(None) => return (Next::Idle, None),
            Err(error) => return (error.into(), None),
        };
        if known == Some(&*deployment.resource_version) {
            return (Next::Unchanged, Some(Seen::of(&deployment)));
        }
        let cluster = Arc::new(Heeded::new(self.0.cluster.clone()));
        let means = Means { cluster: cluster.clone(), ..self.0.clone() };
        let mut pass = Pass::new(&means, deployment);
        let next = match (go(&mut pass).await.unwrap_or_else(|next| next), cluster.after()) {
            (Next::Retry, Some(after)) => Next::RetryAfter(after),
            (next, _) => next,
        };
        let late = !pass.acts.is_empty() && !late::is_current(&pass).await;
        if late {
            late::take_back(&pass).await;
        }
        (if late { Next::Again } else { next }, Some(Seen::of(&pass.deployment)))
    }

    /// What would be done if the Deployment of that name had another spec, which has its requester;
    /// there need not be one yet. Nothing is changed. What keeps it from being done stands in the
    /// conditions of the answer, and what would be done in its preview.
    ///
    /// # Errors
    /// When the requester may not read the Deployment, or what there is cannot be read.
    pub async fn preview(
        &self,
        namespace: &str,
        name: &str,
        spec: Spec,
    ) -> Result<Status, PreviewError> {
        let found = self.0.records.deployment(namespace, name).await?;
        if found.is_some() {
            may_read(&*self.0.cluster, &spec.requester, &own("Deployment", namespace, name))
                .await?
                .map_err(PreviewError::Forbidden)?;
        }
        let spec = Spec { preview: true, paused: false, ..spec };
        let new = Deployment {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            uid: String::new(),
            generation: 0,
            resource_version: String::new(),
            deleting: false,
            spec: spec.clone(),
            status: Status::default(),
        };
        let found = found.unwrap_or(new);
        // Of what was only what may exist counts, and what was fetched for it.
        let Status { resources, manifest, .. } = found.status;
        let status = Status { resources, manifest, ..Status::default() };
        let deployment = Deployment { spec, status, deleting: false, ..found };
        let scratch = Arc::new(Scratch(self.0.records.clone()));
        let means = Means { records: scratch, ..self.0.clone() };
        let mut pass = Pass::new(&means, deployment);
        // When to come again is nobody's question.
        let _ = go(&mut pass).await;
        Ok(pass.status)
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

/// Why nothing can be said of what would be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PreviewError {
    /// The user may not see what there is.
    #[error("{0}")]
    Forbidden(String),
    /// The cluster cannot be asked.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The store cannot be read.
    #[error(transparent)]
    Records(#[from] RecordError),
}

/// Goes as far as that is possible now.
async fn go(pass: &mut Pass<'_>) -> Step<Next> {
    if pass.deployment.deleting {
        return remove::remove(pass).await;
    }
    if pass.deployment.spec.paused {
        return pause(pass).await;
    }
    let Some(manifest) = begin::underway(pass).await? else { return Ok(Next::Idle) };
    if pass.status.phase == Phase::Deployed {
        return watch::watch(pass, &manifest).await;
    }
    carry::carry_out(pass, &manifest).await
}

async fn pause(pass: &mut Pass<'_>) -> Step<Next> {
    pass.status.phase = Phase::Paused;
    pass.set("Ready", Truth::False, "Paused", "spec.paused is set");
    pass.save().await?;
    Ok(Next::Idle)
}
