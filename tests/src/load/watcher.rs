//! A client that watches one template, and holds every event against the one before.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tokio::sync::watch;

use super::{COUNT, Ledger, PACE};
use crate::client::{Client, PATIENCE, Request, Stream};

/// It comes back from where it was, as client-go does.
pub(super) struct Watcher {
    pub(super) client: Client,
    pub(super) path: String,
    pub(super) ledger: Arc<Ledger>,
    pub(super) last: watch::Receiver<Option<u64>>,
    pub(super) version: String,
    /// The last count.
    pub(super) seen: u64,
}

impl Watcher {
    /// Until it has seen everything.
    pub(super) async fn run(&mut self) {
        while !self.has_seen_all() {
            match self.follow().await {
                Ok(()) if self.has_seen_all() => {}
                // The server has ended the answer as it ought to.
                Ok(()) => _ = self.ledger.resumed.fetch_add(1, Ordering::Relaxed),
                Err(error) => {
                    self.ledger.note("watch", Err(error));
                    tokio::time::sleep(PACE).await;
                }
            }
        }
    }

    /// To the end of one answer.
    async fn follow(&mut self) -> Result<()> {
        let query = "watch=true&fieldSelector=metadata.name%3Dcounted";
        let path = format!("{}?{query}&resourceVersion={}", self.path, self.version);
        let mut stream = self.client.open(&Request::get(path)).await?;
        if stream.status != 200 {
            let (status, text) = (stream.status, rest(&mut stream).await);
            bail!("{status}: {text}");
        }
        let mut text = Vec::new();
        let mut last = self.last.clone();
        while !self.has_seen_all() {
            let chunk = tokio::select! {
                chunk = stream.next(PATIENCE) => chunk?,
                Ok(()) = last.changed() => continue,
            };
            let Some(chunk) = chunk else {
                ensure!(text.is_empty(), "it ended in the middle of an event");
                return Ok(());
            };
            text.extend_from_slice(&chunk);
            while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
                let line: Vec<_> = text.drain(..=end).collect();
                self.event(&serde_json::from_slice(&line)?)?;
            }
        }
        Ok(())
    }

    fn event(&mut self, event: &Value) -> Result<()> {
        let meta = &event["object"]["metadata"];
        let count = meta["annotations"][COUNT].as_str().and_then(|count| count.parse().ok());
        let count: u64 = count.with_context(|| format!("{event}"))?;
        let before = std::mem::replace(&mut self.seen, count);
        self.version = meta["resourceVersion"].as_str().context("a resourceVersion")?.to_owned();
        ensure!(count == before + 1, "{count} comes after {before}");
        self.ledger.note("watch", Ok(()));
        Ok(())
    }

    fn has_seen_all(&self) -> bool {
        self.last.borrow().is_some_and(|last| self.seen >= last)
    }
}

async fn rest(stream: &mut Stream) -> String {
    let mut text = Vec::new();
    while let Ok(Some(chunk)) = stream.next(PATIENCE).await {
        text.extend_from_slice(&chunk);
    }
    String::from_utf8_lossy(&text).into_owned()
}
