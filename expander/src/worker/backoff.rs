//! How long to wait before a worker is started again.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Deaths are counted within this time.
const WINDOW: Duration = Duration::from_secs(60);
/// So many of them are taken as they come.
const FREE: usize = 3;
/// The first pause; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(500);
/// No pause is longer.
const LONGEST: Duration = Duration::from_secs(30);

/// The deaths of the last minute.
#[derive(Default)]
pub(super) struct Backoff {
    deaths: VecDeque<Instant>,
}

impl Backoff {
    /// Notes a death and says how long to wait.
    pub(super) fn died(&mut self, now: Instant) -> Duration {
        self.deaths.retain(|death| now.duration_since(*death) < WINDOW);
        self.deaths.push_back(now);
        let Some(excess) = self.deaths.len().checked_sub(FREE + 1) else { return Duration::ZERO };
        let doubled = u32::try_from(excess).ok().and_then(|excess| 2_u32.checked_pow(excess));
        doubled.map_or(LONGEST, |factor| FIRST.saturating_mul(factor).min(LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_deaths_in_a_minute_are_free_and_further_ones_cost_ever_more() {
        let start = Instant::now();
        let mut backoff = Backoff::default();
        let pauses: Vec<_> = (0..12).map(|_| backoff.died(start).as_millis()).collect();
        let want = [0, 0, 0, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000];
        assert_eq!(pauses, want);
        assert_eq!(backoff.died(start + WINDOW), Duration::ZERO, "a quiet minute forgives all");
    }
}
