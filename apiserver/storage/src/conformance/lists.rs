//! Lists: order, prefixes, past states.

use super::*;

claims![
    a_fresh_store_is_empty,
    a_list_holds_its_prefix_in_byte_order,
    a_list_has_the_revision_of_its_state,
    every_past_state_can_be_listed,
    a_past_list_sees_through_later_deletes_and_creates,
    the_future_cannot_be_listed,
    ten_thousand_keys_are_listed,
];

async fn a_fresh_store_is_empty(store: Store) {
    assert!(store.list(&Prefix::all(), None).await.unwrap().entries.is_empty());
}

async fn a_list_holds_its_prefix_in_byte_order(store: Store) {
    for name in
        ["/b/2", "/b/10", "/a/1", "/b0/1", "/b/1", "/b-/1", "/b/\u{e4}", "/b/Z", "/b", "/c/1"]
    {
        create(&store, name, name).await;
    }
    assert_eq!(names(&store, "/b/", None).await, ["/b/1", "/b/10", "/b/2", "/b/Z", "/b/\u{e4}"]);
    assert_eq!(names(&store, "/b/1", None).await, ["/b/1"]);
    assert_eq!(names(&store, "/d/", None).await, [""; 0]);
    let all =
        ["/a/1", "/b", "/b-/1", "/b/1", "/b/10", "/b/2", "/b/Z", "/b/\u{e4}", "/b0/1", "/c/1"];
    assert_eq!(names(&store, "/", None).await, all);
    for entry in store.list(&Prefix::all(), None).await.unwrap().entries {
        assert_eq!(entry.value, entry.key.as_str());
    }
}

async fn a_list_has_the_revision_of_its_state(store: Store) {
    let one = create(&store, "/a/1", "").await;
    let other = create(&store, "/b/1", "").await;
    let now = store.list(&prefix("/a/"), None).await.unwrap();
    assert!(now.revision >= other && now.entries[0].revision == one);
    let past = store.list(&prefix("/a/"), Some(one)).await.unwrap();
    assert_eq!((past.revision, past.entries), (one, now.entries));
}

async fn every_past_state_can_be_listed(store: Store) {
    let mut dice = Dice(7);
    let empty = store.list(&Prefix::all(), None).await.unwrap();
    let mut states = vec![empty];
    for step in 0..150 {
        let name = format!("/{}/{}", dice.roll(3), dice.roll(5));
        match store.get(&key(&name)).await.unwrap() {
            None => create(&store, &name, &format!("{step}")).await,
            Some(entry) if dice.roll(3) == 0 => {
                store.delete(&entry.key, entry.revision).await.unwrap()
            }
            Some(entry) => update(&store, &name, &format!("{step}"), entry.revision).await,
        };
        states.push(store.list(&Prefix::all(), None).await.unwrap());
    }
    for state in states {
        let past = store.list(&Prefix::all(), Some(state.revision)).await.unwrap();
        assert_eq!(past, state);
        let mut part = store.list(&prefix("/1/"), Some(state.revision)).await.unwrap();
        let mut expected = state.entries;
        expected.retain(|entry| prefix("/1/").holds(&entry.key));
        assert_eq!(std::mem::take(&mut part.entries), expected);
    }
}

async fn a_past_list_sees_through_later_deletes_and_creates(store: Store) {
    let created = create(&store, "/a", "one").await;
    let deleted = store.delete(&key("/a"), created).await.unwrap();
    create(&store, "/a", "two").await;
    let past = store.list(&Prefix::all(), Some(created)).await.unwrap();
    assert_eq!(past.entries[0].value, "one");
    assert!(names(&store, "/", Some(deleted)).await.is_empty());
}

async fn the_future_cannot_be_listed(store: Store) {
    let current = create(&store, "/a", "").await;
    let requested = Revision::new(current.get() + 1000);
    match store.list(&Prefix::all(), Some(requested)).await {
        Err(Error::Future { requested: told, .. }) => assert_eq!(told, requested),
        other => panic!("expected that it is in the future, not {other:?}"),
    }
}

async fn ten_thousand_keys_are_listed(store: Store) {
    let writers = (0..100).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            for index in 0..100 {
                create(&store, &format!("/{:03}/{index:03}", writer % 10 * 10 + writer / 10), "")
                    .await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let full = store.revision().await.unwrap();
    let expected: Vec<_> = (0..100)
        .flat_map(|one| (0..100).map(move |other| format!("/{one:03}/{other:03}")))
        .collect();
    assert_eq!(names(&store, "/", None).await, expected);
    assert_eq!(names(&store, "/042/", None).await, expected[4200..4300]);
    let entry = store.get(&key("/042/042")).await.unwrap().unwrap();
    store.delete(&entry.key, entry.revision).await.unwrap();
    assert_eq!(names(&store, "/", None).await.len(), 9999);
    assert_eq!(names(&store, "/", Some(full)).await, expected);
}
