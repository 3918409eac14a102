//! Replicas that come and go one at a time: the APIServices stay Available, and whoever is left has everything.

use ::tests::client::Request;
use ::tests::installation::API_SERVICES;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tokio::task::block_in_place;

use super::account::settle;
use super::counters::Counters;
use super::follow::{Follower, Told};
use super::pair::{Pair, Route, start_at_once};

/// How often replicas start at once.
const STARTS: u64 = 3;

const API_SERVICES_PATH: &str = "/apis/apiregistration.k8s.io/v1/apiservices";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_api_services_stay_available_while_one_replica_after_the_other_restarts() -> Result<()>
{
    let mut pair = Pair::turn().await?;
    let (routes, collection) = (pair.routes()?, pair.collection()?);
    let services = routes[0].client.send(&Request::get(API_SERVICES_PATH)).await?.json()?;
    let since = services["metadata"]["resourceVersion"].as_str().context("a revision")?.parse()?;
    let conditions = Follower::start(routes[0].client.clone(), API_SERVICES_PATH, since);
    let mut counters = Counters::start(&collection, &vec![routes[..1].to_vec(); 4], 6).await?;
    counters.written(20).await?;

    for turn in [0, 1] {
        block_in_place(|| {
            let Pair { replicas, installation } = &mut *pair;
            // At the same moment as the signal, as in a cluster.
            installation.withdraw(&replicas[turn])?;
            ensure!(replicas[turn].stop()?.success(), "SIGTERM ends it cleanly");
            replicas[turn].start()?;
            installation.admit(&replicas[turn])
        })?;
        counters.written(20).await?;
        // Asked itself, for through the aggregator the other one could have answered.
        let found = routes[1 + turn].client.send(&Request::get(&collection)).await?;
        ensure!(found.status == 200, "{}", found.text());
    }
    settle(counters, Vec::new(), &collection, &routes[1].client).await?;

    let last = block_in_place(|| touch(&pair))?;
    for told in conditions.until(last).await?.told {
        ensure!(is_available(&told), "{told:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_that_start_at_once_where_nothing_is_stored_share_a_store() -> Result<()> {
    let pair = Pair::turn().await?;
    let collection = pair.collection()?;
    for round in 0..STARTS {
        let prefix = format!("--etcd-prefix=/empty-{round}");
        let replicas = block_in_place(|| start_at_once(&pair.installation, &[&prefix]))?;
        let crew = [
            Route { name: "first", client: pair.ask(&replicas[0])? },
            Route { name: "second", client: pair.ask(&replicas[1])? },
        ];
        let client = crew[0].client.clone();
        let mut counters = Counters::start(&collection, &[crew.into()], 7 + round).await?;
        counters.written(20).await?;
        let counted = settle(counters, Vec::new(), &collection, &client).await?;
        ensure!(counted.failures.is_empty(), "{:#?}", counted.reasons());
    }
    Ok(())
}

/// Changes an APIService, so that there is a last event, and returns the revision of that.
fn touch(pair: &Pair) -> Result<u64> {
    let service = format!("apiservice/{}", API_SERVICES[0]);
    let kubectl = pair.installation.kubectl()?;
    let mark = ["annotate", &service, "example.com/last=here", "-o"];
    let revision = kubectl.ok(&[&mark[..], &["jsonpath={.metadata.resourceVersion}"]].concat())?;
    Ok(revision.trim().parse()?)
}

fn is_available(told: &Told) -> bool {
    let name = told.object["metadata"]["name"].as_str().unwrap_or_default();
    let conditions = told.object["status"]["conditions"].as_array();
    let available =
        |condition: &Value| condition["type"] == "Available" && condition["status"] == "True";
    !API_SERVICES.contains(&name) || conditions.is_some_and(|all| all.iter().any(available))
}
