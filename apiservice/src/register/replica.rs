//! What one replica does about the serving authority and the APIServices, one pass at a time.
//!
//! A pass reads what there is, does at most one thing to the shared state, and says when to look
//! again. It keeps nothing that it could not read again, so it may end anywhere.
//!
//! The order of reading matters: the APIServices first, the Secret after them, and an APIService is
//! written only over the version that was read. A replica that lags behind can then never put an
//! old bundle over a newer one: if the newer was there when it read the APIService, it reads the
//! newer Secret too, and if it came later, the write is refused.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::{Context as _, Result};
use apiserver::tls::ServingCertificate;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;

use super::apiservices::{
    Trust, Verdict, call_attention, carries, is_ours, is_unavailable, judge, owner_of, wanted,
};
use super::cluster::{Cluster, Written};
use super::rotation::{State, Step, Timing, plan};
use super::serving::Serving;
use super::{Authority, Options, Publish, secret};

/// When to look again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// At once: something changed, or somebody else was faster.
    Again,
    /// At this moment, unless something happens before.
    At(Timestamp),
}

/// One replica of the server.
pub(super) struct Replica<C> {
    cluster: C,
    options: Arc<Options>,
    /// What it shows to clients; made in the first pass unless it was given.
    serving: Serving,
    /// The last state seen: what is left of the Secret when somebody deletes it.
    known: Option<State>,
    /// What was last found of each APIService.
    verdicts: BTreeMap<String, Verdict>,
    /// Whether the owner of the APIServices could last be looked up.
    owned: bool,
    /// When the Secret was last read, in seconds since 1970.
    fresh: Arc<AtomicI64>,
}

impl<C: Cluster> Replica<C> {
    pub(super) fn new(cluster: C, options: Arc<Options>) -> Self {
        let serving = match &options.authority {
            Authority::Ours(_) => Serving::new(options.subject()),
            Authority::Given { certificate, .. } => Serving::given(certificate.clone()),
        };
        let verdicts = BTreeMap::new();
        Self {
            cluster,
            options,
            serving,
            known: None,
            verdicts,
            owned: true,
            fresh: Arc::default(),
        }
    }

    /// What is shown to clients, once the Secret was read.
    pub(super) fn certificate(&self) -> Option<Arc<ServingCertificate>> {
        self.serving.certificate()
    }

    /// The certificate of the authority that signed what is shown.
    #[cfg(test)]
    pub(super) fn signer(&self) -> Option<&str> {
        self.serving.signer()
    }

    /// When the Secret was last read, in seconds since 1970.
    pub(super) fn fresh(&self) -> Arc<AtomicI64> {
        self.fresh.clone()
    }

    /// One pass. `publishing` says whether APIServices may be written: not before the server that
    /// they lead to answers.
    ///
    /// # Errors
    /// When kube-apiserver refuses or cannot be reached, or the Secret is damaged. What is shown to
    /// clients stays.
    pub(super) async fn pass(&mut self, publishing: bool) -> Result<Next> {
        let options = self.options.clone();
        let environment = &options.environment;
        let found = self.found().await;
        let Authority::Ours(timing) = &options.authority else {
            let trust = options.authority.trust_elsewhere();
            return match self.publish(&found?, &trust, publishing).await? {
                Changed::Yes => Ok(Next::Again),
                Changed::No => Ok(Next::At(environment.now().saturating_add(options.resync())?)),
            };
        };
        let read = environment.now();
        let stored = self.cluster.secret().await?;
        // Any waiting that begins with this pass counts from after what it has read: a process may
        // have been held up since it began.
        let now = environment.now();
        let state = stored.as_ref().map(|stored| self.read(stored)).transpose()?;
        let Some(state) = state.flatten() else {
            return self.begin(stored.unwrap_or_default(), now, timing).await;
        };
        self.observe(&state);
        let renew = self.serving.sign(&state.current, now, timing)?;
        self.fresh.fetch_max(read.as_second(), Ordering::Relaxed);

        // Not being allowed to read the APIServices is no reason not to serve.
        let found = found?;
        let bundle = state.bundle();
        if self.publish(&found, &Trust::Bundle(bundle.clone()), publishing).await? == Changed::Yes {
            return Ok(Next::Again);
        }
        let ours = found.iter().flatten().filter(|found| is_ours(found, &options.service));
        let carried = ours.into_iter().all(|found| carries(found, &bundle));
        match plan(&state, carried, now, timing) {
            Step::Wait(until) => {
                let resync = now.saturating_add(timing.resync)?;
                Ok(Next::At(until.min(renew).min(resync)))
            }
            step => {
                let next = state.after(step, now, timing)?;
                if self.write(stored.unwrap_or_default(), &next).await? == Written::Done {
                    tracing::info!(?step, "serving authority");
                }
                Ok(Next::Again)
            }
        }
    }

    /// The APIServices as they are, in the order of the group versions.
    async fn found(&self) -> Result<Vec<Option<APIService>>> {
        let mut found = Vec::new();
        for served in &self.options.served {
            found.push(self.cluster.api_service(&served.name()).await?);
        }
        Ok(found)
    }

    fn read(&self, stored: &Secret) -> Result<Option<State>> {
        secret::read(stored).with_context(|| {
            let Options { service, .. } = &*self.options;
            let (namespace, name) = (&service.namespace, service.secret());
            format!(
                "Secret {namespace}/{name} is damaged and left as it is; mend it, or delete it to \
                 have a new authority made"
            )
        })
    }

    /// Fills the Secret that is not there, or is empty: with what this replica remembers, so that
    /// a deletion costs nothing but a rotation, or with a first authority.
    async fn begin(&self, stored: Secret, now: Timestamp, timing: &Timing) -> Result<Next> {
        let state = match &self.known {
            Some(known) => State { requested: true, ..known.clone() },
            None => State::first(now, timing)?,
        };
        if self.write(stored, &state).await? == Written::Done {
            match &self.known {
                Some(_) => tracing::warn!("the Secret is gone; written again, and then rotated"),
                None => tracing::info!("made a serving authority"),
            }
        }
        Ok(Next::Again)
    }

    async fn write(&self, mut stored: Secret, state: &State) -> Result<Written> {
        secret::write(&mut stored, state);
        self.cluster.put_secret(stored).await
    }

    /// Remembers the state, and says so when the authority is one that nobody announced.
    fn observe(&mut self, state: &State) {
        if let Some(known) = &self.known
            && !known.bundle().contains(&state.current.certificate)
        {
            tracing::error!(
                "the serving authority was replaced without a rotation; requests through \
                 kube-apiserver fail until it has seen the new caBundle"
            );
        }
        self.known = Some(state.clone());
    }

    async fn publish(
        &mut self,
        found: &[Option<APIService>],
        trust: &Trust,
        publishing: bool,
    ) -> Result<Changed> {
        let options = self.options.clone();
        if !publishing || options.publish == Publish::No {
            return Ok(Changed::No);
        }
        let owner = self.owner().await;
        let mut changed = Changed::No;
        for (served, found) in options.served.iter().zip(found) {
            // One that is just being deleted takes its APIServices along, unless they forget it.
            let owner = owner.as_ref().or_else(|| owner_of(found.as_ref()?, &options.service));
            let mut wanted = wanted(served, &options.service, trust, owner);
            let verdict = judge(found.as_ref(), &wanted, &options.service);
            let first = !self.verdicts.contains_key(&served.name());
            if first && verdict == Verdict::Same && found.as_ref().is_some_and(is_unavailable) {
                call_attention(&mut wanted, options.environment.now());
            } else if !self.may_apply(&served.name(), &verdict) {
                continue;
            }
            let version = found.as_ref().and_then(|found| found.metadata.resource_version.clone());
            wanted.metadata.resource_version = version;
            if self.cluster.apply(&wanted).await? == Written::Done {
                tracing::info!(name = served.name(), ?verdict, "published APIService");
                self.verdicts.insert(served.name(), Verdict::Same);
            }
            changed = Changed::Yes;
        }
        Ok(changed)
    }

    /// Whether an APIService that was found like this is written. One that was ours and is gone was
    /// deleted on purpose, most likely to uninstall: it stays away until a server starts anew.
    fn may_apply(&mut self, name: &str, verdict: &Verdict) -> bool {
        let last = self.verdicts.get(name);
        let news = last != Some(verdict);
        match (verdict, last) {
            (Verdict::Same, _) => {}
            (Verdict::Drifted, _) => return true,
            // On record as absent is only what was ours before.
            (Verdict::Absent, Some(Verdict::Absent)) => {}
            (Verdict::Absent, Some(Verdict::Same | Verdict::Drifted)) => tracing::warn!(
                name,
                "the APIService was deleted; it is not published again before a restart"
            ),
            (Verdict::Absent, _) => return true,
            (Verdict::Foreign(destination), _) if news => tracing::error!(
                name,
                destination,
                "an APIService of this name leads elsewhere and is left alone: this group version \
                 is not served here; delete it to have ours published"
            ),
            (Verdict::Foreign(_), _) => {}
        }
        self.verdicts.insert(name.to_owned(), verdict.clone());
        false
    }

    /// Without an owner everything works, only not the removal by the garbage collector. It is said
    /// once.
    async fn owner(&mut self) -> Option<OwnerReference> {
        let owner = self.cluster.owner().await;
        let known = std::mem::replace(&mut self.owned, owner.is_ok());
        owner.unwrap_or_else(|error| {
            if known {
                let error = format!("{error:#}");
                tracing::warn!(error, "APIServices are published without an owner");
            }
            None
        })
    }
}

/// Whether something was written, and everything has to be read again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Changed {
    Yes,
    No,
}
