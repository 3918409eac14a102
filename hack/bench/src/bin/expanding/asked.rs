//! Who is asked to expand: a new process, the expander in this one, or the server.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bench::client::{Connection, Target};
use bytes::Bytes;
use expander::{NoFetch, Pool, expand};
use expansion::Expanded;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::case::Case;

/// How long an expansion may take.
const TIME: Duration = Duration::from_secs(30);

pub(crate) enum Asked<'a> {
    Process,
    Pool(Pool),
    Server(&'a Target),
}

/// Asks for one expansion after the other.
pub(crate) enum Client {
    Process,
    Pool(Pool),
    Server(Connection),
}

/// A result as it was given.
pub(crate) enum Answer {
    Printed(String),
    Expanded(Box<Expanded>),
    Object(Bytes),
}

impl Asked<'_> {
    pub(crate) async fn client(&self) -> Result<Client> {
        Ok(match self {
            Asked::Process => Client::Process,
            Asked::Pool(pool) => Client::Pool(pool.clone()),
            Asked::Server(target) => Client::Server(target.connect().await?),
        })
    }
}

impl Client {
    pub(crate) async fn expand(&mut self, case: &Case, deployment: &str) -> Result<Answer> {
        match self {
            Client::Process => {
                let mut command = case.command();
                let output = tokio::task::spawn_blocking(move || command.output()).await??;
                let errors = String::from_utf8_lossy(&output.stderr);
                ensure!(output.status.success(), "python3 failed: {errors}");
                Ok(Answer::Printed(String::from_utf8(output.stdout)?))
            }
            Client::Pool(pool) => {
                let input = case.input(deployment);
                let expanded = expand(input, pool, &NoFetch, Instant::now() + TIME).await;
                Ok(Answer::Expanded(Box::new(expanded.context("expanding")?)))
            }
            Client::Server(connection) => {
                Ok(Answer::Object(connection.ask(&case.order(deployment)).await?))
            }
        }
    }
}

impl Answer {
    /// Resources and layout, in one form for all.
    pub(crate) fn value(&self) -> Result<Value> {
        let result = match self {
            Answer::Printed(text) => serde_saphyr::from_str(text)?,
            Answer::Expanded(expanded) => {
                let Expanded { resources, layout, .. } = &**expanded;
                let (resources, layout) = (json!(resources), json!(layout));
                json!({ "config": { "resources": resources }, "layout": { "resources": layout } })
            }
            Answer::Object(text) => {
                let object: Value = serde_json::from_slice(text)?;
                let status = &object["status"];
                json!({ "config": status["config"], "layout": status["layout"] })
            }
        };
        let resources = result["config"]["resources"].as_array();
        ensure!(resources.is_some_and(|resources| !resources.is_empty()), "there are no resources");
        Ok(result)
    }
}
