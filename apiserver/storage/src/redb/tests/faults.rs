//! Disks that are slow or full, and commits that are shared.

use super::crashes::{Acknowledged, check};
use super::simulated::{Fate, SimulatedDisk};
use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writes_share_commits() {
    let disk = SimulatedDisk::formatted();
    let store = Arc::new(disk.open());
    create(&store, "/before").await;
    let before = store.commits();
    disk.hold_syncs();
    let writers = (0..200).map(|name| {
        let store = store.clone();
        tokio::spawn(async move { create(&store, &format!("/{name}")).await })
    });
    let writers: Vec<_> = writers.collect();
    // The queue holds all but those that are in the first, held commit.
    while store.room.available_permits() > WAITING - 200 {
        tokio::task::yield_now().await;
    }
    disk.release_syncs();
    let revisions = futures::future::join_all(writers).await;
    assert_eq!(revisions.len(), 200);
    let commits = store.commits() - before;
    assert!(commits <= 8, "200 writes took {commits} commits");
}

#[tokio::test]
async fn a_refused_write_costs_no_commit() {
    let store = SimulatedDisk::formatted().open();
    create(&store, "/a").await;
    let before = store.commits();
    let refused = store.put(&key("/a"), Bytes::new(), Expect::Absent).await;
    assert!(matches!(refused, Err(Error::Conflict { .. })));
    assert_eq!(store.commits(), before);
    store.health().await.unwrap();
    assert_eq!(store.commits(), before + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_acknowledged_or_told_before_it_is_durable() {
    let disk = SimulatedDisk::formatted();
    let store = Arc::new(disk.open());
    create(&store, "/before").await;
    let newest = store.revision().await.unwrap();
    let mut stream = store.watch(newest).await.unwrap();
    disk.hold_syncs();
    let written = tokio::spawn({
        let store = store.clone();
        async move { create(&store, "/a").await }
    });
    // Who is refused behind a write learns of it only when that is durable.
    while !disk.holds_a_sync() {
        tokio::task::yield_now().await;
    }
    let conflicting = tokio::spawn({
        let store = store.clone();
        async move { store.put(&key("/before"), Bytes::new(), Expect::Absent).await }
    });
    while store.room.available_permits() > WAITING - 2 {
        tokio::task::yield_now().await;
    }
    for _ in 0..1000 {
        tokio::task::yield_now().await;
        assert!(!written.is_finished());
        assert!(futures::poll!(stream.next()).is_pending());
        assert_eq!(store.revision().await.unwrap(), newest);
    }
    assert_eq!(store.get(&key("/a")).await.unwrap(), None);
    disk.release_syncs();
    assert_eq!(stream.next().await.unwrap().unwrap().revision, written.await.unwrap());
    assert!(matches!(conflicting.await.unwrap(), Err(Error::Conflict { .. })));
}

#[tokio::test]
async fn a_full_disk_refuses_writes_and_serves_again_when_it_has_room() {
    let disk = SimulatedDisk::formatted();
    let store = disk.open();
    let first = create(&store, "/before").await;
    disk.set_room(Some(100_000));
    let mut written = 0;
    let error = loop {
        let value = Bytes::from(vec![7; 10_000]);
        match store.put(&key(&format!("/{written}")), value, Expect::Absent).await {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    disk.set_room(Some(0));
    assert!(store.health().await.is_err());
    disk.set_room(None);
    store.health().await.unwrap();
    assert_eq!(store.get(&key("/before")).await.unwrap().unwrap().revision, first);
    create(&store, "/after").await;
    let list = state(&store).await;
    assert!(list.entries.len() >= written + 2);
    let count = list.entries.len();
    assert_eq!(events(&store, Revision::INITIAL, count).await.len(), count);
}

#[tokio::test]
async fn a_write_whose_sync_failed_is_never_acknowledged() {
    for fate in [Fate::Kept, Fate::Lost] {
        let disk = SimulatedDisk::formatted();
        let store = disk.open();
        let mut acknowledged = Acknowledged::default();
        for name in 0..30 {
            let (key, value) = (key(&format!("/{name}")), Bytes::from(vec![name; 3000]));
            let failing = name % 3 == 1;
            if failing {
                disk.fail_sync(fate);
            }
            match store.put(&key, value.clone(), Expect::Absent).await {
                Ok(revision) => {
                    assert!(!failing);
                    acknowledged.writes.insert(revision, (key, Some(value)));
                }
                Err(error) => assert!(failing && matches!(error, Error::Unavailable { .. })),
            }
            check(&store, &acknowledged).await;
        }
        assert_eq!(acknowledged.writes.len(), 20);
    }
}

#[tokio::test]
async fn a_dead_disk_is_told_to_every_caller() {
    let disk = SimulatedDisk::formatted();
    let store = disk.open();
    create(&store, "/a").await;
    disk.unplug();
    for _ in 0..3 {
        let refused = store.put(&key("/b"), Bytes::new(), Expect::Absent).await;
        assert!(matches!(refused, Err(Error::Unavailable { .. })));
        assert!(store.health().await.is_err());
        assert!(store.compact(Revision::INITIAL).await.is_err());
        assert!(store.get(&key("/a")).await.is_err());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn compaction_lets_writes_through() {
    let disk = SimulatedDisk::formatted();
    let store = Arc::new(disk.open());
    let creators = (0..50).map(|creator| {
        let store = store.clone();
        tokio::spawn(async move {
            for index in 0..60 {
                create(&store, &format!("/{creator}/{index}")).await;
            }
        })
    });
    futures::future::join_all(creators.collect::<Vec<_>>()).await;
    let newest = store.revision().await.unwrap();
    let before = store.commits();
    let mut compaction = std::pin::pin!(store.compact(newest));
    let mut between = 0;
    // Three thousand events are removed in a dozen pieces; every write shares the commit of one.
    while futures::poll!(&mut compaction).is_pending() {
        create(&store, &format!("/between/{between}")).await;
        between += 1;
    }
    assert!(store.commits() - before >= 3000 / 256);
    assert!(between >= 2, "{between} writes came through");
}
