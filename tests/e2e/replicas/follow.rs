//! A watch as client-go keeps it: when it ends, for whatever reason, it is resumed from the last event.

use std::time::Duration;

use ::tests::client::{Client, Request, Stream};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::pair::PATIENCE;

/// What is waited before a watch is resumed.
const BACKOFF: Duration = Duration::from_millis(50);

/// A change as a watch tells it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Told {
    pub(super) kind: String,
    pub(super) revision: u64,
    pub(super) object: Value,
}

/// A watch that goes on in the background.
pub(super) struct Follower {
    end: watch::Sender<Option<u64>>,
    task: JoinHandle<Result<Followed>>,
}

/// What it was told, in that order, and how often it had to be resumed.
#[derive(Debug)]
pub(super) struct Followed {
    pub(super) told: Vec<Told>,
    pub(super) resumed: u64,
}

impl Follower {
    /// Watches `collection` for everything after the revision `from`.
    pub(super) fn start(client: Client, collection: &str, from: u64) -> Self {
        let (end, ends) = watch::channel(None);
        let following = Following {
            client,
            collection: collection.to_owned(),
            last: from,
            ends,
            followed: Followed { told: Vec::new(), resumed: 0 },
        };
        Self { end, task: tokio::spawn(following.run()) }
    }

    /// Waits until it was told of `last`, and returns all.
    ///
    /// # Errors
    /// When it is not told, or was told something that no watch may say.
    pub(super) async fn until(self, last: u64) -> Result<Followed> {
        self.end.send_replace(Some(last));
        timeout(PATIENCE, self.task).await.with_context(|| format!("nobody told of {last}"))??
    }
}

struct Following {
    client: Client,
    collection: String,
    last: u64,
    ends: watch::Receiver<Option<u64>>,
    followed: Followed,
}

impl Following {
    async fn run(mut self) -> Result<Followed> {
        loop {
            let path = format!("{}?watch=1&resourceVersion={}", self.collection, self.last);
            match self.client.open(&Request::get(path)).await {
                Ok(stream) if stream.status == 200 => {
                    if self.read(stream).await? {
                        return Ok(self.followed);
                    }
                }
                // Of history there is more than enough.
                Ok(stream) => {
                    ensure!(stream.status >= 500, "a watch is answered {}", stream.status);
                }
                // The server is away.
                Err(_) => {}
            }
            if self.is_over() {
                return Ok(self.followed);
            }
            self.followed.resumed += 1;
            sleep(BACKOFF).await;
        }
    }

    /// Reads until the watch ends; whether everything was told that is to be.
    async fn read(&mut self, mut stream: Stream) -> Result<bool> {
        let mut rest = Vec::new();
        while !self.is_over() {
            let chunk = tokio::select! {
                chunk = stream.next(PATIENCE) => chunk,
                changed = self.ends.changed() => {
                    changed?;
                    continue;
                }
            };
            let Ok(Some(chunk)) = chunk else { return Ok(false) };
            rest.extend_from_slice(&chunk);
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                if !self.take(&serde_json::from_slice(&line)?)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Notes an event; false if it says that the server can go on no longer.
    fn take(&mut self, event: &Value) -> Result<bool> {
        let (kind, object) = (event["type"].as_str().unwrap_or_default(), &event["object"]);
        match kind {
            "ADDED" | "MODIFIED" | "DELETED" => {}
            "ERROR" if object["code"].as_u64() >= Some(500) => return Ok(false),
            _ => bail!("a watch from {} is told {event}", self.last),
        }
        let revision = object["metadata"]["resourceVersion"].as_str();
        let revision = revision.context("an object has a revision")?.parse()?;
        ensure!(revision > self.last, "told of {revision} after {}", self.last);
        self.last = revision;
        let told = Told { kind: kind.to_owned(), revision, object: object.clone() };
        self.followed.told.push(told);
        Ok(true)
    }

    fn is_over(&self) -> bool {
        self.ends.borrow().is_some_and(|last| self.last >= last)
    }
}
