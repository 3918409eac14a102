//! What the store in etcd promises, shown with real etcd processes. Where there is none, the tests say so and pass.

mod outages;
mod proxy;
mod replicas;
mod server;
mod tls;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::StreamExt;

use super::*;
use crate::Event;

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

async fn create(store: &Etcd, name: &str) -> Revision {
    store.put(&key(name), Bytes::from_static(b"created"), Expect::Absent).await.unwrap()
}

/// The next `count` events of a watch.
async fn events(stream: &mut EventStream, count: usize) -> Vec<Arc<Event>> {
    let mut events = Vec::new();
    while events.len() < count {
        events.extend(stream.next().await.unwrap().unwrap().events);
    }
    events
}

/// Uses up revisions as somebody does who shares the etcd, until it is aborted.
fn noise(etcd: &server::Member) -> JoinHandle<()> {
    let url = etcd.url.clone();
    tokio::spawn(async move {
        let mut client = etcd_client::Client::connect([url], None).await.unwrap();
        for turn in 0.. {
            client.put(format!("/elsewhere/{}", turn % 10), "noise", None).await.unwrap();
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn etcd_conforms_although_others_use_it_too() {
    let Some(binary) = server::binary() else { return };
    let etcd = server::member(&binary, "http", &[]);
    etcd.connect("/first").await;
    let (noise, count) = (noise(&etcd), AtomicUsize::new(0));
    let fresh = || async {
        let prefix = format!("/store/{}", count.fetch_add(1, Ordering::Relaxed));
        Arc::new(etcd.connect(&prefix).await) as Arc<dyn Backend>
    };
    crate::conformance::run(fresh).await;
    noise.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_answer_is_lost_is_neither_refused_nor_repeated() {
    let Some(binary) = server::binary() else { return };
    let etcd = server::member(&binary, "http", &[]);
    drop(etcd.connect("/store").await);
    let proxy = proxy::Proxy::to(&etcd.url).await;
    let options = Options { endpoints: vec![proxy.url.clone()], ..etcd.options("/store") };
    let store = Etcd::connect(options).await.unwrap();
    let created = create(&store, "/a").await;
    for expect in [Expect::Absent, Expect::Revision(created)] {
        let key = if expect == Expect::Absent { key("/b") } else { key("/a") };
        proxy.cut_next_answer();
        let outcome = store.put(&key, Bytes::from_static(b"lost"), expect).await;
        assert!(matches!(outcome, Err(Error::Unavailable { .. })), "{outcome:?}");
        assert_eq!(store.get(&key).await.unwrap().unwrap().value, "lost", "it was made");
    }
    proxy.cut_next_answer();
    assert!(store.get(&key("/a")).await.unwrap().is_some(), "a read is made again");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_removed_in_one_transaction_is_told_in_one_batch() {
    let Some(binary) = server::binary() else { return };
    let etcd = server::member(&binary, "http", &[]);
    let store = Arc::new(etcd.connect("/store").await);
    for index in 0..600 {
        create(&store, &format!("/{index}")).await;
    }
    let cache = crate::Cache::start(store.clone(), crate::cache::Options::default()).await.unwrap();
    let (_, mut watcher) = cache.watch_current(&Prefix::all());
    let mut stream = store.watch(store.revision().await.unwrap()).await.unwrap();
    let mut client = etcd_client::Client::connect([&etcd.url], None).await.unwrap();
    let range = etcd_client::DeleteOptions::new().with_prefix();
    client.delete("/store/registry/", Some(range)).await.unwrap();
    let batch = stream.by_ref().filter(|batch| {
        let told = batch.as_ref().is_ok_and(|batch| !batch.events.is_empty());
        std::future::ready(told)
    });
    let batch = std::pin::pin!(batch).next().await.unwrap().unwrap();
    assert_eq!(batch.events.len(), 600);
    assert!(batch.events.iter().all(|event| event.revision == batch.revision));
    let mut told = 0;
    while told < 600 {
        let next = tokio::time::timeout(Duration::from_secs(60), watcher.next());
        told += next.await.expect("all of it is told").unwrap().len();
    }
    assert!(cache.snapshot().is_empty());
}

#[tokio::test]
async fn somebody_elses_data_is_not_touched() {
    let Some(binary) = server::binary() else { return };
    let etcd = server::member(&binary, "http", &[]);
    drop(etcd.connect("/first").await);
    let mut client = etcd_client::Client::connect([&etcd.url], None).await.unwrap();
    client.put("/second/version", "2", None).await.unwrap();
    let refused = Etcd::connect(etcd.options("/second")).await.map(drop);
    assert!(matches!(refused, Err(ConnectError::Format { found, .. }) if found == "2"));
}

#[tokio::test]
async fn a_watch_ends_when_the_store_is_dropped() {
    let Some(binary) = server::binary() else { return };
    let etcd = server::member(&binary, "http", &[]);
    let store = etcd.connect("/store").await;
    let mut stream = store.watch(store.revision().await.unwrap()).await.unwrap();
    create(&store, "/a").await;
    assert_eq!(events(&mut stream, 1).await[0].key, key("/a"));
    drop(store);
    assert!(matches!(stream.next().await, Some(Err(Error::Closed))));
}
