//! Puts a server together and runs it until it is told to stop.

use std::fs;
use std::future::Future;
use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use apiserver::api::Api;
use apiserver::authn::{
    Anonymous, Authenticator, CaBundle, ClientCertificates, StaticTokens, Union,
};
use apiserver::authz;
use apiserver::chain::{Chain, Parties};
use apiserver::environment::{Environment as _, System};
use apiserver::health::{Health, Scope};
use apiserver::limits::Limits;
use apiserver::metrics::Metrics;
use apiserver::openapi::Info;
use apiserver::server::Server;
use apiserver::storage::compactor::{Compactor, Monotonic, RETENTION};
use apiserver::storage::redb::{self, Redb};
use apiserver::storage::{Backend, Cache, cache};
use apiserver::store::Store;
use apiserver::tls::ServingCertificate;
use apiserver::version::Version;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use crate::args::{Args, Command, Serve};
use crate::groups::groups;
use crate::standalone::{self, EveryNamespace};

/// Does what the command line says.
///
/// # Errors
/// Whatever keeps the server from starting, with what was being done.
pub fn run(args: Args) -> Result<()> {
    let Command::Serve(serve) = args.command;
    let filter = EnvFilter::try_new(&serve.log_level).context("--log-level")?;
    let colours = std::io::stderr().is_terminal();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colours)
        .init();
    if !serve.standalone {
        bail!("serving behind a kube-apiserver is not there yet; use --standalone");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve_standalone(serve))
}

async fn serve_standalone(serve: Serve) -> Result<()> {
    let now = System.now();
    let certificates = standalone::ensure(&serve.data_dir.join("pki"), serve.bind_address, now)?;
    let backend = open_store(&serve)?;
    let cache =
        Cache::start(backend.clone(), cache::Options::default()).await.context("read the store")?;
    let store = Store::new(Arc::new(cache), Arc::new(System));

    let version = Version::new(concat!("v", env!("CARGO_PKG_VERSION")));
    let info = Info { title: "Formwork".to_owned(), version: version.git_version.clone() };
    let metrics = Arc::new(Metrics::new(&version));
    let api = Api::new(groups(), store, &info).observed_by(&metrics);
    let chain = Chain::new(Parties {
        authenticator: Arc::new(authenticator(&serve, &certificates)?),
        authorizer: Arc::new(authz::Union::standalone()),
        dispatch: Arc::new(EveryNamespace(api)),
        health: health(&backend),
        metrics,
        version,
        limits: Limits {
            reading: serve.max_requests_inflight,
            mutating: serve.max_mutating_requests_inflight,
            ..Limits::default()
        },
    });
    let certificate = ServingCertificate::from_pem(
        certificates.serving.0.as_bytes(),
        certificates.serving.1.as_bytes(),
    )?;

    let address = SocketAddr::new(serve.bind_address, serve.secure_port);
    let listener =
        TcpListener::bind(address).await.with_context(|| format!("listen on {address}"))?;
    let address = listener.local_addr()?;
    let kubeconfig = serve.data_dir.join("admin.kubeconfig");
    standalone::write(&kubeconfig, &url(address), &certificates)?;

    tokio::spawn(Compactor::new(&backend, Arc::new(Monotonic::start()), RETENTION).run());
    let (stop, stop_at_once) = signals()?;
    tracing::info!(kubeconfig = %kubeconfig.display(), "serving on https://{address}");
    Server::new(chain, certificate)
        .shutdown_delay(serve.shutdown_delay_duration)
        .at_once(stop_at_once)
        .serve(listener, stop)
        .await
        .context("serve")?;
    tracing::info!("stopped");
    Ok(())
}

/// What kubectl is told to dial: an address that it can reach, not the one of all interfaces.
fn url(address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        return format!("https://127.0.0.1:{}", address.port());
    }
    format!("https://{address}")
}

fn open_store(serve: &Serve) -> Result<Arc<dyn Backend>> {
    let store = Redb::open(&serve.data_dir, &redb::Options::default())?;
    Ok(Arc::new(store))
}

fn authenticator(serve: &Serve, certificates: &standalone::Certificates) -> Result<Union> {
    let authorities = Arc::new(CaBundle::from_pem(certificates.ca.as_bytes())?);
    let mut members: Vec<Box<dyn Authenticator>> =
        vec![Box::new(ClientCertificates::new(authorities))];
    if let Some(file) = &serve.token_auth_file {
        let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
        let tokens =
            StaticTokens::from_csv(&text).with_context(|| format!("read {}", file.display()))?;
        members.push(Box::new(tokens));
    }
    Ok(Union::new(members, Anonymous::Allowed))
}

fn health(backend: &Arc<dyn Backend>) -> Health {
    let health = Health::new();
    let backend = backend.clone();
    health.add("storage", Scope::Ready, move || {
        let backend = backend.clone();
        async move { backend.health().await.map_err(|error| error.to_string()) }
    });
    health
}

/// The first SIGTERM or SIGINT asks to stop in order, the second at once.
fn signals() -> Result<(impl Future<Output = ()>, impl Future<Output = ()> + Send + 'static)> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (first, told_first) = tokio::sync::oneshot::channel();
    let (second, told_second) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        for told in [first, second] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            // Nobody listens any more when the server has stopped by itself.
            let _ = told.send(());
        }
    });
    let wait = |told: tokio::sync::oneshot::Receiver<()>| async move {
        let _ = told.await;
    };
    Ok((wait(told_first), wait(told_second)))
}
