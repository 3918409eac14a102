//! Forgets history by its age.
//!
//! Revisions carry no time. The compactor looks at the store now and then and notes in the store itself which revision
//! it found; a look is old once so many others were noted after it. Whoever notes the next one has known the last one
//! for the time between two looks, by a clock that does not go back: several replicas keep the pace of one, a restart
//! goes on where it was, and setting the wall clock has no effect.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::{Backend, Entry, Error, Expect, Key, Result, Revision};

/// Clients may page through a list and resume a watch for this long: what kube-apiserver grants with etcd.
pub const RETENTION: Duration = Duration::from_secs(5 * 60);

/// How many times per retention the store is looked at. History lives that fraction longer than it must.
const LOOKS: u32 = 10;

/// Where the looks are noted: the revisions that were found, oldest first. No resource has a key like it.
const NOTE: &str = "/compaction";

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

/// Compacts one backend, together with the compactors of all who share it.
pub struct Compactor {
    // Not kept alive by its compactor, which ends with it.
    backend: Weak<dyn Backend>,
    clock: Arc<dyn Clock>,
    retention: Duration,
    note: Key,
    /// The revision of the note that was seen last, and when it was seen first.
    seen: Option<(Revision, Duration)>,
    compacted: Revision,
}

impl Compactor {
    /// A compactor that leaves every event at least for `retention`.
    pub fn new(backend: &Arc<dyn Backend>, clock: Arc<dyn Clock>, retention: Duration) -> Self {
        Self {
            backend: Arc::downgrade(backend),
            clock,
            retention,
            note: Key::new(NOTE).expect("it begins with a slash and does not end with one"),
            seen: None,
            compacted: Revision::ZERO,
        }
    }

    /// Looks at the store if it is time to, forgets what has become too old, and answers up to which revision that
    /// was.
    ///
    /// # Errors
    /// Those of the backend, and `Closed` when it was dropped. The same history is tried again next time.
    pub async fn tick(&mut self) -> Result<Option<Revision>> {
        let backend = self.backend.upgrade().ok_or(Error::Closed)?;
        let note = backend.get(&self.note).await?;
        let noted = note.as_ref().map_or(Revision::ZERO, |note| note.revision);
        if !self.is_time(noted) {
            return Ok(None);
        }
        let newest = backend.revision().await?;
        let mut looks = note.as_ref().map(read).unwrap_or_default();
        let mut forgotten = None;
        if looks.len() >= LOOKS as usize {
            // The youngest has been known for the time between two looks, and each of the others was before that.
            forgotten = self.forget(&*backend, looks.remove(0)).await?;
        }
        // Nothing has happened but the note itself? Then there is nothing new to forget one day.
        let last = looks.last().copied().filter(|_| newest <= noted);
        let look = last.unwrap_or(newest);
        if look <= self.compacted.max(Revision::INITIAL) {
            return Ok(forgotten);
        }
        looks.push(look);
        self.write(&*backend, noted, &looks).await?;
        Ok(forgotten)
    }

    /// Whether the note, whose revision this is, has been there for the time between two looks.
    fn is_time(&mut self, noted: Revision) -> bool {
        // Read after the note, which had been written by now.
        let now = self.clock.now();
        let since = match self.seen {
            Some((seen, since)) if seen == noted => since,
            _ => now,
        };
        self.seen = Some((noted, since));
        noted == Revision::ZERO || now.saturating_sub(since) >= self.retention / LOOKS
    }

    async fn forget(
        &mut self,
        backend: &dyn Backend,
        through: Revision,
    ) -> Result<Option<Revision>> {
        if through <= self.compacted {
            return Ok(None);
        }
        backend.compact(through).await?;
        self.compacted = through;
        Ok(Some(through))
    }

    async fn write(
        &mut self,
        backend: &dyn Backend,
        noted: Revision,
        looks: &[Revision],
    ) -> Result<()> {
        let expect = match noted {
            Revision::ZERO => Expect::Absent,
            noted => Expect::Revision(noted),
        };
        let text = looks.iter().map(Revision::to_string).collect::<Vec<_>>().join(" ");
        match backend.put(&self.note, text.into(), expect).await {
            Ok(revision) => self.seen = Some((revision, self.clock.now())),
            // Somebody else was first, whose note is found next time.
            Err(Error::Conflict { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(())
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

/// The looks of a note. One that cannot be read is begun anew.
fn read(note: &Entry) -> Vec<Revision> {
    let text = std::str::from_utf8(&note.value).unwrap_or_default();
    let looks: Result<Vec<u64>, _> = text.split(' ').map(str::parse).collect();
    looks.unwrap_or_default().into_iter().map(Revision::new).collect()
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

    /// A store whose history is kept for 300 seconds, looked at every 30, and its compactor.
    struct Setting {
        memory: Arc<Memory>,
        hand: Arc<Hand>,
        compactor: Compactor,
    }

    fn setting() -> Setting {
        let (memory, hand) = (Arc::new(Memory::new()), Arc::new(Hand::default()));
        let compactor = compactor(&memory, &hand);
        Setting { memory, hand, compactor }
    }

    fn compactor(memory: &Arc<Memory>, hand: &Arc<Hand>) -> Compactor {
        let backend: Arc<dyn Backend> = memory.clone();
        Compactor::new(&backend, hand.clone(), Duration::from_secs(300))
    }

    impl Setting {
        async fn write(&self, key: &str) -> Revision {
            let key = Key::new(key).unwrap();
            self.memory.put(&key, Bytes::new(), Expect::Absent).await.unwrap()
        }

        async fn at(&mut self, second: u64) -> Option<Revision> {
            self.hand.0.store(second, Ordering::Relaxed);
            self.compactor.tick().await.unwrap()
        }

        /// Looks every `step` seconds until there is something to forget, and answers when that was.
        async fn forgets(&mut self, from: u64, step: usize) -> (u64, Revision) {
            for second in (from..).step_by(step) {
                if let Some(through) = self.at(second).await {
                    return (second, through);
                }
            }
            unreachable!("time does not end")
        }
    }

    #[tokio::test]
    async fn history_is_kept_for_the_retention_and_then_dropped() {
        let mut setting = setting();
        let first = setting.write("/a").await;
        assert_eq!(setting.at(0).await, None);
        let second = setting.write("/b").await;
        assert_eq!(setting.forgets(1, 1).await, (300, first));
        assert!(setting.memory.watch(Revision::INITIAL).await.is_err());
        assert!(setting.memory.watch(first).await.is_ok());
        assert_eq!(setting.forgets(301, 1).await, (330, second));
        assert!(setting.memory.watch(first).await.is_err());
        assert!(setting.memory.watch(second).await.is_ok());
    }

    #[tokio::test]
    async fn an_idle_store_is_left_alone() {
        let mut setting = setting();
        assert_eq!(setting.at(0).await, None);
        assert_eq!(setting.memory.revision().await.unwrap(), Revision::INITIAL);
        setting.write("/a").await;
        setting.forgets(30, 30).await;
        let settled = setting.memory.revision().await.unwrap();
        for second in (1000..2000).step_by(30) {
            assert_eq!(setting.at(second).await, None);
        }
        assert_eq!(setting.memory.revision().await.unwrap(), settled);
    }

    #[tokio::test]
    async fn a_change_after_a_long_silence_is_kept_as_long_as_any() {
        let mut setting = setting();
        setting.write("/a").await;
        setting.forgets(0, 30).await;
        setting.at(10_000).await;
        let late = setting.write("/b").await;
        setting.at(10_030).await;
        assert_eq!(setting.forgets(10_031, 1).await, (10_330, late));
    }

    #[tokio::test]
    async fn restarts_do_not_begin_anew() {
        let mut setting = setting();
        let first = setting.write("/a").await;
        for second in 0..300 {
            assert_eq!(setting.at(second).await, None);
            if second % 50 == 49 {
                setting.compactor = compactor(&setting.memory, &setting.hand);
            }
        }
        let (when, through) = setting.forgets(300, 1).await;
        assert!(when <= 600 && through == first, "{when}");
    }

    #[tokio::test]
    async fn replicas_keep_the_pace_of_one() {
        let mut setting = setting();
        let mut others = [(); 2].map(|()| compactor(&setting.memory, &setting.hand));
        let first = setting.write("/a").await;
        for second in 0.. {
            let mut through = setting.at(second).await;
            for other in &mut others {
                through = through.max(other.tick().await.unwrap());
            }
            if through.is_some() {
                return assert_eq!((second, through), (300, Some(first)));
            }
        }
    }

    #[tokio::test]
    async fn a_note_that_is_gone_or_nonsense_is_begun_anew() {
        let mut setting = setting();
        setting.write("/a").await;
        setting.at(0).await;
        let note = Key::new(NOTE).unwrap();
        let noted = setting.memory.get(&note).await.unwrap().unwrap().revision;
        let nonsense = Bytes::from_static(b"\xff 7");
        setting.memory.put(&note, nonsense, Expect::Revision(noted)).await.unwrap();
        assert_eq!(setting.forgets(1, 1).await.0, 331);
        let noted = setting.memory.get(&note).await.unwrap().unwrap().revision;
        setting.memory.delete(&note, noted).await.unwrap();
        assert_eq!(setting.forgets(1000, 1).await.0, 1300);
    }

    #[tokio::test]
    async fn a_compactor_ends_with_its_backend() {
        let Setting { memory, compactor, .. } = setting();
        drop(memory);
        compactor.run().await;
    }
}
