//! The server: its address and credentials from a kubeconfig, and the few requests we make.
//!
//! Bodies travel as text, so that a template's objects are not read into a tree on the way.
//! Warning headers go to standard error as kubectl prints them.

use std::net::IpAddr;

use anyhow::{Context, anyhow, bail};
use futures::Stream;
use http::uri::PathAndQuery;
use http::{Method, Request, Response, StatusCode, header};
use kube::Config;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::core::{Status, WatchEvent};
use processor::Dialect;
use serde_json::{Value, json};

use crate::args::Connection;
use crate::failure::Failure;

/// The media type of everything but discovery.
pub(crate) const JSON: &str = "application/json";

/// The two APIs that have Templates, in the order in which a bare name is looked for.
const DIALECTS: [Dialect; 2] = [Dialect::OpenShift, Dialect::Proposal];

/// A server, and the namespace we work in.
pub(crate) struct Client {
    inner: kube::Client,
    namespace: String,
    /// Host and port, for messages.
    address: String,
}

/// What becomes of the warnings in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Warnings {
    /// They are about what the user asked for.
    Print,
    /// They are about how we asked.
    Drop,
}

/// The path of a resource of `dialect` in a namespace.
fn path(dialect: Dialect, namespace: &str, rest: &str) -> String {
    format!("/apis/{}/namespaces/{namespace}/{rest}", dialect.api_version())
}

impl Client {
    /// Reads the kubeconfig, or the credentials of the pod that this runs in. No request is made.
    ///
    /// # Errors
    /// When there are neither, or the kubeconfig lacks what the flags name.
    pub(crate) async fn new(connection: &Connection) -> anyhow::Result<Self> {
        Self::connected(connection, "--local does without one").await
    }

    /// As [`Client::new`]; `hint` says what to do where there is no kubeconfig.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub(crate) async fn connected(connection: &Connection, hint: &str) -> anyhow::Result<Self> {
        let config = config(connection, hint).await?;
        let namespace = connection.namespace.clone();
        let namespace = namespace.unwrap_or_else(|| config.default_namespace.clone());
        Self::with(config, namespace).context("setting up the connection")
    }

    fn with(mut config: Config, namespace: String) -> anyhow::Result<Self> {
        let address = config.cluster_url.authority().map(ToString::to_string).unwrap_or_default();
        // Somebody is waiting: kube-rs would try a server that says 503 for minutes.
        config.default_retry = false;
        Ok(Client { inner: kube::Client::try_from(config)?, namespace, address })
    }

    /// The namespace we work in.
    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The JSON of a stored template, and which API it was found in: the given one, or the first
    /// that has the name.
    ///
    /// # Errors
    /// When there is no such template, in the words of `oc`, or the server refuses.
    pub(crate) async fn stored_template(
        &self,
        namespace: Option<&str>,
        name: &str,
        dialect: Option<Dialect>,
    ) -> anyhow::Result<String> {
        let namespace = namespace.unwrap_or(&self.namespace);
        let mut is_served = false;
        for dialect in DIALECTS.into_iter().filter(|&one| dialect.is_none_or(|only| only == one)) {
            match self.get(&path(dialect, namespace, &format!("templates/{name}"))).await {
                Ok(json) => return Ok(json),
                // Details name the object where the resource exists and only the object does not.
                Err(Refused::Status(status)) if status.code == 404 => {
                    is_served |= status.details.is_some_and(|details| !details.name.is_empty());
                }
                Err(refused) => return Err(refused.into()),
            }
        }
        Err(match is_served {
            true => anyhow!("template {name:?} could not be found"),
            false => anyhow!("the server doesn't have a resource type \"templates\""),
        })
    }

    /// The JSON Schema of a stored template's parameters.
    pub(crate) async fn schema(
        &self,
        namespace: Option<&str>,
        name: &str,
        dialect: Dialect,
    ) -> anyhow::Result<String> {
        let namespace = namespace.unwrap_or(&self.namespace);
        Ok(self.get(&path(dialect, namespace, &format!("templates/{name}/schema"))).await?)
    }

    /// Has the server process a template; gives back the processed one.
    ///
    /// # Errors
    /// When the server refuses; for what is wrong with the template, in the form of `oc`.
    pub(crate) async fn process(
        &self,
        dialect: Dialect,
        template: String,
    ) -> anyhow::Result<String> {
        let path = path(dialect, &self.namespace, "processedtemplates?fieldValidation=Warn");
        match self.send(Method::POST, &path, JSON, template, Warnings::Print).await {
            Ok(json) => Ok(json),
            Err(Refused::Status(status)) => Err(unable_to_process(&status)),
            Err(refused) => Err(refused.into()),
        }
    }

    /// Has the server expand a configuration; gives back the expanded one.
    ///
    /// # Errors
    /// When the server refuses.
    pub(crate) async fn expand(&self, expansion: String) -> Result<String, Refused> {
        let path =
            format!("/apis/dm.formwork.dev/v1alpha1/namespaces/{}/expansions", self.namespace);
        self.send(Method::POST, &path, JSON, expansion, Warnings::Print).await
    }

    /// GETs `path`.
    pub(crate) async fn get(&self, path: &str) -> Result<String, Refused> {
        self.get_as(path, JSON, Warnings::Print).await
    }

    /// GETs `path` in one of the media types of `accept`.
    pub(crate) async fn get_as(
        &self,
        path: &str,
        accept: &str,
        warnings: Warnings,
    ) -> Result<String, Refused> {
        self.send(Method::GET, path, accept, String::new(), warnings).await
    }

    /// Sends `body`, JSON if it is not empty, with `method` to `path`; gives back the body of the answer.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        accept: &str,
        body: String,
        warnings: Warnings,
    ) -> Result<String, Refused> {
        let mut request =
            Request::builder().method(method).uri(path).header(header::ACCEPT, accept);
        if !body.is_empty() {
            request = request.header(header::CONTENT_TYPE, JSON);
        }
        let request = request
            .body(Body::from(body.into_bytes()))
            .map_err(|error| Refused::Other(anyhow!("{path}: {error}")))?;
        let (code, text) = self.exchange(request, warnings).await.map_err(Refused::Other)?;
        if code.is_success() { Ok(text) } else { Err(Refused::Status(status(code, &text))) }
    }

    /// Sends a request; gives back the code and the body of the answer, whatever they are.
    ///
    /// # Errors
    /// When there is no answer.
    pub(crate) async fn exchange(
        &self,
        request: Request<Body>,
        warnings: Warnings,
    ) -> anyhow::Result<(StatusCode, String)> {
        let response = self.inner.send(request).await.map_err(|error| self.unreachable(error))?;
        if warnings == Warnings::Print {
            print_warnings(&response);
        }
        let code = response.status();
        let bytes = response.into_body().collect_bytes().await;
        let bytes = bytes.map_err(|error| self.unreachable(error))?;
        Ok((code, String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The events of a watch at `path`, as long as the server sends any.
    ///
    /// # Errors
    /// When there is no such watch.
    pub(crate) async fn watch(
        &self,
        path: &str,
    ) -> kube::Result<impl Stream<Item = kube::Result<WatchEvent<Value>>> + use<>> {
        let request = Request::get(path).header(header::ACCEPT, JSON).body(Vec::new());
        self.inner.request_events(request.map_err(kube::Error::HttpError)?).await
    }

    /// What went wrong before there was an answer, as kubectl says it.
    fn unreachable(&self, error: kube::Error) -> anyhow::Error {
        let error = anyhow::Error::new(error);
        let is_refused = error.chain().any(|cause| {
            cause
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
        });
        let address = &self.address;
        let text = if is_refused {
            format!(
                "The connection to the server {address} was refused - did you specify the right host or port?"
            )
        } else {
            format!("Unable to connect to the server: {:#}", error.root_cause())
        };
        Failure::Several(vec![text]).into()
    }
}

/// The server at `url`, without credentials, and the path that is meant there. No request is made.
///
/// # Errors
/// When it is no URL.
pub(crate) fn at(url: &str) -> anyhow::Result<(Client, PathAndQuery)> {
    let (server, path) = split(url)?;
    Ok((Client::with(Config::new(server), String::new())?, path))
}

/// The server at `url` that has a certificate of `authority`, with the token in `token` for who we are. Both are files.
///
/// # Errors
/// When it is no URL, a file cannot be read, or others could read the token on its way.
pub(crate) async fn trusted(
    url: &str,
    authority: Option<&str>,
    token: Option<&str>,
) -> anyhow::Result<(Client, PathAndQuery)> {
    let (server, path) = split(url)?;
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    let is_near = host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    if token.is_some() && server.scheme_str() != Some("https") && !is_near {
        bail!("a token is sent by https alone");
    }
    // Files of tokens end with a line break, which no header may have.
    let token = token
        .map(|file| std::fs::read_to_string(file).with_context(|| file.to_owned()))
        .transpose()?
        .map(|token| token.trim().to_owned());
    let kubeconfig: Kubeconfig = serde_json::from_value(json!({
        "clusters": [{"name": "c", "cluster":
            {"server": server.to_string(), "certificate-authority": authority}}],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "c",
    }))?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok((Client::with(config, String::new())?, path))
}

/// The server of a URL, and the path there.
fn split(url: &str) -> anyhow::Result<(http::Uri, PathAndQuery)> {
    let mut server = url.parse::<http::Uri>()?.into_parts();
    let root = PathAndQuery::from_static("/");
    let path = server.path_and_query.replace(root.clone());
    Ok((http::Uri::from_parts(server)?, path.unwrap_or(root)))
}

/// The text at `url`, from any web server and without credentials.
///
/// # Errors
/// When it cannot be had; a redirection is not followed.
pub(crate) async fn download(url: &str) -> anyhow::Result<String> {
    let (client, path) = at(url).with_context(|| format!("unable to read URL {url:?}"))?;
    match client.get_as(path.as_str(), "*/*", Warnings::Drop).await {
        Ok(text) => Ok(text),
        Err(Refused::Status(status)) => {
            bail!("unable to read URL {url:?}, server reported {}", status.code)
        }
        Err(Refused::Other(error)) => Err(error),
    }
}

/// `text` as part of a path or a query, whatever is in it.
pub(crate) fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Why a request gave no object.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The server said why.
    Status(Box<Status>),
    /// The request did not get that far.
    Other(anyhow::Error),
}

impl From<Refused> for anyhow::Error {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Status(status) => Failure::Server(status).into(),
            Refused::Other(error) => error,
        }
    }
}

async fn config(connection: &Connection, hint: &str) -> anyhow::Result<Config> {
    let kubeconfig = match &connection.kubeconfig {
        Some(path) => Kubeconfig::read_from(path),
        None => Kubeconfig::read(),
    };
    let options = KubeConfigOptions {
        context: connection.context.clone(),
        cluster: connection.cluster.clone(),
        user: connection.user.clone(),
    };
    match kubeconfig {
        Ok(kubeconfig) => Ok(Config::from_custom_kubeconfig(kubeconfig, &options).await?),
        // In a pod there is no kubeconfig, but a service account.
        Err(error @ (KubeconfigError::ReadConfig(..) | KubeconfigError::FindPath))
            if connection.kubeconfig.is_none() =>
        {
            let missing = anyhow::Error::new(error);
            Config::incluster()
                .map_err(|_| missing.context(format!("no server is configured ({hint})")))
        }
        Err(error) => Err(error.into()),
    }
}

/// The `Status` of a failed answer; one made up, as kubectl does, when the answer is none: a
/// proxy's, or the list of paths that an API server gives for an unknown one.
fn status(code: StatusCode, text: &str) -> Box<Status> {
    let status = match serde_json::from_str::<Status>(text) {
        Ok(status) if status.is_failure() => status,
        _ if code == StatusCode::NOT_FOUND => {
            Status::failure("the server could not find the requested resource", "NotFound")
        }
        _ if text.trim().is_empty() => Status::failure(&code.to_string(), ""),
        _ => Status::failure(text.trim(), ""),
    };
    status.with_code(code.as_u16()).boxed()
}

/// `oc` shows the causes without their fields: the processor's texts name the parameter anyway.
fn unable_to_process(status: &Status) -> anyhow::Error {
    let Some(details) = &status.details else {
        return anyhow!("unable to process template: {}", status.message);
    };
    let mut text = "unable to process template".to_owned();
    let messages: Vec<&str> = match details.causes.as_slice() {
        [] => vec![&status.message],
        causes => causes.iter().map(|cause| cause.message.as_str()).collect(),
    };
    for message in messages {
        text.push_str("\n  ");
        text.push_str(message);
    }
    anyhow!(text)
}

fn print_warnings(response: &Response<Body>) {
    for value in response.headers().get_all(header::WARNING) {
        if let Some(text) = value.to_str().ok().and_then(warning_text) {
            eprintln!("Warning: {text}");
        }
    }
}

/// The text of a `Warning: 299 agent "text"` header.
fn warning_text(header: &str) -> Option<String> {
    let (_, quoted) = header.strip_prefix("299 ")?.split_once('"')?;
    let quoted = quoted.trim_end().strip_suffix('"')?;
    let mut text = String::with_capacity(quoted.len());
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        text.push(if c == '\\' { chars.next()? } else { c });
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_unquoted() {
        assert_eq!(warning_text(r#"299 - "unknown field \"a\"""#).unwrap(), "unknown field \"a\"");
        assert_eq!(warning_text("110 - \"stale\""), None);
    }

    #[test]
    fn whatever_is_no_letter_is_encoded() {
        assert_eq!(percent_encoded("a in (b,c)"), "a%20in%20%28b%2Cc%29");
    }

    fn refused(json: &str) -> String {
        unable_to_process(&status(StatusCode::UNPROCESSABLE_ENTITY, json)).to_string()
    }

    #[test]
    fn only_the_messages_of_causes_are_shown() {
        let json = r#"{"kind":"Status","status":"Failure","message":"all","details":{"name":"t","causes":[
            {"reason":"a","message":"one","field":"f"},{"message":"two"}]}}"#;
        assert_eq!(refused(json), "unable to process template\n  one\n  two");
    }

    #[test]
    fn without_causes_the_message_is_shown() {
        assert_eq!(
            refused(r#"{"status":"Failure","message":"all","details":{"name":"t"}}"#),
            "unable to process template\n  all"
        );
        assert_eq!(
            refused(r#"{"status":"Failure","message":"all"}"#),
            "unable to process template: all"
        );
    }

    #[test]
    fn an_answer_that_is_no_status_is_its_own_message() {
        assert_eq!(
            status(StatusCode::NOT_FOUND, r#"{"paths":["/apis"]}"#).message,
            "the server could not find the requested resource"
        );
        assert_eq!(status(StatusCode::BAD_GATEWAY, "down\n").message, "down");
        assert_eq!(status(StatusCode::BAD_GATEWAY, "").message, "502 Bad Gateway");
        assert_eq!(status(StatusCode::BAD_GATEWAY, "").code, 502);
    }
}
