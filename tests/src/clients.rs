//! The Go programs of `hack/clients`, driven by lines.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::cluster::Cluster;

/// The Go side waits up to a minute for an informer that lags behind.
const PATIENCE: Duration = Duration::from_secs(90);

/// How an informer gets what is there when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// By a list, and a watch from there.
    List,
    /// By a watch that begins with all there is; what came is held against a list by client-go itself.
    WatchList,
}

/// A running informer of client-go. Dropping it ends it.
#[derive(Debug)]
pub struct Informer {
    name: String,
    child: Child,
    orders: ChildStdin,
    reports: Receiver<Value>,
}

impl Informer {
    /// Starts one of a `kind` (typed, dynamic, metadata) as whom `kubeconfig` says, in `namespace`, with what is
    /// reported once it is synced.
    ///
    /// # Errors
    /// When it is not synced in time.
    pub fn start(
        cluster: &Cluster,
        kubeconfig: &Path,
        kind: &str,
        start: Start,
        namespace: &str,
    ) -> Result<(Self, Value)> {
        let watch_list = (start == Start::WatchList).to_string();
        let mut child = clients(cluster, "informer", kubeconfig)
            .args(["--kind", kind, "--namespace", namespace])
            .env("KUBE_FEATURE_WatchListClient", &watch_list)
            .env("KUBE_WATCHLIST_INCONSISTENCY_DETECTOR", &watch_list)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let orders = child.stdin.take().context("stdin is piped")?;
        let stdout = BufReader::new(child.stdout.take().context("stdout is piped")?);
        let (send, reports) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = send.send(serde_json::from_str(&line).unwrap_or(Value::String(line)));
            }
        });
        let name = format!("{kind} informer by {start:?}");
        let informer = Self { name, child, orders, reports };
        let synced = informer.report()?;
        Ok((informer, synced))
    }

    /// What it is, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Waits until its store agrees with a list, and returns what it has seen.
    ///
    /// # Errors
    /// When it ended, or the server cannot be asked.
    pub fn compare(&mut self) -> Result<Value> {
        writeln!(self.orders).with_context(|| format!("{} is gone", self.name))?;
        self.report()
    }

    fn report(&self) -> Result<Value> {
        self.reports
            .recv_timeout(PATIENCE)
            .with_context(|| format!("{} does not report; stderr has why", self.name))
    }
}

impl Drop for Informer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Provokes failures under a circumstance that the caller has brought about, with what came of each attempt.
///
/// # Errors
/// When the program fails, which no failure of the server is.
pub fn failures(
    cluster: &Cluster,
    kubeconfig: &Path,
    circumstance: &str,
    namespace: &str,
) -> Result<Vec<Value>> {
    let output = clients(cluster, "errors", kubeconfig)
        .args(["--circumstance", circumstance, "--namespace", namespace])
        .stdin(Stdio::null())
        .output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "clients errors: {}: {stderr}", output.status);
    String::from_utf8(output.stdout)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn clients(cluster: &Cluster, command: &str, kubeconfig: &Path) -> Command {
    let mut program = Command::new(cluster.directory().join("bin/clients"));
    program.arg(command).arg("--kubeconfig").arg(kubeconfig);
    program
}
