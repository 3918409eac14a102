//! The recent events of one prefix, shared by everyone who watches it.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use crate::log::EventLog;
use crate::{Error, Event, Result, Revision};

/// How many events a watcher is handed at once.
const PAGE: usize = 256;

/// The first of `events`, and those that share the revision of the last of them: the reader's place is a revision.
fn page<'a>(events: impl Iterator<Item = &'a Arc<Event>>) -> Vec<Arc<Event>> {
    let mut page: Vec<Arc<Event>> = Vec::new();
    for event in events {
        if page.len() >= PAGE && page.last().is_some_and(|last| last.revision < event.revision) {
            break;
        }
        page.push(event.clone());
    }
    page
}

/// A buffer that the hub fills and any number of watchers read, each with a cursor of its own.
#[derive(Debug)]
pub(super) struct Channel {
    buffer: RwLock<Buffer>,
    wake: watch::Sender<()>,
}

#[derive(Debug)]
struct Buffer {
    log: EventLog,
    ended: Option<Error>,
}

impl Channel {
    /// A channel of everything that will follow `start`.
    pub(super) fn new(start: Revision) -> Self {
        let buffer = Buffer { log: EventLog::new(start), ended: None };
        Self { buffer: RwLock::new(buffer), wake: watch::Sender::new(()) }
    }

    /// Everything after this revision is in the channel.
    pub(super) fn start(&self) -> Revision {
        self.read(|buffer| buffer.log.start())
    }

    /// The next events after `cursor`, none when there are no more yet.
    ///
    /// Fails with `Slow` when events after `cursor` are already gone, and with the reason of the end when the last
    /// event has been read.
    pub(super) fn after(&self, cursor: Revision) -> Result<Vec<Arc<Event>>> {
        self.read(|buffer| {
            let events = buffer.log.after(cursor).ok_or(Error::Slow)?;
            let page = page(events);
            match &buffer.ended {
                Some(error) if page.is_empty() => Err(error.clone()),
                _ => Ok(page),
            }
        })
    }

    /// A signal that changes whenever there is something to read.
    pub(super) fn subscribe(&self) -> watch::Receiver<()> {
        self.wake.subscribe()
    }

    /// Appends events, among them all of each revision that is among them. Its readers see all or none, and learn of
    /// them at the next `wake`.
    pub(super) fn append(&self, events: Vec<Arc<Event>>) {
        self.write(|buffer| events.into_iter().for_each(|event| buffer.log.push(event)));
    }

    /// Puts `older` events before the others; see `EventLog::extend_back`.
    pub(super) fn extend_back(&self, start: Revision, older: Vec<Arc<Event>>) {
        self.write(|buffer| buffer.log.extend_back(start, older));
    }

    /// Lets go of the events up to `through`.
    pub(super) fn trim_through(&self, through: Revision) {
        self.write(|buffer| buffer.log.trim_through(through));
    }

    /// Wakes every reader that has read everything.
    pub(super) fn wake(&self) {
        self.wake.send_replace(());
    }

    /// Gives every reader this error after its last event.
    pub(super) fn end(&self, error: Error) {
        self.write(|buffer| buffer.ended = Some(error));
        self.wake();
    }

    // The closures do not panic between two changes, so a poisoned lock guards nothing broken.
    fn read<T>(&self, read: impl FnOnce(&Buffer) -> T) -> T {
        read(&self.buffer.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self, write: impl FnOnce(&mut Buffer)) {
        write(&mut self.buffer.write().unwrap_or_else(PoisonError::into_inner));
    }
}
