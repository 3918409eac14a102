//! Many Deployments on two replicas: one of them carries all of it out, the other goes on when that one is killed, and
//! when all is done nobody writes any more.
//!
//! `FORMWORK_DEPLOYMENTS` says how many there are, of 20 objects each; 500 is what the design asks for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tests::cluster::{Cluster, Routing};
use tests::installation::{Installation, Store};
use tests::kubectl::Kubectl;

use crate::setting::{config_map, deployment, resources};

/// How many objects each has.
const OBJECTS: usize = 20;
/// How long all of them may take.
const PATIENCE: Duration = Duration::from_secs(900);
/// How long it may take until one of two replicas leads.
const LEADER_WITHIN: Duration = Duration::from_secs(60);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(500);

fn ready(kubectl: &Kubectl) -> Result<usize> {
    let path = "jsonpath={.items[?(@.status.phase==\"Deployed\")].metadata.name}";
    Ok(kubectl.ok(&["get", "dmd", "-o", path])?.split_whitespace().count())
}

/// The revisions of everything that Deployments and their objects are.
fn revisions(kubectl: &Kubectl) -> Result<String> {
    let path = "jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{\"\\n\"}{end}";
    kubectl.ok(&["get", "dmd,dmm,configmaps", "-o", path])
}

#[test]
fn two_replicas_carry_out_many_deployments_and_then_write_nothing() -> Result<()> {
    let many: usize = std::env::var("FORMWORK_DEPLOYMENTS").map_or(Ok(12), |text| text.parse())?;
    let cluster = Arc::new(Cluster::start(Routing::On)?);
    let installation = Installation::new(cluster, Store::Etcd)?;
    let mut replicas = [installation.start(&[])?, installation.start(&[])?];
    installation.await_available()?;
    let kubectl = installation.cluster().namespace()?;

    let began = Instant::now();
    let all: Vec<Value> = (0..many)
        .map(|at| {
            let objects: Vec<_> = (0..OBJECTS)
                .map(|n| config_map(&format!("d{at}-{n}"), &json!({ "n": n.to_string() })))
                .collect();
            serde_json::from_str(&deployment(&format!("d{at}"), &resources(&json!(objects))))
                .expect("it is JSON")
        })
        .collect();
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": all }).to_string();
    kubectl.ok_with(&["create", "-f", "-"], &list)?;
    println!("{many} Deployments created in {:?}", began.elapsed());

    // Whoever leads is killed in the middle.
    let leads = |log: &str| log.contains("this replica carries out deployments");
    let deadline = Instant::now() + LEADER_WITHIN;
    let leader = loop {
        if let Some(leader) = replicas.iter().position(|replica| leads(&replica.log())) {
            break leader;
        }
        ensure!(Instant::now() < deadline, "nobody leads");
        std::thread::sleep(PAUSE);
    };
    replicas[leader].kill()?;
    installation.withdraw(&replicas[leader])?;
    let all_ready = |kubectl: &Kubectl| -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        // The aggregator may not have heard yet that one is gone.
        while ready(kubectl).unwrap_or_default() < many {
            ensure!(Instant::now() < deadline, "{:?} of {many}", ready(kubectl));
            std::thread::sleep(PAUSE);
        }
        Ok(())
    };
    all_ready(&kubectl)?;
    println!("all ready after {:?}, with a leader killed", began.elapsed());
    let objects = kubectl.ok(&["get", "configmaps", "-o", "name"])?;
    assert_eq!(objects.lines().count(), many * OBJECTS + 1);
    let other = 1 - leader;
    let metrics = Kubectl::of(&installation.direct_kubeconfig(&replicas[other])?)?;
    // It leads now, and has looked at all of them.
    metrics.until(&["get", "--raw", "/metrics"], |metrics| {
        let value = |series: &str| -> Option<f64> {
            let line = metrics.lines().find_map(|line| line.strip_prefix(series))?;
            line.trim().parse().ok()
        };
        let leads = value("leader_election_master_status{name=\"formwork\"}");
        let passes = value("workqueue_work_duration_seconds_count{name=\"deployments\"}");
        leads == Some(1.0) && passes.is_some_and(|passes| passes >= many as f64)
    })?;

    // A new leader looks at everything, and finds nothing to do.
    let before = revisions(&kubectl)?;
    let dry_runs = || -> Result<usize> {
        let log = installation.cluster().audited()?;
        let dry = |event: &&Value| {
            event["requestURI"].as_str().is_some_and(|uri| uri.contains("dryRun=All"))
        };
        Ok(log.iter().filter(dry).count())
    };
    let looked = dry_runs()?;
    let began = Instant::now();
    replicas[leader].start()?;
    installation.admit(&replicas[leader])?;
    replicas[other].kill()?;
    installation.withdraw(&replicas[other])?;
    let deadline = Instant::now() + PATIENCE;
    while dry_runs()? < looked + many * OBJECTS {
        ensure!(Instant::now() < deadline, "{} looks", dry_runs()? - looked);
        std::thread::sleep(PAUSE);
    }
    println!("all looked at after {:?}", began.elapsed());
    assert_eq!(revisions(&kubectl)?, before, "something was written");
    Ok(())
}
