//! Constant load on templates through kube-apiserver: concurrent clients that read, write, process and watch, with every
//! failure on record.
//!
//! Nothing is retried, so whatever a client would have to retry counts. It is here to notice what fails, not to measure:
//! every client pauses between its requests.

mod watcher;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http::Method;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use self::watcher::Watcher;
use crate::client::{Client, PATIENCE, Request, Target};
use crate::cluster::Cluster;

const PACE: Duration = Duration::from_millis(10);
/// How many clients watch. Each is at one replica, and on its way to another when that goes.
pub const WATCHERS: usize = 4;

/// Who asks through kube-apiserver: the holder of a token, so that no rotation of certificates takes her rights.
const TOKEN: &str = "alice-token";
/// The annotation of [`Load::count`] that tells how often it was changed.
const COUNT: &str = "example.com/count";

/// Clients at work. Dropping it stops them.
pub struct Load {
    client: Client,
    /// The path of the templates of its namespace.
    templates: String,
    ledger: Arc<Ledger>,
    stop: watch::Sender<bool>,
    clients: JoinSet<()>,
    /// How often the watched template was changed, once nobody changes it any more.
    last: watch::Sender<Option<u64>>,
    watchers: JoinSet<()>,
}

/// What all of it came to.
#[derive(Debug)]
pub struct Report {
    /// Requests that were answered as they should be, and events that came in order, by what they were for.
    pub done: BTreeMap<&'static str, u64>,
    /// How often a watch was ended by the server and taken up again.
    pub resumed: u64,
    /// Everything else.
    pub failures: Vec<Failure>,
}

/// Something that went wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// How long after the load began.
    pub after: Duration,
    /// What was being done.
    pub doing: &'static str,
    /// What came of it.
    pub text: String,
}

/// What is written down.
struct Ledger {
    began: Instant,
    done: watch::Sender<BTreeMap<&'static str, u64>>,
    resumed: AtomicU64,
    failures: Mutex<Vec<Failure>>,
}

impl Load {
    /// Starts the clients in a namespace of their own.
    ///
    /// # Errors
    /// When the cluster is not as it should be from the beginning.
    pub async fn start(cluster: &Cluster) -> Result<Self> {
        let kubectl = cluster.namespace()?;
        let name = format!("load-{}", kubectl.namespace);
        kubectl.ok(&[
            "create",
            "clusterrolebinding",
            &name,
            "--clusterrole=cluster-admin",
            "--user=alice",
        ])?;
        let authority = cluster.apiserver()?.replace("https://", "");
        let target = Target::from_kubeconfig(&cluster.kubeconfig("admin"), &authority)?;
        let client = target.bearer(TOKEN);
        let templates =
            format!("/apis/template.openshift.io/v1/namespaces/{}/templates", kubectl.namespace);
        let mut load = Self {
            client,
            templates,
            ledger: Arc::new(Ledger::new()),
            stop: watch::Sender::new(false),
            clients: JoinSet::new(),
            last: watch::Sender::new(None),
            watchers: JoinSet::new(),
        };
        load.is_allowed().await?;
        let body = template("counted", &json!({ COUNT: "0" }));
        let created = load.client.send(&Request::post(&load.templates, body)).await?;
        ensure!(created.status == 201, "{}: {}", created.status, created.text());
        let version = created.json()?["metadata"]["resourceVersion"].clone();
        let version = version.as_str().context("a resourceVersion")?.to_owned();
        load.read();
        load.write();
        load.process();
        load.count();
        for _ in 0..WATCHERS {
            load.watch(version.clone());
        }
        Ok(load)
    }

    /// Waits until kube-apiserver has heard of the binding that it has stored.
    async fn is_allowed(&self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = self.client.send(&Request::get(&self.templates)).await?;
            if answer.status == 200 {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "{}: {}", answer.status, answer.text());
            tokio::time::sleep(PACE).await;
        }
    }

    /// Who asks kube-apiserver: somebody who may do everything.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// One more client, which does this again and again until the load ends.
    pub fn add<F>(&mut self, doing: &'static str, mut step: impl FnMut() -> F + Send + 'static)
    where
        F: Future<Output = Result<()>> + Send,
    {
        let (ledger, stop) = (self.ledger.clone(), self.stop.subscribe());
        ledger.done.send_modify(|done| _ = done.entry(doing).or_default());
        self.clients.spawn(async move {
            while !*stop.borrow() {
                ledger.note(doing, step().await);
                tokio::time::sleep(PACE).await;
            }
        });
    }

    /// Waits until every client has done what it does twice more: what it does the second time began after this call.
    ///
    /// # Errors
    /// When one does nothing any more.
    pub async fn goes_on(&self) -> Result<()> {
        let before = self.ledger.done.borrow().clone();
        let mut done = self.ledger.done.subscribe();
        for (doing, times) in before {
            let further = done.wait_for(|done| done[doing] >= times + 2);
            let further = timeout(PATIENCE, further).await.map(|further| further.is_ok());
            ensure!(further == Ok(true), "{doing:?} stands still: {:?}", self.ledger.failures());
        }
        Ok(())
    }

    /// Ends it, when every change was seen by everybody who watches.
    pub async fn end(mut self) -> Report {
        self.stop.send_replace(true);
        while self.clients.join_next().await.is_some() {}
        let last = self.ledger.done.borrow()["count"];
        self.last.send_replace(Some(last));
        while self.watchers.join_next().await.is_some() {}
        let done = self.ledger.done.borrow().clone();
        let resumed = self.ledger.resumed.load(Ordering::Relaxed);
        Report { done, resumed, failures: self.ledger.failures() }
    }

    fn read(&mut self) {
        let (client, one) = (self.client.clone(), format!("{}/counted", self.templates));
        self.add("get", move || expect(client.clone(), Request::get(&one), 200));
        let (client, all) = (self.client.clone(), self.templates.clone());
        self.add("list", move || expect(client.clone(), Request::get(&all), 200));
    }

    /// Creates, reads and deletes one after the other.
    fn write(&mut self) {
        let (client, templates) = (self.client.clone(), self.templates.clone());
        let mut next = 0;
        self.add("create, get and delete", move || {
            next += 1;
            let (client, templates) = (client.clone(), templates.clone());
            async move {
                let name = format!("t-{next}");
                let path = format!("{templates}/{name}");
                let body = template(&name, &json!({}));
                expect(client.clone(), Request::post(templates, body), 201).await?;
                expect(client.clone(), Request::get(&path), 200).await?;
                expect(client.clone(), Request::new(Method::DELETE, &path), 200).await?;
                expect(client, Request::get(path), 404).await
            }
        });
    }

    fn process(&mut self) {
        let client = self.client.clone();
        let path = self.templates.replace("/templates", "/processedtemplates");
        let body = template("processed", &json!({}));
        self.add("process", move || {
            expect(client.clone(), Request::post(&path, body.clone()), 201)
        });
    }

    /// Changes the template that is watched.
    fn count(&mut self) {
        let (client, path) = (self.client.clone(), format!("{}/counted", self.templates));
        let mut count = 0;
        self.add("count", move || {
            count += 1;
            let patch = json!({ "metadata": { "annotations": { COUNT: count.to_string() } } });
            let request = Request::new(Method::PATCH, &path)
                .json("application/merge-patch+json", patch.to_string());
            expect(client.clone(), request, 200)
        });
    }

    fn watch(&mut self, version: String) {
        let (ledger, client) = (self.ledger.clone(), self.client.clone());
        ledger.done.send_modify(|done| _ = done.entry("watch").or_default());
        let (path, last) = (self.templates.clone(), self.last.subscribe());
        let mut watcher = Watcher { client, path, ledger, last, version, seen: 0 };
        self.watchers.spawn(async move { watcher.run().await });
    }
}

impl Report {
    /// Holds it to what is asked of everything that happens under load: nothing failed.
    ///
    /// # Errors
    /// With all that did.
    pub fn flawless(&self) -> Result<()> {
        println!("{self}");
        ensure!(self.failures.is_empty(), "{self}");
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { done, resumed, failures } = self;
        write!(f, "{done:?}, {resumed} watches resumed, {} failed", failures.len())?;
        self.failures.iter().try_for_each(|failure| {
            let Failure { after, doing, text } = failure;
            write!(f, "\n{:8.3} s  {doing}: {text}", after.as_secs_f64())
        })
    }
}

impl Ledger {
    fn new() -> Self {
        let (began, done) = (Instant::now(), watch::Sender::default());
        Self { began, done, resumed: AtomicU64::default(), failures: Mutex::default() }
    }

    fn note(&self, doing: &'static str, outcome: Result<()>) {
        match outcome {
            Ok(()) => self.done.send_modify(|done| *done.entry(doing).or_default() += 1),
            Err(error) => {
                let (after, text) = (self.began.elapsed(), format!("{error:#}"));
                let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
                failures.push(Failure { after, doing, text });
            }
        }
    }

    fn failures(&self) -> Vec<Failure> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Sends it once; any other code is a failure, with what was said.
///
/// # Errors
/// When it is not answered with `status`.
pub async fn expect(client: Client, request: Request, status: u16) -> Result<()> {
    let answer = client.send(&request).await?;
    let (method, path) = (&request.method, &request.path);
    ensure!(answer.status == status, "{method} {path}: {}: {}", answer.status, answer.text());
    Ok(())
}

fn template(name: &str, annotations: &Value) -> String {
    json!({
        "apiVersion": "template.openshift.io/v1",
        "kind": "Template",
        "metadata": { "name": name, "annotations": annotations },
        "parameters": [{ "name": "NAME", "value": "web" }],
        "objects": [{ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "${NAME}" } }],
    })
    .to_string()
}
