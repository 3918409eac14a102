//! Deployment Manager's own `POST /expand`, for clients that know no other: the manager's, and that of its expandybird
//! below `/expandybird`, since both services had the same path.
//!
//! Codes and bodies are those of Deployment Manager 1.2.1, less its bugs. It is plain HTTP, and whoever can connect may
//! ask, so it listens to this machine only; nothing is stored, and there are no deployments here.

mod expandybird;
mod manager;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use anyhow::{Context as _, Result};
use apiserver::limits::Limits;
use apiserver::status::{Error, Reason};
use axum::Router;
use axum::body::{self, Body, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{any, get, post};
use expansion::imports::{self, File};
use expansion::{Input, Options, Text};
use http::header::{CONTENT_TYPE, HOST, ORIGIN, RETRY_AFTER};
use http::uri::Authority;
use http::{HeaderValue, StatusCode};
use serde::{Deserialize, Deserializer};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::engine::{Done, Engine, Refused};

/// How long a connection is waited for when the server stops.
const LAST_CALL: Duration = Duration::from_secs(5);
/// How long a body may take to come.
const READING: Duration = Duration::from_secs(30);
/// What errors are written in.
const PLAIN: &str = "text/plain; charset=utf-8";

/// Takes the port.
///
/// # Errors
/// When somebody else has it.
pub(crate) async fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address)
        .await
        .with_context(|| format!("--dm-compat-address: listen on {address}"))
}

/// The paths being served.
pub(crate) struct Serving {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Serving {
    pub(crate) fn start(listener: TcpListener, engine: Engine) -> Self {
        if let Ok(address) = listener.local_addr() {
            tracing::info!("Deployment Manager's paths are on http://{address}");
        }
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let stopped = async move { drop(stopped.await) };
            let serving = axum::serve(listener, router(engine)).with_graceful_shutdown(stopped);
            if let Err(error) = serving.await {
                tracing::error!(%error, "Deployment Manager's paths are not served any more");
            }
        });
        Self { stop, task }
    }

    /// Takes no more connections, and gives what was asked before some time to be answered.
    pub(crate) async fn stop(self) {
        // It may have ended by itself.
        let _ = self.stop.send(());
        let abort = self.task.abort_handle();
        if tokio::time::timeout(LAST_CALL, self.task).await.is_err() {
            abort.abort();
        }
    }
}

fn router(engine: Engine) -> Router {
    let healthz = || async { text(StatusCode::OK, "OK".to_owned()) };
    Router::new()
        .route("/healthz", get(healthz).fallback(no_path))
        .route("/expand", post(manager::expand).fallback(no_path))
        .route("/expandybird/expand", any(expandybird::expand))
        .fallback(no_path)
        .layer(middleware::from_fn(no_browser))
        .with_state(engine)
}

/// Turns away what web pages ask. A browser on this machine sends it for whichever page it shows, with the page's `Origin`,
/// or, when the page's own name was made to lead here, with that name as the `Host`.
async fn no_browser(request: Request, next: Next) -> Response {
    let host = request.headers().get(HOST).map(|host| host.to_str().unwrap_or_default());
    let host = request.uri().authority().map(Authority::as_str).or(host);
    if request.headers().contains_key(ORIGIN) || !host.is_none_or(is_own) {
        let why = "403: this address is for programs on this machine, and not for web pages\n";
        return text(code(Reason::Forbidden), why.to_owned());
    }
    next.run(request).await
}

/// Whether a `Host` is no name that somebody else decides about: an address, or localhost.
fn is_own(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let host = authority.host();
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}

/// Go's answer, whatever the method was.
async fn no_path() -> Response {
    text(code(Reason::NotFound), "404 page not found\n".to_owned())
}

/// The whole body, unless it is too long or too slow.
async fn whole(body: Body) -> Result<Bytes, Response> {
    let limit = Limits::default().body;
    let too_large = || refusal(&Error::too_large(limit));
    // Who announces too much need not send it.
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    match tokio::time::timeout(READING, body::to_bytes(body, limit)).await {
        Ok(read) => read.map_err(|_| too_large()),
        Err(_) => Err(refusal(&Error::timeout("Timeout: the body did not come in time"))),
    }
}

/// A configuration as Deployment Manager's clients send it.
#[derive(Deserialize)]
struct Template {
    #[serde(default, deserialize_with = "or_empty")]
    name: String,
    #[serde(default, deserialize_with = "or_empty")]
    content: String,
    #[serde(default, deserialize_with = "or_empty")]
    imports: Vec<ImportFile>,
}

#[derive(Deserialize)]
struct ImportFile {
    #[serde(default, deserialize_with = "or_empty")]
    name: String,
    #[serde(default, deserialize_with = "or_empty")]
    path: String,
    #[serde(default, deserialize_with = "or_empty")]
    content: String,
}

/// To Go, null is nothing.
fn or_empty<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Why there is no result.
enum Failed {
    /// The template is at fault; what Deployment Manager said of it.
    Template(String),
    /// Something else is.
    Request(Error),
}

impl Template {
    /// Reads it as JSON.
    fn from_json(text: &[u8]) -> Result<Self, String> {
        // What is derived would take a list of members, too.
        if !text.trim_ascii_start().starts_with(b"{") {
            return Err("a template is an object with name, content and imports".to_owned());
        }
        serde_json::from_slice(text).map_err(|error| error.to_string())
    }

    /// Expands it. The deployment is called like the template, and so is the project.
    async fn expand(&self, engine: &Engine) -> Result<Done, Failed> {
        let files: Vec<_> = self.imports.iter().map(ImportFile::to_file).collect();
        let imports = imports::named(&files).map_err(|errors| {
            let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
            Failed::Template(errors.join("\n"))
        })?;
        let env = ["deployment", "project"].map(|key| (key.to_owned(), self.name.as_str().into()));
        let input = Input {
            configuration: self.content.clone(),
            imports,
            env: env.into_iter().collect(),
            options: Options::default(),
        };
        engine.expand(input).await.map_err(|refused| match refused {
            Refused::Failure(failure) => Failed::Template(failure.deployment_manager()),
            Refused::Request(error) => Failed::Request(error),
        })
    }
}

impl ImportFile {
    fn to_file(&self) -> File {
        let (name, path) = (self.name.clone(), self.path.clone());
        File { name, path, content: Text::from(self.content.as_str()) }
    }
}

/// The code that the API has for it.
fn code(reason: Reason) -> StatusCode {
    StatusCode::from_u16(reason.code()).expect("reasons have codes of HTTP")
}

fn text(code: StatusCode, body: String) -> Response {
    answer(code, PLAIN, body)
}

fn answer(code: StatusCode, media: &'static str, body: String) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

/// What no template is to blame for, which Deployment Manager had no words for.
fn refusal(error: &Error) -> Response {
    let mut response = text(code(error.reason()), format!("{error}\n"));
    if let Some(seconds) = error.retry_after_seconds() {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[test]
    fn a_name_that_others_decide_about_is_no_host_of_ours() {
        for own in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:8080", "10.0.0.1"] {
            assert!(is_own(own), "{own}");
        }
        for other in ["", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil", "a b"] {
            assert!(!is_own(other), "{other}");
        }
    }

    #[tokio::test]
    async fn what_a_web_page_asks_is_turned_away() {
        let listener = listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = Serving::start(listener, Engine::in_process());
        let ask = async |headers: &str| {
            let body = "name: n";
            let length = body.len();
            let request = format!(
                "POST /expand HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
            );
            let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            answer.split(' ').nth(1).unwrap_or_default().to_owned()
        };
        let own = format!("Host: {address}\r\n");
        assert_eq!(ask(&own).await, "201");
        assert_eq!(ask(&format!("{own}Origin: https://evil.example\r\n")).await, "403");
        assert_eq!(ask("Host: evil.example\r\n").await, "403");
        serving.stop().await;
    }
}
