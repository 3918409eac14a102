//! One connection: TLS, then HTTP/2 or HTTP/1.1 as was agreed on, then its orderly end.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::CONNECTION;
use http::{Request, Response};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulConnection;
use rustls::ServerConfig;
use rustls_pki_types::CertificateDer;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::authn::Peer;
use crate::chain::{Chain, Lasting};
use crate::limits::Body;
use crate::response::ResponseBody;
use crate::stop::Phase;

use super::Timeouts;
use super::linger::Lingering;

/// Room for the headers of one request, as Go gives it. A user's groups travel in headers, and
/// there are users with hundreds.
const HEADER_BYTES: u32 = 1 << 20;
/// Header lines of one request on HTTP/1.1; on HTTP/2 only the bytes count.
const HEADER_LINES: usize = 4000;
/// Requests at once on one HTTP/2 connection: the aggregation layer sends all users through one.
const STREAMS: u32 = 1000;
/// Body bytes that a client may send ahead: per request, and per connection.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 4 << 20;
/// How often the other end is asked whether it is still there, and how long it may think.
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_WAIT: Duration = Duration::from_secs(15);
/// When the server stops: how long a connection is waited for that has not had a request yet, or
/// that cannot be told not to send another.
const LAST_CALL: Duration = Duration::from_secs(1);

/// What all connections of a server share.
pub(super) struct Connections {
    chain: Arc<Chain>,
    acceptor: TlsAcceptor,
    http1: auto::Builder<TokioExecutor>,
    http2: auto::Builder<TokioExecutor>,
    timeouts: Timeouts,
}

impl Connections {
    pub(super) fn new(chain: Arc<Chain>, config: ServerConfig, timeouts: Timeouts) -> Self {
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let mut http1 = auto::Builder::new(TokioExecutor::new()).http1_only();
        http1
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(timeouts.headers)
            .max_headers(HEADER_LINES)
            .max_buf_size(HEADER_BYTES as usize);
        let mut http2 = auto::Builder::new(TokioExecutor::new()).http2_only();
        http2
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(HEADER_BYTES)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PING_WAIT);
        Self { chain, acceptor, http1, http2, timeouts }
    }

    /// Serves one connection to its end.
    pub(super) async fn run(self: Arc<Self>, stream: TcpStream) {
        // Neither is worth refusing a connection for.
        let _ = stream.set_nodelay(true);
        let _ =
            SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(PING_EVERY));
        let handshake = self.acceptor.accept(stream);
        match tokio::time::timeout(self.timeouts.handshake, handshake).await {
            Ok(Ok(stream)) => self.serve(stream).await,
            Ok(Err(error)) => {
                self.chain.metrics().handshake_failed();
                tracing::debug!(%error, "TLS handshake");
            }
            Err(_) => {
                self.chain.metrics().handshake_failed();
                tracing::debug!("TLS handshake took too long");
            }
        }
    }

    async fn serve(self: Arc<Self>, stream: TlsStream<TcpStream>) {
        let (socket, session) = stream.get_ref();
        let address = socket.peer_addr().ok().map(|address| address.ip().to_canonical());
        let is_http2 = session.alpn_protocol() == Some(b"h2");
        let certificates = session.peer_certificates().unwrap_or_default();
        let peer =
            Peer::new(certificates.iter().cloned().map(CertificateDer::into_owned).collect())
                .at(address);
        let (chain, activity) = (self.chain.clone(), Activity::new());
        let link = Arc::new(Link { chain, peer, is_http2, activity });
        let service = service_fn({
            let link = link.clone();
            move |request| link.clone().answer(request)
        });
        let builder = if is_http2 { &self.http2 } else { &self.http1 };
        let connection =
            pin!(builder.serve_connection(TokioIo::new(Lingering::new(stream)), service));
        if let Err(error) = self.drive(connection, &link).await {
            tracing::debug!(%error, "connection");
        }
    }

    /// Drives a connection until it ends by itself, and brings that end about when the server
    /// stops, when the client has been quiet for too long, or when an answer says so. A client that
    /// never asked for anything has as long as for a handshake to take the hint; any other may still
    /// be reading its answer.
    async fn drive<C: GracefulConnection>(
        &self,
        mut connection: Pin<&mut C>,
        link: &Link,
    ) -> Result<(), C::Error> {
        let activity = &link.activity;
        let draining = async {
            self.chain.stop().reached(Phase::Draining).await;
            // HTTP/1.1 has no GOAWAY: a request may be on its way to a connection that looks idle.
            // It is answered, and with that answer the connection is closed.
            match link.is_http2 {
                true => activity.begun(LAST_CALL).await,
                false => tokio::time::sleep(LAST_CALL).await,
            }
        };
        tokio::select! {
            ended = connection.as_mut() => return ended,
            () = draining => {}
            () = activity.quiet(self.timeouts.idle) => {}
            () = activity.close.notified() => {}
        }
        connection.as_mut().graceful_shutdown();
        let watches_only = async {
            let stop = self.chain.stop();
            stop.reached(Phase::Draining).await;
            tokio::time::sleep(stop.watches_end_within()).await;
            activity.watches_only().await;
        };
        tokio::select! {
            ended = connection => ended,
            // A client that has not even begun to speak HTTP/2 cannot be told to close.
            () = activity.speechless(self.timeouts.handshake) => Ok(()),
            () = watches_only => {
                tracing::debug!("a client does not read the end of its watch");
                Ok(())
            }
        }
    }
}

/// One connection, as its requests see it.
struct Link {
    chain: Arc<Chain>,
    peer: Peer,
    is_http2: bool,
    activity: Activity,
}

impl Link {
    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Tracked>, Infallible> {
        self.activity.begin();
        let mut busy = Busy { link: self.clone(), is_watch: false };
        let limit = self.chain.limits().body;
        let request = request.map(|incoming| Body::new(incoming, limit));
        let mut response = self.chain.serve(request, &self.peer).await;
        // HTTP/2 has no such header; there the wish becomes GOAWAY.
        if self.is_http2 && response.headers_mut().remove(CONNECTION).is_some() {
            self.activity.close.notify_one();
        }
        if response.extensions().get::<Lasting>().is_some() {
            busy.watches();
        }
        Ok(response.map(|body| Tracked { body, _busy: busy }))
    }
}

/// What goes on on a connection.
struct Activity {
    opened: Instant,
    /// When the last request came or its answer ended, in milliseconds after `opened`.
    last: AtomicU64,
    has_asked: AtomicBool,
    requests: AtomicUsize,
    /// Those of the requests that are watches.
    watches: AtomicUsize,
    first: Notify,
    close: Notify,
    ended: Notify,
}

impl Activity {
    fn new() -> Self {
        Self {
            opened: Instant::now(),
            last: AtomicU64::new(0),
            has_asked: AtomicBool::new(false),
            requests: AtomicUsize::new(0),
            watches: AtomicUsize::new(0),
            first: Notify::new(),
            close: Notify::new(),
            ended: Notify::new(),
        }
    }

    fn begin(&self) {
        self.has_asked.store(true, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.touch();
        self.first.notify_one();
    }

    fn end(&self) {
        self.touch();
        self.requests.fetch_sub(1, Ordering::Relaxed);
        self.ended.notify_one();
    }

    fn touch(&self) {
        let now = self.opened.elapsed().as_millis();
        self.last.store(now.try_into().unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Waits until there has been a request, at most for `longest`.
    async fn begun(&self, longest: Duration) {
        // A request leaves a permit behind, so one that came earlier counts at once.
        let _ = tokio::time::timeout(longest, self.first.notified()).await;
    }

    /// Waits for `longest`, and then for ever if there has been a request.
    async fn speechless(&self, longest: Duration) {
        tokio::time::sleep(longest).await;
        if self.has_asked.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    }

    /// Waits until all that goes on is watches. When nothing goes on, the client may still be reading
    /// an answer that was given.
    async fn watches_only(&self) {
        loop {
            let watches = self.watches.load(Ordering::Relaxed);
            if watches > 0 && self.requests.load(Ordering::Relaxed) <= watches {
                return;
            }
            self.ended.notified().await;
        }
    }

    /// Waits until there has been nothing to do for `longest`. An open watch is something to do.
    async fn quiet(&self, longest: Duration) {
        loop {
            let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
            let quiet_at = self.opened + last + longest;
            let busy = self.requests.load(Ordering::Relaxed) > 0;
            match (busy, quiet_at <= Instant::now()) {
                (false, true) => return,
                (false, false) => tokio::time::sleep_until(quiet_at).await,
                (true, _) => tokio::time::sleep(longest).await,
            }
        }
    }
}

/// A request at work, until its answer is sent or given up.
struct Busy {
    link: Arc<Link>,
    is_watch: bool,
}

impl Busy {
    /// The answer is a watch.
    fn watches(&mut self) {
        self.is_watch = true;
        self.link.activity.watches.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let activity = &self.link.activity;
        if self.is_watch {
            activity.watches.fetch_sub(1, Ordering::Relaxed);
        }
        activity.end();
    }
}

/// The body of an answer that keeps its connection from being taken for idle.
struct Tracked {
    body: ResponseBody,
    _busy: Busy,
}

impl http_body::Body for Tracked {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
