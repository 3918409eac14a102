//! The state of a store at a revision, which later changes do not touch.

use std::collections::HashSet;
use std::ops::Bound;

use imbl::OrdMap;

use crate::{Entry, Event, Key, List, Prefix, Revision};

/// The entries under a prefix as they were at a revision.
///
/// A persistent map: a copy costs nothing, and shares with the newer states whatever did not change. All pages of a
/// list are read from one snapshot.
#[derive(Clone, Debug)]
pub struct Snapshot {
    scope: Prefix,
    revision: Revision,
    entries: OrdMap<Key, Entry>,
}

impl Snapshot {
    /// The state of an empty store.
    pub(crate) fn empty(revision: Revision) -> Self {
        Self { scope: Prefix::all(), revision, entries: OrdMap::new() }
    }

    /// What a backend listed under `scope`, or what somebody would have it list. Of several entries with
    /// one key the last counts.
    pub fn of(scope: Prefix, list: List) -> Self {
        let entries = list.entries.into_iter().map(|entry| (entry.key.clone(), entry)).collect();
        Self { scope, revision: list.revision, entries }
    }

    /// The revision that this is the state of.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The part of the store that was looked at; outside of it the snapshot knows nothing.
    pub fn scope(&self) -> &Prefix {
        &self.scope
    }

    /// What was stored at `key`.
    pub fn get(&self, key: &Key) -> Option<&Entry> {
        debug_assert!(self.scope.holds(key));
        self.entries.get(key)
    }

    /// What was stored under `prefix`, in the order of the keys.
    pub fn list<'a>(&'a self, prefix: &Prefix) -> impl Iterator<Item = &'a Entry> + use<'a> {
        self.list_from(prefix, prefix.as_str())
    }

    /// What was stored under `prefix` at `start` or after it, in the order of the keys.
    pub fn list_from<'a>(
        &'a self,
        prefix: &Prefix,
        start: &str,
    ) -> impl Iterator<Item = &'a Entry> + use<'a> {
        debug_assert!(self.scope.covers(prefix));
        let start = Bound::Included(start.max(prefix.as_str()));
        let range = (start, Bound::<&str>::Unbounded);
        let prefix = prefix.clone();
        let entries = self.entries.range::<_, str>(range);
        entries.take_while(move |(key, _)| prefix.holds(key)).map(|(_, entry)| entry)
    }

    /// How many entries it holds.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Moves on to the state after `event`.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event.entry() {
            Some(entry) => self.entries.insert(event.key.clone(), entry),
            None => self.entries.remove(&event.key),
        };
        self.revision = event.revision;
    }

    /// Moves on to a later revision at which nothing has changed.
    pub(crate) fn advance(&mut self, revision: Revision) {
        self.revision = self.revision.max(revision);
    }

    /// Goes back to the state at `revision`, given every event since, oldest first.
    pub(crate) fn rewind<'a>(
        &mut self,
        revision: Revision,
        events: impl Iterator<Item = &'a Event>,
    ) {
        // The oldest change of a key knows what the key held before all of them.
        let mut settled = HashSet::new();
        for event in events.filter(|event| settled.insert(&event.key)) {
            match &event.previous {
                Some(entry) => self.entries.insert(event.key.clone(), entry.clone()),
                None => self.entries.remove(&event.key),
            };
        }
        self.revision = revision;
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::Change;

    fn key(text: &str) -> Key {
        Key::new(text).unwrap()
    }

    fn put(snapshot: &mut Snapshot, text: &str) -> Event {
        let change = Change::Put(Bytes::from_static(b"value"));
        change_of(snapshot, text, change)
    }

    fn change_of(snapshot: &mut Snapshot, text: &str, change: Change) -> Event {
        let previous = snapshot.get(&key(text)).cloned();
        let event = Event::new(snapshot.revision().next(), key(text), change, previous);
        snapshot.apply(&event);
        event
    }

    fn keys<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<&'a str> {
        entries.map(|entry| entry.key.as_str()).collect()
    }

    fn listed(snapshot: &Snapshot) -> Vec<(String, u64)> {
        let entries = snapshot.list(&snapshot.scope);
        entries.map(|entry| (entry.key.to_string(), entry.revision.get())).collect()
    }

    #[test]
    fn a_list_is_ordered_and_ends_with_its_prefix() {
        let mut snapshot = Snapshot::empty(Revision::INITIAL);
        for text in ["/b/2", "/a/1", "/b/1", "/b", "/b0/1", "/b/1/x"] {
            put(&mut snapshot, text);
        }
        let prefix = Prefix::new("/b/").unwrap();
        assert_eq!(keys(snapshot.list(&prefix)), ["/b/1", "/b/1/x", "/b/2"]);
        assert_eq!(keys(snapshot.list(&Prefix::new("/b/1").unwrap())), ["/b/1"]);
        assert_eq!(keys(snapshot.list_from(&prefix, "/b/1\0")), ["/b/1/x", "/b/2"]);
        assert_eq!(keys(snapshot.list_from(&prefix, "/a")), ["/b/1", "/b/1/x", "/b/2"]);
    }

    #[test]
    fn a_copy_is_not_touched_by_later_changes() {
        let mut snapshot = Snapshot::empty(Revision::INITIAL);
        put(&mut snapshot, "/a");
        let copy = snapshot.clone();
        put(&mut snapshot, "/b");
        assert_eq!((copy.len(), copy.revision()), (1, Revision::INITIAL.next()));
    }

    #[test]
    fn every_past_state_is_reached_by_rewinding() {
        let mut snapshot = Snapshot::empty(Revision::INITIAL);
        let mut states = vec![listed(&snapshot)];
        let mut events = Vec::new();
        for step in ["/a", "/b", "/a", "-/a", "/c", "-/b", "/a", "-/a", "/b"] {
            events.push(match step.strip_prefix('-') {
                Some(text) => change_of(&mut snapshot, text, Change::Delete),
                None => put(&mut snapshot, step),
            });
            states.push(listed(&snapshot));
        }
        for (undone, state) in states.iter().enumerate() {
            let mut past = snapshot.clone();
            past.rewind(Revision::INITIAL, events[undone..].iter());
            assert_eq!(listed(&past), *state);
        }
    }
}
