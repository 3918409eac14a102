//! Watches: order, completeness, resumption.

use std::collections::BTreeSet;

use super::*;

claims![
    a_watch_tells_the_past_and_then_the_present,
    an_event_carries_what_was_there_before,
    a_watch_resumes_anywhere,
    watchers_do_not_disturb_each_other,
    a_watch_from_now_tells_nothing_of_the_past,
    the_future_cannot_be_watched,
    a_long_past_is_told_whole,
    every_write_of_many_writers_is_told_once,
];

async fn a_watch_tells_the_past_and_then_the_present(store: Store) {
    let before = store.revision().await.unwrap();
    let one = create(&store, "/a", "one").await;
    let mut stream = store.watch(before).await.unwrap();
    assert_eq!(read(&mut stream, 1).await[0].revision, one);
    let two = update(&store, "/a", "two", one).await;
    assert_eq!(read(&mut stream, 1).await[0].revision, two);
}

async fn an_event_carries_what_was_there_before(store: Store) {
    let before = store.revision().await.unwrap();
    let created = create(&store, "/a", "one").await;
    let updated = update(&store, "/a", "two", created).await;
    let deleted = store.delete(&key("/a"), updated).await.unwrap();
    let entry =
        |value: &'static str, revision| Entry { key: key("/a"), value: value.into(), revision };
    let (one, two) = (entry("one", created), entry("two", updated));
    let mut stream = store.watch(before).await.unwrap();
    let told: Vec<_> = read(&mut stream, 3)
        .await
        .iter()
        .map(|event| (event.revision, event.entry(), event.previous.clone()))
        .collect();
    let expected = [
        (created, Some(one.clone()), None),
        (updated, Some(two.clone()), Some(one)),
        (deleted, None, Some(two)),
    ];
    assert_eq!(told, expected);
}

async fn a_watch_resumes_anywhere(store: Store) {
    let before = store.revision().await.unwrap();
    for index in 0..20 {
        create(&store, &format!("/{index:02}"), "").await;
    }
    let whole = read(&mut store.watch(before).await.unwrap(), 20).await;
    for (seen, event) in whole.iter().enumerate() {
        let mut rest = store.watch(event.revision).await.unwrap();
        assert_eq!(read(&mut rest, 19 - seen).await, whole[seen + 1..]);
    }
}

async fn watchers_do_not_disturb_each_other(store: Store) {
    let before = store.revision().await.unwrap();
    let mut one = store.watch(before).await.unwrap();
    let idle = store.watch(before).await.unwrap();
    drop(store.watch(before).await.unwrap());
    create(&store, "/a", "").await;
    let told = read(&mut one, 1).await;
    drop(one);
    create(&store, "/b", "").await;
    let mut other = idle;
    assert_eq!(read(&mut other, 2).await[..1], told);
}

async fn a_watch_from_now_tells_nothing_of_the_past(store: Store) {
    create(&store, "/a", "").await;
    let now = store.revision().await.unwrap();
    let mut stream = store.watch(now).await.unwrap();
    create(&store, "/b", "").await;
    assert_eq!(read(&mut stream, 1).await[0].key, key("/b"));
}

async fn the_future_cannot_be_watched(store: Store) {
    let current = create(&store, "/a", "").await;
    let refused = store.watch(Revision::new(current.get() + 1000)).await;
    assert!(matches!(refused.map(drop), Err(Error::Future { .. })));
}

async fn a_long_past_is_told_whole(store: Store) {
    let before = store.revision().await.unwrap();
    let creators = (0..20).map(|creator| {
        let store = store.clone();
        tokio::spawn(async move {
            for index in 0..100 {
                create(&store, &format!("/{creator}/{index}"), "").await;
            }
        })
    });
    futures::future::join_all(creators.collect::<Vec<_>>()).await;
    let mut state = BTreeMap::new();
    replay(&mut state, &read(&mut store.watch(before).await.unwrap(), 2000).await);
    assert_eq!(state.len(), 2000);
}

async fn every_write_of_many_writers_is_told_once(store: Store) {
    let before = store.revision().await.unwrap();
    let mut live = store.watch(before).await.unwrap();
    let writers =
        (1..=8).map(|seed| tokio::spawn(write_at_random(store.clone(), Dice(seed * 7919))));
    let writers = futures::future::join_all(writers.collect::<Vec<_>>());
    let reader = tokio::spawn(async move { read(&mut live, 8 * 50).await });
    let written = writers.await.into_iter().flat_map(Result::unwrap);
    let written: BTreeSet<Revision> = written.collect();
    let told = reader.await.unwrap();
    let revisions: BTreeSet<_> = told.iter().map(|event| event.revision).collect();
    assert_eq!(revisions, written);
    assert_eq!(read(&mut store.watch(before).await.unwrap(), told.len()).await, told);
    let mut state = BTreeMap::new();
    replay(&mut state, &told);
    let list = store.list(&Prefix::all(), None).await.unwrap();
    assert_eq!(state.into_values().collect::<Vec<_>>(), list.entries);
}

/// Makes fifty writes to few keys and answers their revisions.
async fn write_at_random(store: Store, mut dice: Dice) -> Vec<Revision> {
    let mut written = Vec::new();
    while written.len() < 50 {
        let key = key(&format!("/{}", dice.roll(6)));
        let value = Bytes::from(format!("{}", dice.roll(1000)));
        let outcome = match store.get(&key).await.unwrap() {
            None => store.put(&key, value, Expect::Absent).await,
            Some(entry) if dice.roll(4) == 0 => store.delete(&key, entry.revision).await,
            Some(entry) => store.put(&key, value, Expect::Revision(entry.revision)).await,
        };
        match outcome {
            Ok(revision) => written.push(revision),
            Err(Error::Conflict { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    written
}
