//! What Go programs make of us through kube-apiserver: client-go's informers, and its reading of failures.

use std::path::Path;

use ::tests::clients::{Informer, Start, failures};
use ::tests::cluster::{Cluster, Component, Routing};
use ::tests::installation::{Installation, Store};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::kubectl::{Kubectl, template};

/// The templates that are there before an informer starts.
const EARLIER: u64 = 40;

/// What an informer is to have seen in all.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    added: u64,
    updated: u64,
    deleted: u64,
}

#[test]
fn informers_follow_and_resume_when_we_come_back() -> Result<()> {
    let cluster = Cluster::start(Routing::Off)?;
    let installation = Installation::new(cluster.into(), Store::Embedded)?;
    let mut replica = installation.start(&[])?;
    installation.await_available()?;
    let kubectl = installation.cluster().namespace()?;
    create(&kubectl, 0..EARLIER)?;

    let kubeconfig = installation.cluster().kubeconfig("admin");
    let mut informers = Vec::new();
    for kind in ["typed", "dynamic", "metadata"] {
        for start in [Start::List, Start::WatchList] {
            let (informer, synced) = Informer::start(
                installation.cluster(),
                &kubeconfig,
                kind,
                start,
                &kubectl.namespace,
            )?;
            ensure!(synced["objects"] == EARLIER, "{}: {synced}", informer.name());
            informers.push((informer, start));
        }
    }
    let mut seen = Seen { added: EARLIER, ..Seen::default() };
    change(&kubectl, 1, &mut seen)?;
    for (informer, start) in &mut informers {
        let report = agrees(informer, seen)?;
        let asked = match start {
            Start::List => json!({ "lists": 1, "checks": 0, "watchLists": 0 }),
            Start::WatchList => json!({ "lists": 0, "checks": 1, "watchLists": 1 }),
        };
        for (what, times) in asked.as_object().context("an object")? {
            ensure!(&report["asked"][what] == times, "{}: {report}", informer.name());
        }
    }

    ensure!(replica.stop()?.success(), "SIGTERM ends it cleanly");
    replica.start()?;
    installation.await_available()?;
    resume(&kubectl, 2, &mut informers, &mut seen)?;

    replica.kill()?;
    replica.start()?;
    installation.await_available()?;
    resume(&kubectl, 3, &mut informers, &mut seen)?;
    Ok(())
}

/// After we were away, an informer may list again, and what happens until then it sees only the result of. So one change
/// brings all of them back, and those after it have to come one by one.
fn resume(
    kubectl: &Kubectl,
    round: u64,
    informers: &mut [(Informer, Start)],
    seen: &mut Seen,
) -> Result<()> {
    create(kubectl, round * 1000 + 999..round * 1000 + 1000)?;
    seen.added += 1;
    for (informer, _) in &mut *informers {
        agrees(informer, *seen)?;
    }
    change(kubectl, round, seen)?;
    for (informer, _) in informers {
        let report = agrees(informer, *seen)?;
        println!("{} has asked {}", informer.name(), report["asked"]);
    }
    Ok(())
}

/// Creates, changes and deletes some, and counts it.
fn change(kubectl: &Kubectl, round: u64, seen: &mut Seen) -> Result<()> {
    let new = round * 1000..round * 1000 + 10;
    create(kubectl, new)?;
    let label = format!("round={round}");
    let all = ["label", "templates.template.openshift.io", "--all", &label, "--overwrite"];
    let labelled = kubectl.ok(&all)?.lines().count() as u64;
    let first = format!("t-{}", round * 1000);
    kubectl.ok(&["delete", "templates.template.openshift.io", &first, &format!("t-{round}")])?;
    seen.added += 10;
    seen.updated += labelled;
    seen.deleted += 2;
    Ok(())
}

fn create(kubectl: &Kubectl, numbers: std::ops::Range<u64>) -> Result<()> {
    let all: Vec<_> = numbers.map(|n| template(&format!("t-{n}"), "app: web")).collect();
    kubectl.ok_with(&["create", "-f", "-"], &all.join("---\n"))?;
    Ok(())
}

/// Waits until the informer's store is what a list has, and holds its handlers' events against what happened.
fn agrees(informer: &mut Informer, seen: Seen) -> Result<Value> {
    let report = informer.compare()?;
    ensure!(report["differences"] == json!([]), "{}: {report}", informer.name());
    let events = json!({ "added": seen.added, "updated": seen.updated, "deleted": seen.deleted });
    ensure!(report["seen"] == events, "{}: {report}, not {events}", informer.name());
    Ok(report)
}

#[test]
fn client_go_reads_every_failure_as_what_it_is() -> Result<()> {
    let cluster = std::sync::Arc::new(Cluster::start(Routing::Off)?);
    let installation = Installation::new(cluster.clone(), Store::Embedded)?;
    let mut replica = installation.start(&[])?;
    installation.await_available()?;
    let kubectl = cluster.namespace()?;
    allow_alice(&kubectl)?;
    let admin = cluster.kubeconfig("admin");
    let attempts = |circumstance: &str, kubeconfig: &Path, kubectl: &Kubectl, least: usize| {
        hold(&failures(&cluster, kubeconfig, circumstance, &kubectl.namespace)?, least)
            .with_context(|| format!("circumstance {circumstance:?} by {}", kubeconfig.display()))
    };

    attempts("", &admin, &kubectl, 26)?;
    attempts("", &installation.direct_kubeconfig(&replica)?, &kubectl, 26)?;
    attempts("terminating", &admin, &terminating(&cluster)?, 1)?;
    replica.stop()?;
    attempts("away", &admin, &kubectl, 1)?;

    let overloaded = installation.start(&["--max-mutating-requests-inflight=1"])?;
    installation.await_available()?;
    attempts("overloaded", &admin, &kubectl, 1)?;
    drop(overloaded);

    let installation = Installation::new(cluster.clone(), Store::Etcd)?;
    let replica = installation.start(&[])?;
    installation.await_available()?;
    let direct = installation.direct_kubeconfig(&replica)?;
    cluster.kill(Component::Etcd)?;
    attempts("storeless", &direct, &kubectl, 1)?;
    Ok(())
}

/// Lets alice do with templates what she wants, by RBAC.
fn allow_alice(kubectl: &Kubectl) -> Result<()> {
    let resources = "--resource=templates.template.openshift.io";
    kubectl.ok(&["create", "role", "templates", "--verb=*", resources])?;
    kubectl.ok(&["create", "rolebinding", "alice", "--role=templates", "--user=alice"])?;
    Ok(())
}

/// A namespace that is being deleted, as our server knows, for as long as a finalizer of ours is in it.
fn terminating(cluster: &Cluster) -> Result<Kubectl> {
    let kubectl = cluster.namespace()?;
    let held = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"held","finalizers":["example.com/held"]}}"#;
    kubectl.ok_with(&["create", "-f", "-"], held)?;
    kubectl.ok(&["delete", "namespace", &kubectl.namespace, "--wait=false"])?;
    let late = kubectl.file("late.yaml", &template("late", "app: web"))?;
    kubectl.until_refused(&["create", "--dry-run=server", "-f", &late], "being terminated")?;
    Ok(kubectl)
}

/// Every attempt has to have been read rightly, and `least` of them have to have been made.
fn hold(outcomes: &[Value], least: usize) -> Result<()> {
    let wrong: Vec<_> = outcomes.iter().filter(|outcome| outcome["holds"] != true).collect();
    ensure!(wrong.is_empty(), "{wrong:#?}");
    ensure!(outcomes.len() >= least, "only {} attempts", outcomes.len());
    Ok(())
}
