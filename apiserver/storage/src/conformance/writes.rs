//! Writes: preconditions, revisions, values.

use std::collections::BTreeSet;

use super::*;

claims![
    a_key_is_created_once,
    an_update_needs_the_current_revision,
    a_delete_needs_the_current_revision,
    a_deleted_key_can_be_created_again,
    a_refused_write_changes_nothing,
    the_newest_write_has_the_newest_revision,
    values_are_any_bytes,
    a_large_value_is_kept_whole_or_refused,
    one_of_many_creators_wins,
    no_increment_is_lost,
    a_healthy_store_says_so,
];

async fn a_key_is_created_once(store: Store) {
    let revision = create(&store, "/a", "one").await;
    let again = store.put(&key("/a"), Bytes::from_static(b"two"), Expect::Absent).await;
    let entry = Entry { key: key("/a"), value: Bytes::from_static(b"one"), revision };
    assert_eq!(conflict(again), Some(entry.clone()));
    assert_eq!(store.get(&key("/a")).await.unwrap(), Some(entry));
    assert_eq!(store.get(&key("/b")).await.unwrap(), None);
}

async fn an_update_needs_the_current_revision(store: Store) {
    let first = create(&store, "/a", "one").await;
    let second = update(&store, "/a", "two", first).await;
    let stale = store.put(&key("/a"), Bytes::new(), Expect::Revision(first)).await;
    assert_eq!(conflict(stale).unwrap().revision, second);
    let absent = store.put(&key("/b"), Bytes::new(), Expect::Revision(second)).await;
    assert_eq!(conflict(absent), None);
    assert_eq!(store.get(&key("/a")).await.unwrap().unwrap().value, "two");
}

async fn a_delete_needs_the_current_revision(store: Store) {
    let first = create(&store, "/a", "one").await;
    let second = update(&store, "/a", "two", first).await;
    assert_eq!(conflict(store.delete(&key("/a"), first).await).unwrap().revision, second);
    assert!(store.delete(&key("/a"), second).await.unwrap() > second);
    assert_eq!(conflict(store.delete(&key("/a"), second).await), None);
    assert_eq!(store.get(&key("/a")).await.unwrap(), None);
}

async fn a_deleted_key_can_be_created_again(store: Store) {
    let created = create(&store, "/a", "one").await;
    let deleted = store.delete(&key("/a"), created).await.unwrap();
    let again = create(&store, "/a", "two").await;
    assert!(again > deleted);
    assert_eq!(store.get(&key("/a")).await.unwrap().unwrap().revision, again);
}

async fn a_refused_write_changes_nothing(store: Store) {
    let created = create(&store, "/a", "one").await;
    conflict(store.put(&key("/a"), Bytes::new(), Expect::Absent).await);
    conflict(store.delete(&key("/b"), created).await);
    assert!(store.revision().await.unwrap() >= created);
    create(&store, "/c", "three").await;
    let mut stream = store.watch(created).await.unwrap();
    assert_eq!(read(&mut stream, 1).await[0].key, key("/c"));
}

async fn the_newest_write_has_the_newest_revision(store: Store) {
    let mut newest = store.revision().await.unwrap();
    assert!(newest >= Revision::INITIAL);
    for name in ["/a", "/b", "/c"] {
        let created = create(&store, name, "one").await;
        let updated = update(&store, name, "two", created).await;
        let deleted = store.delete(&key(name), updated).await.unwrap();
        assert!(newest < created && created < updated && updated < deleted);
        newest = store.revision().await.unwrap();
        assert!(newest >= deleted);
    }
    // A store that knows without asking never lags behind what it acknowledged.
    let mut acknowledged = store.revision().await.unwrap();
    for number in 0..20 {
        acknowledged = acknowledged.max(create(&store, &format!("/known/{number}"), "").await);
        assert!(store.known_revision().is_none_or(|known| known >= acknowledged));
    }
}

async fn values_are_any_bytes(store: Store) {
    let values = [Vec::new(), vec![0], b"\xff\0\xfe".to_vec(), pattern(1 << 20)];
    for (index, value) in values.into_iter().enumerate() {
        let (key, value) = (key(&format!("/value/{index}")), Bytes::from(value));
        store.put(&key, value.clone(), Expect::Absent).await.unwrap();
        assert!(store.get(&key).await.unwrap().unwrap().value == value);
    }
    let keys = ["/\u{e4}/\u{1f600}", "/with space/%2f", "/group//cluster-scoped"];
    for name in keys {
        create(&store, name, "value").await;
        assert_eq!(names(&store, name, None).await, [name]);
    }
}

async fn a_large_value_is_kept_whole_or_refused(store: Store) {
    let (key, value) = (key("/large"), Bytes::from(pattern(3 << 20)));
    match store.put(&key, value.clone(), Expect::Absent).await {
        Ok(_) => assert!(store.get(&key).await.unwrap().unwrap().value == value),
        Err(Error::TooLarge) => assert_eq!(store.get(&key).await.unwrap(), None),
        Err(error) => panic!("{error}"),
    }
}

/// So many bytes that are not all the same.
fn pattern(length: u32) -> Vec<u8> {
    (0..length).map(|index| index.to_le_bytes()[0]).collect()
}

async fn one_of_many_creators_wins(store: Store) {
    let creators = (0..16).map(|creator| {
        let store = store.clone();
        tokio::spawn(async move {
            let value = Bytes::from(format!("{creator}"));
            store.put(&key("/a"), value.clone(), Expect::Absent).await.map(|_| value)
        })
    });
    let outcomes = futures::future::join_all(creators.collect::<Vec<_>>()).await;
    let won: Vec<_> = outcomes.into_iter().filter_map(|outcome| outcome.unwrap().ok()).collect();
    assert_eq!(won, [store.get(&key("/a")).await.unwrap().unwrap().value]);
}

async fn no_increment_is_lost(store: Store) {
    create(&store, "/counter", "0").await;
    let counters = (0..8).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut revisions = Vec::new();
            for _ in 0..10 {
                revisions.push(increment(&store, &key("/counter")).await);
            }
            revisions
        })
    });
    let revisions = futures::future::join_all(counters.collect::<Vec<_>>()).await;
    let revisions: Vec<_> = revisions.into_iter().flat_map(Result::unwrap).collect();
    let distinct: BTreeSet<_> = revisions.iter().collect();
    assert_eq!(distinct.len(), 80);
    let counter = store.get(&key("/counter")).await.unwrap().unwrap();
    assert_eq!((counter.value, Some(&&counter.revision)), ("80".into(), distinct.last()));
}

async fn increment(store: &Store, key: &Key) -> Revision {
    let mut current = store.get(key).await.unwrap().unwrap();
    loop {
        let count: u64 = std::str::from_utf8(&current.value).unwrap().parse().unwrap();
        let value = Bytes::from(format!("{}", count + 1));
        match store.put(key, value, Expect::Revision(current.revision)).await {
            Ok(revision) => return revision,
            Err(Error::Conflict { current: Some(newer) }) => current = newer,
            Err(error) => panic!("{error}"),
        }
    }
}

async fn a_healthy_store_says_so(store: Store) {
    let before = store.revision().await.unwrap();
    store.health().await.unwrap();
    assert!(store.list(&Prefix::all(), None).await.unwrap().entries.is_empty());
    let mut stream = store.watch(before).await.unwrap();
    create(&store, "/a", "").await;
    assert_eq!(read(&mut stream, 1).await[0].key, key("/a"), "asking leaves no trace");
}
