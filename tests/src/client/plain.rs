//! HTTP without TLS, for listeners of this machine only.

use std::time::Duration;

use anyhow::{Context, Result};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{Answer, Request};

/// Some requests are answered when all of a deployment is there, or gone.
const PATIENCE: Duration = Duration::from_secs(150);

/// Sends `request` to `authority` and reads the whole answer.
///
/// # Errors
/// When the connection fails, or nothing whole came within some minutes.
pub async fn send(authority: &str, request: &Request) -> Result<Answer> {
    let answer = async {
        let stream = TcpStream::connect(authority).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // Ends with the body; an error shows there.
        tokio::spawn(connection);
        let mut builder =
            http::Request::builder().method(request.method.clone()).header("host", authority);
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        let request = builder.uri(&request.path).body(Full::new(request.body.clone()))?;
        let (parts, body) = sender.send_request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok(Answer { status: parts.status.as_u16(), headers: parts.headers, body })
    };
    timeout(PATIENCE, answer).await.with_context(|| format!("{} hangs", request.path))?
}
