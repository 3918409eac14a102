//! Which Deployment is looked at when.

mod lines;

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use self::lines::Lines;
use super::Changed;
use crate::pass::Next;

/// How long to wait after the first failure; twice as long after each more.
const FIRST: Duration = Duration::from_secs(1);
/// The longest wait after failures.
const LONGEST: Duration = Duration::from_secs(300);

/// How long other changes of what is deployed are waited for.
const SOON: Duration = Duration::from_millis(100);
/// How long a Deployment is left alone at most whose objects change all the time.
const REST: Duration = Duration::from_secs(10);

/// The times, and what is known of each Deployment.
pub(super) struct Queue {
    lines: Lines,
    known: BTreeMap<Changed, Known>,
}

/// What is to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) key: Changed,
    /// The version that need not be looked at.
    pub(super) known: Option<String>,
    /// For how long it has been due.
    pub(super) waited: Duration,
}

#[derive(Default)]
struct Known {
    /// When it is looked at next, unless a pass is under way.
    due: Option<Instant>,
    /// Whether a pass is under way.
    running: bool,
    /// Whether it was changed while a pass was under way.
    changed: bool,
    /// Whether the next look is only because something was changed: what the last pass left behind
    /// itself need not be looked at.
    by_change: bool,
    /// When it was to be looked at anyway.
    planned: Option<Instant>,
    failures: u32,
    version: Option<String>,
    /// Whether what it deployed was changed while a pass was under way.
    woken: bool,
    /// Before when it need not be looked at although what it deployed was changed.
    rest: Option<Instant>,
}

impl Queue {
    /// One for passes of which so many at a time may be over Deployments of the same namespace.
    pub(super) fn new(share: usize) -> Self {
        Self { lines: Lines::new(share), known: BTreeMap::new() }
    }

    /// Something about a Deployment was changed.
    pub(super) fn changed(&mut self, key: &Changed, now: Instant) {
        let known = self.known.entry(key.clone()).or_default();
        if known.running {
            known.changed = true;
            return;
        }
        if known.due.is_some_and(|due| due <= now) {
            return;
        }
        (known.by_change, known.planned) = (true, known.due);
        self.set(key, Some(now));
    }

    /// Something that a Deployment has deployed was changed. It is looked at soon, but not all the time:
    /// a change is often one of many.
    pub(super) fn woken(&mut self, key: &Changed, now: Instant) {
        let Some(known) = self.known.get_mut(key) else { return };
        if known.running {
            known.woken = true;
            return;
        }
        // What has failed is tried again in its own time.
        if known.failures > 0 {
            return;
        }
        let soon = known.rest.unwrap_or(now).max(now + SOON);
        if known.due.is_some_and(|due| due <= soon) {
            // The look that is due because of a change would pass over what is deployed.
            known.by_change = false;
            return;
        }
        known.by_change = false;
        self.set(key, Some(soon));
    }

    /// The next Deployment to look at, if one is due and may be.
    pub(super) fn take(&mut self, now: Instant) -> Option<Taken> {
        let (due, key) = self.lines.take(now)?;
        let known = self.known.get_mut(&key)?;
        (known.due, known.running) = (None, true);
        let version = known.version.clone().filter(|_| known.by_change);
        Some(Taken { key, known: version, waited: now.saturating_duration_since(due) })
    }

    /// When the next is due that may be looked at: a time that has passed, if that is so already.
    pub(super) fn due(&self) -> Option<Instant> {
        self.lines.next()
    }

    /// How many are due and wait for their turn.
    pub(super) fn depth(&self) -> usize {
        self.lines.waiting()
    }

    /// A pass has ended. Without a version the Deployment is gone.
    pub(super) fn done(
        &mut self,
        key: &Changed,
        next: Next,
        version: Option<String>,
        now: Instant,
    ) {
        let Some(known) = self.known.get_mut(key) else { return };
        known.running = false;
        self.lines.ended(&key.namespace);
        let (changed, planned) = (std::mem::take(&mut known.changed), known.planned.take());
        known.by_change = false;
        if version.is_none() && !changed && next == Next::Idle {
            self.known.remove(key);
            return;
        }
        known.version = version;
        let failures = if next.is_failure() { known.failures + 1 } else { 0 };
        if next != Next::Unchanged {
            known.failures = failures;
        }
        let due = match next {
            Next::Idle => None,
            Next::Unchanged => planned,
            Next::Again => Some(now),
            Next::After(time) => Some(now + time),
            Next::Retry => Some(now + backoff(failures)),
            // Whoever asks for more may be any server behind kube-apiserver.
            Next::RetryAfter(least) => Some(now + backoff(failures).max(least.min(LONGEST))),
        };
        if let Next::After(time) = next {
            known.rest = Some(now + (time / 30).min(REST));
        }
        let woken = std::mem::take(&mut known.woken);
        if changed && due.is_none_or(|due| due > now) {
            (known.by_change, known.planned) = (true, due);
            self.set(key, Some(now));
        } else {
            self.set(key, due);
        }
        if woken {
            self.woken(key, now);
        }
    }

    fn set(&mut self, key: &Changed, due: Option<Instant>) {
        let Some(known) = self.known.get_mut(key) else { return };
        let old = std::mem::replace(&mut known.due, due);
        self.lines.set(key, old, due);
    }
}

/// How long to wait after so many failures in a row.
fn backoff(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    (FIRST * 2_u32.pow(doublings)).min(LONGEST)
}

#[cfg(test)]
mod tests;
