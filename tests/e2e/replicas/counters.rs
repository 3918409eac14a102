//! Clients that count: each reads a counter one way, writes it another way, and reads again. What they saw is a
//! [`History`](super::history::History).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::tests::client::{Answer, Client, Connection, Protocol, Request};
use anyhow::{Context, Result, bail, ensure};
use http::Method;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::history::{Operation, Outcome, Stamp, State, Version, What};
use super::pair::{PATIENCE, Route};

/// How long thousands of operations may take, each of which may wait for a disk.
const MANY: Duration = Duration::from_secs(300);
/// How many counters there are, for all workers together, so that they get in each other's way now and then.
const COUNTERS: u64 = 12;
/// After a failure a client waits for a moment, as any does.
const BACKOFF: Duration = Duration::from_millis(20);

/// Workers who count until they are told to stop.
pub(super) struct Counters {
    shared: Arc<Shared>,
    workers: JoinSet<Result<()>>,
    /// The counters at the start.
    pub(super) before: State,
    /// The revision of that.
    pub(super) since: u64,
}

/// What they did in all.
pub(super) struct Counted {
    pub(super) operations: Vec<Operation>,
    pub(super) failures: Vec<Failure>,
}

/// A request that was answered with an error of the server, or not at all.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) begun: u64,
    pub(super) ended: u64,
    pub(super) route: &'static str,
    /// None if there was no answer.
    pub(super) status: Option<u16>,
    pub(super) text: String,
}

struct Shared {
    collection: String,
    tickets: AtomicU64,
    stopped: AtomicBool,
    operations: Mutex<Vec<Operation>>,
    failures: Mutex<Vec<Failure>>,
    /// How much was done: operations, and writes that were acknowledged.
    done: watch::Sender<(usize, usize)>,
}

/// One client with a connection for each route.
struct Worker {
    shared: Arc<Shared>,
    routes: Vec<(Route, Option<Connection>)>,
    random: StdRng,
}

impl Counters {
    /// Makes the counters in `collection` and lets as many workers as there are `crews` begin, each with its routes.
    pub(super) async fn start(collection: &str, crews: &[Vec<Route>], seed: u64) -> Result<Self> {
        let client = &crews[0][0].client;
        for number in 0..COUNTERS {
            let body = body(&format!("c{number}"), Stamp { count: 0, attempt: 0 }, None);
            let made = client.send(&Request::post(collection, body)).await?;
            ensure!(made.status == 201, "{}", made.text());
        }
        let answer = client.send(&Request::get(collection)).await?;
        let (before, since) = listed(&answer)?;
        let shared = Arc::new(Shared {
            collection: collection.to_owned(),
            // Zero is the ticket of who made the counters.
            tickets: AtomicU64::new(1),
            stopped: AtomicBool::new(false),
            operations: Mutex::default(),
            failures: Mutex::default(),
            done: watch::Sender::new((0, 0)),
        });
        let mut workers = JoinSet::new();
        for (number, routes) in (seed * 1000..).zip(crews) {
            let routes = routes.iter().map(|route| (route.clone(), None)).collect();
            let random = StdRng::seed_from_u64(number);
            workers.spawn(Worker { shared: shared.clone(), routes, random }.work());
        }
        Ok(Self { shared, workers, before, since })
    }

    /// The ticket of now.
    pub(super) fn now(&self) -> u64 {
        self.shared.ticket()
    }

    /// Waits for this many more acknowledged writes.
    pub(super) async fn written(&mut self, more: usize) -> Result<()> {
        let wanted = self.shared.done.borrow().1 + more;
        self.until(move |(_, written)| *written >= wanted).await
    }

    /// Waits until this many operations were done in all.
    pub(super) async fn done(&mut self, wanted: usize) -> Result<()> {
        self.until(move |(operations, _)| *operations >= wanted).await
    }

    /// Waits for this many more requests that fail.
    pub(super) async fn failed(&mut self, more: usize) -> Result<()> {
        let failures = self.shared.clone();
        let wanted = lock(&failures.failures).len() + more;
        // Each is an operation as well.
        self.until(move |_| lock(&failures.failures).len() >= wanted).await
    }

    async fn until(&mut self, reached: impl FnMut(&(usize, usize)) -> bool) -> Result<()> {
        let mut done = self.shared.done.subscribe();
        tokio::select! {
            waited = timeout(MANY, done.wait_for(reached)) => {
                waited.context("the workers do not get on")??;
                Ok(())
            }
            Some(ended) = self.workers.join_next() => {
                ended??;
                bail!("a worker ended by itself")
            }
        }
    }

    /// Lets each end what it is doing, and returns what they did.
    pub(super) async fn stop(mut self) -> Result<Counted> {
        self.shared.stopped.store(true, Ordering::SeqCst);
        while let Some(ended) = timeout(PATIENCE, self.workers.join_next()).await? {
            ended??;
        }
        let operations = std::mem::take(&mut *lock(&self.shared.operations));
        let failures = std::mem::take(&mut *lock(&self.shared.failures));
        Ok(Counted { operations, failures })
    }
}

impl Counted {
    /// The failures must be answers that claim nothing, or none at all.
    pub(super) fn failures_are_errors(&self) -> Result<()> {
        let wrong =
            self.failures.iter().find(|each| each.status.is_some_and(|status| status < 500));
        ensure!(wrong.is_none(), "{wrong:?}");
        Ok(())
    }

    /// How many writes were acknowledged.
    pub(super) fn written(&self) -> usize {
        let is_acknowledged = |each: &&Operation| {
            matches!(each.what, What::Write { outcome: Outcome::Acknowledged(_), .. })
        };
        self.operations.iter().filter(is_acknowledged).count()
    }

    /// How often each failure occurred, by what was answered.
    pub(super) fn reasons(&self) -> BTreeMap<String, usize> {
        let mut reasons = BTreeMap::new();
        for Failure { route, status, text, .. } in &self.failures {
            let text: String = text.chars().take(200).collect();
            let answer = status.map_or("no answer".to_owned(), |status| status.to_string());
            *reasons.entry(format!("{route}: {answer}: {text}")).or_default() += 1;
        }
        reasons
    }
}

impl Shared {
    fn ticket(&self) -> u64 {
        self.tickets.fetch_add(1, Ordering::SeqCst)
    }
}

impl Worker {
    async fn work(mut self) -> Result<()> {
        while !self.shared.stopped.load(Ordering::SeqCst) {
            let name = format!("c{}", self.random.random_range(0..COUNTERS));
            let Some(found) = self.get(&name).await? else { continue };
            self.write(&name, found).await?;
            if self.random.random_bool(0.25) {
                self.list().await?;
            } else {
                self.get(&name).await?;
            }
        }
        Ok(())
    }

    async fn get(&mut self, name: &str) -> Result<Option<Version>> {
        let request = Request::get(format!("{}/{name}", self.shared.collection));
        let (begun, ended, answer) = self.ask(|_| request).await;
        let found = answer.map(|answer| version(&answer.json()?)).transpose()?;
        self.note(begun, ended, found.map_or(What::Nothing, |found| What::Get(name.into(), found)));
        Ok(found)
    }

    async fn list(&mut self) -> Result<()> {
        let request = Request::get(self.shared.collection.clone());
        let (begun, ended, answer) = self.ask(|_| request).await;
        let listed = answer.map(|answer| listed(&answer)).transpose()?;
        let what = listed.map_or(What::Nothing, |(state, revision)| What::List(state, revision));
        self.note(begun, ended, what);
        Ok(())
    }

    async fn write(&mut self, name: &str, found: Version) -> Result<()> {
        let path = format!("{}/{name}", self.shared.collection);
        let replace = |attempt| {
            let stamp = Stamp { count: found.stamp.count + 1, attempt };
            let body = body(name, stamp, Some(found.revision));
            Request::new(Method::PUT, path).json("application/json", body)
        };
        let (begun, ended, answer) = self.ask(replace).await;
        let outcome = match answer {
            None => Outcome::Unknown,
            Some(answer) if answer.status == 409 => Outcome::Refused,
            Some(answer) => {
                let written = version(&answer.json()?)?;
                let wanted = Stamp { count: found.stamp.count + 1, attempt: begun };
                ensure!(written.stamp == wanted, "{written:?} was answered to {wanted:?}");
                Outcome::Acknowledged(written.revision)
            }
        };
        let what = What::Write { name: name.to_owned(), base: found.revision, outcome };
        self.note(begun, ended, what);
        Ok(())
    }

    /// Sends a request by a route that chance chooses, with the tickets of its begin and its end; nothing if it fails.
    async fn ask(&mut self, request: impl FnOnce(u64) -> Request) -> (u64, u64, Option<Answer>) {
        let route = self.random.random_range(0..self.routes.len());
        let (route, kept) = &mut self.routes[route];
        let begun = self.shared.ticket();
        let answer = send(&route.client, kept, &request(begun)).await;
        let ended = self.shared.ticket();
        let (status, text) = match answer {
            Ok(answer) if matches!(answer.status, 200 | 409) => {
                return (begun, ended, Some(answer));
            }
            Ok(answer) => (Some(answer.status), answer.text()),
            Err(error) => (None, format!("{error:#}")),
        };
        lock(&self.shared.failures).push(Failure { begun, ended, route: route.name, status, text });
        sleep(BACKOFF).await;
        (begun, ended, None)
    }

    fn note(&self, begun: u64, ended: u64, what: What) {
        let is_written = matches!(what, What::Write { outcome: Outcome::Acknowledged(_), .. });
        lock(&self.shared.operations).push(Operation { begun, ended, what });
        self.shared.done.send_modify(|(operations, written)| {
            *operations += 1;
            *written += usize::from(is_written);
        });
    }
}

/// By the connection that was kept, if that is still of use, else by a new one. Nothing is sent twice.
async fn send(client: &Client, kept: &mut Option<Connection>, request: &Request) -> Result<Answer> {
    let mut connection = match kept.take() {
        Some(connection) => connection,
        None => client.connect(Protocol::Http1).await?,
    };
    let answer = connection.send(request).await?;
    *kept = Some(connection);
    Ok(answer)
}

fn body(name: &str, stamp: Stamp, revision: Option<u64>) -> String {
    json!({
        "apiVersion": "template.openshift.io/v1",
        "kind": "Template",
        "metadata": { "name": name, "resourceVersion": revision.map(|revision| revision.to_string()) },
        "message": format!("{} by {}", stamp.count, stamp.attempt),
        "objects": [],
    })
    .to_string()
}

/// What a counter says; an error of any other object.
pub(super) fn version(object: &Value) -> Result<Version> {
    let read = || {
        let revision = object["metadata"]["resourceVersion"].as_str()?.parse().ok()?;
        let (count, attempt) = object["message"].as_str()?.split_once(" by ")?;
        let stamp = Stamp { count: count.parse().ok()?, attempt: attempt.parse().ok()? };
        Some(Version { revision, stamp })
    };
    read().with_context(|| format!("{object} is no counter"))
}

/// The counters of a list, and its revision.
pub(super) fn listed(answer: &Answer) -> Result<(State, u64)> {
    let list = answer.json()?;
    let mut state = State::new();
    for item in list["items"].as_array().context("a list has items")? {
        let name = item["metadata"]["name"].as_str().context("an object has a name")?;
        state.insert(name.to_owned(), version(item)?);
    }
    let revision = list["metadata"]["resourceVersion"].as_str().context("a list has a revision")?;
    Ok((state, revision.parse()?))
}

// Nothing panics between two changes that belong together, so a poisoned lock guards nothing broken.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
