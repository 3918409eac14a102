//! One GET, with walls around it: which host, which address, how much, how long.
//!
//! Names are resolved here, and the address that was looked at is the one that is connected to. There is no proxy and
//! no cookie, and a credential goes to the host that it is given for and to no other.

use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, LOCATION, USER_AGENT};
use http::{Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, Empty, LengthLimitError, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use tower::Service;

use super::address::is_public;
use super::hosts::Hosts;
use super::registries::Credential;
use super::url::{self, Folder};

/// How long one file may be.
pub(crate) const SIZE: usize = 1 << 20;
/// How long a list of all files of a repository may be. GitHub ends one at 7 MB.
const TREE: usize = 8 << 20;
/// How long one file may take.
const TIME: Duration = Duration::from_secs(10);
/// How often a server may say that the file is elsewhere.
const REDIRECTS: usize = 5;
/// How long a connection is kept for the next file.
const IDLE: Duration = Duration::from_secs(15);

/// What an answer is asked for as.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// As it is.
    File,
    /// The text of a file, from GitHub's API.
    Raw,
    /// The entries of a folder, from GitHub's API.
    Listing,
    /// The entries of a repository, from GitHub's API.
    Tree,
}

impl Form {
    fn accept(self) -> &'static str {
        match self {
            Self::File => "*/*",
            Self::Raw => "application/vnd.github.raw+json",
            Self::Listing | Self::Tree => "application/vnd.github+json",
        }
    }

    fn size(self) -> usize {
        match self {
            Self::File | Self::Raw | Self::Listing => SIZE,
            Self::Tree => TREE,
        }
    }
}

/// How something is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    pub(crate) form: Form,
    pub(crate) credential: Option<&'a Credential>,
    /// Where a redirect has to stay, if not only on its host.
    pub(crate) within: Option<&'a Folder>,
}

/// Gets files from hosts that are allowed.
pub(crate) struct Client {
    http: Http,
    hosts: Hosts,
    private: bool,
}

type Http = hyper_util::client::legacy::Client<HttpsConnector<HttpConnector<Guard>>, Empty<Bytes>>;

impl Client {
    /// A client for these hosts; `private` lets them have addresses of the inside. It trusts the platform's authorities
    /// and `roots`.
    pub(crate) fn new(
        hosts: Hosts,
        private: bool,
        roots: Vec<CertificateDer<'static>>,
    ) -> Result<Self, rustls::Error> {
        let mut trusted = RootCertStore::empty();
        if !hosts.is_empty() {
            let native = rustls_native_certs::load_native_certs();
            for error in &native.errors {
                tracing::warn!(%error, "an authority of this machine cannot be read");
            }
            trusted.add_parsable_certificates(native.certs);
        }
        trusted.add_parsable_certificates(roots);
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(trusted)
            .with_no_client_auth();
        let mut tcp =
            HttpConnector::new_with_resolver(Guard { names: GaiResolver::new(), private });
        tcp.enforce_http(false);
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let http = hyper_util::client::legacy::Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE)
            .pool_timer(TokioTimer::new())
            .build(connector);
        Ok(Self { http, hosts, private })
    }

    /// The text of a file; `None` when there is none.
    pub(crate) async fn get(&self, url: &Uri, ask: Ask<'_>) -> Result<Option<String>, String> {
        let work = self.follow(url, ask);
        let late = |_| format!("it took longer than {} seconds", TIME.as_secs());
        tokio::time::timeout(TIME, work).await.map_err(late)?
    }

    async fn follow(&self, url: &Uri, ask: Ask<'_>) -> Result<Option<String>, String> {
        let mut url = url.clone();
        for _ in 0..=REDIRECTS {
            let response = self.ask(&url, ask).await?;
            let status = response.status();
            if status == StatusCode::NOT_FOUND {
                return Ok(None);
            }
            if !status.is_redirection() {
                return match status {
                    StatusCode::OK => text(response, ask.form.size()).await.map(Some),
                    _ => Err(refusal(&response, ask.credential.is_some())),
                };
            }
            let location = response.headers().get(LOCATION).and_then(|it| it.to_str().ok());
            let next = location.and_then(|location| url::join(&url, location));
            let next = next.ok_or("it is said to be elsewhere, and not where")?;
            if (next.scheme(), next.authority()) != (url.scheme(), url.authority()) {
                return Err("it is redirected to another host".to_owned());
            }
            if ask.within.is_some_and(|folder| !folder.has(&next)) {
                return Err("it is redirected out of its registry".to_owned());
            }
            url = next;
        }
        Err(format!("it is redirected more than {REDIRECTS} times"))
    }

    async fn ask(
        &self,
        url: &Uri,
        ask: Ask<'_>,
    ) -> Result<Response<hyper::body::Incoming>, String> {
        self.allowed(url)?;
        let mut request = Request::get(url.clone())
            .header(USER_AGENT, "formwork")
            .header(ACCEPT, ask.form.accept());
        if let Some(credential) = ask.credential {
            request = request.header(AUTHORIZATION, credential.value());
        }
        let request = request.body(Empty::new()).map_err(|_| "it has no proper URL".to_owned())?;
        self.http.request(request).await.map_err(|error| cause(&error))
    }

    fn allowed(&self, url: &Uri) -> Result<(), String> {
        if !self.hosts.allow(url) {
            let scheme = url.scheme_str().unwrap_or_default();
            let host = url.authority().map_or("", |authority| authority.as_str());
            return Err(format!("templates from {scheme}://{host} are not allowed here"));
        }
        // A host that is an address is not resolved.
        let host = url.host().unwrap_or_default();
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        match bare.parse::<IpAddr>() {
            Ok(address) if !self.private && !is_public(address) => Err(INSIDE.to_owned()),
            _ => Ok(()),
        }
    }
}

const INSIDE: &str = "its host has a private address, from which templates are not allowed here";

async fn text(response: Response<hyper::body::Incoming>, size: usize) -> Result<String, String> {
    let body = Limited::new(response.into_body(), size).collect().await.map_err(|error| {
        if error.is::<LengthLimitError>() {
            format!("it is longer than {size} bytes")
        } else {
            cause(error.as_ref())
        }
    })?;
    let text = String::from_utf8(body.to_bytes().into());
    text.map_err(|_| "it is not UTF-8".to_owned())
}

/// What an answer says that is neither a file nor that there is none.
///
/// GitHub refuses whoever has asked too often in an hour with 403 or 429, and says of both how many requests are left.
fn refusal<B>(response: &Response<B>, has_credential: bool) -> String {
    let code = response.status().as_u16();
    let left = response.headers().get("x-ratelimit-remaining");
    let why = match (code, has_credential) {
        (403 | 429, _) if left.is_some_and(|left| left == "0") => {
            ": the limit of requests is used up for now"
        }
        (429, _) => ": it is asked too often",
        (401, true) => ": the credential is not accepted",
        (403, true) => ": the credential does not allow it",
        (401 | 403, false) => ": it is not for everybody",
        _ => "",
    };
    format!("Received status code {code}{why}")
}

/// What an error comes from in the end: the outer ones only say that something was tried.
fn cause(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Resolves names, and keeps only addresses that may be connected to.
#[derive(Clone)]
struct Guard {
    names: GaiResolver,
    private: bool,
}

impl Service<Name> for Guard {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.names.poll_ready(cx)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (resolving, private) = (self.names.call(name), self.private);
        Box::pin(async move {
            let all = resolving.await?.filter(|address| private || is_public(address.ip()));
            let all: Vec<SocketAddr> = all.collect();
            if all.is_empty() { Err(io::Error::other(INSIDE)) } else { Ok(all.into_iter()) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_refused_is_told_why() {
        let told = |code: u16, left: Option<&str>, has_credential| {
            let mut response = Response::builder().status(code);
            if let Some(left) = left {
                response = response.header("x-ratelimit-remaining", left);
            }
            refusal(&response.body(()).unwrap(), has_credential)
        };
        for (code, left, has_credential, want) in [
            (403, Some("0"), true, "403: the limit of requests is used up for now"),
            (429, Some("0"), false, "429: the limit of requests is used up for now"),
            (429, None, true, "429: it is asked too often"),
            (401, Some("59"), true, "401: the credential is not accepted"),
            (401, None, false, "401: it is not for everybody"),
            (403, Some("59"), true, "403: the credential does not allow it"),
            (403, None, false, "403: it is not for everybody"),
            (500, Some("0"), true, "500"),
        ] {
            assert_eq!(told(code, left, has_credential), format!("Received status code {want}"));
        }
    }
}
