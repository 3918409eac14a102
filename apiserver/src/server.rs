//! The server: accepts connections, and stops without losing a request.
//!
//! It owns the accept loop because a Kubernetes API server needs what ready-made ones hide: the
//! client's certificate beside every request, a megabyte of headers, and an orderly end of each
//! connection.

mod connection;
mod linger;

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::chain::Chain;
use crate::stop::Phase;
use crate::tls::{ServingCertificate, server_config};

use self::connection::Connections;

/// How long a client may take for what it has to do, with the values of Go's `secure_serving.go`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For the TLS handshake, and to hang up when told to without having asked for anything: 10 s.
    pub handshake: Duration,
    /// For the headers of a request: 32 s. On HTTP/1.1 it begins when the last answer is sent, so
    /// it also bounds how long such a connection may be idle.
    pub headers: Duration,
    /// For the next request: 90 s.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(10),
            headers: Duration::from_secs(32),
            idle: Duration::from_secs(90),
        }
    }
}

/// A server about to serve.
pub struct Server {
    chain: Arc<Chain>,
    certificate: Arc<ServingCertificate>,
    timeouts: Timeouts,
    shutdown_delay: Duration,
    drain: Duration,
    at_once: BoxFuture<'static, ()>,
}

impl Server {
    /// A server that passes requests through `chain` and shows `certificate`.
    pub fn new(chain: Arc<Chain>, certificate: Arc<ServingCertificate>) -> Self {
        Self {
            chain,
            certificate,
            timeouts: Timeouts::default(),
            shutdown_delay: Duration::ZERO,
            drain: Duration::from_secs(60),
            at_once: Box::pin(std::future::pending()),
        }
    }

    /// Other bounds on slow clients.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// How long to serve on, but not ready, when told to stop: as long as it takes whoever routes
    /// requests here to notice. Zero unless set.
    #[must_use]
    pub fn shutdown_delay(mut self, delay: Duration) -> Self {
        self.shutdown_delay = delay;
        self
    }

    /// How long requests at work and watches may take to end, after that delay: 60 s unless set.
    #[must_use]
    pub fn drain(mut self, longest: Duration) -> Self {
        self.drain = longest;
        self
    }

    /// What cuts an orderly stop short: usually a second signal.
    #[must_use]
    pub fn at_once(mut self, signal: impl Future<Output = ()> + Send + 'static) -> Self {
        self.at_once = Box::pin(signal);
        self
    }

    /// Serves until `shutdown` is done, and then until everything that was begun is ended.
    ///
    /// The steps of the stop: readiness turns red and connections of HTTP/1.1 are told to close after
    /// their next answer; after the delay no connection is accepted any more, HTTP/2 clients get GOAWAY,
    /// requests at work are answered and watches end; what is left after the longest drain is cut.
    ///
    /// # Errors
    /// When TLS cannot be configured. An error of a connection is that connection's own.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let config = server_config(self.certificate).map_err(io::Error::other)?;
        let stop = self.chain.stop().clone();
        let connections = Connections::new(self.chain.clone(), config, self.timeouts);
        let mut door = Door { listener, connections: Arc::new(connections), open: JoinSet::new() };

        door.accept_until(shutdown).await;
        let leave = async {
            tracing::info!(delay = ?self.shutdown_delay, "told to stop; serving on, but not ready");
            stop.enter(Phase::Leaving);
            door.accept_until(tokio::time::sleep(self.shutdown_delay)).await;
            tracing::info!(
                connections = door.open.len(),
                "no new connections; ending those that are open"
            );
            stop.enter(Phase::Draining);
            door.close_and_wait(self.drain).await;
        };
        // Dropping the door aborts what is still open.
        tokio::select! {
            () = leave => {}
            () = self.at_once => tracing::warn!("stopping at once; open requests are cut"),
        }
        // Those that are aborted here are noted as such.
        drop(door);
        self.chain.flush_audit();
        Ok(())
    }
}

/// The listening socket and the connections that came through it.
struct Door {
    listener: TcpListener,
    connections: Arc<Connections>,
    open: JoinSet<()>,
}

impl Door {
    async fn accept_until(&mut self, end: impl Future<Output = ()>) {
        let mut end = pin!(end);
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => self.let_in(stream),
                    Err(error) => pause_after(&error).await,
                },
                Some(_) = self.open.join_next() => {}
                () = &mut end => return,
            }
        }
    }

    fn let_in(&mut self, stream: TcpStream) {
        self.open.spawn(self.connections.clone().run(stream));
    }

    async fn close_and_wait(&mut self, longest: Duration) {
        // Who has been given a connection by the kernel already has sent, or will send, a request.
        while let Some(Ok((stream, _))) = self.listener.accept().now_or_never() {
            self.let_in(stream);
        }
        let Self { open, .. } = self;
        let all = async { while open.join_next().await.is_some() {} };
        if tokio::time::timeout(longest, all).await.is_err() {
            tracing::warn!(connections = self.open.len(), "not ended in time; cut");
        }
    }
}

/// A connection that broke before it was accepted is nobody's loss. Anything else, such as running
/// out of file descriptors, will not be better in the next microsecond.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
    {
        return;
    }
    tracing::error!(%error, "cannot accept connections");
    tokio::time::sleep(Duration::from_millis(200)).await;
}
