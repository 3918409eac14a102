//! How many calls run, and how many may wait for that.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::error::PoolError;

/// What a caller who is turned away is told to wait.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The right to have a child.
pub(super) type Slot = OwnedSemaphorePermit;

pub(super) struct Slots {
    most: usize,
    free: Arc<Semaphore>,
    waiting: AtomicUsize,
    queue: usize,
    patience: Duration,
}

impl Slots {
    pub(super) fn new(slots: usize, queue: usize, patience: Duration) -> Self {
        let free = Arc::new(Semaphore::new(slots));
        Self { most: slots, free, waiting: AtomicUsize::new(0), queue, patience }
    }

    /// How many there are.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Waits for a slot, first come, first served.
    pub(super) async fn take(&self, deadline: Instant, gauge: &Gauge) -> Result<Slot, PoolError> {
        if let Ok(slot) = Arc::clone(&self.free).try_acquire_owned() {
            return Ok(slot);
        }
        let busy = PoolError::Busy { retry_after: RETRY_AFTER };
        let Some(_place) = Place::take(self, gauge) else { return Err(busy) };
        let until = deadline.min(Instant::now() + self.patience);
        match timeout_at(until, Arc::clone(&self.free).acquire_owned()).await {
            Ok(slot) => Ok(slot.expect("nobody closes it")),
            Err(_) => Err(busy),
        }
    }
}

/// A place in the queue, given back when the caller goes on or away.
struct Place<'a>(&'a AtomicUsize, &'a Gauge);

impl<'a> Place<'a> {
    fn take(slots: &'a Slots, gauge: &'a Gauge) -> Option<Self> {
        if slots.waiting.fetch_add(1, Ordering::Relaxed) >= slots.queue {
            slots.waiting.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        gauge.inc();
        Some(Self(&slots.waiting, gauge))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
        self.1.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_queue_is_bounded_in_length_and_in_time() {
        let slots = Slots::new(1, 1, Duration::from_secs(10));
        let (gauge, begun) = (Gauge::default(), Instant::now());
        let hour = begun + Duration::from_secs(3600);
        let running = slots.take(hour, &gauge).await.unwrap();
        let (waiting, refused) = tokio::join!(slots.take(hour, &gauge), async {
            assert_eq!(gauge.get(), 1);
            slots.take(hour, &gauge).await
        });
        assert_eq!(refused.unwrap_err(), PoolError::Busy { retry_after: RETRY_AFTER });
        assert!(waiting.is_err(), "it waited longer than it may");
        assert_eq!(begun.elapsed(), Duration::from_secs(10));
        assert_eq!(gauge.get(), 0);
        drop(running);
        assert!(slots.take(hour, &gauge).await.is_ok());
    }
}
