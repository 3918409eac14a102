//! A store that lives and dies with the process: for tests, examples and servers that need no memory of themselves.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::StreamExt;
use tokio::sync::watch;

use crate::log::EventLog;
use crate::{
    Backend, Batch, BoxFuture, Change, Entry, Error, Event, EventStream, Expect, Key, List, Prefix,
    Result, Revision, Snapshot,
};

/// How many events a watch hands over at once.
const PAGE: usize = 512;

/// The in-memory backend. Its history grows until it is compacted.
#[derive(Debug)]
pub struct Memory {
    state: Arc<Mutex<State>>,
    newest: watch::Sender<Revision>,
}

#[derive(Debug)]
struct State {
    now: Snapshot,
    log: EventLog,
}

impl Memory {
    /// An empty store.
    pub fn new() -> Self {
        let state = State {
            now: Snapshot::empty(Revision::INITIAL),
            log: EventLog::new(Revision::INITIAL),
        };
        Self { state: Arc::new(Mutex::new(state)), newest: watch::Sender::new(Revision::INITIAL) }
    }

    fn write(
        &self,
        key: &Key,
        change: Change,
        holds: impl FnOnce(Option<&Entry>) -> bool,
    ) -> Result<Revision> {
        let mut state = lock(&self.state);
        let current = state.now.get(key);
        if !holds(current) {
            return Err(Error::Conflict { current: current.cloned() });
        }
        let revision = state.commit(key, change);
        // Still under the lock, so that watchers are never told an older revision after a newer one.
        self.newest.send_replace(revision);
        Ok(revision)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl State {
    fn commit(&mut self, key: &Key, change: Change) -> Revision {
        let revision = self.now.revision().next();
        let previous = self.now.get(key).cloned();
        let event = Event::new(revision, key.clone(), change, previous);
        self.now.apply(&event);
        self.log.push(Arc::new(event));
        revision
    }

    fn list(&self, prefix: &Prefix, at: Revision) -> Result<List> {
        let newer = self.since(at)?;
        let mut state = self.now.clone();
        state.rewind(at, newer.map(|event| &**event));
        Ok(List { entries: state.list(prefix).cloned().collect(), revision: at })
    }

    fn page(&self, cursor: Revision) -> Result<Batch> {
        let events: Vec<_> = self.since(cursor)?.take(PAGE).cloned().collect();
        let revision = events.last().map_or(cursor, |event| event.revision);
        Ok(Batch { events, revision })
    }

    fn since(&self, requested: Revision) -> Result<impl Iterator<Item = &Arc<Event>>> {
        let current = self.now.revision();
        if requested > current {
            return Err(Error::Future { requested, current });
        }
        let oldest = self.log.start();
        self.log.after(requested).ok_or(Error::Compacted { requested, oldest })
    }
}

impl Backend for Memory {
    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(async move { Ok(lock(&self.state).now.get(key).cloned()) })
    }

    fn list<'a>(&'a self, prefix: &'a Prefix, at: Option<Revision>) -> BoxFuture<'a, Result<List>> {
        Box::pin(async move {
            let state = lock(&self.state);
            state.list(prefix, at.unwrap_or_else(|| state.now.revision()))
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        expect: Expect,
    ) -> BoxFuture<'a, Result<Revision>> {
        Box::pin(
            async move { self.write(key, Change::Put(value), |current| expect.holds(current)) },
        )
    }

    fn delete<'a>(&'a self, key: &'a Key, expect: Revision) -> BoxFuture<'a, Result<Revision>> {
        let expect = Expect::Revision(expect);
        Box::pin(async move { self.write(key, Change::Delete, |current| expect.holds(current)) })
    }

    fn revision(&self) -> BoxFuture<'_, Result<Revision>> {
        Box::pin(async move { Ok(lock(&self.state).now.revision()) })
    }

    fn known_revision(&self) -> Option<Revision> {
        Some(lock(&self.state).now.revision())
    }

    fn watch(&self, from: Revision) -> BoxFuture<'_, Result<EventStream>> {
        Box::pin(async move {
            let _ = lock(&self.state).since(from)?;
            Ok(follow(self.state.clone(), self.newest.subscribe(), from))
        })
    }

    fn compact(&self, through: Revision) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let mut state = lock(&self.state);
            let current = state.now.revision();
            if through > current {
                return Err(Error::Future { requested: through, current });
            }
            state.log.trim_through(through);
            Ok(())
        })
    }

    fn health(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

/// The events after `from`, page by page. Ends with `Closed` when the store is dropped.
fn follow(
    state: Arc<Mutex<State>>,
    newest: watch::Receiver<Revision>,
    from: Revision,
) -> EventStream {
    let step = move |(mut newest, cursor): (watch::Receiver<Revision>, Revision)| {
        let state = state.clone();
        async move {
            while *newest.borrow_and_update() <= cursor {
                if newest.changed().await.is_err() {
                    return Err(Error::Closed);
                }
            }
            let batch = lock(&state).page(cursor)?;
            let cursor = batch.revision;
            Ok((batch, (newest, cursor)))
        }
    };
    crate::backend::stream((newest, from), step).boxed()
}

// A panic while the lock was held leaves whole changes only: nothing in there can panic between two of them.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn memory_conforms() {
        crate::conformance::run(|| async { Arc::new(Memory::new()) as Arc<dyn Backend> }).await;
    }

    #[tokio::test]
    async fn a_watch_ends_when_the_store_is_dropped() {
        let memory = Memory::new();
        let mut stream = memory.watch(Revision::INITIAL).await.unwrap();
        drop(memory);
        assert!(matches!(stream.next().await, Some(Err(Error::Closed))));
    }
}
