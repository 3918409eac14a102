//! A replica that is killed or paused, and an etcd that is: what was acknowledged stays, and watches go on.

use std::time::{Duration, Instant};

use ::tests::client::{Client, Request};
use ::tests::cluster::Component;
use anyhow::{Result, ensure};
use tokio::task::block_in_place;
use tokio::time::sleep;

use super::account::settle;
use super::counters::Counters;
use super::follow::Follower;
use super::pair::{PATIENCE, Pair, until};

/// Acknowledged writes between one thing that happens and the next.
const WRITES: usize = 150;
/// Requests in a row after which no endpoint that is gone is asked any more: by chance, one in a billion times.
const STREAK: u32 = 30;
/// How long a replica is paused: longer than a read waits to be fresh.
const PAUSE: Duration = Duration::from_secs(4);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_is_killed_takes_nothing_with_it() -> Result<()> {
    let mut pair = Pair::turn().await?;
    let (routes, collection) = (pair.routes()?, pair.collection()?);
    let mut counters = Counters::start(&collection, &vec![routes[..1].to_vec(); 6], 3).await?;
    let followers = routes
        .clone()
        .map(|route| (route.name, Follower::start(route.client, &collection, counters.since)));
    counters.written(WRITES).await?;

    let killed = counters.now();
    block_in_place(|| pair.replicas[0].kill())?;
    let dead = counters.now();
    // Only now does the aggregator hear of it, as when the kubelet has found a container gone.
    counters.failed(1).await?;
    block_in_place(|| pair.installation.withdraw(&pair.replicas[0]))?;
    routed_around(&routes[0].client, &collection).await?;
    let healed = counters.now();

    counters.written(WRITES).await?;
    block_in_place(|| {
        pair.replicas[0].start()?;
        pair.installation.admit(&pair.replicas[0])
    })?;
    counters.written(WRITES).await?;
    let counted = settle(counters, followers.into(), &collection, &routes[1].client).await?;
    for failure in &counted.failures {
        // By the aggregator itself, which asks nobody else when the one that it chose is not there; an answer that had
        // begun when it was killed has no end.
        let cut = failure.status.is_none() && failure.begun < dead;
        ensure!(failure.status == Some(503) || cut, "{failure:?}");
        let meanwhile = failure.ended > killed && failure.begun < healed;
        ensure!(meanwhile, "{failure:?}, though it was killed at {killed} and gone at {healed}");
    }
    Ok(())
}

/// Waits until requests through the aggregator no longer fail.
async fn routed_around(client: &Client, collection: &str) -> Result<()> {
    let (deadline, mut streak) = (Instant::now() + PATIENCE, 0);
    while streak < STREAK {
        ensure!(Instant::now() < deadline, "requests go on failing");
        let answer = client.send(&Request::get(collection)).await;
        streak = if answer.is_ok_and(|answer| answer.status == 200) { streak + 1 } else { 0 };
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_outlive_an_etcd_that_is_killed() -> Result<()> {
    let mut pair = Pair::turn().await?;
    let (routes, collection) = (pair.routes()?, pair.collection()?);
    let mut counters = Counters::start(&collection, &vec![routes.to_vec(); 6], 4).await?;
    let followers = routes
        .clone()
        .map(|route| (route.name, Follower::start(route.client, &collection, counters.since)));
    counters.written(WRITES).await?;

    pair.cluster().kill(Component::Etcd)?;
    for replica in &routes[1..] {
        not_ready(&replica.client).await?;
    }
    counters.failed(1).await?;
    block_in_place(|| pair.cluster().up())?;
    for replica in &routes[1..] {
        until(&replica.client, "/readyz", 200).await?;
    }
    counters.written(WRITES).await?;
    settle(counters, followers.into(), &collection, &routes[1].client).await?;
    for replica in &mut pair.replicas {
        ensure!(replica.running()?.is_running()?, "{} is gone", replica.name());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_etcd_that_hangs_makes_replicas_unready_and_not_dead() -> Result<()> {
    let pair = Pair::turn().await?;
    let [_, first, _] = pair.routes()?;
    pair.cluster().pause(Component::Etcd)?;
    not_ready(&first.client).await?;
    pair.cluster().resume(Component::Etcd)?;
    let ready = until(&first.client, "/readyz?verbose", 200).await?;
    ensure!(ready.contains("[+]etcd ok"), "{ready}");
    Ok(())
}

/// Waits until readiness says that etcd is away, which must not concern liveness.
async fn not_ready(client: &Client) -> Result<()> {
    let report = until(client, "/readyz?verbose", 500).await?;
    ensure!(report.contains("[-]etcd failed: reason withheld\n"), "{report}");
    ensure!(report.matches("[-]").count() == 1, "{report}");
    ensure!(report.contains("[+]ping ok\n"), "{report}");
    for path in ["/livez", "/healthz"] {
        let live = client.send(&Request::get(path)).await?;
        ensure!(live.status == 200, "{path}: {}", live.text());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_was_paused_shows_nothing_old() -> Result<()> {
    let mut pair = Pair::turn().await?;
    let (routes, collection) = (pair.routes()?, pair.collection()?);
    let crews: Vec<_> = routes.iter().cycle().take(6).map(|route| vec![route.clone()]).collect();
    let mut counters = Counters::start(&collection, &crews, 5).await?;
    let followers = routes
        .clone()
        .map(|route| (route.name, Follower::start(route.client, &collection, counters.since)));
    counters.written(WRITES).await?;

    pair.replicas[0].pause()?;
    sleep(PAUSE).await;
    counters.written(WRITES).await?;
    let whole = Request::get(&collection);
    let asked = tokio::spawn({
        let (client, whole) = (routes[1].client.clone(), whole.clone());
        async move { client.send(&whole).await }
    });
    let meanwhile = routes[2].client.send(&whole).await?.json()?;
    pair.replicas[0].resume()?;
    let awake = routes[1].client.send(&whole).await?;
    ensure!(awake.status == 200, "{}", awake.text());
    let revision = |list: &serde_json::Value| {
        list["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse::<u64>().ok())
    };
    ensure!(revision(&awake.json()?) >= revision(&meanwhile), "it has slept over {meanwhile}");
    ensure!(asked.await??.status == 200, "what was asked while it slept is answered");
    counters.written(WRITES).await?;
    settle(counters, followers.into(), &collection, &routes[2].client).await?;
    Ok(())
}
