//! The way to the cluster.

use std::path::Path;

use anyhow::{Context as _, Result};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// A client for the cluster of `kubeconfig`, or else for the one that this process runs in.
///
/// The token and the CA of a pod are read again when they change.
///
/// # Errors
/// When the file cannot be read, or there is neither a file nor a cluster around the process.
pub(super) async fn connect(kubeconfig: Option<&Path>) -> Result<Client> {
    let config = match kubeconfig {
        Some(file) => read(file).await.with_context(|| format!("--kubeconfig {}", file.display())),
        None => Config::incluster().context(
            "find the cluster: give --kubeconfig, run in a pod, or serve with --standalone",
        ),
    };
    client(config?)
}

/// A client for the cluster of a kubeconfig, as whom that says.
///
/// # Errors
/// When the file cannot be read or used.
pub(crate) async fn of(kubeconfig: &Path) -> Result<Client> {
    client(read(kubeconfig).await.with_context(|| kubeconfig.display().to_string())?)
}

fn client(mut config: Config) -> Result<Client> {
    // Whoever asks with it tries again by itself, and knows for how long.
    config.default_retry = false;
    Client::try_from(config).context("make a client for the cluster")
}

async fn read(file: &Path) -> Result<Config> {
    let kubeconfig = Kubeconfig::read_from(file)?;
    Ok(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)
}
