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

/// Connections at once; others wait in the kernel.
const CONNECTIONS: usize = 256;
/// How long a TLS handshake may take, and the headers of a request; a connection without one is closed after it.
const SPEAKING: Duration = Duration::from_secs(10);
/// Room for the headers of a request.
const HEADER_BYTES: usize = 64 << 10;
/// How long connections are waited for when the server stops.
const LAST_CALL: Duration = Duration::from_secs(5);

/// A socket that is listened to.
pub(super) struct Door {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
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
        Ok(Self { listener, tls: certificate.map(acceptor).transpose()? })
    }

    /// Serves until `stopped` is done, and then what was asked before, for a while.
    pub(super) async fn serve(self, app: Router, stopped: impl Future<Output = ()>) {
        let Self { listener, tls } = self;
        let slots = Arc::new(Semaphore::new(CONNECTIONS));
        let ending = GracefulShutdown::new();
        let mut open = JoinSet::new();
        let accept = async {
            loop {
                let Ok(slot) = slots.clone().acquire_owned().await else { return };
                match listener.accept().await {
                    Ok((stream, _)) => {
                        let service = TowerToHyperService::new(app.clone());
                        open.spawn(connection(
                            stream,
                            tls.clone(),
                            service,
                            ending.watcher(),
                            slot,
                        ));
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

async fn connection(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    service: TowerToHyperService<Router>,
    ending: Watcher,
    _slot: OwnedSemaphorePermit,
) {
    // Not worth refusing a connection for.
    let _ = stream.set_nodelay(true);
    let served = match tls {
        None => speak(stream, service, ending).await,
        Some(tls) => match tokio::time::timeout(SPEAKING, tls.accept(stream)).await {
            Ok(Ok(stream)) => speak(stream, service, ending).await,
            Ok(Err(error)) => return tracing::debug!(%error, "TLS handshake"),
            Err(_) => return tracing::debug!("TLS handshake took too long"),
        },
    };
    if let Err(error) = served {
        tracing::debug!(%error, "connection");
    }
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    service: TowerToHyperService<Router>,
    ending: Watcher,
) -> Result<(), hyper::Error> {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(SPEAKING)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    ending.watch(connection).await
}

/// A connection that broke before it was accepted is nobody's loss; anything else will not be better at once.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    if !matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted) {
        tracing::error!(%error, "cannot accept connections on --dm-compat-address");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
