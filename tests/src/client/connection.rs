//! One connection that is kept, over HTTP/2 or HTTP/1.1, for many requests and for bodies that take their time.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context as Task, Poll};

use anyhow::{Context, Result};
use bytes::Bytes;
use http::header::HOST;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Frame;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{Answer, Client, PATIENCE, Request, Stream, shortened};

/// What is spoken over a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1: one request after another.
    Http1,
    /// HTTP/2: any number at once.
    Http2,
}

/// Both.
pub const BOTH: [Protocol; 2] = [Protocol::Http1, Protocol::Http2];

/// What a client of HTTP/2 takes of one answer before it has read some.
const WINDOW: u32 = 64 << 10;

/// A connection.
pub struct Connection {
    sender: Sender,
    client: Client,
}

enum Sender {
    Http1(http1::SendRequest<BoxBody<Bytes, Infallible>>),
    Http2(http2::SendRequest<BoxBody<Bytes, Infallible>>),
}

/// The end of a body at which it is written, piece by piece. Dropping it ends the body.
pub struct Pieces(mpsc::UnboundedSender<Bytes>);

/// The other end.
struct Arriving(mpsc::UnboundedReceiver<Bytes>);

impl Connection {
    /// Opens one for `client`.
    ///
    /// # Errors
    /// When the server does not speak `protocol` with it.
    pub(super) async fn open(client: &Client, protocol: Protocol) -> Result<Self> {
        let client = client.clone().speaking(protocol);
        let stream = TokioIo::new(timeout(PATIENCE, client.dial()).await??);
        let sender = match protocol {
            Protocol::Http1 => {
                let (sender, connection) = http1::handshake(stream).await?;
                tokio::spawn(connection);
                Sender::Http1(sender)
            }
            Protocol::Http2 => {
                let builder = &mut http2::Builder::new(TokioExecutor::new());
                // Refused headers are an answer as any other.
                builder.initial_stream_window_size(WINDOW).max_header_list_size(1 << 20);
                let (sender, connection) = builder.handshake(stream).await?;
                tokio::spawn(connection);
                Sender::Http2(sender)
            }
        };
        Ok(Self { sender, client })
    }

    /// Sends `request` and reads the whole answer.
    ///
    /// # Errors
    /// When the request or the connection fails, or nothing whole came within [`PATIENCE`].
    pub async fn send(&mut self, request: &Request) -> Result<Answer> {
        let stream = self.open_stream(request).await?;
        stream.whole().await.with_context(|| shortened(&request.path))
    }

    /// Sends `request` and returns with the headers of the answer.
    ///
    /// # Errors
    /// When the request or the connection fails, or nothing came within [`PATIENCE`].
    pub async fn open_stream(&mut self, request: &Request) -> Result<Stream> {
        let body = Full::new(request.body.clone()).boxed();
        timeout(PATIENCE, self.exchange(request, body)?).await.context("no answer came")?
    }

    /// Begins to send `request` with a body of undeclared length, and returns what writes the body and what waits for
    /// the answer.
    ///
    /// # Errors
    /// When the request cannot be one.
    pub fn begin(
        &mut self,
        request: &Request,
    ) -> Result<(Pieces, impl Future<Output = Result<Answer>> + Send + use<>)> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let answer = self.exchange(request, Arriving(receiver).boxed())?;
        let answer = async move {
            timeout(PATIENCE, answer).await.context("no answer came")??.whole().await
        };
        Ok((Pieces(sender), answer))
    }

    fn exchange(
        &mut self,
        request: &Request,
        body: BoxBody<Bytes, Infallible>,
    ) -> Result<impl Future<Output = Result<Stream>> + Send + use<>> {
        let uri = match self.sender {
            Sender::Http1(_) => request.path.clone(),
            Sender::Http2(_) => format!("https://{}{}", self.client.authority, request.path),
        };
        let mut builder = self.client.builder(request).uri(uri);
        if let (Sender::Http2(_), Some(headers)) = (&self.sender, builder.headers_mut()) {
            headers.remove(HOST);
        }
        let request = builder.body(body)?;
        let answer: Pin<Box<dyn Future<Output = _> + Send>> = match &mut self.sender {
            Sender::Http1(sender) => Box::pin(sender.send_request(request)),
            Sender::Http2(sender) => Box::pin(sender.send_request(request)),
        };
        Ok(async move {
            let (parts, body) = answer.await?.into_parts();
            Ok(Stream { status: parts.status.as_u16(), headers: parts.headers, body })
        })
    }
}

impl Pieces {
    /// Writes one more piece.
    pub fn write(&self, piece: impl Into<Bytes>) {
        // The server may have had enough.
        let _ = self.0.send(piece.into());
    }
}

impl hyper::body::Body for Arriving {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Task<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}
