//! A real server on the loopback interface with certificates of its own, and clients for it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use apiserver::authn::{
    Anonymous, CaBundle, ClientCertificates, StaticTokens, Union as Authenticators,
};
use apiserver::authz::Union as Authorizers;
use apiserver::chain::{Chain, Parties};
use apiserver::health::Health;
use apiserver::limits::Limits;
use apiserver::metrics::Metrics;
use apiserver::server::{Server, Timeouts};
use apiserver::tls::ServingCertificate;
use apiserver::version::Version;
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_rustls::client::TlsStream;

use crate::things::Things;

/// Tokens of two users: `admin` is a master, `alice` nobody in particular.
const TOKENS: &str =
    "admin-token,admin,admin-uid,system:masters\nalice-token,alice,alice-uid,dev\n";

/// A certificate authority.
pub(crate) struct Authority {
    pub(crate) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate with its key, in PEM.
pub(crate) struct Identity {
    pub(crate) chain: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    fn issue(&self, params: &CertificateParams) -> Identity {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity { chain: certificate.pem(), key: key.serialize_pem() }
    }

    pub(crate) fn client(&self, name: &str, group: &str) -> Identity {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.distinguished_name.push(DnType::OrganizationName, group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.issue(&params)
    }

    pub(crate) fn server(&self) -> Identity {
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.issue(&params)
    }
}

/// What a test may want otherwise.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    pub(crate) shutdown_delay: Duration,
    pub(crate) goaway_chance: f64,
}

/// A server at work.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) authority: Authority,
    pub(crate) clients: Arc<CaBundle>,
    pub(crate) certificate: Arc<ServingCertificate>,
    pub(crate) things: Arc<Things>,
    stop: oneshot::Sender<()>,
    at_once: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
}

/// What is left of a server that was told to stop.
pub(crate) struct Stopping {
    at_once: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Running {
    pub(crate) async fn start() -> Self {
        Self::start_with(Settings::default()).await
    }

    pub(crate) async fn start_with(settings: Settings) -> Self {
        let authority = Authority::new();
        let identity = authority.server();
        let clients = Arc::new(CaBundle::from_pem(authority.pem.as_bytes()).unwrap());
        let things = Arc::new(Things::default());
        let version = Version::new("v1.33.0");
        let chain = Chain::new(Parties {
            authenticator: Arc::new(Authenticators::new(
                vec![
                    Box::new(ClientCertificates::new(clients.clone())),
                    Box::new(StaticTokens::from_csv(TOKENS).unwrap()),
                ],
                Anonymous::Allowed,
            )),
            authorizer: Arc::new(Authorizers::standalone()),
            dispatch: things.clone(),
            health: Health::new(),
            metrics: Arc::new(Metrics::new(&version)),
            version,
            limits: settings.limits,
            goaway_chance: settings.goaway_chance,
            audit: None,
        });
        let certificate =
            ServingCertificate::from_pem(identity.chain.as_bytes(), identity.key.as_bytes())
                .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let (at_once, cut) = oneshot::channel::<()>();
        let server = Server::new(chain, certificate.clone())
            .timeouts(settings.timeouts)
            .shutdown_delay(settings.shutdown_delay)
            .at_once(async {
                if cut.await.is_err() {
                    std::future::pending::<()>().await;
                }
            });
        let task = tokio::spawn(server.serve(listener, async {
            let _ = stopped.await;
        }));
        Self { address, authority, clients, certificate, things, stop, at_once, task }
    }

    /// Tells the server to stop.
    pub(crate) fn stop(self) -> Stopping {
        self.stop.send(()).unwrap();
        Stopping { at_once: self.at_once, task: self.task }
    }

    pub(crate) async fn connect(&self, protocol: Protocol, identity: Option<&Identity>) -> Client {
        Client::open(self.address, &self.authority.pem, protocol, identity).await.unwrap()
    }

    /// A TLS connection without HTTP.
    pub(crate) async fn tls(&self, protocol: Protocol) -> TlsStream<TcpStream> {
        handshake(self.address, &self.authority.pem, protocol, None).await.unwrap()
    }
}

impl Stopping {
    pub(crate) async fn ended(self) {
        self.task.await.unwrap().unwrap();
    }

    pub(crate) async fn at_once(self) {
        self.at_once.send(()).unwrap();
        self.task.await.unwrap().unwrap();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

pub(crate) const BOTH: [Protocol; 2] = [Protocol::Http1, Protocol::Http2];

async fn handshake(
    address: SocketAddr,
    authority: &str,
    protocol: Protocol,
    identity: Option<&Identity>,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let chain = CertificateDer::from_pem_slice(identity.chain.as_bytes()).unwrap();
            let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
            builder.with_client_auth_cert(vec![chain], key).unwrap()
        }
    };
    config.alpn_protocols = vec![match protocol {
        Protocol::Http1 => b"http/1.1".to_vec(),
        Protocol::Http2 => b"h2".to_vec(),
    }];
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

/// One connection to the server.
pub(crate) struct Client {
    sender: Sender,
    /// Done when the connection is closed.
    pub(crate) closed: JoinHandle<()>,
    /// The certificate that the server showed, DER.
    pub(crate) server_certificate: Vec<u8>,
}

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Client {
    pub(crate) async fn open(
        address: SocketAddr,
        authority: &str,
        protocol: Protocol,
        identity: Option<&Identity>,
    ) -> std::io::Result<Self> {
        let stream = handshake(address, authority, protocol, identity).await?;
        let certificates = stream.get_ref().1.peer_certificates().unwrap();
        let server_certificate = certificates[0].to_vec();
        let io = TokioIo::new(stream);
        let (sender, closed) = match protocol {
            Protocol::Http1 => {
                let (sender, connection) =
                    http1::handshake(io).await.map_err(std::io::Error::other)?;
                let closed = tokio::spawn(async move { drop(connection.await) });
                (Sender::Http1(sender), closed)
            }
            Protocol::Http2 => {
                let (sender, connection) = http2::handshake(TokioExecutor::new(), io)
                    .await
                    .map_err(std::io::Error::other)?;
                let closed = tokio::spawn(async move { drop(connection.await) });
                (Sender::Http2(sender), closed)
            }
        };
        Ok(Self { sender, closed, server_certificate })
    }

    /// Sends a request; the body of the answer is still to come.
    pub(crate) async fn begin(
        &mut self,
        request: http::request::Builder,
        body: impl Into<Bytes>,
    ) -> hyper::Result<http::Response<Incoming>> {
        let body = Full::new(body.into());
        match &mut self.sender {
            Sender::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request.header("host", "localhost").body(body).unwrap()).await
            }
            Sender::Http2(sender) => {
                sender.ready().await?;
                let mut request = request.body(body).unwrap();
                let uri = format!("https://localhost{}", request.uri());
                *request.uri_mut() = uri.parse().unwrap();
                sender.send_request(request).await
            }
        }
    }

    /// Sends a request and reads the answer.
    pub(crate) async fn ask(
        &mut self,
        request: http::request::Builder,
        body: impl Into<Bytes>,
    ) -> hyper::Result<Answer> {
        let (parts, body) = self.begin(request, body).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        let body = String::from_utf8(body.to_vec()).unwrap();
        Ok(Answer { status: parts.status, headers: parts.headers, body })
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.ask(Request::get(path), "").await.unwrap()
    }

    /// GET with the token of `admin` or `alice`.
    pub(crate) async fn get_as(&mut self, user: &str, path: &str) -> Answer {
        self.ask(as_user(Request::get(path), user), "").await.unwrap()
    }
}

/// Adds a user's token.
pub(crate) fn as_user(request: http::request::Builder, user: &str) -> http::request::Builder {
    request.header("authorization", format!("Bearer {user}-token"))
}
