//! What a backend must do, as tests: the contract of [`Backend`] in executable form.
//!
//! [`run`] asks for a fresh store per claim and panics at the first one that does not hold. The store need not be
//! alone in its revision space: nothing here presumes that revisions begin at 1, follow each other without gaps, or
//! stand still while nothing is written here.
//! What is expected of stores that persist is shown by their own tests.

#![allow(clippy::unwrap_used)] // A claim that does not hold is told by a panic.

mod histories;
mod lists;
mod watches;
mod writes;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;

use crate::{Backend, BoxFuture, Entry, Error, Event, EventStream, Expect, Key, Prefix, Revision};

/// A claim that takes longer has not been kept.
const PATIENCE: Duration = Duration::from_secs(120);

type Store = Arc<dyn Backend>;
type Claim = (&'static str, fn(Store) -> BoxFuture<'static, ()>);

/// Holds the backends that `fresh` makes, each empty, to the contract. Needs a multi-threaded tokio runtime to find
/// races.
///
/// # Panics
/// When a claim does not hold; the last line printed names it.
pub async fn run<F: Future<Output = Arc<dyn Backend>>>(fresh: impl Fn() -> F) {
    let claims = [writes::CLAIMS, lists::CLAIMS, watches::CLAIMS, histories::CLAIMS];
    for (name, claim) in claims.into_iter().flatten() {
        println!("conformance: {name}");
        let kept = tokio::time::timeout(PATIENCE, claim(fresh().await)).await;
        assert!(kept.is_ok(), "{name}: not answered in time");
    }
}

/// Lists async functions as claims under their own names.
macro_rules! claims {
    ($($claim:ident),* $(,)?) => {
        pub(super) const CLAIMS: &[super::Claim] =
            &[$((stringify!($claim), |store| Box::pin($claim(store)))),*];
    };
}
use claims;

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

fn prefix(text: &str) -> Prefix {
    Prefix::new(text).unwrap()
}

async fn create(store: &Store, name: &str, value: &str) -> Revision {
    let value = Bytes::copy_from_slice(value.as_bytes());
    store.put(&key(name), value, Expect::Absent).await.unwrap()
}

async fn update(store: &Store, name: &str, value: &str, expect: Revision) -> Revision {
    let value = Bytes::copy_from_slice(value.as_bytes());
    store.put(&key(name), value, Expect::Revision(expect)).await.unwrap()
}

async fn names(store: &Store, under: &str, at: Option<Revision>) -> Vec<String> {
    let list = store.list(&prefix(under), at).await.unwrap();
    list.entries.into_iter().map(|entry| entry.key.to_string()).collect()
}

fn conflict<T: std::fmt::Debug>(outcome: crate::Result<T>) -> Option<Entry> {
    match outcome {
        Err(Error::Conflict { current }) => current,
        other => panic!("expected a conflict, not {other:?}"),
    }
}

/// Reads a watch until it has told `count` events, checking what holds for every batch.
async fn read(stream: &mut EventStream, count: usize) -> Vec<Arc<Event>> {
    let mut events: Vec<Arc<Event>> = Vec::new();
    let mut reached = Revision::ZERO;
    while events.len() < count {
        let batch = stream.next().await.unwrap().unwrap();
        for event in &batch.events {
            assert!(event.revision > reached, "events are in order and told once");
            reached = event.revision;
        }
        assert!(batch.revision >= reached, "a batch reaches its last event");
        reached = batch.revision;
        events.extend(batch.events);
    }
    assert_eq!(events.len(), count, "nothing is told that did not happen");
    events
}

/// The state that results from events, each checked against the state before it.
fn replay(state: &mut BTreeMap<Key, Entry>, events: &[Arc<Event>]) {
    for event in events {
        assert_eq!(event.previous, state.get(&event.key).cloned(), "previous of {event:?}");
        match event.entry() {
            Some(entry) => state.insert(event.key.clone(), entry),
            None => state.remove(&event.key),
        };
    }
}

/// Repeatable randomness (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}
