//! What a store holds and what happens to it.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::{Key, Revision};

/// One stored value. Cloning is cheap.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub key: Key,
    /// Its bytes. They do not contain the revision.
    pub value: Bytes,
    /// The revision of its last change.
    pub revision: Revision,
}

/// What happened to a key.
#[derive(Clone, PartialEq, Eq)]
pub enum Change {
    /// It was created or replaced by this value.
    Put(Bytes),
    /// It was removed.
    Delete,
}

/// One committed change.
///
/// Everyone who watches shares the same `Arc<Event>`, and with it what the first of them made of it: see
/// [`Event::memo`].
pub struct Event {
    /// The revision that this change took. Changes share one only if somebody made them in one transaction, past
    /// the store: it makes one at a time.
    pub revision: Revision,
    /// What it happened to.
    pub key: Key,
    /// What happened.
    pub change: Change,
    /// What the key held before; none when it was created.
    pub previous: Option<Entry>,
    memo: OnceLock<Box<dyn Any + Send + Sync>>,
}

/// Consecutive events of a watch, and how far they reach.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Changes in the order of their revisions; none when only the revision moved on.
    pub events: Vec<Arc<Event>>,
    /// Every change up to and at this revision is in this batch or was in an earlier one.
    pub revision: Revision,
}

impl Event {
    /// A change that took `revision`.
    pub fn new(revision: Revision, key: Key, change: Change, previous: Option<Entry>) -> Self {
        Self { revision, key, change, previous, memo: OnceLock::new() }
    }

    /// The entry that the change left behind; none after a delete.
    pub fn entry(&self) -> Option<Entry> {
        match &self.change {
            Change::Put(value) => {
                Some(Entry { key: self.key.clone(), value: value.clone(), revision: self.revision })
            }
            Change::Delete => None,
        }
    }

    /// Room for what is computed from the event once and shared by all who watch, such as its encodings.
    ///
    /// The first caller decides the type; none is returned to one who asks for another.
    pub fn memo<T: Default + Send + Sync + 'static>(&self) -> Option<&T> {
        self.memo.get_or_init(|| Box::new(T::default())).downcast_ref()
    }

    /// Roughly the memory that the event keeps alive.
    pub(crate) fn weight(&self) -> usize {
        let value = match &self.change {
            Change::Put(value) => value.len(),
            Change::Delete => 0,
        };
        let previous = self.previous.as_ref().map_or(0, |entry| entry.value.len());
        size_of::<Self>() + self.key.as_str().len() + value + previous
    }
}

// Values may hold secrets, therefore only their length is shown.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}({} bytes)", self.key, self.revision, self.value.len())
    }
}

impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Put(value) => write!(f, "Put({} bytes)", value.len()),
            Change::Delete => f.write_str("Delete"),
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{} {:?} after {:?}", self.key, self.revision, self.change, self.previous)
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.revision == other.revision
            && self.key == other.key
            && self.change == other.change
            && self.previous == other.previous
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn event() -> Event {
        let secret = Change::Put(Bytes::from_static(b"hunter2"));
        Event::new(Revision::new(2), Key::new("/a").unwrap(), secret, None)
    }

    #[test]
    fn a_memo_is_made_once_and_shared() {
        let event = event();
        event.memo::<AtomicUsize>().unwrap().fetch_add(1, Ordering::Relaxed);
        assert_eq!(event.memo::<AtomicUsize>().unwrap().load(Ordering::Relaxed), 1);
        assert!(event.memo::<String>().is_none());
    }

    #[test]
    fn values_are_not_printed() {
        let event = event();
        assert!(!format!("{event:?} {:?}", event.entry()).contains("hunter2"));
    }
}
