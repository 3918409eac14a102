//! Has a server expand what was collected here.

use std::collections::BTreeMap;

use anyhow::Context;
use expansion::Value;
use expansion::imports::File;
use kube::core::Status;
use serde::{Deserialize, Serialize};

use super::Configuration;
use super::collect::Collected;
use super::output::Parts;
use crate::args::{Connection, Expand};
use crate::client::{Client, Refused};
use crate::failure::Failure;

/// An `Expansion` as it is sent.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sent<'a> {
    api_version: &'static str,
    kind: &'static str,
    spec: Spec<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Spec<'a> {
    configuration: &'a str,
    imports: Vec<Import<'a>>,
    env: BTreeMap<&'a str, String>,
    validate_schemas: bool,
}

/// A file as it is sent.
#[derive(Serialize)]
pub(crate) struct Import<'a> {
    name: &'a str,
    path: &'a str,
    content: &'a str,
}

impl<'a> From<&'a File> for Import<'a> {
    fn from(File { name, path, content }: &'a File) -> Self {
        Self { name, path, content }
    }
}

/// What of the answer is printed.
#[derive(Deserialize)]
struct Answer {
    status: Answered,
}

#[derive(Deserialize)]
struct Answered {
    config: Resources,
    layout: Resources,
    #[serde(default)]
    outputs: Vec<Value>,
}

#[derive(Deserialize)]
struct Resources {
    resources: Vec<Value>,
}

/// Sends the configuration and its files. The client prints the warnings of the answer.
///
/// # Errors
/// When there is no server, or it refuses; every cause has its line.
pub(super) async fn expand(
    args: &Expand,
    configuration: &Configuration,
    collected: &Collected,
    env: &expansion::Map,
    connection: &Connection,
) -> anyhow::Result<Parts> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_json(), str::to_owned);
    let sent = Sent {
        api_version: "dm.formwork.dev/v1alpha1",
        kind: "Expansion",
        spec: Spec {
            configuration: &configuration.text,
            imports: collected.files.iter().map(Import::from).collect(),
            env: env.iter().map(|(key, value)| (key.as_str(), text(value))).collect(),
            validate_schemas: !args.no_schema,
        },
    };
    let client = Client::new(connection).await?;
    let answer = client.expand(serde_json::to_string(&sent)?).await.map_err(refused)?;
    let answer: Answer = serde_json::from_str(&answer).context("the server's answer")?;
    let Answered { config, layout, outputs } = answer.status;
    Ok(Parts { resources: config.resources, layout: layout.resources, outputs })
}

/// The refusal of an expansion, with a line for every cause.
pub(crate) fn refused(refused: Refused) -> anyhow::Error {
    match refused {
        Refused::Status(status) => match causes(&status) {
            causes if causes.is_empty() => Failure::Server(status).into(),
            causes => Failure::Several(causes).into(),
        },
        Refused::Other(error) => error,
    }
}

fn causes(status: &Status) -> Vec<String> {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes.map(|cause| format!("{}: {}", cause.field, cause.message)).collect()
}
