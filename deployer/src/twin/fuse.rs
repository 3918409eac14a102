//! Faults at every step: every question to the cluster and the store, and every effect on them, goes
//! by a [`Fuse`], which may blow at any of them.
//!
//! It knows nothing of what a deployer does, so a step that is added is broken as well.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, pending};
use serde_json::Value;
use tokio::sync::{Notify, watch};

use super::{TwinCluster, TwinRecords};
use crate::cluster::{Access, Applied, Apply, Cluster, ClusterError, Kind, Mapping, Target};
use crate::records::{RecordError, Records};
use crate::types::{Deployment, Manifest, Requester, Status};

/// What happens at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The process dies before the effect.
    DieBefore,
    /// The process dies after the effect, and does not hear of it.
    DieAfter,
    /// The call fails for once, without an effect.
    FailBefore,
    /// The call fails for once, although it had its effect.
    FailAfter,
    /// Somebody made a mistake.
    Panic,
    /// The process stops before the effect, and goes on when it is told to, as if nothing had been.
    Freeze,
    /// Nothing, but others come between, in an order that a number decides.
    Yield(u64),
    /// Nothing.
    Never,
}

/// Blows once.
pub(crate) struct Fuse {
    fault: Fault,
    at: usize,
    state: Mutex<Blown>,
    died: Notify,
    thawed: watch::Sender<bool>,
}

#[derive(Default)]
struct Blown {
    calls: usize,
    dead: bool,
    random: u64,
}

/// Whether a call changes something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Ask,
    Change,
}

impl Fuse {
    /// One that has that fault at the step with this number, from 0. Who dies does so at changes
    /// only: between them nobody sees when.
    pub(crate) fn new(fault: Fault, at: usize) -> Arc<Self> {
        let random = if let Fault::Yield(seed) = fault { seed } else { 0 };
        let state = Mutex::new(Blown { random, ..Blown::default() });
        let thawed = watch::Sender::new(false);
        Arc::new(Self { fault, at, state, died: Notify::new(), thawed })
    }

    /// How many steps were counted.
    pub(crate) fn steps(&self) -> usize {
        self.state.lock().unwrap().calls
    }

    /// Lets a process go on that is frozen.
    pub(crate) fn thaw(&self) {
        self.thawed.send_replace(true);
    }

    /// Waits until the process is dead or frozen.
    pub(crate) async fn died(&self) {
        self.died.notified().await;
    }

    /// What happens at this call.
    fn next(&self, does: Does) -> Fault {
        let mut state = self.state.lock().unwrap();
        if state.dead {
            return if self.fault == Fault::Freeze { Fault::Freeze } else { Fault::DieBefore };
        }
        if let Fault::Yield(_) = self.fault {
            state.random = state.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            return Fault::Yield((state.random >> 33) % 5);
        }
        let ends = matches!(self.fault, Fault::DieBefore | Fault::DieAfter | Fault::Freeze);
        if ends && does == Does::Ask {
            return Fault::Never;
        }
        state.calls += 1;
        if state.calls - 1 != self.at {
            return Fault::Never;
        }
        state.dead = ends;
        self.fault
    }

    async fn die<T>(&self) -> T {
        self.died.notify_one();
        pending().await
    }

    async fn call<T, E>(
        &self,
        does: Does,
        act: impl AsyncFnOnce() -> Result<T, E>,
        unavailable: impl FnOnce() -> E,
    ) -> Result<T, E> {
        match self.next(does) {
            Fault::DieBefore => self.die().await,
            Fault::DieAfter => {
                _ = act().await;
                self.die().await
            }
            Fault::Freeze => {
                self.died.notify_one();
                _ = self.thawed.subscribe().wait_for(|thawed| *thawed).await;
                act().await
            }
            Fault::Panic => panic!("this is a test"),
            Fault::FailBefore => Err(unavailable()),
            Fault::FailAfter => {
                _ = act().await;
                Err(unavailable())
            }
            Fault::Yield(times) => {
                for _ in 0..times {
                    tokio::task::yield_now().await;
                }
                act().await
            }
            Fault::Never => act().await,
        }
    }
}

/// A cluster or a store behind a fuse.
pub(crate) struct Faulty<T> {
    pub(crate) inner: Arc<T>,
    pub(crate) fuse: Arc<Fuse>,
}

/// How long a cluster that fails wants to be left alone.
pub(crate) const AFTER: Duration = Duration::from_secs(3);

fn no_cluster() -> ClusterError {
    ClusterError::Unavailable { message: "for once".to_owned(), after: Some(AFTER) }
}

fn no_store() -> RecordError {
    RecordError::Unavailable("for once".to_owned())
}

impl Cluster for Faulty<TwinCluster> {
    fn mapping<'a>(
        &'a self,
        kind: &'a Kind,
    ) -> BoxFuture<'a, Result<Option<Mapping>, ClusterError>> {
        self.fuse.call(Does::Ask, async || self.inner.mapping(kind).await, no_cluster).boxed()
    }

    fn review<'a>(
        &'a self,
        user: &'a Requester,
        access: &'a Access,
    ) -> BoxFuture<'a, Result<Result<(), String>, ClusterError>> {
        let act = async || self.inner.review(user, access).await;
        self.fuse.call(Does::Ask, act, no_cluster).boxed()
    }

    fn get<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
    ) -> BoxFuture<'a, Result<Option<Value>, ClusterError>> {
        let act = async || self.inner.get(user, target).await;
        self.fuse.call(Does::Ask, act, no_cluster).boxed()
    }

    fn apply<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
        apply: Apply<'a>,
    ) -> BoxFuture<'a, Result<Applied, ClusterError>> {
        let does = if apply.dry_run { Does::Ask } else { Does::Change };
        let act = async || self.inner.apply(user, target, apply).await;
        self.fuse.call(does, act, no_cluster).boxed()
    }

    fn patch<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
        patch: &'a Value,
    ) -> BoxFuture<'a, Result<(), ClusterError>> {
        let act = async || self.inner.patch(user, target, patch).await;
        self.fuse.call(Does::Change, act, no_cluster).boxed()
    }

    fn delete<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
        uid: &'a str,
    ) -> BoxFuture<'a, Result<(), ClusterError>> {
        let act = async || self.inner.delete(user, target, uid).await;
        self.fuse.call(Does::Change, act, no_cluster).boxed()
    }

    fn is_ending<'a>(&'a self, namespace: &'a str) -> BoxFuture<'a, Result<bool, ClusterError>> {
        let act = async || self.inner.is_ending(namespace).await;
        self.fuse.call(Does::Ask, act, no_cluster).boxed()
    }
}

impl Records for Faulty<TwinRecords> {
    fn deployment<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Deployment>, RecordError>> {
        let act = async || self.inner.deployment(namespace, name).await;
        self.fuse.call(Does::Ask, act, no_store).boxed()
    }

    fn write_status<'a>(
        &'a self,
        deployment: &'a Deployment,
        status: &'a Status,
    ) -> BoxFuture<'a, Result<String, RecordError>> {
        let act = async || self.inner.write_status(deployment, status).await;
        self.fuse.call(Does::Change, act, no_store).boxed()
    }

    fn release<'a>(&'a self, deployment: &'a Deployment) -> BoxFuture<'a, Result<(), RecordError>> {
        let act = async || self.inner.release(deployment).await;
        self.fuse.call(Does::Change, act, no_store).boxed()
    }

    fn manifest<'a>(
        &'a self,
        deployment: &'a Deployment,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Manifest>, RecordError>> {
        let act = async || self.inner.manifest(deployment, name).await;
        self.fuse.call(Does::Ask, act, no_store).boxed()
    }

    fn manifests<'a>(
        &'a self,
        deployment: &'a Deployment,
    ) -> BoxFuture<'a, Result<Vec<String>, RecordError>> {
        let act = async || self.inner.manifests(deployment).await;
        self.fuse.call(Does::Ask, act, no_store).boxed()
    }

    fn create_manifest<'a>(
        &'a self,
        deployment: &'a Deployment,
        manifest: &'a Manifest,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        let act = async || self.inner.create_manifest(deployment, manifest).await;
        self.fuse.call(Does::Change, act, no_store).boxed()
    }

    fn delete_manifest<'a>(
        &'a self,
        deployment: &'a Deployment,
        name: &'a str,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        let act = async || self.inner.delete_manifest(deployment, name).await;
        self.fuse.call(Does::Change, act, no_store).boxed()
    }

    fn tell<'a>(
        &'a self,
        deployment: &'a Deployment,
        reason: &'a str,
        message: &'a str,
    ) -> BoxFuture<'a, ()> {
        let act = async || {
            self.inner.tell(deployment, reason, message).await;
            Ok::<_, RecordError>(())
        };
        // Nobody hears of it when it fails.
        async move { _ = self.fuse.call(Does::Change, act, no_store).await }.boxed()
    }
}
