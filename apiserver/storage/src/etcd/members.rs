//! The connection to etcd: to one member at a time, and to the next when that one fails.
//!
//! A balancer over all members would go on giving a share of the requests to one that hangs. The one that is in use
//! stays in use until it disappoints, and whoever noticed says so. Certificates are read again then, and now and
//! then, so that a connection that is made anew is made with those that hold.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use etcd_client::{
    Certificate, Client, ConnectOptions, Identity, KvClient, MaintenanceClient, TlsOptions,
    WatchClient,
};

use super::options::{ConnectError, Options, Tls};

/// How often an idle connection is tried, and how long the answer may take. etcd hangs up on those who ask more often
/// than every five seconds.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(5));

/// How often the certificates are compared with those in use.
const LOOK: Duration = Duration::from_secs(10);

/// Lists and watches bring more than the four megabytes that are usual. What they may bring, etcd decides.
const ANY_SIZE: usize = i32::MAX as usize;

/// All members of an etcd cluster.
pub(super) struct Members {
    endpoints: Vec<String>,
    tls: Tls,
    dial_timeout: Duration,
    state: Mutex<State>,
}

struct State {
    clients: Vec<Client>,
    files: Files,
    /// Which of the clients is in use.
    current: usize,
    /// How often the clients were exchanged for others or another one was chosen.
    choice: u64,
}

/// The member in use.
pub(super) struct Member {
    client: Client,
    choice: u64,
}

/// The contents of the files for TLS.
#[derive(Clone, Default, PartialEq, Eq)]
struct Files {
    ca: Option<Vec<u8>>,
    identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl Members {
    /// Prepares connections; none is made before it is needed.
    pub(super) async fn new(options: &Options) -> Result<Arc<Self>, ConnectError> {
        let endpoints = options.endpoints.clone();
        if endpoints.is_empty() {
            return Err(ConnectError::NoEndpoint);
        }
        let files = Files::read(&options.tls).await?;
        if endpoints.iter().any(|url| url.starts_with("https://")) && files.ca.is_none() {
            return Err(ConnectError::Tls(
                "https endpoints need the authority that vouches for them",
            ));
        }
        let clients = clients(&endpoints, &files, options.dial_timeout).await?;
        let state = Mutex::new(State { clients, files, current: 0, choice: 0 });
        let (tls, dial_timeout) = (options.tls.clone(), options.dial_timeout);
        Ok(Arc::new(Self { endpoints, tls, dial_timeout, state }))
    }

    /// The member in use.
    pub(super) fn current(&self) -> Member {
        let state = self.lock();
        Member { client: state.clients[state.current].clone(), choice: state.choice }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.endpoints.len()
    }

    /// Takes another member into use than the one that failed, unless somebody else has done that already.
    pub(super) async fn replace(&self, failed: &Member) {
        {
            let mut state = self.lock();
            if state.choice == failed.choice {
                state.current = (state.current + 1) % state.clients.len();
                state.choice += 1;
            }
        }
        self.reload().await;
    }

    /// Compares the certificates now and then, forever.
    pub(super) async fn keep_certificates(self: Arc<Self>) {
        if self.lock().files == Files::default() {
            return;
        }
        loop {
            tokio::time::sleep(LOOK).await;
            self.reload().await;
        }
    }

    /// Connects anew from now on, if the certificates are no longer those in use. Requests and watches that are on
    /// their way end on the connection they have.
    async fn reload(&self) {
        let refused = match Files::read(&self.tls).await {
            Ok(files) if files == self.lock().files => return,
            Ok(files) => match clients(&self.endpoints, &files, self.dial_timeout).await {
                Ok(clients) => {
                    let mut state = self.lock();
                    (state.clients, state.files) = (clients, files);
                    state.choice += 1;
                    tracing::info!("connecting to etcd with new certificates");
                    return;
                }
                Err(error) => error,
            },
            Err(error) => error,
        };
        // A certificate and its key are not replaced in the same moment.
        tracing::warn!(
            error = &refused as &dyn std::error::Error,
            "keeping the certificates in use"
        );
    }

    // Nothing panics between two changes that belong together, so a poisoned lock guards nothing broken.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member {
    pub(super) fn kv(&self) -> KvClient {
        self.client.kv_client().max_decoding_message_size(ANY_SIZE)
    }

    pub(super) fn watch(&self) -> WatchClient {
        self.client.watch_client().max_decoding_message_size(ANY_SIZE)
    }

    pub(super) fn maintenance(&self) -> MaintenanceClient {
        self.client.maintenance_client()
    }
}

impl Files {
    async fn read(tls: &Tls) -> Result<Self, ConnectError> {
        let identity = match (&tls.certificate, &tls.key) {
            (Some(certificate), Some(key)) => Some((read(certificate).await?, read(key).await?)),
            (None, None) => None,
            _ => return Err(ConnectError::Tls("a certificate and its key go together")),
        };
        let ca = match &tls.ca {
            Some(file) => Some(read(file).await?),
            None => None,
        };
        Ok(Self { ca, identity })
    }

    fn options(&self) -> Option<TlsOptions> {
        if *self == Self::default() {
            return None;
        }
        let mut options = TlsOptions::new();
        if let Some(ca) = &self.ca {
            options = options.ca_certificate(Certificate::from_pem(ca));
        }
        if let Some((certificate, key)) = &self.identity {
            options = options.identity(Identity::from_pem(certificate, key));
        }
        Some(options)
    }
}

async fn read(file: &Path) -> Result<Vec<u8>, ConnectError> {
    let contents = tokio::fs::read(file).await;
    contents.map_err(|source| ConnectError::File { file: file.to_owned(), source })
}

/// One client for each member, so that it is known which one answers. They connect when they are first used.
async fn clients(
    endpoints: &[String],
    files: &Files,
    dial_timeout: Duration,
) -> Result<Vec<Client>, ConnectError> {
    let mut options = ConnectOptions::new()
        .with_connect_timeout(dial_timeout)
        .with_keep_alive(KEEPALIVE.0, KEEPALIVE.1)
        // A member that has lost its cluster says so, instead of waiting with us.
        .with_require_leader(true);
    if let Some(tls) = files.options() {
        options = options.with_tls(tls);
    }
    let mut clients = Vec::with_capacity(endpoints.len());
    for endpoint in endpoints {
        let client = Client::connect([endpoint], Some(options.clone())).await;
        clients.push(client.map_err(|refused| ConnectError::Client(Box::new(refused)))?);
    }
    Ok(clients)
}
