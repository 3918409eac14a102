//! Forgets history by its age.
//!
//! Revisions carry no time. The compactor looks at the store now and then and remembers which revision it had when;
//! what a look found is old once the retention has passed since. Looks are not stored: after a restart the history
//! that was left is kept for one more retention. Setting the wall clock has no effect.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::{Backend, Error, Result, Revision};

/// Clients may page through a list and resume a watch for this long: what kube-apiserver grants with etcd.
pub const RETENTION: Duration = Duration::from_secs(5 * 60);

/// How many times per retention the store is looked at. History lives that fraction longer than it must.
const LOOKS: u32 = 10;

/// A clock that does not go back.
pub trait Clock: Send + Sync + 'static {
    /// The time since some moment in the past, always the same one.
    fn now(&self) -> Duration;
}

/// The machine's monotonic clock.
#[derive(Debug)]
pub struct Monotonic(Instant);

impl Monotonic {
    /// A clock that starts at zero.
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for Monotonic {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Compacts one backend.
pub struct Compactor {
    // Not kept alive by its compactor, which ends with it.
    backend: Weak<dyn Backend>,
    clock: Arc<dyn Clock>,
    retention: Duration,
    /// When a revision was first seen to be the newest, oldest first; of what is not compacted yet.
    looks: VecDeque<(Duration, Revision)>,
    seen: Revision,
}

impl Compactor {
    /// A compactor that leaves every event at least for `retention`.
    pub fn new(backend: &Arc<dyn Backend>, clock: Arc<dyn Clock>, retention: Duration) -> Self {
        Self {
            backend: Arc::downgrade(backend),
            clock,
            retention,
            looks: VecDeque::new(),
            seen: Revision::ZERO,
        }
    }

    /// Looks at the store, forgets what has become too old, and answers up to which revision that was.
    ///
    /// # Errors
    /// Those of the backend, and `Closed` when it was dropped. The same history is tried again next time.
    pub async fn tick(&mut self) -> Result<Option<Revision>> {
        let backend = self.backend.upgrade().ok_or(Error::Closed)?;
        // In this order: everything up to that revision had happened by now.
        let revision = backend.revision().await?;
        let now = self.clock.now();
        if revision > self.seen {
            self.looks.push_back((now, revision));
            self.seen = revision;
        }
        let old = self.looks.partition_point(|(seen, _)| *seen + self.retention <= now);
        let Some(&(_, through)) = old.checked_sub(1).and_then(|last| self.looks.get(last)) else {
            return Ok(None);
        };
        backend.compact(through).await?;
        self.looks.drain(..old);
        Ok(Some(through))
    }

    /// Ticks until the backend is closed or dropped.
    pub async fn run(mut self) {
        loop {
            match self.tick().await {
                Err(Error::Closed) => return,
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "history is not compacted"
                    );
                }
                Ok(_) => {}
            }
            sleep(self.retention / LOOKS).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use bytes::Bytes;

    use super::*;
    use crate::{Expect, Key, Memory};

    #[derive(Default)]
    struct Hand(AtomicU64);

    impl Clock for Hand {
        fn now(&self) -> Duration {
            Duration::from_secs(self.0.load(Ordering::Relaxed))
        }
    }

    struct Setting {
        memory: Arc<Memory>,
        hand: Arc<Hand>,
        compactor: Compactor,
    }

    fn setting() -> Setting {
        let (memory, hand) = (Arc::new(Memory::new()), Arc::new(Hand::default()));
        let backend: Arc<dyn Backend> = memory.clone();
        let compactor = Compactor::new(&backend, hand.clone(), Duration::from_secs(300));
        Setting { memory, hand, compactor }
    }

    impl Setting {
        async fn write(&self, key: &str) -> Revision {
            let key = Key::new(key).unwrap();
            self.memory.put(&key, Bytes::new(), Expect::Absent).await.unwrap()
        }

        async fn at(&mut self, second: u64) -> Option<u64> {
            self.hand.0.store(second, Ordering::Relaxed);
            self.compactor.tick().await.unwrap().map(Revision::get)
        }
    }

    #[tokio::test]
    async fn history_is_kept_for_the_retention_and_then_dropped() {
        let mut setting = setting();
        let first = setting.write("/a").await;
        assert_eq!(setting.at(0).await, None);
        let second = setting.write("/b").await;
        assert_eq!(setting.at(100).await, None);
        assert_eq!(setting.at(200).await, None);
        assert_eq!(setting.at(299).await, None);
        assert!(setting.memory.watch(Revision::INITIAL).await.is_ok());
        assert_eq!(setting.at(300).await, Some(first.get()));
        assert!(setting.memory.watch(Revision::INITIAL).await.is_err());
        assert!(setting.memory.watch(first).await.is_ok());
        assert_eq!(setting.at(400).await, Some(second.get()));
        assert!(setting.memory.watch(first).await.is_err());
        assert!(setting.memory.watch(second).await.is_ok());
        assert_eq!(setting.at(10_000).await, None, "an idle store is left alone");
    }

    #[tokio::test]
    async fn a_change_after_a_long_silence_is_kept_as_long_as_any() {
        let mut setting = setting();
        setting.at(0).await;
        setting.at(10_000).await;
        let late = setting.write("/a").await;
        setting.at(10_030).await;
        setting.at(10_329).await;
        assert!(setting.memory.watch(Revision::INITIAL).await.is_ok());
        assert_eq!(setting.at(10_330).await, Some(late.get()));
    }

    #[tokio::test]
    async fn a_compactor_ends_with_its_backend() {
        let Setting { memory, compactor, .. } = setting();
        drop(memory);
        compactor.run().await;
    }
}
