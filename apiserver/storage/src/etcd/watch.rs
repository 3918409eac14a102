//! The watch of the whole store, and how far it has come.
//!
//! etcd says nothing as long as nothing of ours changes, although its revision moves on with the changes of others.
//! So that a reader need not wait for one of ours, the watch asks how far it has come as soon as somebody was told of
//! a newer revision. It also asks when it has heard nothing for a while: who does not answer then is gone.
//!
//! Answers are not taken in fragments, so that each holds all that happened at its revisions.

use std::sync::Arc;

use etcd_client::{
    Event as Told, EventType, WatchOptions, WatchRequestSender, WatchResponse, WatchResponseStream,
};
use futures::StreamExt;
use tokio::sync::watch as signal;
use tokio::time::{Duration, Instant, sleep_until};

use super::call::Asked;
use super::failure::Failure;
use super::members::Member;
use super::{Asking, doing, layout};
use crate::{Batch, Change, Entry, Error, Event, EventStream, Result, Revision, backend};

/// After how much silence a watch asks whether anybody is there.
const QUIET: Duration = Duration::from_secs(5);
/// How long it waits for an answer before it asks again: etcd gives none while it is still looking through the past.
const REPEAT: Duration = Duration::from_millis(50);
/// How long it goes on asking when nothing is heard.
const PATIENCE: Duration = Duration::from_secs(2);

/// Everything after `from`, for as long as somebody holds the other end of `known`.
pub(super) async fn open(
    asking: Arc<Asking>,
    known: signal::Receiver<Revision>,
    from: Revision,
) -> Result<EventStream> {
    asking.know(from).await?;
    let (start, end) = asking.layout.range(&crate::Prefix::all());
    // From the revision itself, though what happened at it is known: the next one could be had of etcd even when
    // this one is compacted, but no longer with all that followed it.
    let first = i64::try_from(from.get()).unwrap_or(i64::MAX);
    let options = WatchOptions::new()
        .with_range(end)
        .with_start_revision(first)
        .with_prev_key()
        .with_progress_notify();
    let (requests, answers) = asking.follow(start, options).await.map_err(doing("watch"))?;
    let now = Instant::now();
    let watch =
        Watch { asking, requests, answers, known, reached: from, heard: now, question: None };
    Ok(backend::stream(watch, Watch::next).boxed())
}

impl Asking {
    async fn follow(
        &self,
        key: String,
        options: WatchOptions,
    ) -> Result<(WatchRequestSender, WatchResponseStream), Failure> {
        let follow = |member: &Member| {
            let (mut watch, key, options) = (member.watch(), key.clone(), options.clone());
            async move { watch.watch(key, Some(options)).await }
        };
        let stream = self.caller.ask(Asked::long_read("watch", "/"), follow).await?;
        Ok(stream.split())
    }

    /// The oldest revision that can be listed and watched from. Only the refusal of a watch tells it.
    pub(super) async fn oldest(&self) -> Result<Revision> {
        let options = WatchOptions::new().with_start_revision(1);
        let watch = self.follow(self.layout.version().to_owned(), options).await;
        // Kept, because etcd ends the watch when nobody is left to ask.
        let (_requests, mut answers) = watch.map_err(doing("ask for the oldest revision"))?;
        let told = tokio::time::timeout(self.caller.patience, async {
            while let Some(answer) = answers.message().await? {
                let oldest = layout::revision(answer.compact_revision());
                if oldest > Revision::ZERO || !answer.events().is_empty() || answer.canceled() {
                    return Ok(oldest.max(Revision::INITIAL));
                }
            }
            Ok(Revision::INITIAL)
        });
        let told = told.await.map_err(|_| Failure::Silent(self.caller.patience));
        told.and_then(|told| told.map_err(Failure::Client))
            .map_err(doing("ask for the oldest revision"))
    }
}

struct Watch {
    asking: Arc<Asking>,
    requests: WatchRequestSender,
    answers: WatchResponseStream,
    known: signal::Receiver<Revision>,
    /// Everything up to this revision was told.
    reached: Revision,
    /// When etcd last said anything.
    heard: Instant,
    question: Option<Question>,
}

/// How far have you come? Not answered yet.
#[derive(Clone, Copy)]
struct Question {
    first: Instant,
    last: Instant,
}

impl Watch {
    /// Waits for the next changes, or for news of how far there were none.
    async fn next(mut self) -> Result<(Batch, Self)> {
        loop {
            let lags = *self.known.borrow_and_update() > self.reached;
            let due = match self.question {
                Some(question) => question.last + REPEAT,
                None if lags => Instant::now(),
                None => self.heard + QUIET,
            };
            tokio::select! {
                biased;
                answer = self.answers.message() => {
                    let answer = answer.map_err(Failure::Client).map_err(doing("watch"))?;
                    let Some(answer) = answer else { return Err(broken("etcd ended the watch")) };
                    if let Some(batch) = self.take(&answer).await? {
                        return Ok((batch, self));
                    }
                }
                changed = self.known.changed() => changed.map_err(|_| Error::Closed)?,
                () = sleep_until(due) => self.question().await?,
            }
        }
    }

    async fn question(&mut self) -> Result<()> {
        let now = Instant::now();
        let first = self.question.map_or(now, |question| question.first);
        if now.duration_since(first.max(self.heard)) >= PATIENCE {
            return Err(broken("etcd has fallen silent"));
        }
        self.question = Some(Question { first, last: now });
        let asked = self.requests.request_progress().await;
        asked.map_err(Failure::Client).map_err(doing("watch"))
    }

    async fn take(&mut self, answer: &WatchResponse) -> Result<Option<Batch>> {
        self.heard = Instant::now();
        let compacted = layout::revision(answer.compact_revision());
        if compacted > Revision::ZERO {
            return Err(Error::Compacted { requested: self.reached, oldest: compacted });
        }
        if answer.canceled() {
            return Err(broken(answer.cancel_reason()));
        }
        if answer.created() {
            return Ok(None);
        }
        let told = answer.events();
        if told.is_empty() {
            return self.take_progress(layout::reached(answer.header())?);
        }
        let mut events = Vec::with_capacity(told.len());
        for told in told {
            events.extend(self.event(told).await?.map(Arc::new));
        }
        let Some(last) = events.last() else { return Ok(None) };
        self.reached = last.revision;
        Ok(Some(Batch { revision: self.reached, events }))
    }

    fn take_progress(&mut self, revision: Revision) -> Result<Option<Batch>> {
        if revision <= self.reached {
            if *self.known.borrow() <= self.reached {
                self.question = None;
            }
            // Otherwise it is asked again after a while: the member itself has to hear of it first.
            return Ok(None);
        }
        self.question = None;
        self.reached = revision;
        Ok(Some(Batch { events: Vec::new(), revision }))
    }

    /// What happened; none if it was known before.
    async fn event(&self, told: &Told) -> Result<Option<Event>> {
        let Some(now) = told.kv() else {
            return Err(Error::Corrupt("etcd told of a change of nothing".into()));
        };
        let revision = layout::revision(now.mod_revision());
        if revision <= self.reached {
            return Ok(None);
        }
        let created = now.create_revision() == now.mod_revision();
        let previous = match told.prev_kv() {
            _ if created => None,
            Some(previous) => Some(self.asking.layout.entry(previous.clone())?),
            // etcd looks this up when it tells of the change, and leaves it out if it was compacted meanwhile.
            None => return Err(self.overtaken().await),
        };
        let key = match &previous {
            Some(Entry { key, .. }) => key.clone(),
            None => self.asking.layout.read(now.key())?,
        };
        let change = match told.event_type() {
            EventType::Put => Change::Put(now.value().to_vec().into()),
            EventType::Delete => Change::Delete,
        };
        Ok(Some(Event::new(revision, key, change, previous)))
    }

    async fn overtaken(&self) -> Error {
        let oldest = self.asking.oldest().await;
        oldest.map_or_else(
            |error| error,
            |oldest| Error::Compacted { requested: self.reached, oldest },
        )
    }
}

fn broken(reason: &str) -> Error {
    Error::unavailable("watch", std::io::Error::other(reason.to_owned()))
}
