//! The watch cache: the newest state and the recent events of a backend, in memory.
//!
//! One task follows the backend's watch. Reads are answered from persistent snapshots, and any number of watchers
//! share the events that it receives: a watcher pulls at its own pace and nobody waits for it. The cache never runs
//! ahead of the backend and says how far it has come, so that a caller who needs the newest state can wait for it.
//!
//! Not here: which reads need to be how fresh, and what to do when that takes too long. The API server decides.

mod channel;
mod follow;
mod hub;
mod newest;
mod watcher;

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant, timeout, timeout_at};

use crate::{Backend, Error, Expect, Key, Prefix, Result, Revision, Snapshot};
use hub::Hub;
use newest::Newest;

pub use watcher::Watcher;

/// How long an acknowledged write waits for the cache to see it before it is answered all the same.
const SETTLE: Duration = Duration::from_secs(5);

/// The sizes of a cache.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many bytes of recent events are kept, values included, for watchers that resume or lag behind. Events
    /// older than that are asked of the backend.
    pub history: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { history: 32 << 20 }
    }
}

/// A backend with its newest state in memory.
///
/// Writes go through it to the backend, so that whoever wrote reads its own write. Dropping the cache ends its
/// watchers with [`Error::Closed`].
pub struct Cache {
    backend: Arc<dyn Backend>,
    newest: Newest,
    shared: Arc<Shared>,
    follower: JoinHandle<()>,
}

/// What the follower fills and the readers share.
struct Shared {
    hub: Hub,
    /// Everything up to this revision can be read and has been given to the channels.
    reached: watch::Sender<Revision>,
}

impl Cache {
    /// Reads the whole state of `backend` and begins to follow it. Needs a tokio runtime.
    ///
    /// # Errors
    /// Those of the first list. Later failures are retried, and end watchers only where events would be missed.
    pub async fn start(backend: Arc<dyn Backend>, options: Options) -> Result<Self> {
        let all = Prefix::all();
        let now = Snapshot::of(all.clone(), backend.list(&all, None).await?);
        let reached = watch::Sender::new(now.revision());
        let shared = Arc::new(Shared { hub: Hub::new(now, options.history), reached });
        let follower = tokio::spawn(follow::follow(shared.clone(), backend.clone()));
        let asked = backend.clone();
        let newest = Newest::new(move || {
            let backend = asked.clone();
            Box::pin(async move { backend.revision().await })
        });
        Ok(Self { backend, newest, shared, follower })
    }

    /// The backend behind it.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// The revision that the cache has reached.
    pub fn revision(&self) -> Revision {
        self.shared.revision()
    }

    /// The state of the whole store that the cache has reached.
    pub fn snapshot(&self) -> Snapshot {
        self.shared.hub.snapshot()
    }

    /// The state of `prefix` exactly as it was at `revision`. The snapshot may hold more than the prefix.
    ///
    /// Answered from memory as far as the recent events reach, else by the backend; the last few are remembered, so
    /// that the pages of one list cost the work once.
    ///
    /// # Errors
    /// `Compacted` when the backend has dropped that state too, `Future` when the cache has not reached it.
    pub async fn snapshot_at(&self, prefix: &Prefix, revision: Revision) -> Result<Snapshot> {
        let current = self.revision();
        if revision > current {
            return Err(Error::Future { requested: revision, current });
        }
        let past = match self.shared.hub.past(prefix, revision) {
            hub::Past::Known(snapshot) => return Ok(snapshot),
            hub::Past::Rewind(rewind) => rewind.run().await,
            hub::Past::Unknown => {
                let list = self.backend.list(prefix, Some(revision)).await?;
                Snapshot::of(prefix.clone(), list)
            }
        };
        self.shared.hub.remember(past.clone());
        Ok(past)
    }

    /// Waits until the cache has reached `revision`.
    ///
    /// # Errors
    /// `Future` when it has not by the `deadline`.
    pub async fn wait_until(&self, revision: Revision, deadline: Instant) -> Result<()> {
        if self.revision() >= revision {
            return Ok(());
        }
        let mut reached = self.shared.reached.subscribe();
        let waited = timeout_at(deadline, reached.wait_for(|reached| *reached >= revision)).await;
        match waited {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(Error::Closed),
            Err(_) => Err(Error::Future { requested: revision, current: self.revision() }),
        }
    }

    /// Waits until the cache has everything that was acknowledged, by anyone, before this call: what is read from
    /// it afterwards is linearizable. Callers who wait at the same time cost the backend one question.
    ///
    /// # Errors
    /// `Future` when it has not by the `deadline`; those of the backend.
    pub async fn fresh(&self, deadline: Instant) -> Result<()> {
        let newest = match self.backend.known_revision() {
            Some(newest) => newest,
            None => self.ask_newest(deadline).await?,
        };
        self.wait_until(newest, deadline).await
    }

    async fn ask_newest(&self, deadline: Instant) -> Result<Revision> {
        let asked = timeout_at(deadline, self.newest.read()).await;
        asked.map_err(|elapsed| Error::unavailable("ask for the newest revision", elapsed))?
    }

    /// Stores `value` in the backend and answers the revision that this took, when the cache has seen it.
    ///
    /// # Errors
    /// Those of [`Backend::put`].
    pub async fn put(&self, key: &Key, value: Bytes, expect: Expect) -> Result<Revision> {
        let revision = self.backend.put(key, value, expect).await?;
        self.settle(revision).await;
        Ok(revision)
    }

    /// Removes `key` from the backend and answers the revision that this took, when the cache has seen it.
    ///
    /// # Errors
    /// Those of [`Backend::delete`].
    pub async fn delete(&self, key: &Key, expect: Revision) -> Result<Revision> {
        let revision = self.backend.delete(key, expect).await?;
        self.settle(revision).await;
        Ok(revision)
    }

    /// Every change under `prefix` after the revision `from`.
    ///
    /// # Errors
    /// `Compacted` when the backend no longer knows what followed `from`; `Future` when the cache has not reached it
    /// (wait for it first).
    pub async fn watch(&self, prefix: &Prefix, from: Revision) -> Result<Watcher> {
        let current = self.revision();
        if from > current {
            return Err(Error::Future { requested: from, current });
        }
        Watcher::resume(self.shared.clone(), &self.backend, prefix, from).await
    }

    /// The state that the cache has reached, and every change under `prefix` that follows it.
    pub fn watch_current(&self, prefix: &Prefix) -> (Snapshot, Watcher) {
        Watcher::begin(self.shared.clone(), prefix)
    }

    // The write is durable whether or not the cache ever hears of it, hence no error. Someone who must read it
    // calls `fresh`.
    async fn settle(&self, revision: Revision) {
        let mut reached = self.shared.reached.subscribe();
        let seen = reached.wait_for(|reached| *reached >= revision);
        if timeout(SETTLE, seen).await.is_err() {
            tracing::warn!(%revision, reached = %self.revision(), "the cache lags behind a write");
        }
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.follower.abort();
        self.shared.hub.end(&Error::Closed);
    }
}

impl Shared {
    fn revision(&self) -> Revision {
        *self.reached.borrow()
    }
}

#[cfg(test)]
mod tests;
