//! What a server stands on, with a cluster or without: its store, its APIs, its checks and metrics, and
//! the way from there to serving.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use apiserver::admission::{Admission, Plugin};
use apiserver::api::Api;
use apiserver::audit::{self, Audit};
use apiserver::authn::Authenticator;
use apiserver::authz::Authorizer;
use apiserver::chain::{Chain, Dispatch, Parties};
use apiserver::environment::System;
use apiserver::health::{Health, Scope};
use apiserver::limits::Limits;
use apiserver::metrics::Metrics;
use apiserver::openapi::Info;
use apiserver::server::Server;
use apiserver::storage::compactor::{Compactor, Monotonic, RETENTION};
use apiserver::storage::etcd::{self, Etcd};
use apiserver::storage::redb::{self, Redb};
use apiserver::storage::{Backend, Cache, cache};
use apiserver::store::Store;
use apiserver::tls::ServingCertificate;
use apiserver::version::Version;
use tokio::net::TcpListener;

use crate::args::{self, Serve, Storage};
use crate::compat;
use crate::deployments::{self, Deployments};
use crate::engine::Engine;
use crate::groups::groups;
use crate::signals;
use crate::sources::Sources;

/// A store that is open and read, and what is served from it.
pub(crate) struct Foundation<'a> {
    serve: &'a Serve,
    version: Version,
    /// What `/metrics` shows.
    pub(crate) metrics: Arc<Metrics>,
    /// What `/readyz` and its like ask.
    pub(crate) health: Health,
    audit: Option<Arc<Audit>>,
    backend: Arc<dyn Backend>,
    store: Store,
    engine: Engine,
    /// Where Deployment Manager's own paths are asked for, if they are served.
    compat: Option<compat::Listening>,
}

impl<'a> Foundation<'a> {
    /// Opens the store and reads it, and starts what expansions run on.
    ///
    /// # Errors
    /// When the store cannot be opened, belongs to another process, or cannot be read.
    pub(crate) async fn lay(serve: &'a Serve) -> Result<Self> {
        let version = Version::new(concat!("v", env!("CARGO_PKG_VERSION")));
        let metrics = Arc::new(Metrics::new(&version));
        let backend = open(&serve.storage, &metrics).await?;
        let cache = Cache::start(backend.clone(), cache::Options::default());
        let cache = cache.await.context("read the store")?;
        let store = Store::new(Arc::new(cache), Arc::new(System));
        let health = health(&serve.storage, &backend);
        let audit = audit(&serve.audit, &metrics)?;
        let compat = compat::Listening::start(&serve.compat, serve.standalone).await?;
        let engine = Engine::start(&serve.expansion)?;
        engine.report(&health, &metrics);
        Ok(Self { serve, version, metrics, health, audit, backend, store, engine, compat })
    }

    /// Everything that is served, before the filters, and what carries out Deployments, to a cluster if
    /// there is one. Writes have to pass `plugins`, and what is common to all servers.
    pub(crate) fn api(
        &self,
        mut plugins: Vec<Box<dyn Plugin>>,
        to: Option<deployments::To>,
    ) -> (Api, Deployments) {
        let cluster = deployments::To::cluster(to.as_ref());
        let sources = Sources::new(&self.store, cluster);
        let expansions = deployments::Expansions::new(&self.engine, &self.store, &sources);
        plugins.push(Box::new(deployments::Journal));
        plugins.push(Box::new(deployments::Expands(expansions.clone())));
        let admission = Admission::new(plugins);
        let git_version = self.version.git_version.clone();
        let info = Info { title: "Formwork".to_owned(), version: git_version };
        let store = self.store.clone().guarded_by(admission.observed_by(&self.metrics));
        let deployments = Deployments::new(&self.store, expansions, to, &self.metrics);
        let groups = groups(&self.engine, Some(&sources), Some(deployments.deployer()));
        (Api::new(groups, store, &info).observed_by(&self.metrics), deployments)
    }

    /// `dispatch` behind the filters.
    pub(crate) fn chain(
        &self,
        authenticator: Arc<dyn Authenticator>,
        authorizer: Arc<dyn Authorizer>,
        dispatch: Arc<dyn Dispatch>,
    ) -> Arc<Chain> {
        Chain::new(Parties {
            authenticator,
            authorizer,
            dispatch,
            health: self.health.clone(),
            metrics: self.metrics.clone(),
            version: self.version.clone(),
            limits: Limits {
                reading: self.serve.max_requests_inflight,
                mutating: self.serve.max_mutating_requests_inflight,
                ..Limits::default()
            },
            goaway_chance: self.serve.goaway_chance,
            audit: self.audit.clone(),
        })
    }

    /// Takes the port.
    ///
    /// # Errors
    /// When somebody else has it.
    pub(crate) async fn listen(&self, default: IpAddr) -> Result<TcpListener> {
        let listening = &self.serve.listening;
        let address = listening.bind_address.unwrap_or(default);
        let address = SocketAddr::new(address, listening.secure_port);
        TcpListener::bind(address).await.with_context(|| format!("listen on {address}"))
    }

    /// Serves until the process is told to stop. Deployment Manager's paths may act as `administrator`, a kubeconfig.
    ///
    /// # Errors
    /// When the server cannot begin.
    pub(crate) async fn serve(
        self,
        chain: Arc<Chain>,
        certificate: Arc<ServingCertificate>,
        listener: TcpListener,
        deployments: Deployments,
        administrator: Option<&Path>,
    ) -> Result<()> {
        if let Some(retention) = retention(&self.serve.storage) {
            let clock = Arc::new(Monotonic::start());
            tokio::spawn(Compactor::new(&self.backend, clock, retention).run());
        }
        let (stop, stop_at_once) = signals::stop().context("listen to signals")?;
        let compat = match self.compat {
            Some(listening) => {
                let flags = &self.serve.compat;
                Some(listening.serve(self.engine.clone(), flags, administrator).await?)
            }
            None => None,
        };
        let deployments = deployments.start();
        tracing::info!("serving on https://{}", listener.local_addr()?);
        Server::new(chain, certificate)
            .shutdown_delay(self.serve.shutdown_delay_duration)
            .at_once(stop_at_once)
            .serve(listener, stop)
            .await
            .context("serve")?;
        deployments.stop().await;
        if let Some(compat) = compat {
            compat.stop().await;
        }
        self.engine.stop().await;
        tracing::info!("stopped");
        Ok(())
    }
}

async fn open(storage: &Storage, metrics: &Metrics) -> Result<Arc<dyn Backend>> {
    let flags = &storage.etcd;
    if flags.etcd_servers.is_empty() {
        let store = Redb::open(&storage.data_dir, &redb::Options::default())?;
        return Ok(Arc::new(store));
    }
    let options = etcd::Options {
        endpoints: flags.etcd_servers.clone(),
        prefix: flags.etcd_prefix.clone(),
        tls: etcd::Tls {
            ca: flags.etcd_cafile.clone(),
            certificate: flags.etcd_certfile.clone(),
            key: flags.etcd_keyfile.clone(),
        },
        observer: metrics.etcd_requests(),
        ..etcd::Options::default()
    };
    Ok(Arc::new(Etcd::connect(options).await.context("open the store in etcd")?))
}

/// How long history is kept; none if somebody else compacts it.
fn retention(storage: &Storage) -> Option<Duration> {
    if storage.etcd.etcd_servers.is_empty() {
        return Some(RETENTION);
    }
    Some(storage.etcd.etcd_compaction_interval).filter(|interval| !interval.is_zero())
}

/// What the flags say about the audit log; none unless there is a policy and a place for it.
fn audit(flags: &args::Audit, metrics: &Metrics) -> Result<Option<Arc<Audit>>> {
    let (Some(policy), Some(log)) = (&flags.audit_policy_file, &flags.audit_log_path) else {
        return Ok(None);
    };
    let text = fs::read_to_string(policy).with_context(|| format!("read {}", policy.display()))?;
    let policy =
        audit::Policy::parse(&text).with_context(|| format!("read {}", policy.display()))?;
    let log = if log.as_os_str() == "-" {
        audit::Log::stdout()
    } else {
        let rotation = audit::Rotation {
            size: flags.audit_log_maxsize.saturating_mul(1 << 20),
            backups: flags.audit_log_maxbackup,
            days: u32::try_from(flags.audit_log_maxage).context("--audit-log-maxage")?,
        };
        audit::Log::file(log, rotation).with_context(|| format!("open {}", log.display()))?
    };
    Ok(Some(Arc::new(Audit::new(policy, log, Arc::new(System), metrics))))
}

/// The check of the store is `etcd`, as upstream's is called, or `storage` when it is a file.
fn health(storage: &Storage, backend: &Arc<dyn Backend>) -> Health {
    let health = Health::new();
    let name = if storage.etcd.etcd_servers.is_empty() { "storage" } else { "etcd" };
    let backend = backend.clone();
    health.add(name, Scope::Ready, move || {
        let backend = backend.clone();
        async move { backend.health().await.map_err(|error| error.to_string()) }
    });
    health
}
