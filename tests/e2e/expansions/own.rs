//! A standalone server of its own, for tests that disturb it, and expansions that are sent to it.

use std::time::{Duration, Instant};

use ::tests::client::{Answer, Client, PATIENCE, Request};
use ::tests::family::{Member, children};
use ::tests::server::Server;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// Where expansions are created.
pub(super) const PATH: &str = "/apis/dm.formwork.dev/v1alpha1/namespaces/default/expansions";

/// Calls that have a child now.
pub(super) const IN_FLIGHT: &str = "formwork_expander_calls_in_flight";
/// Calls that wait for one.
pub(super) const WAITING: &str = "formwork_expander_queue_length";

/// Counts for about half a second, and says how far.
pub(super) const SLOW: &str = "
def generate_config(context):
    total = 0
    for n in range(context.properties.get('rounds', 5000000)):
        total += n
    return {'resources': [{'name': 'total', 'type': 'Number', 'properties': {'value': total}}]}
";

/// Counts for ever.
pub(super) const ENDLESS: &str = "
def generate_config(context):
    while True:
        pass
";

/// A server and its administrator.
pub(super) struct Own {
    pub(super) server: Server,
    pub(super) client: Client,
}

impl Own {
    /// One with these flags that runs templates, since its self-test is over, and none at the moment.
    pub(super) async fn start(flags: &[&str]) -> Result<Self> {
        let own = Self::of(Server::start_with(flags)?)?;
        let quick = own.expand(&one("x.jinja", "resources: []")).await?;
        ensure!(quick.status == 201, "{}", quick.text());
        // Calls count until after their answers, and one worker is enough to give those.
        own.until(IN_FLIGHT, |calls| calls == 0.0).await?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let note = own.note().await?;
            if note.contains("2 of 2 workers ready") {
                return Ok(own);
            }
            ensure!(Instant::now() < deadline, "{note}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub(super) fn of(server: Server) -> Result<Self> {
        let client = server.target()?.administrator();
        Ok(Self { server, client })
    }

    /// Sends an expansion and waits for what comes of it.
    pub(super) async fn expand(&self, body: &Value) -> Result<Answer> {
        self.client.send(&Request::post(PATH, body.to_string())).await
    }

    /// The same beside this test.
    pub(super) fn begin(&self, body: &Value) -> tokio::task::JoinHandle<Result<Answer>> {
        let (client, request) = (self.client.clone(), Request::post(PATH, body.to_string()));
        tokio::spawn(async move { client.send(&request).await })
    }

    /// The sum of a metric over all of its labels that begin so, such as `name{code="200"`.
    pub(super) async fn metric(&self, beginning: &str) -> Result<f64> {
        let text = self.client.send(&Request::get("/metrics")).await?.text();
        let lines = text.lines().filter(|line| line.starts_with(beginning));
        lines
            .map(|line| {
                let value = line.rsplit(' ').next().unwrap_or_default();
                value.parse::<f64>().with_context(|| line.to_owned())
            })
            .sum()
    }

    /// Waits until a metric is what it should be.
    pub(super) async fn until(&self, beginning: &str, wanted: impl Fn(f64) -> bool) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let now = self.metric(beginning).await?;
            if wanted(now) {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "{beginning} stays {now}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// What `/readyz?verbose` says of the expander. Nothing else may be amiss.
    pub(super) async fn note(&self) -> Result<String> {
        let ready = self.client.send(&Request::get("/readyz?verbose")).await?;
        ensure!(ready.status == 200, "{}", ready.text());
        let text = ready.text();
        let note = text.lines().find(|line| line.starts_with("[i]expander "));
        Ok(note.context("the expander is not named")?.to_owned())
    }

    /// The two workers, which are all that the server starts.
    pub(super) fn workers(&self) -> Result<Vec<Member>> {
        children(self.server.id())
    }
}

/// An Expansion of one resource with one template.
pub(super) fn one(name: &str, content: &str) -> Value {
    with(name, content, &json!({}))
}

/// An Expansion of one resource with one template and its properties.
pub(super) fn with(name: &str, content: &str, properties: &Value) -> Value {
    let configuration =
        json!({ "resources": [{ "name": "a", "type": name, "properties": properties }] });
    json!({
        "apiVersion": "dm.formwork.dev/v1alpha1",
        "kind": "Expansion",
        "spec": {
            "configuration": configuration.to_string(),
            "imports": [{ "name": name, "content": content }],
        },
    })
}
