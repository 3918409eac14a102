//! How far the server is on its way out.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

use tokio::sync::watch;

/// The phases of a server's life, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Requests are welcome.
    #[default]
    Serving,
    /// Still serving, but not ready: whoever routes requests here should notice and stop.
    Leaving,
    /// No new connections; what is open is brought to an end.
    Draining,
}

/// The time after which the last watch ends that is told to, and the time it may take then.
const LAST_WATCH: Duration = Duration::from_secs(10);
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The present phase, and a way to wait for a later one.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    // Beside the channel, for a look that takes no lock: it happens for every request.
    now: AtomicU8,
    phase: watch::Sender<Phase>,
    ended: AtomicU32,
    watches: AtomicU32,
}

impl Stop {
    pub(crate) fn phase(&self) -> Phase {
        match self.now.load(Ordering::Acquire) {
            0 => Phase::Serving,
            1 => Phase::Leaving,
            _ => Phase::Draining,
        }
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.now.fetch_max(phase as u8, Ordering::AcqRel);
        self.phase.send_if_modified(|now| std::mem::replace(now, (*now).max(phase)) < phase);
    }

    /// Waits until `phase` or a later one is reached.
    pub(crate) fn reached(&self, phase: Phase) -> impl Future<Output = ()> + Send + use<> {
        let mut receiver = self.phase.subscribe();
        async move {
            // The sender lives as long as the server; when it is gone, so is the server.
            let _ = receiver.wait_for(|now| *now >= phase).await;
        }
    }

    /// How long the next watch waits before it ends: they end at 1,000 a second, so that their
    /// clients do not all come back in the same moment, and the last after ten seconds.
    pub(crate) fn next_watch_ends_after(&self) -> Duration {
        let before = self.ended.fetch_add(1, Ordering::Relaxed);
        Duration::from_millis(u64::from(before)).min(LAST_WATCH)
    }

    /// Counts a watch as open.
    pub(crate) fn watch_begins(&self) {
        self.watches.fetch_add(1, Ordering::Relaxed);
    }

    /// The watch is gone.
    pub(crate) fn watch_is_over(&self) {
        self.watches.fetch_sub(1, Ordering::Relaxed);
    }

    /// How long the watches that are open now may take to end. A client that does not read keeps its
    /// watch from ending, and is not waited for any longer than that.
    pub(crate) fn watches_end_within(&self) -> Duration {
        let open = self.watches.load(Ordering::Relaxed);
        Duration::from_millis(u64::from(open)).min(LAST_WATCH) + LAST_WORDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    #[test]
    fn watches_end_one_after_the_other_and_all_of_them_soon() {
        let stop = Stop::default();
        let turns: Vec<_> = (0..3).map(|_| stop.next_watch_ends_after().as_millis()).collect();
        assert_eq!(turns, [0, 1, 2]);
        assert_eq!(stop.watches_end_within(), LAST_WORDS);
        (0..20_000).for_each(|_| stop.watch_begins());
        assert_eq!(stop.watches_end_within(), LAST_WATCH + LAST_WORDS);
    }

    #[test]
    fn phases_only_go_forward() {
        let stop = Stop::default();
        let draining = stop.reached(Phase::Draining);
        assert_eq!(stop.reached(Phase::Leaving).now_or_never(), None);
        stop.enter(Phase::Draining);
        stop.enter(Phase::Leaving);
        assert_eq!(stop.phase(), Phase::Draining);
        assert_eq!(draining.now_or_never(), Some(()));
        assert_eq!(stop.reached(Phase::Leaving).now_or_never(), Some(()));
    }
}
