//! A controller's view of a resource: which of its objects to look at again.
//!
//! A key is all that is told, since a controller acts on how things are and not on how they came to
//! be so; it reads the object when it gets to it. Not here: queues, backoff, and who leads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

use futures::Stream;
use futures::stream;
use storage::{Cache, Key, Prefix, Revision, Watcher};

use super::{Store, names, prefix};
use crate::resource::Definition;
use crate::status::Error;

/// Which object of a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// Its namespace; empty for an object of the cluster.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Tells the keys of objects: first of all there are, then of those that are created, changed or
/// removed. Several changes of one object may be told as one, and no key is ever lost: who falls too
/// far behind is told of everything that is not as it was, removed objects included.
pub struct Follower {
    /// Not held: a cache that nobody else wants any more ends its followers.
    cache: Weak<Cache>,
    prefix: Prefix,
    watcher: Watcher,
    /// What has been told or is about to be, by its revision; what is gone since is not in a new list.
    known: BTreeMap<Key, Revision>,
    pending: BTreeSet<Key>,
}

impl Store {
    /// Follows all objects of a resource, in all namespaces.
    ///
    /// # Errors
    /// 500 for a resource whose name cannot be part of a key.
    pub fn follow(&self, definition: &Definition) -> Result<Follower, Error> {
        Ok(Follower::begin(&self.cache, prefix(definition, "")?))
    }
}

impl Follower {
    fn begin(cache: &Arc<Cache>, prefix: Prefix) -> Self {
        let (snapshot, watcher) = cache.watch_current(&prefix);
        let entries = snapshot.list(&prefix).map(|entry| (entry.key.clone(), entry.revision));
        let known: BTreeMap<_, _> = entries.collect();
        let pending = known.keys().cloned().collect();
        Self { cache: Arc::downgrade(cache), prefix, watcher, known, pending }
    }

    /// Waits for the next key; none when the store is closed. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<ObjectKey> {
        loop {
            if let Some(key) = self.pending.pop_first() {
                let (namespace, name) = names(&key);
                return Some(ObjectKey { namespace: namespace.to_owned(), name: name.to_owned() });
            }
            match self.watcher.next().await {
                Ok(events) => {
                    for event in events {
                        match event.entry() {
                            Some(entry) => self.known.insert(entry.key, entry.revision),
                            None => self.known.remove(&event.key),
                        };
                        self.pending.insert(event.key.clone());
                    }
                }
                Err(storage::Error::Closed) => return None,
                Err(missed) => self.begin_again(&missed)?,
            }
        }
    }

    /// The keys as a stream, for those who select among several.
    pub fn into_stream(self) -> impl Stream<Item = ObjectKey> + Send {
        stream::unfold(self, |mut follower| async {
            let key = follower.next().await?;
            Some((key, follower))
        })
    }

    /// Finds by a new list what was missed. None when there is nothing to list any more.
    fn begin_again(&mut self, missed: &storage::Error) -> Option<()> {
        tracing::debug!(resource = %self.prefix, reason = %missed, "a controller lists anew");
        let now = Self::begin(&self.cache.upgrade()?, self.prefix.clone());
        let before = std::mem::replace(&mut self.known, now.known);
        let changed = self.known.iter().filter(|(key, at)| before.get(*key) != Some(at));
        let gone = before.keys().filter(|key| !self.known.contains_key(*key));
        self.pending.extend(changed.map(|(key, _)| key).chain(gone).cloned());
        self.watcher = now.watcher;
        Some(())
    }
}

#[cfg(test)]
mod tests;
