//! etcd killed, paused and without its leader, under writers and watchers.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use tokio::time::{Instant, sleep, timeout};

use super::*;
use crate::Cache;

/// Whoever is still waiting then waits for ever.
const PATIENCE: Duration = Duration::from_secs(60);

/// Writers that go on through every outage, and what was acknowledged to them.
struct Writers {
    tasks: Vec<JoinHandle<()>>,
    stopped: Arc<AtomicBool>,
    acknowledged: Arc<Mutex<Vec<(Key, Revision)>>>,
}

impl Writers {
    fn start(store: &Arc<Etcd>) -> Self {
        let (stopped, acknowledged) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let write = |writer: usize| {
            let (store, stopped) = (store.clone(), stopped.clone());
            let acknowledged: Arc<Mutex<Vec<_>>> = Arc::clone(&acknowledged);
            tokio::spawn(async move {
                // Every name is used once, so that a conflict would be with a write of one's own.
                for turn in 0.. {
                    if stopped.load(Ordering::Relaxed) {
                        return;
                    }
                    let key = key(&format!("/{writer}/{turn}"));
                    match store.put(&key, Bytes::from_static(b"value"), Expect::Absent).await {
                        Ok(revision) => acknowledged.lock().unwrap().push((key, revision)),
                        Err(Error::Unavailable { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        };
        Self { tasks: (0..4).map(write).collect(), stopped, acknowledged }
    }

    fn count(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }

    /// Waits until so many more writes were acknowledged.
    async fn more(&self, count: usize) {
        let enough = self.count() + count;
        let reached = async {
            while self.count() < enough {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, reached).await.expect("writes are acknowledged again");
    }

    async fn stop(self) -> Vec<(Key, Revision)> {
        self.stopped.store(true, Ordering::Relaxed);
        for task in self.tasks {
            task.await.unwrap();
        }
        std::mem::take(&mut self.acknowledged.lock().unwrap())
    }
}

/// Everything acknowledged is there, and the watcher was told of everything once and in order.
async fn nothing_is_lost(
    store: &Etcd,
    cache: &Cache,
    mut watcher: crate::Watcher,
    acknowledged: Vec<(Key, Revision)>,
) {
    let list = patiently(async || store.list(&Prefix::all(), None).await).await;
    for (key, revision) in &acknowledged {
        let found = list.entries.iter().find(|entry| entry.key == *key);
        assert_eq!(found.map(|entry| entry.revision), Some(*revision), "{key}");
    }
    patiently(async || cache.fresh(Instant::now() + PATIENCE).await).await;
    let mut told = Vec::new();
    while told.len() < list.entries.len() {
        told.extend(timeout(PATIENCE, watcher.next()).await.unwrap().unwrap());
    }
    let mut stored: Vec<_> = list.entries.iter().map(|entry| entry.revision).collect();
    stored.sort();
    assert_eq!(told.iter().map(|event| event.revision).collect::<Vec<_>>(), stored);
    let snapshot = cache.snapshot();
    assert!(snapshot.list(&Prefix::all()).eq(&list.entries));
}

/// What comes of it in the end, for a store that is impatient and an etcd that has just come back.
async fn patiently<T>(mut attempt: impl AsyncFnMut() -> Result<T, Error>) -> T {
    let attempts = async {
        loop {
            match attempt().await {
                Ok(done) => return done,
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        }
    };
    timeout(PATIENCE, attempts).await.expect("etcd has come back")
}

fn impatient(options: Options) -> Options {
    Options { request_timeout: Duration::from_secs(2), ..options }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_is_lost_when_etcd_is_killed() {
    let Some(binary) = server::binary() else { return };
    let mut etcd = server::member(&binary, "http", &[]);
    drop(etcd.connect("/store").await);
    let store = Arc::new(Etcd::connect(impatient(etcd.options("/store"))).await.unwrap());
    let cache = Cache::start(store.clone(), crate::cache::Options::default()).await.unwrap();
    let (_, watcher) = cache.watch_current(&Prefix::all());
    let writers = Writers::start(&store);
    for _ in 0..2 {
        writers.more(200).await;
        etcd.kill();
        etcd.start();
    }
    writers.more(200).await;
    let acknowledged = writers.stop().await;
    nothing_is_lost(&store, &cache, watcher, acknowledged).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_is_lost_with_the_leader() {
    let Some(binary) = server::binary() else { return };
    let mut cluster = server::cluster(&binary);
    let endpoints = cluster.iter().map(|member| member.url.clone()).collect();
    let options = Options { endpoints, ..cluster[0].options("/store") };
    drop(server::connect(options.clone()).await);
    let store = Arc::new(Etcd::connect(impatient(options)).await.unwrap());
    let cache = Cache::start(store.clone(), crate::cache::Options::default()).await.unwrap();
    let (_, watcher) = cache.watch_current(&Prefix::all());
    let writers = Writers::start(&store);
    for _ in 0..2 {
        writers.more(200).await;
        let leader = leader(&cluster).await;
        cluster[leader].kill();
        writers.more(200).await;
        cluster[leader].start();
    }
    let acknowledged = writers.stop().await;
    nothing_is_lost(&store, &cache, watcher, acknowledged).await;
}

/// Which member leads, as soon as one does.
async fn leader(cluster: &[server::Member]) -> usize {
    let asked = async {
        loop {
            for (index, member) in cluster.iter().enumerate() {
                let mut client = etcd_client::Client::connect([&member.url], None).await.unwrap();
                if let Ok(status) = client.status().await
                    && status.header().unwrap().member_id() == status.leader()
                {
                    return index;
                }
            }
        }
    };
    timeout(PATIENCE, asked).await.expect("somebody leads")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_etcd_is_reported_and_comes_back() {
    let Some(binary) = server::binary() else { return };
    let etcd = server::member(&binary, "http", &[]);
    drop(etcd.connect("/store").await);
    let store = Arc::new(Etcd::connect(impatient(etcd.options("/store"))).await.unwrap());
    let cache = Cache::start(store.clone(), crate::cache::Options::default()).await.unwrap();
    let (_, mut watcher) = cache.watch_current(&Prefix::all());
    etcd.pause();
    let unknown = key("/unknown");
    let put = store.put(&unknown, Bytes::new(), Expect::Absent);
    let outcomes = timeout(PATIENCE, async {
        [put.await.map(drop), store.get(&key("/a")).await.map(drop), store.health().await]
    });
    for outcome in outcomes.await.expect("a hanging etcd is not waited for") {
        assert!(matches!(outcome, Err(Error::Unavailable { .. })));
    }
    etcd.resume();
    // The write that nobody knows of may still be made now, and comes before those that follow it.
    let created = timeout(PATIENCE, retried(&store, "/a")).await.unwrap();
    patiently(async || cache.fresh(Instant::now() + PATIENCE).await).await;
    loop {
        let told = timeout(PATIENCE, watcher.next()).await.unwrap().unwrap();
        if told.iter().any(|event| event.revision == created) {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn health_is_not_asked_as_patiently_as_requests_are() {
    let Some(binary) = server::binary() else { return };
    let mut etcd = server::member(&binary, "http", &[]);
    drop(etcd.connect("/store").await);
    let patient = Options { request_timeout: PATIENCE * 60, ..etcd.options("/store") };
    let store = Etcd::connect(patient).await.unwrap();
    store.health().await.unwrap();
    etcd.pause();
    let hanging = timeout(PATIENCE, store.health()).await.expect("who hangs is not waited for");
    assert!(matches!(hanging, Err(Error::Unavailable { .. })), "{hanging:?}");
    etcd.kill();
    let away = timeout(PATIENCE, store.health()).await.expect("who is away is not waited for");
    assert!(matches!(away, Err(Error::Unavailable { .. })), "{away:?}");
}

async fn retried(store: &Etcd, name: &str) -> Revision {
    loop {
        match store.put(&key(name), Bytes::new(), Expect::Absent).await {
            Ok(revision) => return revision,
            Err(Error::Conflict { current }) => return current.unwrap().revision,
            Err(_) => sleep(Duration::from_millis(20)).await,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_hangs_is_left_for_another() {
    let Some(binary) = server::binary() else { return };
    let cluster = server::cluster(&binary);
    let endpoints = cluster.iter().map(|member| member.url.clone()).collect();
    let options = Options { endpoints, ..cluster[0].options("/store") };
    let store = Arc::new(server::connect(options).await);
    let cache = Cache::start(store.clone(), crate::cache::Options::default()).await.unwrap();
    cluster[0].pause();
    // Twice, so that both the reads and the watch have gone elsewhere.
    for name in ["/a", "/b"] {
        let fresh =
            async { while cache.fresh(Instant::now() + Duration::from_secs(3)).await.is_err() {} };
        timeout(PATIENCE, fresh).await.expect("the others answer");
        let created = timeout(PATIENCE, retried(&store, name)).await.unwrap();
        cache.wait_until(created, Instant::now() + PATIENCE).await.unwrap();
    }
}
