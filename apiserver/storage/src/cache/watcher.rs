//! One reader of the changes under a prefix.

use std::fmt;
use std::sync::Arc;

use futures::StreamExt;
use tokio::sync::watch;

use super::Shared;
use super::channel::Channel;
use crate::{Backend, Batch, Error, Event, EventStream, Prefix, Result, Revision, Snapshot};

/// The changes under a prefix after a revision: in order, each exactly once.
///
/// A watcher pulls. While it does not, nothing is kept for it but what the cache keeps anyway; when what it should
/// read next has been dropped there, it alone ends, with [`Error::Slow`].
pub struct Watcher {
    shared: Arc<Shared>,
    prefix: Prefix,
    cursor: Revision,
    source: Source,
}

enum Source {
    /// The cache does not reach back to the cursor: the backend's own watch, until it does.
    Backend(EventStream),
    Channel(Subscription),
    Ended(Error),
}

/// A place at a channel, given up when dropped.
struct Subscription {
    shared: Arc<Shared>,
    prefix: Prefix,
    channel: Arc<Channel>,
    wake: watch::Receiver<()>,
}

impl Watcher {
    pub(super) fn begin(shared: Arc<Shared>, prefix: &Prefix) -> (Snapshot, Self) {
        let (snapshot, channel) = shared.hub.begin(prefix);
        let source = Source::Channel(Subscription::new(shared.clone(), prefix, channel));
        let cursor = snapshot.revision();
        (snapshot, Self { shared, prefix: prefix.clone(), cursor, source })
    }

    pub(super) async fn resume(
        shared: Arc<Shared>,
        backend: &Arc<dyn Backend>,
        prefix: &Prefix,
        from: Revision,
    ) -> Result<Self> {
        let source = match Subscription::join(&shared, prefix, from) {
            Some(subscription) => Source::Channel(subscription),
            None => Source::Backend(backend.watch(from).await?),
        };
        Ok(Self { shared, prefix: prefix.clone(), cursor: from, source })
    }

    /// Waits for the next changes; at least one. Dropping the future loses none.
    ///
    /// # Errors
    /// `Slow` when the reader fell too far behind; `Compacted` when it, or the cache itself, missed events that
    /// cannot be had any more; `Closed` when the cache is gone. The watcher has ended then and repeats its error.
    pub async fn next(&mut self) -> Result<Vec<Arc<Event>>> {
        let next = self.pull().await;
        if let Err(error) = &next {
            self.source = Source::Ended(error.clone());
        }
        next
    }

    /// Everything under the prefix up to this revision has been returned by `next`.
    ///
    /// It moves on while other prefixes change, and never back.
    pub fn progress(&mut self) -> Revision {
        if let Source::Channel(subscription) = &self.source {
            // In this order: what is reached was in the channels before.
            let reached = self.shared.revision();
            if subscription.channel.after(self.cursor).is_ok_and(|events| events.is_empty()) {
                self.cursor = self.cursor.max(reached);
            }
        }
        self.cursor
    }

    async fn pull(&mut self) -> Result<Vec<Arc<Event>>> {
        loop {
            let events = match &mut self.source {
                Source::Backend(stream) => {
                    let batch = stream.next().await.unwrap_or(Err(Error::Closed))?;
                    self.take(batch)
                }
                Source::Channel(subscription) => subscription.pull(&mut self.cursor).await?,
                Source::Ended(error) => return Err(error.clone()),
            };
            if !events.is_empty() {
                return Ok(events);
            }
        }
    }

    /// Takes what concerns this watcher, and goes over to the cache as soon as it can.
    fn take(&mut self, batch: Batch) -> Vec<Arc<Event>> {
        self.cursor = batch.revision;
        if let Some(subscription) = Subscription::join(&self.shared, &self.prefix, self.cursor) {
            self.source = Source::Channel(subscription);
        }
        let mut events = batch.events;
        events.retain(|event| self.prefix.holds(&event.key));
        events
    }
}

impl Subscription {
    fn new(shared: Arc<Shared>, prefix: &Prefix, channel: Arc<Channel>) -> Self {
        let wake = channel.subscribe();
        Self { shared, prefix: prefix.clone(), channel, wake }
    }

    fn join(shared: &Arc<Shared>, prefix: &Prefix, from: Revision) -> Option<Self> {
        let channel = shared.hub.join(prefix, from)?;
        Some(Self::new(shared.clone(), prefix, channel))
    }

    /// The next events after `cursor`, which moves on.
    async fn pull(&mut self, cursor: &mut Revision) -> Result<Vec<Arc<Event>>> {
        loop {
            self.wake.borrow_and_update();
            let reached = self.shared.revision();
            let events = self.channel.after(*cursor)?;
            if let Some(last) = events.last() {
                *cursor = last.revision;
                return Ok(events);
            }
            *cursor = reached.max(*cursor);
            self.wake.changed().await.map_err(|_| Error::Closed)?;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.shared.hub.leave(&self.prefix, &self.channel);
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watcher({} after {})", self.prefix, self.cursor)
    }
}
