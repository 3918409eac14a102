//! The cluster, with Formwork and a CustomResourceDefinition in it, both on one etcd.

use std::path::Path;

use anyhow::{Context, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bench::body::Body;
use bench::client::Target;
use bench::process::Process;
use tests::cluster::{Cluster, Component, Routing};
use tests::installation::{Installation, Store};
use tests::replica::Replica;

use crate::side::Side;

const CUSTOM: &str = "bench.formwork.dev/v1";
const OURS: &str = "template.openshift.io/v1";

/// What is measured, running.
pub(crate) struct Setting {
    // First, so that it ends before what it needs.
    replica: Replica,
    installation: Installation,
}

impl Setting {
    /// Starts everything and waits until it serves.
    pub(crate) fn start() -> Result<Self> {
        let cluster = Cluster::durable(Routing::Off)?;
        let installation = Installation::new(cluster.into(), Store::Etcd)?;
        let replica = installation.start(&[])?;
        installation.await_available()?;
        let kubectl = installation.cluster().kubectl("admin")?;
        kubectl.ok_with(&["apply", "-f", "-"], include_str!("crd.yaml"))?;
        kubectl.ok(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"])?;
        Ok(Self { replica, installation })
    }

    /// Ours and theirs, both asked directly, and nothing stored.
    pub(crate) fn sides(&mut self, templates: &Path) -> Result<Vec<Side>> {
        let body = Body::read(&templates.join("medium.json"))?;
        let cluster = self.installation.cluster();
        let kubeconfig = cluster.kubeconfig("admin");
        let address = self.replica.address().to_string();
        let authorities = self.authorities()?;
        let ours = Side {
            name: "ours",
            target: Target::elsewhere(&kubeconfig, address, &authorities)?,
            process: Process(self.replica.running()?.id()),
            collection: collection(OURS),
            body: body.as_of(OURS)?,
            stored: 0,
        };
        let pid = self.installation.cluster().pid(Component::Apiserver)?;
        let theirs = Side {
            name: "custom resources",
            target: Target::from_kubeconfig(&kubeconfig)?,
            process: Process(pid.as_raw_pid().unsigned_abs()),
            collection: collection(CUSTOM),
            body: body.as_of(CUSTOM)?,
            stored: 0,
        };
        Ok(vec![ours, theirs])
    }

    /// Ours, the way that users take to it. What it costs kube-apiserver is not in the figure of `ours`.
    pub(crate) fn through_aggregator(&self, ours: &Side) -> Result<Side> {
        let kubeconfig = self.installation.cluster().kubeconfig("admin");
        Ok(Side {
            name: "ours, aggregated",
            target: Target::from_kubeconfig(&kubeconfig)?,
            process: ours.process,
            collection: ours.collection.clone(),
            body: ours.body.as_of(OURS)?,
            stored: ours.stored,
        })
    }

    /// Ends our server, and fails unless it does so cleanly; the cluster goes with it.
    pub(crate) fn stop(mut self) -> Result<()> {
        let status = self.replica.stop()?;
        anyhow::ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }

    /// Who signs our certificates, as the aggregator knows it.
    fn authorities(&self) -> Result<Vec<u8>> {
        let kubectl = self.installation.cluster().kubectl("admin")?;
        let path = "jsonpath={.spec.caBundle}";
        let bundle = kubectl.ok(&["get", "apiservice", "v1.template.openshift.io", "-o", path])?;
        BASE64_STANDARD.decode(bundle.trim()).context("caBundle is in base64")
    }
}

fn collection(api_version: &str) -> String {
    format!("/apis/{api_version}/namespaces/default/templates")
}
