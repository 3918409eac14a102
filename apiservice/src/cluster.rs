//! A server that is part of a cluster: kube-apiserver forwards requests to it, and says who users are
//! and what they may do.

use anyhow::{Result, bail};

use crate::args::{Serve, Uninstall};

/// Serves until the process is told to stop.
///
/// # Errors
/// Whatever keeps the server from starting, with what was being done.
pub(crate) async fn serve(_serve: &Serve) -> Result<()> {
    bail!("serving behind a kube-apiserver is not there yet; use --standalone");
}

/// Takes the server out of the cluster.
///
/// # Errors
/// When the cluster cannot be asked, or refuses.
pub(crate) async fn uninstall(_uninstall: &Uninstall) -> Result<()> {
    bail!("not there yet");
}
