//! Compaction: what is forgotten and what is not.

use super::*;

claims![
    compacted_history_is_refused,
    compaction_leaves_the_newest_state,
    compacting_less_changes_nothing,
    the_future_cannot_be_compacted,
    a_watcher_overtaken_by_compaction_misses_nothing_unknowingly,
];

/// Three creations and their revisions.
async fn three(store: &Store) -> [Revision; 3] {
    [create(store, "/a", "").await, create(store, "/b", "").await, create(store, "/c", "").await]
}

fn compacted<T>(outcome: crate::Result<T>, oldest: Revision) {
    match outcome.map(drop) {
        Err(Error::Compacted { oldest: told, .. }) => assert_eq!(told, oldest),
        other => panic!("expected that it is compacted, not {other:?}"),
    }
}

async fn compacted_history_is_refused(store: Store) {
    let [one, two, three] = three(&store).await;
    store.compact(two).await.unwrap();
    compacted(store.list(&Prefix::all(), Some(one)).await, two);
    compacted(store.watch(one).await, two);
    assert_eq!(names(&store, "/", Some(two)).await, ["/a", "/b"]);
    let told = read(&mut store.watch(two).await.unwrap(), 1).await;
    assert_eq!(told[0].revision, three);
}

async fn compaction_leaves_the_newest_state(store: Store) {
    let [.., three] = three(&store).await;
    store.compact(three).await.unwrap();
    assert_eq!(names(&store, "/", None).await, ["/a", "/b", "/c"]);
    assert!(store.revision().await.unwrap() >= three);
    let mut stream = store.watch(three).await.unwrap();
    let entry = store.get(&key("/b")).await.unwrap().unwrap();
    let deleted = store.delete(&entry.key, entry.revision).await.unwrap();
    let told = read(&mut stream, 1).await;
    assert_eq!((told[0].revision, &told[0].previous), (deleted, &Some(entry)));
}

async fn compacting_less_changes_nothing(store: Store) {
    let [one, two, _] = three(&store).await;
    store.compact(two).await.unwrap();
    store.compact(two).await.unwrap();
    store.compact(one).await.unwrap();
    compacted(store.watch(one).await, two);
    assert!(store.watch(two).await.is_ok());
}

async fn the_future_cannot_be_compacted(store: Store) {
    let [.., three] = three(&store).await;
    let refused = store.compact(Revision::new(three.get() + 1000)).await;
    assert!(matches!(refused, Err(Error::Future { .. })));
    assert!(store.watch(three).await.is_ok());
}

async fn a_watcher_overtaken_by_compaction_misses_nothing_unknowingly(store: Store) {
    let before = store.revision().await.unwrap();
    let mut stream = store.watch(before).await.unwrap();
    let creators = (0..50).map(|creator| {
        let store = store.clone();
        tokio::spawn(async move {
            for index in 0..60 {
                create(&store, &format!("/{creator}/{index}"), "").await;
            }
        })
    });
    futures::future::join_all(creators.collect::<Vec<_>>()).await;
    let newest = store.revision().await.unwrap();
    store.compact(newest).await.unwrap();
    let (mut told, mut state) = (0, BTreeMap::new());
    while told < 3000 {
        match stream.next().await.unwrap() {
            Ok(batch) => {
                told += batch.events.len();
                replay(&mut state, &batch.events);
                assert_eq!(state.len(), told);
            }
            Err(Error::Compacted { oldest, .. }) => {
                assert_eq!(oldest, newest);
                assert!(stream.next().await.is_none(), "nothing follows an error");
                return;
            }
            Err(error) => panic!("{error}"),
        }
    }
}
