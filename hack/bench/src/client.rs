//! Connections to the server as the kubeconfig's user: TLS, one request at a time on each, kept open.
//!
//! No pool, no retry, no redirect: what is measured is the server.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// How much a server may send before it is told to go on, which Go's client, and so kubectl and every controller, puts
/// so high that it never waits.
const CONNECTION_WINDOW: u32 = 1 << 30;
const STREAM_WINDOW: u32 = 4 << 20;

/// Where the server is and who asks.
pub struct Target {
    authority: String,
    tls: ClientConfig,
}

/// One HTTP/1.1 connection.
pub struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    authority: String,
}

/// One HTTP/2 connection, for many streams at once.
pub struct Multiplexed {
    sender: http2::SendRequest<Full<Bytes>>,
    authority: String,
}

impl Target {
    /// The cluster and the user of a kubeconfig that holds certificates and keys itself.
    ///
    /// # Errors
    /// When the file is not such a kubeconfig.
    pub fn from_kubeconfig(path: &Path) -> Result<Self> {
        let config: Value = serde_saphyr::from_str(&std::fs::read_to_string(path)?)?;
        let cluster = &config["clusters"][0]["cluster"];
        let server = cluster["server"].as_str().context("the kubeconfig names a server")?;
        let authority = server.trim_start_matches("https://").trim_end_matches('/').to_owned();
        let authorities = decoded(cluster, "certificate-authority-data")?;
        Self::new(authority, &authorities, &config["users"][0]["user"])
    }

    /// The same user at another server, whose certificates `authorities` (in PEM) have signed.
    ///
    /// # Errors
    /// As [`Target::from_kubeconfig`], and when there are no such certificates.
    pub fn elsewhere(kubeconfig: &Path, authority: String, authorities: &[u8]) -> Result<Self> {
        let config: Value = serde_saphyr::from_str(&std::fs::read_to_string(kubeconfig)?)?;
        Self::new(authority, authorities, &config["users"][0]["user"])
    }

    fn new(authority: String, authorities: &[u8], user: &Value) -> Result<Self> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(authorities) {
            roots.add(certificate?)?;
        }
        let chain = CertificateDer::pem_slice_iter(&decoded(user, "client-certificate-data")?)
            .collect::<Result<Vec<_>, _>>()?;
        let key = PrivateKeyDer::from_pem_slice(&decoded(user, "client-key-data")?)?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_client_auth_cert(chain, key)?;
        Ok(Self { authority, tls })
    }

    /// Connects for one request at a time.
    ///
    /// # Errors
    /// When the server cannot be reached or is not the one of the kubeconfig.
    pub async fn connect(&self) -> Result<Connection> {
        let stream = self.dial(b"http/1.1").await?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // Ends with the sender; an error shows at the next request.
        tokio::spawn(connection);
        Ok(Connection { sender, authority: self.authority.clone() })
    }

    /// Several of these.
    ///
    /// # Errors
    /// As one.
    pub async fn connections(&self, count: usize) -> Result<Vec<Connection>> {
        let mut connections = Vec::with_capacity(count);
        for _ in 0..count {
            connections.push(self.connect().await.context("connecting")?);
        }
        Ok(connections)
    }

    /// Connects for many streams at once.
    ///
    /// # Errors
    /// As [`Target::connect`].
    pub async fn connect_multiplexed(&self) -> Result<Multiplexed> {
        let stream = self.dial(b"h2").await?;
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .initial_connection_window_size(CONNECTION_WINDOW)
            .initial_stream_window_size(STREAM_WINDOW)
            .handshake(TokioIo::new(stream))
            .await?;
        tokio::spawn(connection);
        Ok(Multiplexed { sender, authority: self.authority.clone() })
    }

    async fn dial(&self, protocol: &[u8]) -> Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect(&self.authority).await?;
        stream.set_nodelay(true)?;
        let host =
            self.authority.rsplit_once(':').map_or(self.authority.as_str(), |(host, _)| host);
        let mut tls = self.tls.clone();
        tls.alpn_protocols = vec![protocol.to_vec()];
        Ok(TlsConnector::from(Arc::new(tls))
            .connect(ServerName::try_from(host.to_owned())?, stream)
            .await?)
    }
}

impl Connection {
    /// The whole body of the answer.
    ///
    /// # Errors
    /// When the connection breaks, and for any status but the expected one.
    pub async fn ask(&mut self, order: &Order) -> Result<Bytes> {
        let request = order.request(&self.authority, &order.path)?;
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        ensure!(
            status == order.expected,
            "{} {}: {status}: {}",
            order.method,
            order.path,
            text(&body)
        );
        Ok(body)
    }
}

impl Multiplexed {
    /// The body as it comes.
    ///
    /// # Errors
    /// As [`Connection::ask`].
    pub async fn open(&mut self, order: &Order) -> Result<Incoming> {
        let uri = format!("https://{}{}", self.authority, order.path);
        self.sender.ready().await?;
        let response = self.sender.send_request(order.request(&self.authority, &uri)?).await?;
        ensure!(
            response.status() == order.expected,
            "{} {}: {}",
            order.method,
            order.path,
            response.status()
        );
        Ok(response.into_body())
    }
}

/// A request, and the status it has to get.
pub struct Order {
    /// What to do.
    pub method: Method,
    /// With what.
    pub path: String,
    /// What is sent; JSON, or nothing.
    pub body: Bytes,
    /// The status it has to get.
    pub expected: StatusCode,
}

impl Order {
    /// A GET that finds something.
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            body: Bytes::new(),
            expected: StatusCode::OK,
        }
    }

    /// A POST that creates something.
    pub fn post(path: impl Into<String>, body: Bytes) -> Self {
        Self { method: Method::POST, path: path.into(), body, expected: StatusCode::CREATED }
    }

    fn request(&self, authority: &str, uri: &str) -> Result<Request<Full<Bytes>>> {
        let request = Request::builder()
            .method(self.method.clone())
            .uri(uri)
            .header("accept", "application/json")
            .header("user-agent", "formwork-bench");
        let request =
            if uri.starts_with('/') { request.header("host", authority) } else { request };
        let request = if self.body.is_empty() {
            request
        } else {
            request.header("content-type", "application/json")
        };
        Ok(request.body(Full::new(self.body.clone()))?)
    }
}

fn decoded(entry: &Value, field: &str) -> Result<Vec<u8>> {
    let text = entry[field].as_str().with_context(|| format!("the kubeconfig has {field}"))?;
    Ok(BASE64_STANDARD.decode(text)?)
}

fn text(body: &[u8]) -> String {
    String::from_utf8_lossy(&body[..body.len().min(500)]).into_owned()
}
