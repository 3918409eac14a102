//! Which of several replicas carries out Deployments: the holder of a Lease.
//!
//! The rules are client-go's. Nobody's clock is compared with another's: a Lease has expired when this
//! process has seen it unchanged for as long as it is good for. A replica that cannot renew in time
//! stops before others begin; should one be late all the same, no harm is done, since what two of them
//! write is conditional on what they read.

use std::time::Duration;

use anyhow::{Result, bail};
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease as Resource, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use tokio::time::{Instant, sleep, timeout};

/// How long a Lease is good for.
const DURATION: Duration = Duration::from_secs(15);
/// How long its holder tries to renew it before it stops.
const DEADLINE: Duration = Duration::from_secs(10);
/// How often it is renewed, or looked at.
const RETRY: Duration = Duration::from_secs(2);

/// A Lease, from the point of view of one replica.
pub(crate) struct Lease {
    api: Api<Resource>,
    name: String,
    identity: String,
}

/// What was last seen of the holder, and when.
struct Seen {
    record: Option<LeaseSpec>,
    at: Instant,
}

impl Lease {
    /// The Lease of that name, for a replica that calls itself `identity`.
    pub(crate) fn new(client: Client, namespace: &str, name: &str, identity: String) -> Self {
        Self { api: Api::namespaced(client, namespace), name: name.to_owned(), identity }
    }

    /// Waits until this replica holds it.
    pub(crate) async fn acquire(&self) {
        let mut seen = Seen { record: None, at: Instant::now() };
        loop {
            match timeout(DEADLINE, self.try_acquire(&mut seen)).await {
                Ok(Ok(true)) => return,
                Ok(Ok(false)) => {}
                Ok(Err(error)) => tracing::info!(%error, "the lease cannot be acquired"),
                Err(_) => tracing::info!("the lease cannot be acquired: no answer"),
            }
            sleep(RETRY).await;
        }
    }

    /// Holds it. Ends when it is lost.
    pub(crate) async fn hold(&self) {
        let mut renewed = Instant::now();
        while renewed.elapsed() < DEADLINE {
            sleep(RETRY).await;
            let left = DEADLINE.saturating_sub(renewed.elapsed());
            let mut seen = Seen { record: None, at: Instant::now() };
            match timeout(left, self.try_acquire(&mut seen)).await {
                Ok(Ok(true)) => renewed = Instant::now(),
                Ok(Ok(false)) => return,
                Ok(Err(error)) => tracing::info!(%error, "the lease cannot be renewed"),
                Err(_) => {}
            }
        }
    }

    /// Gives it back, if this replica holds it, so that another need not wait until it expires.
    pub(crate) async fn release(&self) {
        let released = async {
            let Some(mut lease) = self.api.get_opt(&self.name).await? else { return Ok(()) };
            let record = lease.spec.get_or_insert_default();
            if record.holder_identity.as_ref() == Some(&self.identity) {
                record.holder_identity = Some(String::new());
                self.api.replace(&self.name, &PostParams::default(), &lease).await?;
            }
            Ok::<_, kube::Error>(())
        };
        match timeout(RETRY, released).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::info!(%error, "the lease was not given back"),
            Err(_) => tracing::info!("the lease was not given back: no answer"),
        }
    }

    /// Takes or renews it, unless another holds it.
    async fn try_acquire(&self, seen: &mut Seen) -> Result<bool> {
        let now = MicroTime(Timestamp::now());
        let Some(mut lease) = self.api.get_opt(&self.name).await? else {
            let metadata = ObjectMeta { name: Some(self.name.clone()), ..ObjectMeta::default() };
            let lease = Resource { metadata, spec: Some(self.record(now, None)) };
            return written(self.api.create(&PostParams::default(), &lease).await);
        };
        let record = lease.spec.clone().unwrap_or_default();
        let holder = record.holder_identity.clone().unwrap_or_default();
        if holder != self.identity && !holder.is_empty() {
            if seen.record.as_ref() != Some(&record) {
                (seen.record, seen.at) = (Some(record), Instant::now());
                return Ok(false);
            }
            if seen.at.elapsed() < DURATION {
                return Ok(false);
            }
        }
        lease.spec = Some(self.record(now, Some((holder, &record))));
        written(self.api.replace(&self.name, &PostParams::default(), &lease).await)
    }

    /// What the holder writes, after another or itself.
    fn record(&self, now: MicroTime, before: Option<(String, &LeaseSpec)>) -> LeaseSpec {
        let mine = before.as_ref().is_some_and(|(holder, _)| *holder == self.identity);
        let last = before.map(|(_, record)| record.clone()).unwrap_or_default();
        let transitions = last.lease_transitions.unwrap_or_default();
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(DURATION.as_secs()).ok(),
            acquire_time: if mine { last.acquire_time } else { Some(now.clone()) },
            renew_time: Some(now),
            lease_transitions: Some(if mine { transitions } else { transitions + 1 }),
            ..LeaseSpec::default()
        }
    }
}

/// Whether a write was the first.
fn written(outcome: kube::Result<Resource>) -> Result<bool> {
    match outcome {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
        Err(error) => bail!(error),
    }
}
