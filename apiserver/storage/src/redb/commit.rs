//! One transaction of the writer: a group of writes, and a piece of compaction.

use std::sync::Arc;

use redb::{Error, ReadableTable, Table, WriteTransaction};

use super::group::Write;
use super::tables::{self, Happened, LOG, META, Marks, OBJECTS, Object};
use crate::{Change, Entry, Event, Result as Outcome, Revision};

/// How many events one transaction removes at most, so that writes never wait long for compaction.
const PIECE: usize = 256;

/// What a transaction does, as far as it is committed.
pub(super) struct Done {
    /// The answers to the writes, in their order.
    pub(super) outcomes: Vec<Outcome<Revision>>,
    pub(super) events: Vec<Arc<Event>>,
    pub(super) marks: Marks,
    /// Whether the compacted part of the log is gone.
    pub(super) clean: bool,
}

/// The tables of a transaction and how far it has come.
struct Work<'txn> {
    objects: Table<'txn, &'static str, Object<'static>>,
    log: Table<'txn, u64, Happened<'static>>,
    marks: Marks,
    events: Vec<Arc<Event>>,
}

/// Makes the writes, each on the state that the ones before it left, and then forgets some of the history up to
/// `compact`. Nothing of it has happened until the transaction is committed.
pub(super) fn prepare(
    txn: &WriteTransaction,
    writes: &[Write],
    compact: Option<Revision>,
) -> Result<Done, Error> {
    let mut meta = txn.open_table(META)?;
    let marks = Marks::read(&meta)?;
    let (objects, log) = (txn.open_table(OBJECTS)?, txn.open_table(LOG)?);
    let mut work = Work { objects, log, marks, events: Vec::new() };
    let outcomes = writes.iter().map(|write| work.write(write)).collect::<Result<_, _>>()?;
    let clean = match compact {
        Some(through) => work.compact(through)?,
        None => true,
    };
    // Also where they are the same: a transaction that changes nothing proves nothing to a probe.
    work.marks.write(&mut meta)?;
    Ok(Done { outcomes, events: work.events, marks: work.marks, clean })
}

impl Work<'_> {
    fn write(&mut self, write: &Write) -> Result<Outcome<Revision>, Error> {
        let name = write.key.as_str();
        let current = self.objects.get(name)?;
        let current = current.map(|object| tables::entry(write.key.clone(), object.value()));
        if !write.expect.holds(current.as_ref()) {
            return Ok(Err(crate::Error::Conflict { current }));
        }
        let revision = self.marks.revision.next();
        self.change(name, revision, &write.change, current.as_ref())?;
        let (key, change) = (write.key.clone(), write.change.clone());
        self.events.push(Arc::new(Event::new(revision, key, change, current)));
        self.marks.revision = revision;
        Ok(Ok(revision))
    }

    fn change(
        &mut self,
        name: &str,
        revision: Revision,
        change: &Change,
        previous: Option<&Entry>,
    ) -> Result<(), Error> {
        let value = match change {
            Change::Put(value) => Some(&**value),
            Change::Delete => None,
        };
        match value {
            Some(value) => self.objects.insert(name, (revision.get(), value))?.is_some(),
            None => self.objects.remove(name)?.is_some(),
        };
        let previous = previous.map(|entry| (entry.revision.get(), &*entry.value));
        self.log.insert(revision.get(), (name, value, previous))?;
        Ok(())
    }

    /// The first piece moves the mark, so that no reader ever sees a history with a hole.
    fn compact(&mut self, through: Revision) -> Result<bool, Error> {
        self.marks.compacted = self.marks.compacted.max(through);
        let old = self.log.range(..=through.get())?.take(PIECE);
        let old = old.map(|row| Ok(row?.0.value())).collect::<Result<Vec<_>, Error>>()?;
        for revision in &old {
            self.log.remove(revision)?;
        }
        Ok(old.len() < PIECE)
    }
}
