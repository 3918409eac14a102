//! What the embedded store promises beyond the contract of every backend: that it persists.

mod crashes;
mod faults;
mod files;
mod simulated;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;

use super::*;
use crate::Event;

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

fn open(directory: &Path) -> Redb {
    Redb::open(directory, &Options::default()).unwrap()
}

async fn create(store: &Redb, name: &str) -> Revision {
    store.put(&key(name), Bytes::from_static(b"created"), Expect::Absent).await.unwrap()
}

async fn state(store: &Redb) -> List {
    store.list(&Prefix::all(), None).await.unwrap()
}

/// The next `count` events after `from`.
async fn events(store: &Redb, from: Revision, count: usize) -> Vec<Arc<Event>> {
    let (mut stream, mut events) = (store.watch(from).await.unwrap(), Vec::new());
    while events.len() < count {
        events.extend(stream.next().await.unwrap().unwrap().events);
    }
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn redb_conforms() {
    let (home, count) = (tempfile::tempdir().unwrap(), AtomicUsize::new(0));
    let fresh = || async {
        let directory = home.path().join(count.fetch_add(1, Ordering::Relaxed).to_string());
        Arc::new(open(&directory)) as Arc<dyn Backend>
    };
    crate::conformance::run(fresh).await;
}

#[tokio::test]
async fn everything_is_there_after_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let mut revisions = Vec::new();
    for name in 0..1500 {
        revisions.push(create(&store, &format!("/{name}")).await);
    }
    let deleted = store.delete(&key("/7"), revisions[7]).await.unwrap();
    store.compact(revisions[700]).await.unwrap();
    let (before, told) = (state(&store).await, events(&store, revisions[700], 800).await);
    drop(store);

    let store = open(home.path());
    assert_eq!(state(&store).await, before);
    assert_eq!(store.revision().await.unwrap(), deleted);
    assert_eq!(events(&store, revisions[700], 800).await, told);
    let early = store.watch(revisions[699]).await.map(drop);
    assert!(matches!(early, Err(Error::Compacted { oldest, .. }) if oldest == revisions[700]));
    let past = store.list(&Prefix::all(), Some(revisions[900])).await.unwrap();
    assert_eq!(past.entries.len(), 901);
}

#[tokio::test]
async fn a_revision_is_not_used_again_after_the_newest_was_deleted_and_forgotten() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let created = create(&store, "/a").await;
    let deleted = store.delete(&key("/a"), created).await.unwrap();
    store.compact(deleted).await.unwrap();
    drop(store);
    let store = open(home.path());
    assert_eq!(store.revision().await.unwrap(), deleted);
    assert!(create(&store, "/a").await > deleted);
}

#[tokio::test]
async fn a_watch_ends_when_the_store_is_closed() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let mut stream = store.watch(Revision::INITIAL).await.unwrap();
    create(&store, "/a").await;
    drop(store);
    // The file is free although the stream lives, and what was in memory is still told.
    drop(open(home.path()));
    assert_eq!(stream.next().await.unwrap().unwrap().events.len(), 1);
    assert!(matches!(stream.next().await, Some(Err(Error::Closed))));
}

#[tokio::test]
async fn a_restored_store_goes_on_above_what_was_handed_out() {
    let home = tempfile::tempdir().unwrap();
    let created = create(&open(home.path()), "/a").await;
    let options = Options { at_least: Revision::new(1000), ..Options::default() };
    for _ in 0..2 {
        let store = Redb::open(home.path(), &options).unwrap();
        assert_eq!(store.revision().await.unwrap(), Revision::new(1000));
        assert_eq!(store.get(&key("/a")).await.unwrap().unwrap().revision, created);
        let refused = store.watch(created).await.map(drop);
        assert!(matches!(refused, Err(Error::Compacted { .. })));
    }
    assert_eq!(create(&open(home.path()), "/b").await, Revision::new(1001));
}
