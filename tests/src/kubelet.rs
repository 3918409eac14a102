//! As much of a kubelet as controllers need: every pod that they make runs at once and is ready.
//!
//! There are no nodes in [`Cluster`](crate::cluster::Cluster), so that without it no Deployment of `apps` would ever be
//! available. Pods whose image says so never become ready.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::thread::JoinHandle;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::kubectl::Kubectl;

/// A pod with this in the name of an image is never ready.
pub const BROKEN: &str = "broken";

/// Follows the pods of a cluster until it is dropped.
#[derive(Debug)]
pub struct Kubelet {
    watch: Child,
    thread: Option<JoinHandle<()>>,
}

impl Kubelet {
    /// Starts to follow.
    ///
    /// # Errors
    /// When kubectl does not start.
    pub fn start(cluster: &Cluster) -> Result<Self> {
        let kubectl = cluster.kubectl("admin")?.in_namespace("");
        let watch = ["get", "pods", "--all-namespaces", "--watch", "-o", "jsonpath={@}{\"\\n\"}"];
        let mut watch = kubectl.command(&watch).stdout(Stdio::piped()).spawn()?;
        let pods = BufReader::new(watch.stdout.take().context("it is piped")?);
        let thread = std::thread::spawn(move || {
            for line in pods.lines().map_while(Result::ok) {
                // What cannot be read or written now comes again, or is gone.
                if let Ok(pod) = serde_json::from_str::<Value>(&line) {
                    let _ = run(&kubectl, &pod);
                }
            }
        });
        Ok(Self { watch, thread: Some(thread) })
    }
}

/// Lets a pod run that does not.
fn run(kubectl: &Kubectl, pod: &Value) -> Result<()> {
    let metadata = &pod["metadata"];
    let images = pod["spec"]["containers"].to_string();
    if pod["status"]["phase"] == "Running"
        || metadata["deletionTimestamp"].is_string()
        || images.contains(BROKEN)
    {
        return Ok(());
    }
    let text = |key: &str| metadata[key].as_str().with_context(|| key.to_owned());
    let now = metadata["creationTimestamp"].clone();
    let ready = |kind: &str| json!({ "type": kind, "status": "True", "lastTransitionTime": now });
    let conditions = ["Initialized", "ContainersReady", "Ready"].map(ready);
    let patch = json!({ "status": { "phase": "Running", "conditions": conditions } }).to_string();
    let name = format!("pod/{}", text("name")?);
    let of =
        ["--subresource=status", "--type=merge", "-p", &patch, "--namespace", text("namespace")?];
    kubectl.ok(&[&["patch", &name], of.as_slice()].concat())?;
    Ok(())
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        // It may have ended with its cluster.
        let _ = self.watch.kill();
        let _ = self.watch.wait();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
