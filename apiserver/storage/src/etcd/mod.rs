//! The backend for more than one replica: a store in etcd.
//!
//! Every replica has its own `Etcd` on the same prefix, and they meet in etcd alone: a write is one transaction that
//! compares the key's revision, a read is linearizable, and a [`Cache`](crate::Cache) learns by its watch, and by
//! asking how far that has come, whether it has everything. Revisions are those of etcd, which others use too: between
//! two changes of ours there may be any number of theirs.
//!
//! A write whose answer is lost is reported as `Unavailable`, whether or not it was made. It is not repeated.
//!
//! Not here: leases, users and passwords (a client certificate says who we are), defragmentation, and backups, which
//! are whoever's who runs etcd.

mod call;
mod failure;
mod layout;
mod list;
mod members;
mod observer;
mod open;
mod options;
mod watch;
mod write;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use etcd_client::GetOptions;
use tokio::sync::watch as signal;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::{
    Backend, BoxFuture, Entry, Error, EventStream, Expect, Key, List, Prefix, Result, Revision,
};
use call::{Asked, Caller};
use failure::Failure;
use layout::Layout;

pub use observer::{Observer, Request};
pub use options::{ConnectError, Options, Tls};

/// How long etcd may take to show that it is well. As long as a fresh read waits, since who cannot be read in time is
/// not ready; and less than a kubelet gives a probe, so that it hears why.
const HEALTHY_WITHIN: Duration = Duration::from_secs(3);

/// A store in etcd. Needs a tokio runtime.
///
/// Dropping it ends its watches with [`Error::Closed`].
pub struct Etcd {
    asking: Arc<Asking>,
    /// The newest revision that anyone was told of. A watch that has not come so far asks etcd whether it has.
    known: signal::Sender<Revision>,
    certificates: JoinHandle<()>,
}

/// What the store and its watches ask etcd with.
struct Asking {
    caller: Caller,
    layout: Layout,
}

impl Etcd {
    /// Connects to etcd, and makes an empty store if there is none below the prefix.
    ///
    /// # Errors
    /// See [`ConnectError`]. An etcd that is not there is waited for as long as a request may take.
    pub async fn connect(options: Options) -> Result<Self, ConnectError> {
        let asking = Arc::new(open::open(options).await?);
        let certificates = tokio::spawn(asking.caller.members.clone().keep_certificates());
        Ok(Self { asking, known: signal::Sender::new(Revision::ZERO), certificates })
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        self.certificates.abort();
    }
}

impl Asking {
    async fn get(&self, key: &Key) -> Result<Option<Entry>> {
        let place = self.layout.key(key);
        let asked = Asked::read("get", key.as_str());
        let get = |member: &members::Member| {
            let (mut kv, place) = (member.kv(), place.clone());
            async move { kv.get(place, None).await }
        };
        let mut found = self.caller.ask(asked, get).await.map_err(doing("get an entry"))?;
        found.take_kvs().pop().map(|stored| self.layout.entry(stored)).transpose()
    }

    /// The revision of etcd, which is that of our newest change or a later one.
    async fn revision(&self) -> Result<Revision> {
        let answer = self.look(0).await.map_err(doing("read the newest revision"))?;
        layout::reached(answer.header())
    }

    /// Makes sure that the state at `revision` can be had, and so everything that followed it.
    async fn know(&self, requested: Revision) -> Result<()> {
        if requested < Revision::INITIAL {
            // etcd may well have revision 1, and calls 0 the newest. No store of ours handed them out.
            return Err(Error::Compacted { requested, oldest: self.oldest().await? });
        }
        let Ok(number) = i64::try_from(requested.get()) else {
            return Err(Error::Future { requested, current: self.revision().await? });
        };
        match self.look(number).await {
            Ok(_) => Ok(()),
            Err(failure) => Err(self.history(requested, failure).await),
        }
    }

    /// Why the state at `requested` cannot be had.
    async fn history(&self, requested: Revision, failure: Failure) -> Error {
        let told = if failure.is_compacted() {
            self.oldest().await.map(|oldest| Error::Compacted { requested, oldest })
        } else if failure.is_future() {
            self.revision().await.map(|current| Error::Future { requested, current })
        } else {
            Ok(failure.while_doing("read the history"))
        };
        told.unwrap_or_else(|error| error)
    }

    /// A linearizable read of nothing, at a revision or, with 0, now.
    async fn look(&self, revision: i64) -> Result<etcd_client::GetResponse, Failure> {
        let look = |member: &members::Member| {
            let (mut kv, key) = (member.kv(), self.layout.version());
            let options = GetOptions::new().with_count_only().with_revision(revision);
            async move { kv.get(key, Some(options)).await }
        };
        self.caller.ask(Asked::read("revision", ""), look).await
    }

    async fn compact(&self, through: Revision) -> Result<()> {
        let Ok(number) = i64::try_from(through.get()) else {
            return Err(Error::Future { requested: through, current: self.revision().await? });
        };
        let compact = |member: &members::Member| {
            let mut kv = member.kv();
            async move { kv.compact(number, None).await }
        };
        // Doing it twice does no harm, so it may be repeated as a read is.
        match self.caller.ask(Asked::long_read("compact", ""), compact).await {
            Ok(_) => Ok(()),
            Err(done) if done.is_compacted() => Ok(()),
            Err(failure) if failure.is_future() => Err(self.history(through, failure).await),
            Err(failure) => Err(failure.while_doing("compact the history")),
        }
    }
}

fn doing(doing: &'static str) -> impl FnOnce(Failure) -> Error {
    move |failure| failure.while_doing(doing)
}

impl Backend for Etcd {
    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(self.asking.get(key))
    }

    fn list<'a>(&'a self, prefix: &'a Prefix, at: Option<Revision>) -> BoxFuture<'a, Result<List>> {
        Box::pin(self.asking.list(prefix, at))
    }

    fn put<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        expect: Expect,
    ) -> BoxFuture<'a, Result<Revision>> {
        Box::pin(self.asking.put(key, value, expect))
    }

    fn delete<'a>(&'a self, key: &'a Key, expect: Revision) -> BoxFuture<'a, Result<Revision>> {
        Box::pin(self.asking.delete(key, expect))
    }

    fn revision(&self) -> BoxFuture<'_, Result<Revision>> {
        Box::pin(async {
            let newest = self.asking.revision().await?;
            self.known.send_if_modified(|known| {
                let newer = newest > *known;
                *known = newest.max(*known);
                newer
            });
            Ok(newest)
        })
    }

    fn watch(&self, from: Revision) -> BoxFuture<'_, Result<EventStream>> {
        Box::pin(watch::open(self.asking.clone(), self.known.subscribe(), from))
    }

    fn compact(&self, through: Revision) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.asking.compact(through))
    }

    /// A linearizable read: it needs a leader and most of the members, as a write does. That the disk is not full is
    /// not asked, for a full etcd is not helped by taking its readers away.
    fn health(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async {
            match timeout(HEALTHY_WITHIN, self.asking.revision()).await {
                Ok(answer) => answer.map(drop),
                Err(elapsed) => Err(Error::unavailable("ask how etcd is", elapsed)),
            }
        })
    }
}

#[cfg(test)]
mod tests;
