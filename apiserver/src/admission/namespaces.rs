//! The namespaces of the cluster, followed: their names, and which of them are being deleted.
//!
//! Nothing else of them is asked for or kept, so that ten thousand take about a megabyte. A
//! namespace is terminating when it has a deletionTimestamp: kube-apiserver sets the phase with it
//! and lets nobody set one without the other, and metadata is all that is watched here.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt as _;
use k8s_openapi::api::core::v1::Namespace;
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::{Config, Event};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, ResourceExt as _};
use tokio::sync::watch;

use crate::health::Health;

/// Whether objects may still be created in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Active,
    Terminating,
}

impl Phase {
    fn of(namespace: &PartialObjectMeta<Namespace>) -> Self {
        match namespace.metadata.deletion_timestamp {
            None => Self::Active,
            Some(_) => Self::Terminating,
        }
    }
}

#[derive(Default)]
struct Known {
    has_synced: bool,
    phases: HashMap<String, Phase>,
}

/// The namespaces of the cluster.
pub struct Namespaces {
    api: Api<PartialObjectMeta<Namespace>>,
    known: watch::Sender<Known>,
}

impl Namespaces {
    /// The namespaces that `client` sees: it must be allowed to get, list and watch them. Nothing
    /// is known before [`Namespaces::follow`] runs.
    pub fn new(client: Client) -> Arc<Self> {
        Arc::new(Self { api: Api::all(client), known: watch::Sender::default() })
    }

    /// Follows the namespaces for ever. What was known stays known while kube-apiserver is away.
    pub async fn follow(self: Arc<Self>) {
        let mut events =
            std::pin::pin!(watcher(self.api.clone(), Config::default()).default_backoff());
        // A list comes in pages and replaces what is known at its end.
        let mut listed = HashMap::new();
        loop {
            match events.try_next().await {
                Ok(Some(Event::Init)) => listed.clear(),
                Ok(Some(Event::InitApply(namespace))) => {
                    listed.insert(namespace.name_any(), Phase::of(&namespace));
                }
                Ok(Some(Event::InitDone)) => {
                    let phases = std::mem::take(&mut listed);
                    self.known.send_replace(Known { has_synced: true, phases });
                }
                Ok(Some(Event::Apply(namespace))) => {
                    let phase = Phase::of(&namespace);
                    self.known.send_modify(|known| {
                        known.phases.insert(namespace.name_any(), phase);
                    });
                }
                Ok(Some(Event::Delete(namespace))) => self.known.send_modify(|known| {
                    known.phases.remove(&namespace.name_any());
                }),
                Ok(None) => return,
                Err(error) => tracing::warn!(%error, "cannot follow the namespaces"),
            }
        }
    }

    /// Adds the check `informer-sync` to readiness: it passes once all namespaces are known.
    pub fn report(self: &Arc<Self>, health: &Health) {
        let namespaces = self.clone();
        health.add_informer("namespaces", move || namespaces.has_synced());
    }

    /// Waits until that check passes.
    pub async fn ready(&self) {
        // The sender lives as long as `self`.
        let _ = self.known.subscribe().wait_for(|known| known.has_synced).await;
    }

    /// Whether all namespaces were known at some time.
    pub fn has_synced(&self) -> bool {
        self.known.borrow().has_synced
    }

    /// Waits for that, at most for `longest`.
    pub(super) async fn synced(&self, longest: Duration) -> bool {
        if self.has_synced() {
            return true;
        }
        let mut known = self.known.subscribe();
        let synced = known.wait_for(|known| known.has_synced);
        matches!(tokio::time::timeout(longest, synced).await, Ok(Ok(_)))
    }

    /// What is known of a namespace; one that is not known may still appear within `longest`.
    pub(super) async fn appears(&self, name: &str, longest: Duration) -> Option<Phase> {
        if let Some(phase) = self.known.borrow().phases.get(name) {
            return Some(*phase);
        }
        let mut known = self.known.subscribe();
        let there = known.wait_for(|known| known.phases.contains_key(name));
        let there = tokio::time::timeout(longest, there).await.ok()?.ok()?;
        there.phases.get(name).copied()
    }

    /// What kube-apiserver says of a namespace; none if there is no such.
    pub(super) async fn look_up(&self, name: &str) -> Result<Option<Phase>, kube::Error> {
        let namespace = self.api.get_opt(name).await?;
        Ok(namespace.as_ref().map(Phase::of))
    }
}
