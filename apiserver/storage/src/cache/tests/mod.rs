//! What readers and watchers of a cache may rely on, shown over the in-memory backend.

mod model;
mod outages;
mod races;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::*;
use crate::{Batch, Change, Event, Memory};

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

fn prefix(text: &str) -> Prefix {
    Prefix::new(text).unwrap()
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

async fn cache() -> Cache {
    Cache::start(Arc::new(Memory::new()), Options::default()).await.unwrap()
}

/// A cache that keeps hardly any events.
async fn forgetful() -> Cache {
    Cache::start(Arc::new(Memory::new()), Options { history: 1 }).await.unwrap()
}

async fn create(cache: &Cache, text: &str) -> Revision {
    cache.put(&key(text), Bytes::from_static(b"created"), Expect::Absent).await.unwrap()
}

async fn update(cache: &Cache, text: &str) -> Revision {
    let current = cache.snapshot().get(&key(text)).unwrap().revision;
    let value = Bytes::from_static(b"updated");
    cache.put(&key(text), value, Expect::Revision(current)).await.unwrap()
}

async fn delete(cache: &Cache, text: &str) -> Revision {
    let current = cache.snapshot().get(&key(text)).unwrap().revision;
    cache.delete(&key(text), current).await.unwrap()
}

fn shown(events: &[Arc<Event>]) -> Vec<String> {
    let show = |event: &Arc<Event>| match &event.change {
        Change::Put(_) if event.previous.is_none() => format!("+{}", event.key),
        Change::Put(_) => format!("*{}", event.key),
        Change::Delete => format!("-{}", event.key),
    };
    events.iter().map(show).collect()
}

fn listed(snapshot: &Snapshot, under: &str) -> Vec<String> {
    snapshot.list(&prefix(under)).map(|entry| entry.key.to_string()).collect()
}

/// What the watcher says next; it does not keep silent.
async fn next(watcher: &mut Watcher) -> Result<Vec<Arc<Event>>> {
    let patience = Duration::from_secs(60);
    timeout(patience, watcher.next()).await.expect("there is something to say")
}

/// The next `count` events, in however many portions they come.
async fn read(watcher: &mut Watcher, count: usize) -> Vec<Arc<Event>> {
    let mut events = Vec::new();
    while events.len() < count {
        events.extend(next(watcher).await.unwrap());
    }
    assert_eq!(events.len(), count);
    events
}

#[tokio::test]
async fn a_write_is_read_by_its_writer() {
    let cache = cache().await;
    let revision = create(&cache, "/a").await;
    let snapshot = cache.snapshot();
    assert_eq!(snapshot.get(&key("/a")).unwrap().revision, revision);
    delete(&cache, "/a").await;
    assert!(cache.snapshot().is_empty());
}

#[tokio::test]
async fn the_state_from_before_the_start_is_there() {
    let memory = Arc::new(Memory::new());
    memory.put(&key("/a"), Bytes::new(), Expect::Absent).await.unwrap();
    let cache = Cache::start(memory, Options::default()).await.unwrap();
    assert_eq!(listed(&cache.snapshot(), "/"), ["/a"]);
}

#[tokio::test]
async fn a_fresh_cache_has_what_others_wrote_to_the_backend() {
    let cache = cache().await;
    let backend = cache.backend().clone();
    for name in 0..100 {
        backend.put(&key(&format!("/{name}")), Bytes::new(), Expect::Absent).await.unwrap();
        cache.fresh(soon()).await.unwrap();
        assert_eq!(cache.snapshot().len(), name + 1);
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_revision_ends_at_the_deadline() {
    let cache = cache().await;
    let waited = cache.wait_until(Revision::new(9), soon()).await;
    assert!(matches!(waited, Err(Error::Future { requested, current })
        if requested == Revision::new(9) && current == Revision::INITIAL));
}

#[tokio::test]
async fn a_conflict_says_what_is_stored() {
    let cache = cache().await;
    create(&cache, "/a").await;
    let refused = cache.put(&key("/a"), Bytes::new(), Expect::Absent).await;
    assert!(
        matches!(refused, Err(Error::Conflict { current: Some(entry) }) if entry.value == "created")
    );
}

#[tokio::test]
async fn a_watcher_sees_the_changes_of_its_prefix_in_order() {
    let cache = cache().await;
    let (_, mut watcher) = cache.watch_current(&prefix("/a/"));
    create(&cache, "/a/1").await;
    create(&cache, "/b/1").await;
    update(&cache, "/a/1").await;
    delete(&cache, "/a/1").await;
    let events = read(&mut watcher, 3).await;
    assert_eq!(shown(&events), ["+/a/1", "*/a/1", "-/a/1"]);
    assert_eq!(events[2].previous.as_ref().unwrap().value, "updated");
}

#[tokio::test]
async fn a_watch_of_one_key_sees_that_key_alone() {
    let cache = cache().await;
    let (_, mut watcher) = cache.watch_current(&prefix("/a/1"));
    create(&cache, "/a/10").await;
    create(&cache, "/a/1").await;
    assert_eq!(shown(&read(&mut watcher, 1).await), ["+/a/1"]);
}

#[tokio::test]
async fn the_current_state_and_what_follows_leave_no_gap() {
    let cache = Arc::new(cache().await);
    let writer = tokio::spawn({
        let cache = cache.clone();
        async move {
            for name in 0..300 {
                create(&cache, &format!("/a/{name}")).await;
                tokio::task::yield_now().await;
            }
        }
    });
    let mut complete = 0;
    while complete < 300 {
        let (snapshot, mut watcher) = cache.watch_current(&prefix("/a/"));
        complete = snapshot.len();
        if complete < 300 {
            let first = next(&mut watcher).await.unwrap()[0].clone();
            assert_eq!(first.revision, snapshot.revision().next());
        }
    }
    writer.await.unwrap();
}

#[tokio::test]
async fn a_watch_resumes_from_recent_events() {
    let cache = cache().await;
    let from = create(&cache, "/a/1").await;
    create(&cache, "/b/1").await;
    create(&cache, "/a/2").await;
    let mut watcher = cache.watch(&prefix("/a/"), from).await.unwrap();
    let mut earlier = cache.watch(&prefix("/a/"), Revision::INITIAL).await.unwrap();
    create(&cache, "/a/3").await;
    assert_eq!(shown(&read(&mut watcher, 2).await), ["+/a/2", "+/a/3"]);
    assert_eq!(shown(&read(&mut earlier, 3).await), ["+/a/1", "+/a/2", "+/a/3"]);
}

#[tokio::test]
async fn a_watch_resumes_from_the_backend_where_the_cache_has_forgotten() {
    let cache = forgetful().await;
    let mut created = Vec::new();
    for name in 0..2000 {
        created.push(create(&cache, &format!("/{}/{name}", name % 2)).await);
    }
    let mut watcher = cache.watch(&prefix("/1/"), created[999]).await.unwrap();
    let events = read(&mut watcher, 500).await;
    let revisions: Vec<_> = events.iter().map(|event| event.revision).collect();
    assert_eq!(revisions, created[1001..].iter().step_by(2).copied().collect::<Vec<_>>());
    create(&cache, "/1/live").await;
    assert_eq!(shown(&read(&mut watcher, 1).await), ["+/1/live"]);
}

#[tokio::test]
async fn a_watch_from_compacted_history_is_refused() {
    let cache = forgetful().await;
    let mut created = Vec::new();
    for name in 0..10 {
        created.push(create(&cache, &format!("/{name}")).await);
    }
    cache.backend().compact(created[5]).await.unwrap();
    let refused = cache.watch(&prefix("/"), created[4]).await.unwrap_err();
    assert!(matches!(refused, Error::Compacted { oldest, .. } if oldest == created[5]));
    assert!(cache.watch(&prefix("/"), created[5]).await.is_ok());
    let refused = cache.watch(&prefix("/"), Revision::new(99)).await.unwrap_err();
    assert!(matches!(refused, Error::Future { .. }));
}

#[tokio::test]
async fn a_slow_watcher_ends_alone() {
    let cache = Cache::start(Arc::new(Memory::new()), Options { history: 10_000 }).await.unwrap();
    let (_, mut slow) = cache.watch_current(&prefix("/a/"));
    let (_, mut quiet) = cache.watch_current(&prefix("/b/"));
    let (_, mut quick) = cache.watch_current(&prefix("/"));
    for name in 0..500 {
        create(&cache, &format!("/a/{name}")).await;
        read(&mut quick, 1).await;
    }
    assert!(matches!(next(&mut slow).await, Err(Error::Slow)));
    assert!(matches!(next(&mut slow).await, Err(Error::Slow)));
    create(&cache, "/b/1").await;
    assert_eq!(shown(&read(&mut quiet, 1).await), ["+/b/1"]);
    assert_eq!(shown(&read(&mut quick, 1).await), ["+/b/1"]);
}

#[tokio::test]
async fn progress_passes_what_concerns_others_but_nothing_undelivered() {
    let cache = cache().await;
    let (snapshot, mut watcher) = cache.watch_current(&prefix("/a/"));
    assert_eq!(watcher.progress(), snapshot.revision());
    let elsewhere = create(&cache, "/b/1").await;
    assert_eq!(watcher.progress(), elsewhere);
    let here = create(&cache, "/a/1").await;
    create(&cache, "/b/2").await;
    assert_eq!(watcher.progress(), elsewhere);
    read(&mut watcher, 1).await;
    assert_eq!(watcher.progress(), here.next());
}

#[tokio::test]
async fn a_past_state_is_answered_from_memory_and_from_the_backend() {
    for cache in [cache().await, forgetful().await] {
        create(&cache, "/a/1").await;
        let past = create(&cache, "/a/2").await;
        update(&cache, "/a/1").await;
        delete(&cache, "/a/2").await;
        create(&cache, "/a/3").await;
        for _ in 0..2 {
            let snapshot = cache.snapshot_at(&prefix("/a/"), past).await.unwrap();
            assert_eq!(snapshot.revision(), past);
            assert_eq!(listed(&snapshot, "/a/"), ["/a/1", "/a/2"]);
            assert_eq!(snapshot.get(&key("/a/1")).unwrap().value, "created");
        }
        let future = cache.snapshot_at(&prefix("/"), Revision::new(99)).await;
        assert!(matches!(future, Err(Error::Future { .. })));
    }
}

#[tokio::test]
async fn a_past_state_that_was_compacted_is_refused() {
    let cache = forgetful().await;
    let past = create(&cache, "/a").await;
    let oldest = create(&cache, "/b").await;
    create(&cache, "/c").await;
    create(&cache, "/d").await;
    cache.backend().compact(oldest).await.unwrap();
    let refused = cache.snapshot_at(&prefix("/"), past).await;
    assert!(matches!(refused, Err(Error::Compacted { .. })));
}

#[tokio::test]
async fn a_thousand_watchers_share_every_event() {
    let cache = cache().await;
    let mut watchers = Vec::new();
    for _ in 0..1000 {
        watchers.push(cache.watch_current(&prefix("/a/")).1);
    }
    let readers: Vec<_> = watchers
        .into_iter()
        .map(|mut watcher| tokio::spawn(async move { read(&mut watcher, 20).await }))
        .collect();
    for name in 0..20 {
        create(&cache, &format!("/a/{name}")).await;
    }
    let mut first: Option<Vec<Arc<Event>>> = None;
    for reader in readers {
        let events = reader.await.unwrap();
        let first = first.get_or_insert_with(|| events.clone());
        assert!(first.iter().zip(&events).all(|(one, other)| Arc::ptr_eq(one, other)));
    }
}

#[tokio::test]
async fn a_channel_goes_with_its_last_watcher() {
    let cache = cache().await;
    let (_, one) = cache.watch_current(&prefix("/a/"));
    let (_, other) = cache.watch_current(&prefix("/a/"));
    assert_eq!(cache.shared.hub.channels(), 1);
    drop(one);
    assert_eq!(cache.shared.hub.channels(), 1);
    drop(other);
    assert_eq!(cache.shared.hub.channels(), 0);
}

#[tokio::test]
async fn watchers_end_with_the_cache_after_their_last_event() {
    let cache = cache().await;
    let (_, mut watcher) = cache.watch_current(&prefix("/"));
    create(&cache, "/a").await;
    drop(cache);
    read(&mut watcher, 1).await;
    assert!(matches!(next(&mut watcher).await, Err(Error::Closed)));
}

#[tokio::test]
async fn the_revision_moves_on_without_events() {
    let cache = cache().await;
    let (_, mut watcher) = cache.watch_current(&prefix("/"));
    let revision = Revision::new(10);
    assert!(cache.shared.hub.publish(Batch { events: Vec::new(), revision }).is_empty());
    cache.shared.reached.send_replace(revision);
    assert_eq!((cache.snapshot().revision(), watcher.progress()), (revision, revision));
}
