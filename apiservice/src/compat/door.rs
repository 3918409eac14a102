//! The socket: connections are let in, a bounded number of them, each given a bounded time to say what it wants.
//!
//! HTTP/1.1 alone, which is what clients of that time speak, in the clear or under TLS.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use apiserver::tls::{ServingCertificate, server_config};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// Room for the headers of a request.
const HEADER_BYTES: usize = 64 << 10;
/// How long connections are waited for when the server stops.
const LAST_CALL: Duration = Duration::from_secs(5);

/// A socket that is listened to.
pub(super) struct Door {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    pub(super) bounds: Bounds,
}

/// How much clients may take.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Connections at once; others wait in the kernel.
    pub(super) connections: usize,
    /// How long a TLS handshake may take, and the headers of a request; a connection without one is closed after it.
    pub(super) speaking: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { connections: 256, speaking: Duration::from_secs(10) }
    }
}

impl Door {
    /// The socket, with TLS if there is a certificate.
    ///
    /// # Errors
    /// When TLS cannot be configured.
    pub(super) fn new(
        listener: TcpListener,
        certificate: Option<Arc<ServingCertificate>>,
    ) -> Result<Self> {
        let acceptor = |certificate| {
            let mut config = server_config(certificate).context("configure TLS")?;
            config.alpn_protocols = vec![b"http/1.1".to_vec()];
            Ok::<_, anyhow::Error>(TlsAcceptor::from(Arc::new(config)))
        };
        let tls = certificate.map(acceptor).transpose()?;
        Ok(Self { listener, tls, bounds: Bounds::default() })
    }

    /// Serves until `stopped` is done, and then what was asked before, for a while.
    pub(super) async fn serve(self, app: Router, stopped: impl Future<Output = ()>) {
        let Self { listener, tls, bounds } = self;
        let slots = Arc::new(Semaphore::new(bounds.connections));
        let ending = GracefulShutdown::new();
        let mut open = JoinSet::new();
        let accept = async {
            loop {
                let Ok(slot) = slots.clone().acquire_owned().await else { return };
                match listener.accept().await {
                    Ok((stream, _)) => {
                        let visitor = Visitor {
                            service: TowerToHyperService::new(app.clone()),
                            ending: ending.watcher(),
                            speaking: bounds.speaking,
                            _slot: slot,
                        };
                        open.spawn(visitor.come_in(stream, tls.clone()));
                        while open.try_join_next().is_some() {}
                    }
                    Err(error) => pause_after(&error).await,
                }
            }
        };
        tokio::select! {
            () = accept => {}
            () = stopped => {}
        }
        // What is left then is cut off with its task.
        let _ = tokio::time::timeout(LAST_CALL, ending.shutdown()).await;
    }
}

/// Who comes in.
struct Visitor {
    service: TowerToHyperService<Router>,
    ending: Watcher,
    speaking: Duration,
    _slot: OwnedSemaphorePermit,
}

impl Visitor {
    async fn come_in(self, stream: TcpStream, tls: Option<TlsAcceptor>) {
        // Not worth refusing a connection for.
        let _ = stream.set_nodelay(true);
        let served = match tls {
            None => self.speak(stream).await,
            Some(tls) => match tokio::time::timeout(self.speaking, tls.accept(stream)).await {
                Ok(Ok(stream)) => self.speak(stream).await,
                Ok(Err(error)) => return tracing::debug!(%error, "TLS handshake"),
                Err(_) => return tracing::debug!("TLS handshake took too long"),
            },
        };
        if let Err(error) = served {
            tracing::debug!(%error, "connection");
        }
    }

    async fn speak(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Result<(), hyper::Error> {
        let Self { service, ending, speaking, _slot } = self;
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(speaking)
            .max_buf_size(HEADER_BYTES)
            .serve_connection(TokioIo::new(stream), service);
        ending.watch(connection).await
    }
}

/// A connection that broke before it was accepted is nobody's loss; anything else will not be better at once.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    if !matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted) {
        tracing::error!(%error, "cannot accept connections on --dm-compat-address");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
