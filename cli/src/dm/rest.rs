//! The commands by the requests that the original made, for services with Deployment Manager's own paths.
//!
//! A variable in a path is escaped twice: the original's services read it so, and ours does. The commands that the
//! original did not have need the Kubernetes API, but for `layout`, which can be drawn of a manifest.

use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use expansion::imports::File;
use http::{Method, Request, header};
use kube::client::Body;
use serde::{Deserialize, Serialize};

use super::command::Command;
use super::credential;
use super::flags::Line;
use super::input::{Given, Input};
use super::{layout, print};
use crate::client::{self, Client, JSON, Warnings, percent_encoded};
use crate::expand::collect::Collected;
use crate::output::to_stdout;

/// How long an answer may take, in seconds, unless `--timeout` says otherwise.
const TIMEOUT: u64 = 20;

/// Runs a command at the service of `url`.
///
/// # Errors
/// Whatever stops it.
pub(super) async fn run(command: Command, url: &str, line: &Line) -> anyhow::Result<()> {
    let connected = match (line.text("certificate-authority"), line.text("token-file")) {
        (None, None) => client::at(url),
        (authority, token) => client::trusted(url, authority, token).await,
    };
    let (client, path) = connected.with_context(|| format!("--service {url}"))?;
    // As in the original, 0 is without end.
    let patience = match line.seconds("timeout").unwrap_or(TIMEOUT) {
        0 => Duration::MAX,
        seconds => Duration::from_secs(seconds),
    };
    let path = path.path().trim_end_matches('/').to_owned();
    let service = Service { client, path, patience };
    match command {
        Command::Layout(deployment) => service.layout(&deployment).await,
        command => print(&service.call(Call::of(command)?).await?),
    }
}

struct Service {
    client: Client,
    /// What stands before all paths.
    path: String,
    patience: Duration,
}

/// A request.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    method: Method,
    /// Behind the service's own path, with its query, escaped.
    path: String,
    body: String,
    /// What cannot be done if it fails.
    action: String,
}

impl Service {
    /// Makes a request; gives back the JSON of the answer.
    async fn call(&self, call: Call) -> anyhow::Result<String> {
        let Call { method, path, body, action } = call;
        let path = format!("{}/{path}", self.path);
        let request = Request::builder().method(method).uri(path);
        let request = request.header(header::ACCEPT, "*/*").header(header::CONTENT_TYPE, JSON);
        let request = request.body(Body::from(body.into_bytes()))?;
        let answer = self.client.exchange(request, Warnings::Print);
        let answer = tokio::time::timeout(self.patience, answer).await;
        let (code, text) = answer
            .map_err(|_| anyhow!("no answer within {} s", self.patience.as_secs()))
            .flatten()
            .map_err(|error| anyhow!("cannot {action}: {error:#}"))?;
        if !code.is_success() {
            let number = code.as_u16();
            bail!("cannot {action}: status code: {number} status: {code} : {}", text.trim_end());
        }
        if serde_json::from_str::<serde::de::IgnoredAny>(&text).is_err() {
            bail!("Failed to parse JSON response from service: {text}");
        }
        Ok(text)
    }

    /// Draws the layout of the latest manifest.
    async fn layout(&self, deployment: &str) -> anyhow::Result<()> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Latest {
            latest_manifest: String,
        }
        let json = self.call(Call::of(Command::Get(deployment.to_owned()))?).await?;
        let Latest { latest_manifest } = serde_json::from_str(&json).context("the deployment")?;
        if latest_manifest.is_empty() {
            bail!("{deployment} has no manifest");
        }
        let manifest = Command::Manifest {
            deployment: deployment.to_owned(),
            manifest: latest_manifest.clone(),
        };
        let json = self.call(Call::of(manifest)?).await?;
        to_stdout(&layout::of_original(deployment, &latest_manifest, &json)?)
    }
}

impl Call {
    /// The request that a command is.
    ///
    /// # Errors
    /// When it is none.
    fn of(command: Command) -> anyhow::Result<Self> {
        let get = |path: String, action: String| Call {
            method: Method::GET,
            path,
            body: String::new(),
            action,
        };
        Ok(match command {
            Command::Expand(given) => posted(&given, "expand", "expand configuration".to_owned())?,
            Command::Deploy(given) => {
                let action = format!("deploy configuration named {}", given.original_name());
                posted(&given, "deployments", action)?
            }
            Command::Update(given) => {
                let name = given.original_name();
                let action = format!("update deployment named {name}");
                let path = format!("deployments/{}", variable(name));
                Call { method: Method::PUT, ..posted(&given, &path, action)? }
            }
            Command::List => get("deployments".to_owned(), "list deployments".to_owned()),
            Command::Get(name) => get(
                format!("deployments/{}", variable(&name)),
                format!("get deployment named {name}"),
            ),
            Command::Delete(name) => Call {
                method: Method::DELETE,
                ..get(
                    format!("deployments/{}", variable(&name)),
                    format!("delete deployment named {name}"),
                )
            },
            Command::Manifests(name) => get(
                format!("deployments/{}/manifests", variable(&name)),
                format!("get manifest {name}"),
            ),
            Command::Manifest { deployment, manifest } => get(
                format!("deployments/{}/manifests/{}", variable(&deployment), variable(&manifest)),
                format!("get manifest {deployment}"),
            ),
            Command::DeployedTypes => get("types".to_owned(), "list deployed types".to_owned()),
            Command::DeployedInstances(kind) => get(
                format!("types/{}/instances", variable(&kind)),
                format!("list deployed instances of type {kind}"),
            ),
            Command::Templates { registry, regex } => {
                let mut path = format!("registries/{}/types", in_path(&registry));
                if let Some(regex) = regex {
                    path += &format!("?regex={}", in_query(&regex));
                }
                get(path, "list templates".to_owned())
            }
            Command::Describe(kind) => get(
                format!("types/{}/metadata", variable(&kind)),
                "get metadata for type".to_owned(),
            ),
            Command::Registries => get("registries".to_owned(), "list registries".to_owned()),
            Command::CreateRegistry { registry, text } => Call {
                method: Method::POST,
                path: format!("registries/{}", in_path(&registry)),
                body: text,
                action: "create registry".to_owned(),
            },
            Command::GetCredential(name) => {
                get(format!("credentials/{}", in_path(&name)), "get credential".to_owned())
            }
            Command::SetCredential(name, credential) => Call {
                method: Method::POST,
                path: format!("credentials/{}", in_path(&name)),
                body: credential::to_yaml(&credential)?,
                action: "set credential".to_owned(),
            },
            Command::Diff(_)
            | Command::Layout(_)
            | Command::Status(_)
            | Command::Wait(_)
            | Command::Rollback { .. } => {
                bail!("this command needs the Kubernetes API; --service has no path for it")
            }
        })
    }
}

/// A configuration as the service takes it.
#[derive(Serialize)]
struct Template<'a> {
    name: &'a str,
    content: String,
    imports: Vec<Import<'a>>,
}

#[derive(Serialize)]
struct Import<'a> {
    name: &'a str,
    /// Only where the name does not say what language it is; the original sent none.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    content: &'a str,
}

fn posted(given: &Given, path: &str, action: String) -> anyhow::Result<Call> {
    let name = given.original_name();
    let template = match &given.input {
        Input::Type { kind, properties } => {
            // The original names the resource after its type, whatever the deployment is called.
            Template { name, content: Input::of_type(kind, kind, properties), imports: Vec::new() }
        }
        Input::Configuration { text, .. } if text.is_empty() => {
            bail!("supplied configuration is empty");
        }
        Input::Configuration { text, collected } => {
            Template { name, content: text.clone(), imports: imports(collected) }
        }
    };
    let body = as_go_writes(&serde_json::to_string(&template)?);
    Ok(Call { method: Method::POST, path: path.to_owned(), body, action })
}

/// Every name with its text: the service knows a file by no other. Names that were given come first and in their order,
/// as the original sent them.
fn imports(collected: &Collected) -> Vec<Import<'_>> {
    let given: Vec<&str> = collected.files.iter().map(File::known_as).collect();
    let derived = collected.imports.keys().map(String::as_str).filter(|name| !given.contains(name));
    let names = given.iter().copied().chain(derived);
    let last = |path: &str| path.rsplit('/').next().map(str::to_owned);
    names
        .filter_map(|name| Some((name, collected.imports.get(name)?)))
        .map(|(name, import)| Import {
            name,
            path: (last(name) != last(&import.path)).then_some(&*import.path),
            content: &import.content,
        })
        .collect()
}

/// JSON in which texts have no `<`, `>` and `&`, as Go's encoder has them.
fn as_go_writes(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => text.push(c),
        }
    }
    text
}

/// A variable in a path, as the services read it.
fn variable(text: &str) -> String {
    in_path(&in_query(text))
}

fn in_query(text: &str) -> String {
    percent_encoded(text).replace("%20", "+")
}

/// `text` as a path, in which it may be several parts.
fn in_path(text: &str) -> String {
    let allowed = |c: char| "$&+,/:;=@".contains(c);
    text.split_inclusive(allowed)
        .map(|part| match part.strip_suffix(allowed) {
            Some(before) => percent_encoded(before) + &part[before.len()..],
            None => percent_encoded(part),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(args: &[&str]) -> Call {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        let line = Line::read(&args).unwrap();
        let command = Command::read(&line.arguments[0], &line.arguments[1..], &line).unwrap();
        Call::of(command).unwrap()
    }

    fn line(args: &[&str]) -> String {
        let call = call(args);
        format!("{} {}", call.method, call.path)
    }

    #[test]
    fn every_command_of_the_original_is_one_request() {
        for (args, want) in [
            (&["list"][..], "GET deployments"),
            (&["get", "a/b"], "GET deployments/a%252Fb"),
            (&["get", "a b+c"], "GET deployments/a+b%252Bc"),
            (&["delete", "d"], "DELETE deployments/d"),
            (&["manifest", "d"], "GET deployments/d/manifests"),
            (&["manifest", "d", "m:1"], "GET deployments/d/manifests/m%253A1"),
            (&["deployed-types"], "GET types"),
            (
                &["deployed-instances", "github.com/o/r/c/t:v1"],
                "GET types/github.com%252Fo%252Fr%252Fc%252Ft%253Av1/instances",
            ),
            (&["templates"], "GET registries/application-dm-templates/types"),
            (
                &["templates", "--registry=a b", "--regex", "re.*/s"],
                "GET registries/a%20b/types?regex=re.%2A%2Fs",
            ),
            (&["describe", "Pod"], "GET types/Pod/metadata"),
            (&["registries"], "GET registries"),
            (&["getcredential", "c/d"], "GET credentials/c/d"),
            (&["setcredential", "c", "--apitoken", "T"], "POST credentials/c"),
            (&["expand", "Pod"], "POST expand"),
            (&["deploy", "Pod"], "POST deployments"),
            (&["update", "storage/redis:v1"], "PUT deployments/storage%252Fredis%253Av1"),
        ] {
            assert_eq!(line(args), want);
        }
    }

    #[test]
    fn a_type_is_sent_as_go_writes_it() {
        assert_eq!(
            call(&["deploy", "Pod", "--properties", "a=1,b=<x>", "--name=d"]).body,
            r#"{"name":"d","content":"resources:\n- name: Pod\n  properties:\n    a: 1\n    b: \u003cx\u003e\n  type: Pod\n","imports":[]}"#
        );
    }

    #[test]
    fn files_are_sent_under_every_name_that_they_have() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("lib")).unwrap();
        let file = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).unwrap();
        file("a.yaml", "imports: [{path: u.py, name: v}, {path: lib/t.jinja}]\n");
        file("lib/t.jinja", "1");
        file("u.py", "2");
        let path = folder.path().join("a.yaml");
        let body = call(&["expand", path.to_str().unwrap()]).body;
        assert_eq!(
            body,
            r#"{"name":"a.yaml","content":"imports: [{path: u.py, name: v}, {path: lib/t.jinja}]\n","imports":[{"name":"v","path":"u.py","content":"2"},{"name":"lib/t.jinja","content":"1"},{"name":"t.jinja","content":"1"}]}"#
        );
    }

    #[test]
    fn what_the_original_could_not_do_has_no_request() {
        let args = ["status".to_owned(), "d".to_owned()];
        let command = Command::read(&args[0], &args[1..], &Line::default()).unwrap();
        assert!(Call::of(command).unwrap_err().to_string().contains("needs the Kubernetes API"));
    }
}
