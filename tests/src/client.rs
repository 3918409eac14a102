//! A small HTTPS client that sends what it is told and nothing else.
//!
//! HTTP/1.1, a connection for each request, no redirects, no retries, no decoding; every wait is bounded, so that a
//! server that hangs fails its test. A [`Connection`] is kept instead, and speaks HTTP/2 too.

mod connection;
pub mod plain;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::{HeaderMap, Method};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::authority::Credential;

pub use connection::{BOTH, Connection, Pieces, Protocol};

/// How long a whole answer may take before it counts as a hang.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Where the server is, and who may ask.
pub struct Target {
    authority: String,
    name: ServerName<'static>,
    anonymous: Arc<ClientConfig>,
    administrator: Arc<ClientConfig>,
}

/// One asker.
#[derive(Clone)]
pub struct Client {
    authority: String,
    name: ServerName<'static>,
    tls: Arc<ClientConfig>,
    token: Option<String>,
}

/// What to send.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The method, any token.
    pub method: Method,
    /// Path and query as they go on the wire.
    pub path: String,
    /// Besides `Host`, `Authorization` and `Content-Length`.
    pub headers: Vec<(String, String)>,
    /// Sent whole; none at all when empty.
    pub body: Bytes,
}

/// A whole answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP code.
    pub status: u16,
    /// Every header.
    pub headers: HeaderMap,
    /// As received, not decompressed.
    pub body: Bytes,
}

/// An answer whose body is still coming.
#[derive(Debug)]
pub struct Stream {
    /// The HTTP code.
    pub status: u16,
    /// Every header.
    pub headers: HeaderMap,
    body: Incoming,
}

impl Target {
    /// Reads the CA and the administrator's certificate.
    ///
    /// # Errors
    /// When the file is not a kubeconfig with inline certificates.
    pub fn from_kubeconfig(path: &Path, authority: &str) -> Result<Self> {
        let config: Value = serde_saphyr::from_str(&std::fs::read_to_string(path)?)?;
        let cluster = &config["clusters"][0]["cluster"];
        let user = &config["users"][0]["user"];
        let authorities = decoded(cluster, "certificate-authority-data")?;
        let name = cluster["tls-server-name"].as_str().unwrap_or_else(|| host(authority));
        let holder = Credential {
            certificate: String::from_utf8(decoded(user, "client-certificate-data")?)?,
            key: String::from_utf8(decoded(user, "client-key-data")?)?,
        };
        Ok(Self {
            authority: authority.to_owned(),
            name: ServerName::try_from(name.to_owned())?,
            anonymous: Arc::new(tls(&authorities, None)?),
            administrator: Arc::new(tls(&authorities, Some(&holder))?),
        })
    }

    /// The holder of the kubeconfig's certificate.
    pub fn administrator(&self) -> Client {
        self.client(&self.administrator, None)
    }

    /// The holder of a bearer token.
    pub fn bearer(&self, token: &str) -> Client {
        self.client(&self.anonymous, Some(token))
    }

    /// Nobody.
    pub fn anonymous(&self) -> Client {
        self.client(&self.anonymous, None)
    }

    fn client(&self, tls: &Arc<ClientConfig>, token: Option<&str>) -> Client {
        Client {
            authority: self.authority.clone(),
            name: self.name.clone(),
            tls: Arc::clone(tls),
            token: token.map(str::to_owned),
        }
    }
}

impl Client {
    /// Whoever holds `credential`, or nobody, before the server at `authority` that shows a certificate for `name` by
    /// one of `authorities`.
    ///
    /// # Errors
    /// When any of them cannot be used.
    pub fn new(
        authority: &str,
        name: &str,
        authorities: &[u8],
        credential: Option<&Credential>,
    ) -> Result<Self> {
        let name = ServerName::try_from(name.to_owned())?;
        let tls = Arc::new(tls(authorities, credential)?);
        Ok(Self { authority: authority.to_owned(), name, tls, token: None })
    }

    /// The same with a bearer token.
    #[must_use]
    pub fn bearer(self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self }
    }

    /// The same, agreeing with the server on `protocol` while TLS begins.
    #[must_use]
    pub fn speaking(mut self, protocol: Protocol) -> Self {
        let name: &[u8] = match protocol {
            Protocol::Http1 => b"http/1.1",
            Protocol::Http2 => b"h2",
        };
        Arc::make_mut(&mut self.tls).alpn_protocols = vec![name.to_owned()];
        self
    }

    /// A connection to be kept.
    ///
    /// # Errors
    /// When the server does not speak `protocol` with it.
    pub async fn connect(&self, protocol: Protocol) -> Result<Connection> {
        Connection::open(self, protocol).await
    }

    /// Sends `request` and reads the whole answer.
    ///
    /// # Errors
    /// When the connection fails, or nothing whole came within [`PATIENCE`].
    pub async fn send(&self, request: &Request) -> Result<Answer> {
        let answer = async { self.open(request).await?.whole().await };
        timeout(PATIENCE, answer)
            .await
            .with_context(|| format!("{} {} hangs", request.method, shortened(&request.path)))?
            .with_context(|| format!("{} {}", request.method, shortened(&request.path)))
    }

    /// Sends `request` and returns with the headers of the answer.
    ///
    /// # Errors
    /// When the connection fails.
    pub async fn open(&self, request: &Request) -> Result<Stream> {
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(timeout(PATIENCE, self.dial()).await??)).await?;
        // Ends with the body; an error shows there.
        tokio::spawn(connection);
        let builder = self.builder(request).uri(&request.path);
        let request = builder.body(Full::new(request.body.clone()))?;
        let response = timeout(PATIENCE, sender.send_request(request)).await??;
        let (parts, body) = response.into_parts();
        Ok(Stream { status: parts.status.as_u16(), headers: parts.headers, body })
    }

    /// The certificate that the server shows, which has been found to be one of the authorities'.
    ///
    /// # Errors
    /// When it is not, or the connection fails.
    pub async fn shown(&self) -> Result<CertificateDer<'static>> {
        let stream = timeout(PATIENCE, self.dial()).await.context("the handshake hangs")??;
        let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
        Ok(shown.context("a server shows a certificate")?.clone().into_owned())
    }

    /// Sends bytes that need not be HTTP, says that no more will come, and reads until the server closes.
    ///
    /// # Errors
    /// When the connection cannot be opened, or the server neither answers nor closes in time.
    pub async fn raw(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let exchange = async {
            let mut stream = self.dial().await?;
            // The server may answer and close before it has read everything.
            let _ = stream.write_all(bytes).await;
            let _ = stream.shutdown().await;
            let mut answer = Vec::new();
            let mut chunk = [0; 4096];
            while let Ok(read) = stream.read(&mut chunk).await {
                if read == 0 {
                    break;
                }
                answer.extend_from_slice(&chunk[..read]);
            }
            Ok(answer)
        };
        timeout(PATIENCE, exchange).await.context("the server neither answered nor closed")?
    }

    /// Method and headers.
    fn builder(&self, request: &Request) -> http::request::Builder {
        let mut builder =
            http::Request::builder().method(request.method.clone()).header("host", &self.authority);
        if let Some(token) = &self.token {
            builder = builder.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        builder
    }

    /// TLS, with nothing said over it yet.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn dial(&self) -> Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect(&self.authority).await?;
        stream.set_nodelay(true)?;
        let connector = TlsConnector::from(Arc::clone(&self.tls));
        Ok(connector.connect(self.name.clone(), stream).await?)
    }
}

impl Request {
    /// A request without headers or body.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), ..Self::default() }
    }

    /// A GET that wants JSON.
    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path).header("accept", "application/json")
    }

    /// A POST of JSON that wants JSON.
    pub fn post(path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self::new(Method::POST, path)
            .header("accept", "application/json")
            .json("application/json", body)
    }

    /// One more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A body and its media type.
    #[must_use]
    pub fn json(mut self, media: &str, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self.header("content-type", media)
    }
}

impl Answer {
    /// A header's first value, or the empty string.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The body as text, for messages.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// When it is not JSON.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.body)
            .with_context(|| format!("{}: not JSON: {}", self.status, shortened(&self.text())))
    }
}

impl Stream {
    /// All of it.
    async fn whole(self) -> Result<Answer> {
        let Self { status, headers, body } = self;
        let body = timeout(PATIENCE, body.collect()).await.context("no end came")??.to_bytes();
        Ok(Answer { status, headers, body })
    }

    /// The next bytes, or `None` at the end of the body.
    ///
    /// # Errors
    /// When the connection breaks, or nothing comes within `patience`.
    pub async fn next(&mut self, patience: Duration) -> Result<Option<Bytes>> {
        loop {
            match timeout(patience, self.body.frame()).await.context("nothing more came")? {
                None => return Ok(None),
                Some(frame) => {
                    if let Ok(data) = frame?.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }
}

fn host(authority: &str) -> &str {
    authority.rsplit_once(':').map_or(authority, |(host, _)| host)
}

fn tls(authorities: &[u8], credential: Option<&Credential>) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authorities) {
        roots.add(certificate?)?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let trusting = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    let Some(Credential { certificate, key }) = credential else {
        return Ok(trusting.with_no_client_auth());
    };
    let chain = CertificateDer::pem_slice_iter(certificate.as_bytes());
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes())?;
    Ok(trusting.with_client_auth_cert(chain.collect::<Result<_, _>>()?, key)?)
}

fn decoded(entry: &Value, field: &str) -> Result<Vec<u8>> {
    let text = entry[field].as_str().with_context(|| format!("the kubeconfig has {field}"))?;
    Ok(BASE64_STANDARD.decode(text)?)
}

fn shortened(text: &str) -> String {
    text.chars().take(300).collect()
}
