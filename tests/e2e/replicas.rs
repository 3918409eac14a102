//! Several replicas behind one Service.

use std::sync::Arc;

use ::tests::cluster::{Cluster, Routing};
use ::tests::installation::{Installation, Store};
use anyhow::{Result, ensure};

use crate::kubectl::Templates as _;

#[test]
fn each_replica_that_is_admitted_serves_what_another_stored() -> Result<()> {
    let cluster = Arc::new(Cluster::start(Routing::On)?);
    let installation = Installation::new(cluster.clone(), Store::Etcd)?;
    let mut first = installation.start(&[])?;
    installation.await_available()?;
    let kubectl = cluster.namespace()?;
    kubectl.create("by-the-first", "app: web")?;

    let mut second = installation.start(&[])?;
    installation.withdraw(&first)?;
    ensure!(first.stop()?.success(), "SIGTERM ends it cleanly");
    installation.await_available()?;
    kubectl.get("by-the-first")?;
    kubectl.create("by-the-second", "app: web")?;

    first.start()?;
    installation.admit(&first)?;
    installation.withdraw(&second)?;
    second.kill()?;
    installation.await_available()?;
    kubectl.get("by-the-second")?;
    Ok(())
}
