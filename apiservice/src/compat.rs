//! Deployment Manager's own REST paths, for clients that know no other: those of its manager, and of its expandybird below
//! `/expandybird`, since both services had the same path.
//!
//! Codes and bodies are those of Deployment Manager 1.2.1, less its bugs. What is stored are our objects, kept as a client
//! of the Kubernetes API like any other: whoever asks here is as mighty as that client, so only this machine may ask
//! in the clear and without a token.

mod actor;
mod answer;
mod credentials;
mod deployments;
mod door;
mod expand;
mod expandybird;
mod guard;
mod library;
mod manager;
mod manifests;
mod operation;
mod registries;
mod route;
mod template;
mod types;

use std::path::Path;

use anyhow::{Context as _, Result};
use axum::{Router, middleware};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use self::actor::Actor;
use self::door::Door;
use self::guard::Guard;
use crate::args::Compat;
use crate::cluster::{client, files};
use crate::engine::Engine;

/// What is served, and as whom.
#[derive(Clone)]
struct Site {
    engine: Engine,
    actor: Option<Actor>,
}

/// The port, and what is served there once there is something to act on.
pub(crate) struct Listening {
    address: String,
    door: Door,
    guard: Guard,
}

impl Listening {
    /// Takes the port, if the flags ask for it.
    ///
    /// # Errors
    /// When the flags do not go together, somebody else has the port, or a file cannot be used.
    pub(crate) async fn start(flags: &Compat, standalone: bool) -> Result<Option<Self>> {
        flags.check(standalone)?;
        let Some(address) = flags.dm_compat_address else { return Ok(None) };
        let guard =
            Guard::new(flags.dm_compat_token_file.as_deref()).context("--dm-compat-token-file")?;
        let given = flags.dm_compat_tls_cert_file.as_deref();
        let certificate = given.zip(flags.dm_compat_tls_key_file.as_deref());
        let scheme = if certificate.is_some() { "https" } else { "http" };
        let certificate = certificate
            .map(|(chain, key)| files::certificate(chain, key))
            .transpose()
            .context("--dm-compat-tls-cert-file")?;
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("--dm-compat-address: listen on {address}"))?;
        let address = format!("{scheme}://{}", listener.local_addr()?);
        Ok(Some(Self { address, door: Door::new(listener, certificate)?, guard }))
    }

    /// Serves from now on. Without `kubeconfig` there is nothing but expansion.
    ///
    /// # Errors
    /// When the kubeconfig cannot be used.
    pub(crate) async fn serve(
        self,
        engine: Engine,
        flags: &Compat,
        administrator: Option<&Path>,
    ) -> Result<Serving> {
        let given = flags.dm_compat_kubeconfig.as_deref();
        let acting = flags.dm_compat_namespace.as_ref().zip(given.or(administrator));
        let actor = match acting {
            Some((namespace, kubeconfig)) => {
                let client = client::of(kubeconfig).await.context("--dm-compat-kubeconfig")?;
                Some(Actor::new(client, namespace.clone(), flags.dm_compat_timeout))
            }
            None => None,
        };
        Ok(self.open(Site { engine, actor }))
    }

    fn open(self, site: Site) -> Serving {
        let Self { address, door, guard } = self;
        tracing::info!("Deployment Manager's paths are on {address}");
        let (stop, stopped) = oneshot::channel();
        let task =
            tokio::spawn(door.serve(router(site, guard), async move { drop(stopped.await) }));
        Serving { stop, task }
    }
}

/// The paths being served.
pub(crate) struct Serving {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Serving {
    /// Takes no more connections, and gives what was asked before some time to be answered.
    pub(crate) async fn stop(self) {
        // It may have ended by itself.
        let _ = self.stop.send(());
        if let Err(error) = self.task.await {
            tracing::error!(%error, "Deployment Manager's paths");
        }
    }
}

fn router(site: Site, guard: Guard) -> Router {
    Router::new()
        .fallback(manager::answer)
        .with_state(site)
        .layer(middleware::from_fn_with_state(guard, guard::let_in))
}

#[cfg(test)]
mod tests;
