//! The cache's state: the newest snapshot, the recent events, and the channels that spread them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::channel::Channel;
use crate::log::EventLog;
use crate::{Batch, Error, Event, Prefix, Revision, Snapshot};

/// How many past snapshots are remembered.
const PAST: usize = 4;

/// From how many events on a rewind is moved off the async threads.
const LONG_REWIND: usize = 1024;

#[derive(Debug)]
pub(super) struct Hub {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    now: Snapshot,
    log: EventLog,
    history: usize,
    channels: HashMap<Prefix, Subscribed>,
    past: VecDeque<Snapshot>,
}

/// A channel and how many watchers it has; without any it is dropped.
#[derive(Debug)]
struct Subscribed {
    channel: Arc<Channel>,
    watchers: usize,
}

/// How a past state can be had.
pub(super) enum Past {
    /// It is here.
    Known(Snapshot),
    /// It follows from what is here.
    Rewind(Rewind),
    /// It is older than the recent events.
    Unknown,
}

/// The work of going back to a past state, done outside of the hub's lock.
pub(super) struct Rewind {
    snapshot: Snapshot,
    revision: Revision,
    events: Vec<Arc<Event>>,
}

impl Hub {
    pub(super) fn new(now: Snapshot, history: usize) -> Self {
        let log = EventLog::new(now.revision());
        let state = State { now, log, history, channels: HashMap::new(), past: VecDeque::new() };
        Self { state: Mutex::new(state) }
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        self.lock().now.clone()
    }

    pub(super) fn past(&self, prefix: &Prefix, revision: Revision) -> Past {
        let state = self.lock();
        let mut known = state.past.iter().chain([&state.now]);
        let fits = |past: &&Snapshot| past.revision() == revision && past.scope().covers(prefix);
        if let Some(snapshot) = known.find(fits) {
            return Past::Known(snapshot.clone());
        }
        match state.log.after(revision) {
            Some(events) => {
                let events = events.cloned().collect();
                Past::Rewind(Rewind { snapshot: state.now.clone(), revision, events })
            }
            None => Past::Unknown,
        }
    }

    pub(super) fn remember(&self, past: Snapshot) {
        let mut state = self.lock();
        state.past.truncate(PAST - 1);
        state.past.push_front(past);
    }

    /// Takes in what the backend reports. The channels that got something are to be woken by the caller, when
    /// everybody can see the new revision.
    #[must_use]
    pub(super) fn publish(&self, batch: Batch) -> Vec<Arc<Channel>> {
        let mut told: HashMap<Prefix, Vec<Arc<Event>>> = HashMap::new();
        let mut state = self.lock();
        for event in batch.events {
            state.now.apply(&event);
            for (prefix, _) in state.watching(&event) {
                told.entry(prefix.clone()).or_default().push(event.clone());
            }
            state.log.push(event);
        }
        // All at once, for a transaction has one revision, and whoever was told of that is not told again.
        let told = told.into_iter().filter_map(|(prefix, events)| {
            let channel = &state.channels.get(&prefix)?.channel;
            channel.append(events);
            Some(channel.clone())
        });
        let touched = told.collect();
        state.trim();
        state.now.advance(batch.revision);
        touched
    }

    /// Begins anew from `now`, after events were missed: every watcher ends with `error`.
    pub(super) fn reset(&self, now: Snapshot, error: &Error) {
        let mut state = self.lock();
        state.end(error);
        state.log = EventLog::new(now.revision());
        state.past.clear();
        state.now = now;
    }

    /// Ends every watcher with `error`, once it has read what came before.
    pub(super) fn end(&self, error: &Error) {
        self.lock().end(error);
    }

    /// The newest state and the channel of what follows it under `prefix`.
    pub(super) fn begin(&self, prefix: &Prefix) -> (Snapshot, Arc<Channel>) {
        let mut state = self.lock();
        (state.now.clone(), state.subscribe(prefix))
    }

    /// The channel of everything that follows `from` under `prefix`, if recent events reach back that far.
    pub(super) fn join(&self, prefix: &Prefix, from: Revision) -> Option<Arc<Channel>> {
        let mut state = self.lock();
        let start = match state.channels.get(prefix) {
            Some(subscribed) => subscribed.channel.start(),
            None => state.now.revision(),
        };
        if from >= start {
            return Some(state.subscribe(prefix));
        }
        let between = |event: &&Arc<Event>| event.revision <= start;
        let older = state.log.after(from)?.take_while(between);
        let older = older.filter(|event| prefix.holds(&event.key)).cloned().collect();
        let channel = state.subscribe(prefix);
        channel.extend_back(from, older);
        Some(channel)
    }

    /// Gives up a channel that was had from `begin` or `join`.
    pub(super) fn leave(&self, prefix: &Prefix, channel: &Arc<Channel>) {
        let mut state = self.lock();
        // After a reset another channel may have taken the place of this one.
        let Some(subscribed) = state.channels.get_mut(prefix) else { return };
        if Arc::ptr_eq(&subscribed.channel, channel) {
            subscribed.watchers -= 1;
            if subscribed.watchers == 0 {
                state.channels.remove(prefix);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn channels(&self) -> usize {
        self.lock().channels.len()
    }

    // Nothing panics between two changes that belong together, so a poisoned lock guards nothing broken.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn watching(&self, event: &Event) -> impl Iterator<Item = (&Prefix, &Subscribed)> {
        let prefixes = event.key.prefixes();
        prefixes.filter_map(|prefix| self.channels.get_key_value(prefix))
    }

    // A channel holds no event that the log has let go of, so that all channels together cost no more than the log.
    fn trim(&mut self) {
        while let Some(event) = self.log.trim_to_weight(self.history) {
            for (_, subscribed) in self.watching(&event) {
                subscribed.channel.trim_through(event.revision);
            }
        }
    }

    fn subscribe(&mut self, prefix: &Prefix) -> Arc<Channel> {
        let now = self.now.revision();
        let subscribed = self
            .channels
            .entry(prefix.clone())
            .or_insert_with(|| Subscribed { channel: Arc::new(Channel::new(now)), watchers: 0 });
        subscribed.watchers += 1;
        subscribed.channel.clone()
    }

    fn end(&mut self, error: &Error) {
        for (_, subscribed) in self.channels.drain() {
            subscribed.channel.end(error.clone());
        }
    }
}

impl Rewind {
    pub(super) async fn run(self) -> Snapshot {
        if self.events.len() < LONG_REWIND {
            return self.work();
        }
        let work = tokio::task::spawn_blocking(|| self.work());
        work.await.expect("rewinding does not panic and blocking tasks are not aborted")
    }

    fn work(mut self) -> Snapshot {
        self.snapshot.rewind(self.revision, self.events.iter().map(|event| &**event));
        self.snapshot
    }
}
