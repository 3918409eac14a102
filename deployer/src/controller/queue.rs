//! Which Deployment is looked at when.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

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
#[derive(Default)]
pub(super) struct Queue {
    due: BTreeSet<(Instant, Changed)>,
    known: BTreeMap<Changed, Known>,
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

    /// The next Deployment that is due. With it comes the version that need not be looked at.
    pub(super) fn take(&mut self, now: Instant) -> Option<(Changed, Option<String>)> {
        let (due, key) = self.due.first()?.clone();
        if due > now {
            return None;
        }
        self.set(&key, None);
        let known = self.known.get_mut(&key)?;
        known.running = true;
        let version = known.version.clone().filter(|_| known.by_change);
        Some((key, version))
    }

    /// When the next is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due.first().map(|(due, _)| *due)
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
        let (changed, planned) = (std::mem::take(&mut known.changed), known.planned.take());
        known.by_change = false;
        if version.is_none() && !changed && next == Next::Idle {
            self.known.remove(key);
            return;
        }
        known.version = version;
        let failures = if next == Next::Retry { known.failures + 1 } else { 0 };
        if next != Next::Unchanged {
            known.failures = failures;
        }
        let due = match next {
            Next::Idle => None,
            Next::Unchanged => planned,
            Next::Again => Some(now),
            Next::After(time) => Some(now + time),
            Next::Retry => Some(now + backoff(failures)),
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
        if let Some(old) = known.due.take() {
            self.due.remove(&(old, key.clone()));
        }
        known.due = due;
        self.due.extend(due.map(|due| (due, key.clone())));
    }
}

/// How long to wait after so many failures in a row.
fn backoff(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    (FIRST * 2_u32.pow(doublings)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(name: &str) -> Changed {
        Changed { namespace: "demo".to_owned(), name: name.to_owned() }
    }

    fn some(version: &str) -> Option<String> {
        Some(version.to_owned())
    }

    #[test]
    fn a_change_is_looked_at_once_at_a_time() {
        let (now, mut queue) = (Instant::now(), Queue::default());
        queue.changed(&key("a"), now);
        queue.changed(&key("a"), now);
        assert_eq!(queue.take(now), Some((key("a"), None)));
        assert_eq!(queue.take(now), None);
        queue.changed(&key("a"), now);
        assert_eq!(queue.take(now), None, "a pass is under way");
        queue.done(&key("a"), Next::Idle, some("1"), now);
        assert_eq!(queue.take(now), Some((key("a"), some("1"))), "it was changed meanwhile");
        queue.done(&key("a"), Next::Unchanged, some("1"), now);
        assert_eq!((queue.take(now), queue.due()), (None, None));
    }

    #[test]
    fn what_a_pass_wrote_itself_does_not_move_its_next_time() {
        let (now, mut queue) = (Instant::now(), Queue::default());
        let later = now + Duration::from_secs(7);
        queue.changed(&key("a"), now);
        queue.take(now);
        queue.changed(&key("a"), now);
        queue.done(&key("a"), Next::After(Duration::from_secs(7)), some("2"), now);
        assert_eq!(queue.take(now), Some((key("a"), some("2"))));
        queue.done(&key("a"), Next::Unchanged, some("2"), now);
        assert_eq!(queue.due(), Some(later));
        assert_eq!(queue.take(later), Some((key("a"), None)), "a time that was asked for is kept");
    }

    #[test]
    fn failures_are_tried_again_less_and_less_often() {
        let (mut now, mut queue) = (Instant::now(), Queue::default());
        queue.changed(&key("a"), now);
        let mut waits = Vec::new();
        for _ in 0..11 {
            queue.take(now);
            queue.done(&key("a"), Next::Retry, some("1"), now);
            waits.push((queue.due().unwrap() - now).as_secs());
            now = queue.due().unwrap();
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        queue.take(now);
        queue.done(&key("a"), Next::After(FIRST), some("1"), now);
        now += FIRST;
        queue.take(now);
        queue.done(&key("a"), Next::Retry, some("1"), now);
        assert_eq!(queue.due(), Some(now + FIRST), "success is forgiven");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever happens in whatever order: one pass at a time over each, no change is missed, no
        /// time that was asked for is forgotten, and what is known agrees with what is due.
        #[test]
        fn no_change_is_missed_and_no_time_is_forgotten(
            events in prop::collection::vec((0..3_u8, 0..6_u8, 0..20_u64), 1..200),
        ) {
            let (mut now, mut queue) = (Instant::now(), Queue::default());
            let mut running: BTreeSet<Changed> = BTreeSet::new();
            // Those that were changed since the last pass over them began, and times promised.
            let mut unseen: BTreeSet<Changed> = BTreeSet::new();
            let mut promised: BTreeMap<Changed, Instant> = BTreeMap::new();
            for (which, event, number) in events {
                let key = key(["a", "b", "c"][usize::from(which)]);
                match event {
                    0 | 1 => {
                        queue.changed(&key, now);
                        unseen.insert(key);
                    }
                    2 | 3 => {
                        while let Some((key, known)) = queue.take(now) {
                            prop_assert!(running.insert(key.clone()), "two passes over {key:?}");
                            unseen.remove(&key);
                            if known.is_none() {
                                promised.remove(&key);
                            }
                        }
                    }
                    4 => {
                        if running.remove(&key) {
                            let next = match number {
                                0..5 => Next::Idle,
                                5..10 => Next::After(Duration::from_secs(number)),
                                10..15 => Next::Unchanged,
                                _ => Next::Retry,
                            };
                            if let Next::After(time) = next {
                                promised.insert(key.clone(), now + time);
                            } else if next != Next::Unchanged {
                                promised.remove(&key);
                            }
                            queue.done(&key, next, some("1"), now);
                        }
                    }
                    _ => now += Duration::from_secs(number),
                }
                let due: BTreeSet<_> = queue.due.iter().cloned().collect();
                let known = queue.known.iter();
                let held = known.filter_map(|(key, known)| Some((known.due?, key.clone()))).collect();
                prop_assert_eq!(due, held);
                for key in unseen.difference(&running) {
                    let due = queue.known[key].due;
                    prop_assert!(due.is_some_and(|due| due <= now), "{key:?} was changed: {due:?}");
                }
                for (key, time) in promised.iter().filter(|(key, _)| !running.contains(*key)) {
                    let Known { due, planned, .. } = &queue.known[key];
                    let kept = [*due, *planned].into_iter().flatten().any(|due| due <= *time);
                    prop_assert!(kept, "{key:?} was to be looked at");
                }
            }
        }
    }

    #[test]
    fn what_was_deployed_is_looked_at_soon_but_not_all_the_time() {
        let (now, mut queue) = (Instant::now(), Queue::default());
        queue.woken(&key("a"), now);
        assert_eq!(queue.due(), None, "of this one nothing is known");
        queue.changed(&key("a"), now);
        queue.take(now);
        queue.woken(&key("a"), now);
        queue.done(&key("a"), Next::After(Duration::from_secs(300)), some("1"), now);
        let rested = now + REST;
        assert_eq!(queue.due(), Some(rested), "it was looked at just now");
        assert_eq!(queue.take(rested), Some((key("a"), None)), "whatever its version is");
        queue.done(&key("a"), Next::After(Duration::from_secs(300)), some("1"), rested);
        let later = rested + Duration::from_secs(100);
        queue.woken(&key("a"), later);
        assert_eq!(queue.due(), Some(later + SOON));
        queue.woken(&key("a"), later + SOON);
        assert_eq!(queue.due(), Some(later + SOON), "once");
        queue.take(later + SOON);
        // While it is not ready, changes are what is waited for.
        queue.done(&key("a"), Next::After(Duration::from_secs(3)), some("1"), later + SOON);
        queue.woken(&key("a"), later + SOON);
        assert_eq!(queue.due(), Some(later + SOON + SOON));
    }

    #[test]
    fn what_is_gone_is_forgotten() {
        let (now, mut queue) = (Instant::now(), Queue::default());
        queue.changed(&key("a"), now);
        queue.take(now);
        queue.done(&key("a"), Next::Idle, None, now);
        assert!(queue.known.is_empty() && queue.due.is_empty());
    }
}
