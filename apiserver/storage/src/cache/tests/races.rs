//! Many writers and watchers at once, on the clock of the machine.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::cache::hub::Hub;
use crate::{Entry, Redb};

/// A follower of the whole history who begins anew where it was whenever it is ended.
struct Reader {
    state: BTreeMap<Key, Entry>,
    cursor: Revision,
    ended: usize,
}

impl Reader {
    /// Takes in events, which must fit to what was seen before.
    fn take(&mut self, events: Vec<Arc<Event>>) {
        for event in events {
            assert!(event.revision > self.cursor);
            assert_eq!(
                event.previous,
                self.state.get(&event.key).cloned(),
                "{event:?} does not follow"
            );
            match event.entry() {
                Some(entry) => self.state.insert(event.key.clone(), entry),
                None => self.state.remove(&event.key),
            };
            self.cursor = event.revision;
        }
    }

    async fn follow(
        mut self,
        cache: Arc<Cache>,
        under: Prefix,
        done: Arc<AtomicBool>,
        lazy: bool,
    ) -> Self {
        let mut watcher = cache.watch(&under, self.cursor).await.unwrap();
        loop {
            let finished = done.load(Ordering::Acquire);
            let progress = watcher.progress();
            assert!(progress >= self.cursor);
            if finished && progress == cache.revision() {
                return self;
            }
            let next = tokio::time::timeout(Duration::from_millis(1), watcher.next());
            match next.await {
                Ok(Ok(events)) => self.take(events),
                Ok(Err(Error::Slow)) => {
                    self.ended += 1;
                    watcher = cache.watch(&under, self.cursor).await.unwrap();
                }
                Ok(Err(error)) => panic!("{error}"),
                Err(_) => {}
            }
            for _ in 0..if lazy { 200 } else { 0 } {
                tokio::task::yield_now().await;
            }
        }
    }
}

async fn write(cache: Arc<Cache>, writer: usize) {
    for step in 0..150 {
        // Two writers share every directory.
        let key = key(&format!("/{}/{}", writer / 2, (step * 7 + writer) % 5));
        let value = Bytes::from(vec![b'x'; 50 + step]);
        let written = match cache.snapshot().get(&key) {
            None => cache.put(&key, value, Expect::Absent).await,
            Some(entry) if step % 3 == 0 => cache.delete(&key, entry.revision).await,
            Some(entry) => cache.put(&key, value, Expect::Revision(entry.revision)).await,
        };
        match written {
            Ok(revision) => assert!(cache.snapshot().revision() >= revision),
            Err(Error::Conflict { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

async fn race(backend: Arc<dyn Backend>, history: usize) -> usize {
    let cache = Arc::new(Cache::start(backend, Options { history }).await.unwrap());
    let done = Arc::new(AtomicBool::new(false));
    let readers = (0..24).map(|index| {
        let reader = Reader { state: BTreeMap::new(), cursor: cache.revision(), ended: 0 };
        let under = if index % 2 == 0 { prefix("/") } else { prefix("/1/") };
        tokio::spawn(reader.follow(cache.clone(), under, done.clone(), index % 3 == 0))
    });
    let readers: Vec<_> = readers.collect();
    let writers: Vec<_> = (0..6).map(|index| tokio::spawn(write(cache.clone(), index))).collect();
    for writer in writers {
        writer.await.unwrap();
    }
    done.store(true, Ordering::Release);
    let mut ended = 0;
    for (index, reader) in readers.into_iter().enumerate() {
        let reader = reader.await.unwrap();
        let under = if index % 2 == 0 { "/" } else { "/1/" };
        let state: Vec<_> = reader.state.into_values().collect();
        let snapshot = cache.snapshot();
        assert_eq!(state, snapshot.list(&prefix(under)).cloned().collect::<Vec<_>>());
        ended += reader.ended;
    }
    ended
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_watcher_sees_one_history_whatever_the_pace() {
    assert_eq!(
        race(Arc::new(Memory::new()), 1 << 20).await,
        0,
        "nobody falls behind a long history"
    );
    race(Arc::new(Memory::new()), 2000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cache_over_redb_sees_one_history_too() {
    let home = tempfile::tempdir().unwrap();
    let backend = Arc::new(Redb::open(home.path(), &Default::default()).unwrap());
    race(backend, 2000).await;
}

#[test]
fn of_a_transaction_a_watcher_sees_all_or_nothing() {
    const CHANGES: usize = 2000;
    let (start, revision) = (Revision::new(1), Revision::new(2));
    let events = (0..CHANGES).map(|index| {
        let change = Change::Put(Bytes::from_static(b"x"));
        Arc::new(Event::new(revision, key(&format!("/{index}")), change, None))
    });
    let batch = Batch { revision, events: events.collect() };
    let nothing = Snapshot::of(prefix("/"), crate::List { revision: start, entries: Vec::new() });
    let hub = Hub::new(nothing, 1 << 20);
    let (_, channel) = hub.begin(&prefix("/"));
    let seen = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            loop {
                let seen = channel.after(start).unwrap().len();
                if seen > 0 {
                    return seen;
                }
            }
        });
        drop(hub.publish(batch));
        reader.join().unwrap()
    });
    assert_eq!(seen, CHANGES);
}
