//! Requests to etcd: timed, told to the observer, and made again where that is safe.
//!
//! A read is made again until its time is over, on the next member if need be. A write is made again only when it is
//! certain that it was not made: one that may have been would find its own traces, and could not tell them from
//! somebody else's.

use std::sync::Arc;
use std::time::Duration;

use etcd_client::Error as Client;
use tokio::time::{Instant, sleep, timeout};

use super::failure::{Failure, Verdict};
use super::members::{Member, Members};
use super::observer::{Observer, Request};

/// How long a read waits for one member. Short, as those who need a fresh read have three seconds in all.
const ATTEMPT: Duration = Duration::from_secs(1);
/// How long a page of a list, or the past of a watch, waits for one member.
const LONG_ATTEMPT: Duration = Duration::from_secs(5);

/// Pauses before a request is made again, once every member has had its turn: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// What a request is and how patient one is with it.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) operation: &'static str,
    pub(super) key: &'a str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    LongRead,
    Write,
}

impl<'a> Asked<'a> {
    pub(super) fn read(operation: &'static str, key: &'a str) -> Self {
        Self { operation, key, kind: Kind::Read }
    }

    pub(super) fn long_read(operation: &'static str, key: &'a str) -> Self {
        Self { operation, key, kind: Kind::LongRead }
    }

    pub(super) fn write(operation: &'static str, key: &'a str) -> Self {
        Self { operation, key, kind: Kind::Write }
    }
}

/// Those who are asked, and how patiently.
pub(super) struct Caller {
    pub(super) members: Arc<Members>,
    pub(super) observer: Arc<dyn Observer>,
    /// How long an operation may take in all.
    pub(super) patience: Duration,
}

impl Caller {
    /// Makes a request, and makes it again as long as that is safe and there is time.
    pub(super) async fn ask<T, F, Answer>(&self, asked: Asked<'_>, attempt: F) -> Result<T, Failure>
    where
        F: Fn(&Member) -> Answer,
        Answer: Future<Output = Result<T, Client>>,
    {
        let deadline = Instant::now() + self.patience;
        let (mut tried, mut pause) = (0, PAUSES.0);
        loop {
            let member = self.members.current();
            let failure = match self.attempt(asked, deadline, attempt(&member)).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let again = match failure.verdict() {
                Verdict::Refused => return Err(failure),
                Verdict::Undone => true,
                Verdict::Unknown => asked.kind != Kind::Write,
            };
            self.members.replace(&member).await;
            tried += 1;
            if tried % self.members.len() == 0 {
                if !again || Instant::now() + pause >= deadline {
                    return Err(failure);
                }
                sleep(pause).await;
                pause = PAUSES.1.min(pause * 2);
            } else if !again || Instant::now() >= deadline {
                return Err(failure);
            }
            tracing::debug!(operation = asked.operation, %failure, "asking etcd again");
        }
    }

    async fn attempt<T>(
        &self,
        asked: Asked<'_>,
        deadline: Instant,
        answer: impl Future<Output = Result<T, Client>>,
    ) -> Result<T, Failure> {
        let started = Instant::now();
        let left = deadline.saturating_duration_since(started);
        let patience = match asked.kind {
            Kind::Read => ATTEMPT.min(left),
            Kind::LongRead => LONG_ATTEMPT.min(left),
            Kind::Write => left,
        };
        let outcome = match timeout(patience, answer).await {
            Ok(outcome) => outcome.map_err(Failure::from),
            Err(_) => Err(Failure::Silent(patience)),
        };
        let Asked { operation, key, .. } = asked;
        let (took, failed) = (started.elapsed(), outcome.is_err());
        self.observer.observe(Request { operation, key, took, failed });
        outcome
    }
}
