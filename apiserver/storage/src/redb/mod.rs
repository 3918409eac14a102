//! The embedded store: one file, one process, every acknowledged write on disk.
//!
//! All writes go through one thread, which commits those that wait together in one durable transaction: the cost of
//! an fsync is shared, and revision, entry and event become visible in one step or not at all. Reads are snapshots
//! of the file that neither wait for the writer nor hold it up.
//!
//! The file belongs to one process at a time. For more than one replica there are databases made for that.

mod check;
mod commit;
mod disk;
mod group;
mod open;
mod read;
mod shared;
mod tables;
mod writer;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use bytes::Bytes;
use tokio::sync::{Semaphore, oneshot, watch};

use crate::{
    Backend, BoxFuture, Change, Entry, Error, EventStream, Expect, Key, List, Prefix, Result,
    Revision,
};
use disk::Disk;
use group::{Op, Write};
use shared::Shared;
use tables::Marks;
use writer::Writer;

pub use check::{Contents, check};
pub use open::{OpenError, Options};

/// How many writes may wait for the writer; more wait before they enter the queue.
const WAITING: usize = 1024;

/// A store in a file of this process. Needs a tokio runtime, and gives its reads to the threads for blocking work.
///
/// Dropping it finishes the writes that were handed in, ends its watches with [`Error::Closed`] and releases the
/// file.
pub struct Redb {
    shared: Arc<Shared>,
    newest: watch::Receiver<Revision>,
    room: Arc<Semaphore>,
    // Both are taken by `drop` only.
    ops: Option<Sender<Op>>,
    writer: Option<JoinHandle<()>>,
}

impl Redb {
    /// Opens the store in `directory`, or makes an empty one there. Blocks, and after a crash for as long as it
    /// takes to check the file.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(directory: &Path, options: &Options) -> Result<Self, OpenError> {
        let (disk, marks) = open::open(directory, options)?;
        Self::start(disk, marks).map_err(|source| OpenError::Io {
            doing: "start the writer",
            directory: directory.into(),
            source,
        })
    }

    /// How many durable commits were made since it was opened: a measure of how well writes share them.
    pub fn commits(&self) -> u64 {
        self.shared.commits()
    }

    fn start(disk: Disk, marks: Marks) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(disk, marks));
        let (announce, newest) = watch::channel(marks.revision);
        let (ops, waiting) = channel();
        let writer = Writer::new(shared.clone(), announce, waiting, marks);
        let thread = thread::Builder::new().name("store-writer".into());
        let writer = Some(thread.spawn(|| writer.run())?);
        let room = Arc::new(Semaphore::new(WAITING));
        Ok(Self { shared, newest, room, ops: Some(ops), writer })
    }

    /// Hands an operation to the writer and waits for its answer.
    async fn ask<T>(&self, op: impl FnOnce(oneshot::Sender<Result<T>>) -> Op) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let ops = self.ops.as_ref().ok_or(Error::Closed)?;
        ops.send(op(reply)).map_err(|_| Error::Closed)?;
        answer.await.unwrap_or(Err(Error::Closed))
    }

    async fn write(&self, key: &Key, change: Change, expect: Expect) -> Result<Revision> {
        let room = self.room.clone().acquire_owned().await.map_err(|_| Error::Closed)?;
        let key = key.clone();
        self.ask(|reply| Op::Write(Write { key, change, expect, reply, _room: room })).await
    }

    async fn read<T, F>(&self, doing: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&::redb::ReadTransaction) -> Result<T, ::redb::Error> + Send + 'static,
    {
        Shared::read(self.shared.clone(), doing, work).await
    }
}

impl Drop for Redb {
    fn drop(&mut self) {
        // The writer ends when nobody can ask it any more. Joined, so that the file is free when this returns.
        self.ops.take();
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl Backend for Redb {
    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>> {
        let key = key.clone();
        Box::pin(self.read("get an entry", move |txn| read::get(txn, &key)))
    }

    fn list<'a>(&'a self, prefix: &'a Prefix, at: Option<Revision>) -> BoxFuture<'a, Result<List>> {
        let prefix = prefix.clone();
        Box::pin(async move {
            self.read("list entries", move |txn| read::list(txn, &prefix, at)).await?
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        expect: Expect,
    ) -> BoxFuture<'a, Result<Revision>> {
        Box::pin(self.write(key, Change::Put(value), expect))
    }

    fn delete<'a>(&'a self, key: &'a Key, expect: Revision) -> BoxFuture<'a, Result<Revision>> {
        Box::pin(self.write(key, Change::Delete, Expect::Revision(expect)))
    }

    fn revision(&self) -> BoxFuture<'_, Result<Revision>> {
        Box::pin(async { Ok(*self.newest.borrow()) })
    }

    fn known_revision(&self) -> Option<Revision> {
        Some(*self.newest.borrow())
    }

    fn watch(&self, from: Revision) -> BoxFuture<'_, Result<EventStream>> {
        Box::pin(async move {
            let mut marks = self.shared.marks(*self.newest.borrow());
            if from > marks.revision {
                // A reader of the file may know a commit that is not announced yet.
                marks = self.read("read the newest revision", read::marks).await?;
            }
            marks.know(from)?;
            Ok(Shared::follow(self.shared.clone(), self.newest.clone(), from))
        })
    }

    fn compact(&self, through: Revision) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.ask(move |reply| Op::Compact { through, reply }))
    }

    fn health(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async {
            self.ask(|reply| Op::Probe { reply }).await?;
            self.read("read the newest revision", read::marks).await.map(drop)
        })
    }
}

#[cfg(test)]
mod tests;
