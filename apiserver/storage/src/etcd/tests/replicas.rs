//! Two caches on one etcd: two replicas of a server.

use tokio::time::Instant;

use super::*;
use crate::{Cache, cache};

async fn replica(etcd: &server::Member) -> Cache {
    Cache::start(Arc::new(etcd.connect("/store").await), cache::Options::default()).await.unwrap()
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_replica_wrote_the_other_reads() {
    let Some(binary) = server::binary() else { return };
    let etcd = server::member(&binary, "http", &[]);
    let replicas = [replica(&etcd).await, replica(&etcd).await];
    let noise = noise(&etcd);
    let key = key("/counter");
    let mut expect = Expect::Absent;
    for turn in 0..10_000_u64 {
        let writer = usize::from(turn % 2 == 1);
        let value = Bytes::copy_from_slice(&turn.to_le_bytes());
        let revision = replicas[writer].put(&key, value.clone(), expect).await.unwrap();
        expect = Expect::Revision(revision);
        let reader = &replicas[1 - writer];
        reader.fresh(soon()).await.unwrap();
        let found = reader.snapshot().get(&key).cloned().unwrap();
        assert_eq!((found.revision, found.value), (revision, value));
    }
    noise.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_continues_at_the_other_replica() {
    let Some(binary) = server::binary() else { return };
    let etcd = server::member(&binary, "http", &[]);
    let replicas = [replica(&etcd).await, replica(&etcd).await];
    let mut states = Vec::new();
    for turn in 0..200 {
        let name = key(&format!("/{}", turn % 17));
        let replica = &replicas[turn % 2];
        replica.fresh(soon()).await.unwrap();
        let current = replica.snapshot().get(&name).map(|entry| entry.revision);
        let revision = match current {
            Some(current) if turn % 3 == 0 => replica.delete(&name, current).await,
            Some(current) => replica.put(&name, Bytes::new(), Expect::Revision(current)).await,
            None => replica.put(&name, Bytes::new(), Expect::Absent).await,
        };
        let snapshot = replica.snapshot_at(&Prefix::all(), revision.unwrap()).await.unwrap();
        states.push(snapshot);
    }
    for (turn, state) in states.iter().enumerate() {
        let other = &replicas[(turn + 1) % 2];
        other.wait_until(state.revision(), soon()).await.unwrap();
        let same = other.snapshot_at(&Prefix::all(), state.revision()).await.unwrap();
        assert!(same.list(&Prefix::all()).eq(state.list(&Prefix::all())));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_read_of_a_quiet_store_does_not_wait_for_a_change() {
    let Some(binary) = server::binary() else { return };
    let etcd = server::member(&binary, "http", &[]);
    let replica = replica(&etcd).await;
    let noise = noise(&etcd);
    for _ in 0..100 {
        let newest = replica.backend().revision().await.unwrap();
        replica.fresh(soon()).await.unwrap();
        assert!(replica.revision() >= newest);
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    noise.abort();
}
