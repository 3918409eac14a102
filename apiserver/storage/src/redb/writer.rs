//! The one thread that writes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use redb::Error as Failure;
use tokio::sync::{oneshot, watch};

use super::commit::{Done, prepare};
use super::group::{Group, Op};
use super::read;
use super::shared::{Shared, failed};
use super::tables::Marks;
use crate::{Error, Result, Revision};

pub(super) struct Writer {
    shared: Arc<Shared>,
    newest: watch::Sender<Revision>,
    ops: Receiver<Op>,
    compaction: Option<Compaction>,
    /// How many writes the last group had.
    company: usize,
    /// The database could not be opened again after an error.
    broken: bool,
}

/// A compaction that is not finished, and who waits for it.
#[derive(Default)]
struct Compaction {
    through: Revision,
    replies: Vec<oneshot::Sender<Result<()>>>,
}

impl Writer {
    /// A writer that first finishes the compaction that an earlier process began.
    pub(super) fn new(
        shared: Arc<Shared>,
        newest: watch::Sender<Revision>,
        ops: Receiver<Op>,
        marks: Marks,
    ) -> Self {
        let compaction = Some(Compaction { through: marks.compacted, replies: Vec::new() });
        Self { shared, newest, ops, compaction, company: 0, broken: false }
    }

    /// Serves until nobody is left to ask, then closes the file.
    pub(super) fn run(mut self) {
        while let Some(group) = Group::gather(&self.ops, self.company, self.compaction.is_some()) {
            self.company = group.writes.len();
            self.turn(group);
        }
        self.shared.disk.close();
    }

    fn turn(&mut self, mut group: Group) {
        for (through, reply) in std::mem::take(&mut group.compactions) {
            self.enqueue(through, reply);
        }
        if let Err(error) = self.mend() {
            return self.refuse(group, &error);
        }
        match self.commit(&group) {
            Ok(done) => self.announce(group, done),
            Err(failure) => {
                let error = failed("commit to the store", failure);
                tracing::error!(error = &error as &dyn std::error::Error, "a commit failed");
                self.broken = true;
                // Soon, so that reads work again; if it does not go now, the next turn tries.
                let _ = self.mend();
                self.refuse(group, &error);
            }
        }
    }

    fn enqueue(&mut self, through: Revision, reply: oneshot::Sender<Result<()>>) {
        let current = *self.newest.borrow();
        if through > current {
            let _ = reply.send(Err(Error::Future { requested: through, current }));
            return;
        }
        let compaction = self.compaction.get_or_insert_default();
        compaction.through = compaction.through.max(through);
        compaction.replies.push(reply);
    }

    /// One durable transaction, or none where all writes are refused and nothing else is to be done.
    fn commit(&self, group: &Group) -> Result<Done, Failure> {
        let compact = self.compaction.as_ref().map(|compaction| compaction.through);
        guarded(|| {
            let txn = self.shared.disk.begin_write()?;
            let done = prepare(&txn, &group.writes, compact)?;
            if done.events.is_empty() && compact.is_none() && group.probes.is_empty() {
                txn.abort()?;
            } else {
                txn.commit()?;
                self.shared.count_commit();
            }
            Ok(done)
        })
    }

    /// Shows everybody what was committed, and only then answers those who asked for it.
    fn announce(&mut self, group: Group, done: Done) {
        self.shared.append(&done);
        self.newest.send_replace(done.marks.revision);
        for (write, outcome) in group.writes.into_iter().zip(done.outcomes) {
            // Nobody may be waiting any more.
            let _ = write.reply.send(outcome);
        }
        for reply in group.probes {
            let _ = reply.send(Ok(()));
        }
        if done.clean {
            let compaction = self.compaction.take().unwrap_or_default();
            for reply in compaction.replies {
                let _ = reply.send(Ok(()));
            }
        }
    }

    fn refuse(&mut self, group: Group, error: &Error) {
        for write in group.writes {
            let _ = write.reply.send(Err(error.clone()));
        }
        let compaction = self.compaction.take().unwrap_or_default();
        for reply in group.probes.into_iter().chain(compaction.replies) {
            let _ = reply.send(Err(error.clone()));
        }
    }

    /// Opens a database anew that refuses everything since an error.
    ///
    /// A commit that failed may be found in the file all the same. Then it is told to those who watch, but whoever
    /// asked for it is refused: after a failed fsync, the file that the system shows proves nothing about the disk.
    fn mend(&mut self) -> Result<()> {
        if !self.broken {
            return Ok(());
        }
        let disk = &self.shared.disk;
        let marks = guarded(|| {
            disk.reopen()?;
            read::marks(&disk.begin_read()?)
        });
        let marks = marks.map_err(|failure| failed("open the store again", failure))?;
        self.broken = false;
        if marks.revision > *self.newest.borrow() {
            self.shared.skip_to(marks);
            self.newest.send_replace(marks.revision);
        }
        Ok(())
    }
}

/// The database panics on some kinds of damage. The writer must outlive that, or every caller would wait forever.
fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Failure::Corrupted("the database stumbled over its contents".into()))
    })
}
