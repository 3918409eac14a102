//! The commands through the Kubernetes API.
//!
//! A command that changes a deployment writes its spec and then looks on until the server has done what it says. What is
//! printed has the original's shape, but where the original had no such command.

mod changing;
mod credentials;
mod diff;
mod reading;
mod registries;

use std::process::ExitCode;
use std::time::Duration;

use futures::Stream;
use http::Method;
use kube::core::WatchEvent;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::command::Command;
use super::flags::Line;
use crate::args::Connection;
use crate::client::{Client, JSON, Refused, Warnings, percent_encoded};

/// The API that Deployments are in.
const API_VERSION: &str = "dm.formwork.dev/v1alpha1";

/// How long to wait for a deployment, in seconds, unless `--timeout` says otherwise: somewhat longer than an operation
/// takes at most, unless its Deployment says otherwise.
const TIMEOUT: u64 = 720;

/// How many objects are asked for at once.
const CHUNK: u32 = 500;

/// Runs a command. Answers the exit code.
///
/// # Errors
/// Whatever stops it.
pub(super) async fn run(command: Command, line: &Line) -> anyhow::Result<ExitCode> {
    let connection = Connection {
        namespace: line.text("namespace").map(str::to_owned),
        kubeconfig: line.path("kubeconfig"),
        context: line.text("context").map(str::to_owned),
        cluster: line.text("cluster").map(str::to_owned),
        user: line.text("user").map(str::to_owned),
    };
    let client = Client::connected(&connection, "--service asks another").await?;
    let api = Api { client };
    let patience = Duration::from_secs(line.seconds("timeout").unwrap_or(TIMEOUT));
    // `None`: nobody waits.
    let patience = line.switch("wait").unwrap_or(true).then_some(patience);
    let done = match command {
        Command::Expand(given) => changing::expand(&api, &given).await,
        Command::Deploy(given) => changing::deploy(&api, &given, patience).await,
        Command::Update(given) => changing::update(&api, &given, patience).await,
        Command::Diff(given) => return diff::diff(&api, &given).await,
        Command::Rollback { deployment, manifest } => {
            changing::rollback(&api, &deployment, manifest, patience).await
        }
        Command::Delete(name) => changing::delete(&api, &name, patience).await,
        Command::Wait(name) => changing::wait(&api, &name, patience.unwrap_or_default()).await,
        Command::List => reading::list(&api).await,
        Command::Get(name) => reading::get(&api, &name).await,
        Command::Manifests(name) => reading::manifests(&api, &name).await,
        Command::Manifest { deployment, manifest } => {
            reading::manifest(&api, &deployment, &manifest).await
        }
        Command::Layout(name) => reading::layout(&api, &name).await,
        Command::Status(name) => reading::status(&api, &name).await,
        Command::DeployedTypes => reading::types(&api).await,
        Command::DeployedInstances(kind) => reading::instances(&api, &kind).await,
        Command::Describe(kind) => reading::describe(&api, &kind).await,
        Command::GetCredential(name) => credentials::get(&api, &name).await,
        Command::SetCredential(name, credential) => {
            credentials::set(&api, &name, &credential).await
        }
        Command::Templates { registry, regex } => {
            registries::templates(&api, &registry, regex.as_deref()).await
        }
        Command::Registries => registries::list(&api).await,
        Command::CreateRegistry { registry, text } => {
            registries::create(&api, &registry, &text).await
        }
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// The objects of a namespace.
pub(super) struct Api {
    client: Client,
}

#[derive(Deserialize)]
struct List<T> {
    metadata: ListMetadata,
    #[serde(default = "Vec::new")]
    items: Vec<T>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ListMetadata {
    #[serde(rename = "continue")]
    token: String,
}

impl Api {
    fn path(&self, resource: &str) -> String {
        let namespace = percent_encoded(self.client.namespace());
        format!("/apis/{API_VERSION}/namespaces/{namespace}/{resource}")
    }

    fn path_of(&self, resource: &str, name: &str) -> String {
        format!("{}/{}", self.path(resource), percent_encoded(name))
    }

    /// The deployment of that name, if there is one.
    pub(super) async fn find(&self, name: &str) -> Result<Option<Value>, Refused> {
        match self.get("deployments", name).await {
            Ok(json) => Ok(Some(self.read(&json)?)),
            // Only an answer that names what was looked for says that it is not there.
            Err(Refused::Status(status))
                if status.code == 404 && status.details.iter().any(|one| one.name == name) =>
            {
                Ok(None)
            }
            Err(refused) => Err(refused),
        }
    }

    /// What happens to the deployment of that name after `version`, or from now on if there is none.
    pub(super) async fn watch(
        &self,
        name: &str,
        version: &str,
    ) -> kube::Result<impl Stream<Item = kube::Result<WatchEvent<Value>>> + use<>> {
        let name = percent_encoded(name);
        let path = self.path("deployments");
        let path = format!(
            "{path}?watch=true&fieldSelector=metadata.name%3D{name}&resourceVersion={version}"
        );
        self.client.watch(&path).await
    }

    async fn get(&self, resource: &str, name: &str) -> Result<String, Refused> {
        self.client.get(&self.path_of(resource, name)).await
    }

    /// All objects of a resource, in one of the media types of `accept`; or those alone whose field has that value.
    async fn list<T: DeserializeOwned>(
        &self,
        resource: &str,
        accept: &str,
        selected: Option<(&str, &str)>,
    ) -> Result<Vec<T>, Refused> {
        let path = self.path(resource);
        let (mut items, mut token) = (Vec::new(), String::new());
        loop {
            let mut query = format!("?limit={CHUNK}");
            if let Some((field, value)) = selected {
                let selector = percent_encoded(&format!("{field}={}", literal(value)));
                query += &format!("&fieldSelector={selector}");
            }
            if !token.is_empty() {
                query += &format!("&continue={}", percent_encoded(&token));
            }
            let text =
                self.client.get_as(&format!("{path}{query}"), accept, Warnings::Print).await?;
            let page: List<T> = self.read(&text)?;
            items.extend(page.items);
            token = page.metadata.token;
            if token.is_empty() {
                return Ok(items);
            }
        }
    }

    /// Sends an object, or nothing, and reads what is answered.
    async fn send(
        &self,
        method: Method,
        path: &str,
        object: Option<&Value>,
    ) -> Result<Value, Refused> {
        let body = object.map(Value::to_string).unwrap_or_default();
        let text = self.client.send(method, path, JSON, body, Warnings::Print).await?;
        self.read(&text)
    }

    fn read<T: DeserializeOwned>(&self, json: &str) -> Result<T, Refused> {
        let error = |error| anyhow::Error::new(error).context("the server's answer");
        serde_json::from_str(json).map_err(|wrong| Refused::Other(error(wrong)))
    }
}

/// `value` as it is written in a selector, in which some characters mean something.
fn literal(value: &str) -> String {
    value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_takes_any_value_as_it_is() {
        assert_eq!(literal("github.com/o/r/t:v1"), "github.com/o/r/t:v1");
        assert_eq!(literal(r"https://h/t?a=b,c\d"), r"https://h/t?a\=b\,c\\d");
    }
}
