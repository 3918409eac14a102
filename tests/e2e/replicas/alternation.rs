//! Reads and writes that alternate between replicas: nothing shows that there is more than one.

use ::tests::client::{Client, Request};
use anyhow::{Context, Result, ensure};

use super::account::settle;
use super::counters::Counters;
use super::follow::Follower;
use super::pair::{Pair, Route};

/// Through kube-apiserver only, which chooses a replica for each request.
const AGGREGATED: usize = 5000;
/// By any way.
const MIXED: usize = 5000;
const WORKERS: usize = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_reads_and_writes_by_two_replicas_are_those_of_one_store() -> Result<()> {
    let pair = Pair::turn().await?;
    let routes = pair.routes()?;
    let [aggregator, first, second] = &routes;

    let before = [served(&first.client).await?, served(&second.client).await?];
    count(&pair, vec![vec![aggregator.clone()]; WORKERS], AGGREGATED, 1).await?;
    let after = [served(&first.client).await?, served(&second.client).await?];
    for (before, after) in before.iter().zip(after) {
        let least = AGGREGATED as u64 / 10;
        ensure!(after - before > least, "kube-apiserver asked it {} times", after - before);
    }

    count(&pair, vec![routes.to_vec(); WORKERS], MIXED, 2).await
}

/// Lets `crews` do at least so many operations, and holds them and a watch by each way to account.
async fn count(pair: &Pair, crews: Vec<Vec<Route>>, wanted: usize, seed: u64) -> Result<()> {
    let (routes, collection) = (pair.routes()?, pair.collection()?);
    let mut counters = Counters::start(&collection, &crews, seed).await?;
    let follow =
        |route: Route| (route.name, Follower::start(route.client, &collection, counters.since));
    let followers = routes.clone().map(follow).into();
    counters.done(wanted).await?;
    let counted = settle(counters, followers, &collection, &routes[1].client).await?;
    ensure!(counted.failures.is_empty(), "{:#?}", counted.reasons());
    Ok(())
}

/// How many requests for templates a replica has answered.
async fn served(client: &Client) -> Result<u64> {
    let metrics = client.send(&Request::get("/metrics")).await?.text();
    let lines = metrics.lines().filter(|line| {
        line.starts_with("apiserver_request_total{") && line.contains(r#"resource="templates""#)
    });
    // Each ends with a space and the number.
    let counts = lines
        .map(|line| line.rsplit(' ').next().context("a value")?.parse::<u64>().map_err(Into::into));
    counts.sum()
}
