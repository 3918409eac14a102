//! The server is killed at any moment of an operation, and kube-apiserver goes away in the middle of one: what is there
//! in the end is what would have been there anyway.
//!
//! `FORMWORK_KILLS` says how often the server is killed, `FORMWORK_DOWN` for how many seconds kube-apiserver is away.
//! The deployer's own tests break each single step; here the processes are real.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tests::cluster::{Cluster, Component, Routing};
use tests::installation::{Installation, Store};
use tests::kubectl::Kubectl;
use tests::replica::Replica;

use crate::setting::{config_map, deployment, dmd, resources};

/// How many waves there are, and how many objects in each.
const WAVES: usize = 6;
const WIDTH: usize = 4;

fn number(variable: &str, default: u64) -> Result<u64> {
    std::env::var(variable).map_or(Ok(default), |text| text.parse().context("a number"))
}

/// Objects called after `prefix`, wave behind wave, each with a value of the one before.
fn waves(prefix: &str) -> Value {
    let name = |wave: usize, at: usize| format!("{prefix}-{wave}-{at}");
    let object = |wave: usize, at: usize| {
        let value = match wave {
            0 => "v".to_owned(),
            _ => format!("$(ref.{}.data.v)+", name(wave - 1, at)),
        };
        config_map(&name(wave, at), &json!({ "v": value }))
    };
    let all: Vec<_> = (0..WAVES)
        .flat_map(|wave| (0..WIDTH).map(move |at| (wave, at)))
        .map(|(wave, at)| object(wave, at))
        .collect();
    resources(&json!(all))
}

/// The ConfigMaps of the namespace with their data, but for those that a cluster makes itself.
fn found(kubectl: &Kubectl) -> Result<Vec<String>> {
    let path = "jsonpath={range .items[*]}{.metadata.name}={.data.v}{\"\\n\"}{end}";
    let all = kubectl.ok(&["get", "configmaps", "-o", path])?;
    Ok(all.lines().filter(|line| !line.starts_with("kube-root-ca")).map(str::to_owned).collect())
}

/// What [`waves`] comes to.
fn wanted(prefix: &str) -> Vec<String> {
    let object = |(wave, at): (usize, usize)| format!("{prefix}-{wave}-{at}=v{}", "+".repeat(wave));
    (0..WAVES).flat_map(|wave| (0..WIDTH).map(move |at| (wave, at))).map(object).collect()
}

/// A cluster of its own, with one replica.
struct Alone {
    replica: Replica,
    kubectl: Kubectl,
    installation: Installation,
}

impl Alone {
    fn start() -> Result<Self> {
        let installation = Installation::new(Arc::new(Cluster::start(Routing::Off)?), Store::Etcd)?;
        let replica = installation.start(&["--leader-elect=false"])?;
        installation.await_available()?;
        let kubectl = installation.cluster().namespace()?;
        kubectl.ok(&["create", "configmap", "foreign", "--from-literal=v=foreign"])?;
        Ok(Self { replica, kubectl, installation })
    }

    /// kill -9, and another process.
    fn kill(&mut self) -> Result<()> {
        self.replica.kill()?;
        self.replica.start()?;
        self.installation.await_available()
    }

    /// Waits until the Deployment is ready, and finds what is wanted and what was there before.
    fn settled(&self, prefix: &str) -> Result<()> {
        let ready = ["wait", "--for=condition=Ready", &dmd("x"), "--timeout=90s"];
        let ready = self.kubectl.ok(&ready);
        ready.with_context(|| {
            self.kubectl.ok(&["get", &dmd("x"), "-o", "yaml"]).unwrap_or_default()
        })?;
        let mut want = wanted(prefix);
        want.push("foreign=foreign".to_owned());
        want.sort();
        assert_eq!(found(&self.kubectl)?, want);
        Ok(())
    }
}

#[test]
fn a_server_that_is_killed_at_any_moment_goes_on_where_it_was() -> Result<()> {
    let mut alone = Alone::start()?;
    let kills = number("FORMWORK_KILLS", 6)?;
    for round in 0..kills {
        // The moment is what is tried, and not a condition that could be waited for.
        let moment = Duration::from_millis(round * 300 / kills.max(1));
        alone.kubectl.ok_with(&["apply", "-f", "-"], &deployment("x", &waves("a")))?;
        thread::sleep(moment);
        alone.kill()?;
        alone.settled("a")?;
        alone.kubectl.ok_with(&["apply", "-f", "-"], &deployment("x", &waves("b")))?;
        thread::sleep(moment);
        alone.kill()?;
        alone.settled("b")?;
        alone.kubectl.ok(&["delete", &dmd("x"), "--wait=false"])?;
        thread::sleep(moment);
        alone.kill()?;
        alone.kubectl.ok(&["wait", "--for=delete", &dmd("x"), "--timeout=90s"])?;
        assert_eq!(found(&alone.kubectl)?, ["foreign=foreign"], "round {round}");
        assert_eq!(alone.kubectl.ok(&["get", "manifests", "-o", "name"])?, "");
    }
    Ok(())
}

#[test]
fn what_was_begun_goes_on_when_kube_apiserver_is_back() -> Result<()> {
    let alone = Alone::start()?;
    let down = Duration::from_secs(number("FORMWORK_DOWN", 3)?);
    for (prefix, moment) in [("a", 40), ("b", 120)] {
        alone.kubectl.ok_with(&["apply", "-f", "-"], &deployment("x", &waves(prefix)))?;
        thread::sleep(Duration::from_millis(moment));
        alone.installation.cluster().kill(Component::Apiserver)?;
        thread::sleep(down);
        alone.installation.cluster().up()?;
        alone.installation.await_available()?;
        alone.settled(prefix)?;
    }
    let uids =
        alone.kubectl.ok(&["get", "configmaps", "-o", "jsonpath={.items[*].metadata.uid}"])?;
    ensure!(uids.split(' ').count() == WAVES * WIDTH + 2, "{uids}");
    Ok(())
}
