//! Replicas are restarted one after the other while clients are at work, as a Deployment does it.

use std::sync::Arc;
use std::time::Duration;

use ::tests::client::Request;
use ::tests::cluster::{Cluster, Routing};
use ::tests::installation::{Installation, Store};
use ::tests::load::{Load, WATCHERS};
use ::tests::replica::Replica;
use anyhow::{Context as _, Result, ensure};
use rustix::process::Signal;

use crate::rotation::until;

const FLAGS: &[&str] = &["--shutdown-delay-duration=2s"];
/// How long a replica may take to end, after the delay.
const ENDED_WITHIN: Duration = Duration::from_secs(30);
const TEMPLATES: &str = "/apis/template.openshift.io/v1/templates";

/// When a replica that goes is taken out of its Service.
#[derive(Clone, Copy, Debug)]
enum Withdrawn {
    /// As soon as it is told to stop.
    AtOnce,
    /// So much later: its kubelet tells it while other controllers see to the endpoints, and nobody waits for anybody.
    After(Duration),
}

#[tokio::test(flavor = "multi_thread")]
async fn two_replicas_are_restarted_one_by_one_and_no_request_fails() -> Result<()> {
    let cluster = Arc::new(Cluster::start(Routing::On)?);
    let installation = Installation::new(cluster, Store::Etcd)?;
    let (mut first, mut second) = (installation.start(FLAGS)?, installation.start(FLAGS)?);
    installation.await_available()?;
    let load = Load::start(installation.cluster()).await?;
    let late = Withdrawn::After(Duration::from_millis(300));
    for withdrawn in [Withdrawn::AtOnce, late] {
        for replica in [&mut first, &mut second] {
            load.goes_on().await?;
            restart(&installation, replica, withdrawn).with_context(|| format!("{withdrawn:?}"))?;
        }
    }
    load.goes_on().await?;
    let report = load.end().await;
    report.flawless()?;
    let watchers = u64::try_from(WATCHERS)?;
    ensure!(report.resumed >= watchers, "watches were at replicas that went: {report}");
    Ok(())
}

fn restart(installation: &Installation, replica: &mut Replica, when: Withdrawn) -> Result<()> {
    let process = replica.running()?;
    process.signal(Signal::TERM)?;
    if let Withdrawn::After(delay) = when {
        // How late the endpoints are is what this is about.
        std::thread::sleep(delay);
    }
    installation.withdraw(replica)?;
    let ended = replica.running()?.ended(ENDED_WITHIN)?;
    let log = replica.log();
    ensure!(ended.success(), "{ended}: {log}");
    let last: Vec<_> = log.lines().rev().take(20).collect();
    for step in ["told to stop", "no new connections", "stopped"] {
        ensure!(last.iter().any(|line| line.contains(step)), "{step:?} is not said: {log}");
    }
    ensure!(!log.contains("cut"), "not everything came to its end: {log}");
    replica.start()?;
    installation.admit(replica)
}

/// Without another replica a restart is a gap. Clients are told so, and what they stored is there afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn the_restart_of_the_only_replica_is_a_503_by_the_aggregator() -> Result<()> {
    let cluster = Arc::new(Cluster::start(Routing::Off)?);
    let installation = Installation::new(cluster, Store::Embedded)?;
    let mut replica = installation.start(FLAGS)?;
    installation.await_available()?;
    let load = Load::start(installation.cluster()).await?;
    load.goes_on().await?;
    let administrator = load.client().clone();
    load.end().await.flawless()?;

    ensure!(replica.stop()?.success(), "SIGTERM ends it cleanly");
    let answer = administrator.send(&Request::get(TEMPLATES)).await?;
    ensure!(answer.status == 503, "{}: {}", answer.status, answer.text());
    let text = answer.text();
    ensure!(
        text.contains("service unavailable") || text.contains("connection refused"),
        "nobody is told why: {text}"
    );
    replica.start()?;
    until("the aggregator has found it again", async || {
        let answer = administrator.send(&Request::get(TEMPLATES)).await?;
        ensure!(matches!(answer.status, 200 | 503), "{}: {}", answer.status, answer.text());
        Ok(answer.status == 200 && answer.text().contains("counted"))
    })
    .await
}
