//! What the writer, the readers and the watches share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use redb::{Error as Failure, ReadTransaction};
use tokio::sync::watch;

use super::commit::Done;
use super::disk::Disk;
use super::read::{self, PAGE};
use super::tables::Marks;
use crate::log::EventLog;
use crate::{Batch, Error, EventStream, Result, Revision, backend};

/// How many bytes of the newest events are kept in memory.
const TAIL: usize = 4 << 20;

pub(super) struct Shared {
    pub(super) disk: Disk,
    recent: Mutex<Recent>,
    commits: AtomicU64,
}

struct Recent {
    /// The newest events, so that a watch that keeps up never reads the file.
    tail: EventLog,
    compacted: Revision,
}

impl Shared {
    pub(super) fn new(disk: Disk, marks: Marks) -> Self {
        let recent = Recent { tail: EventLog::new(marks.revision), compacted: marks.compacted };
        Self { disk, recent: Mutex::new(recent), commits: AtomicU64::new(0) }
    }

    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Where the history stands when `revision` is the newest.
    pub(super) fn marks(&self, revision: Revision) -> Marks {
        Marks { revision, compacted: self.recent().compacted }
    }

    pub(super) fn count_commit(&self) {
        self.commits.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes note of what was committed.
    pub(super) fn append(&self, done: &Done) {
        let mut recent = self.recent();
        for event in &done.events {
            recent.tail.push(event.clone());
        }
        while recent.tail.trim_to_weight(TAIL).is_some() {}
        recent.compacted = done.marks.compacted;
    }

    /// Takes note of commits whose events are only in the file.
    pub(super) fn skip_to(&self, marks: Marks) {
        let mut recent = self.recent();
        recent.tail = EventLog::new(marks.revision);
        recent.compacted = marks.compacted;
    }

    /// Runs `work` on a snapshot of the file, on a thread for blocking work.
    pub(super) async fn read<T, F>(self: Arc<Self>, doing: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&ReadTransaction) -> Result<T, Failure> + Send + 'static,
    {
        let reading = tokio::task::spawn_blocking(move || work(&self.disk.begin_read()?));
        match reading.await {
            Ok(outcome) => outcome.map_err(|failure| failed(doing, failure)),
            Err(panic) if panic.is_panic() => Err(stumbled()),
            Err(_) => Err(Error::Closed),
        }
    }

    /// Every event after `from`, which is known; ends when the store is closed.
    pub(super) fn follow(
        self: Arc<Self>,
        newest: watch::Receiver<Revision>,
        from: Revision,
    ) -> EventStream {
        let step = move |(mut newest, cursor): (watch::Receiver<Revision>, Revision)| {
            let shared = self.clone();
            async move {
                newest.wait_for(|newest| *newest > cursor).await.map_err(|_| Error::Closed)?;
                let batch = shared.page(cursor).await?;
                let cursor = batch.revision;
                Ok((batch, (newest, cursor)))
            }
        };
        backend::stream((newest, from), step).boxed()
    }

    async fn page(self: Arc<Self>, cursor: Revision) -> Result<Batch> {
        if let Some(events) = self.recent().tail.after(cursor) {
            let events: Vec<_> = events.take(PAGE.0).cloned().collect();
            let revision = events.last().map_or(cursor, |event| event.revision);
            return Ok(Batch { events, revision });
        }
        self.read("read the history", move |txn| read::page(txn, cursor)).await?
    }

    // Nothing panics between two changes that belong together, so a poisoned lock guards nothing broken.
    fn recent(&self) -> MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the database's error means to those who asked.
pub(super) fn failed(doing: &'static str, failure: Failure) -> Error {
    match failure {
        Failure::Corrupted(damage) => Error::Corrupt(damage.into()),
        failure => Error::unavailable(doing, failure),
    }
}

/// The database panics on some kinds of damage.
pub(super) fn stumbled() -> Error {
    Error::Corrupt("the database stumbled over its contents".into())
}
