//! Backends that fail, come back, and have forgotten meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};

use futures::{FutureExt, StreamExt, stream};
use tokio::sync::watch as signal;

use super::*;
use crate::{BoxFuture, Entry, EventStream, List};

/// A memory whose watches break while it is shut, and that can be exchanged for another one.
struct Valve {
    memories: [Memory; 2],
    exchanged: AtomicBool,
    open: signal::Sender<bool>,
}

impl Valve {
    async fn with_cache(history: usize) -> (Arc<Self>, Cache) {
        let valve = Arc::new(Self {
            memories: [Memory::new(), Memory::new()],
            exchanged: AtomicBool::new(false),
            open: signal::Sender::new(true),
        });
        let cache = Cache::start(valve.clone(), Options { history }).await.unwrap();
        (valve, cache)
    }

    fn memory(&self) -> &Memory {
        &self.memories[usize::from(self.exchanged.load(Ordering::Relaxed))]
    }

    /// Breaks the watches, and waits until they are.
    async fn shut(&self) {
        self.open.send_replace(false);
        while self.open.receiver_count() > 0 {
            tokio::task::yield_now().await;
        }
    }

    async fn create(&self, name: &str) -> Revision {
        self.memory().put(&key(name), Bytes::new(), Expect::Absent).await.unwrap()
    }
}

fn broken() -> Error {
    Error::unavailable("watch", std::io::Error::other("the line is cut"))
}

impl Backend for Valve {
    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>> {
        self.memory().get(key)
    }

    fn list<'a>(&'a self, prefix: &'a Prefix, at: Option<Revision>) -> BoxFuture<'a, Result<List>> {
        self.memory().list(prefix, at)
    }

    fn put<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        expect: Expect,
    ) -> BoxFuture<'a, Result<Revision>> {
        self.memory().put(key, value, expect)
    }

    fn delete<'a>(&'a self, key: &'a Key, expect: Revision) -> BoxFuture<'a, Result<Revision>> {
        self.memory().delete(key, expect)
    }

    fn revision(&self) -> BoxFuture<'_, Result<Revision>> {
        self.memory().revision()
    }

    fn watch(&self, from: Revision) -> BoxFuture<'_, Result<EventStream>> {
        async move {
            let mut open = self.open.subscribe();
            if !*open.borrow() {
                return Err(broken());
            }
            let shut = async move { open.wait_for(|open| !open).await.map(drop) };
            let events = self.memory().watch(from).await?.take_until(Box::pin(shut));
            Ok(events.chain(stream::once(async { Err(broken()) })).boxed())
        }
        .boxed()
    }

    fn compact(&self, through: Revision) -> BoxFuture<'_, Result<()>> {
        self.memory().compact(through)
    }

    fn health(&self) -> BoxFuture<'_, Result<()>> {
        self.memory().health()
    }
}

#[tokio::test(start_paused = true)]
async fn watchers_do_not_notice_an_outage() {
    let (valve, cache) = Valve::with_cache(1 << 20).await;
    let (_, mut watcher) = cache.watch_current(&prefix("/"));
    valve.create("/a").await;
    cache.fresh(soon()).await.unwrap();
    valve.shut().await;
    let unseen = valve.create("/b").await;
    let waited = cache.wait_until(unseen, Instant::now() + Duration::from_secs(1)).await;
    assert!(matches!(waited, Err(Error::Future { .. })));
    valve.open.send_replace(true);
    cache.fresh(soon()).await.unwrap();
    valve.create("/c").await;
    assert_eq!(shown(&read(&mut watcher, 3).await), ["+/a", "+/b", "+/c"]);
}

#[tokio::test(start_paused = true)]
async fn a_write_during_an_outage_is_acknowledged_without_the_cache() {
    let (valve, cache) = Valve::with_cache(1 << 20).await;
    valve.shut().await;
    let revision = create(&cache, "/a").await;
    assert!(cache.revision() < revision);
    assert!(cache.fresh(soon()).await.is_err());
    valve.open.send_replace(true);
    cache.fresh(soon()).await.unwrap();
    assert_eq!(cache.snapshot().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn watchers_that_missed_events_for_good_are_told_so() {
    let (valve, cache) = Valve::with_cache(1 << 20).await;
    let (_, mut watcher) = cache.watch_current(&prefix("/a/"));
    valve.create("/a/1").await;
    cache.fresh(soon()).await.unwrap();
    let before = cache.revision();
    valve.shut().await;
    valve.create("/a/2").await;
    let newest = valve.create("/a/3").await;
    valve.compact(newest).await.unwrap();
    valve.open.send_replace(true);
    cache.fresh(soon()).await.unwrap();

    assert_eq!(listed(&cache.snapshot(), "/"), ["/a/1", "/a/2", "/a/3"]);
    assert_eq!(shown(&read(&mut watcher, 1).await), ["+/a/1"]);
    let missed = next(&mut watcher).await.unwrap_err();
    assert!(matches!(missed, Error::Compacted { oldest, .. } if oldest == newest));
    assert!(matches!(cache.watch(&prefix("/a/"), before).await, Err(Error::Compacted { .. })));
    let mut resumed = cache.watch(&prefix("/a/"), newest).await.unwrap();
    drop(watcher);
    valve.create("/a/4").await;
    assert_eq!(shown(&read(&mut resumed, 1).await), ["+/a/4"]);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_went_back_replaces_everything() {
    let (valve, cache) = Valve::with_cache(1 << 20).await;
    let (_, mut watcher) = cache.watch_current(&prefix("/"));
    let past = valve.create("/old/1").await;
    let newest = valve.create("/old/2").await;
    cache.fresh(soon()).await.unwrap();
    cache.snapshot_at(&prefix("/"), past).await.unwrap();
    read(&mut watcher, 2).await;

    valve.shut().await;
    valve.exchanged.store(true, Ordering::Relaxed);
    let restored = valve.create("/restored").await;
    assert!(restored < newest);
    valve.open.send_replace(true);
    // The end of the watcher is the sign that the cache has noticed.
    assert!(matches!(next(&mut watcher).await, Err(Error::Compacted { .. })));
    let snapshot = cache.snapshot_at(&prefix("/"), past).await.unwrap();
    assert_eq!((snapshot.revision(), listed(&snapshot, "/")), (restored, vec!["/restored".into()]));
}
