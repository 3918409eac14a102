//! One call, from a slot to its answer: which child is asked, and how often.

use std::collections::BTreeMap;
use std::sync::Arc;

use expansion::{Call, Fault, Language, Outcome, Text, printable};
use protocol::{Ask, Bounds, Mode};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::digest::seed;
use crate::drive::aside;
use crate::error::PoolError;
use crate::render::Terms;
use crate::worker::{Child, Said, Worker};

use super::Inner;
use super::session::Session;
use super::verdict::{self, Verdict};

/// Longest message to a child, in bytes: an expansion's input where every character is escaped.
const LONGEST: usize = 128 << 20;

/// From how many bytes on reading and writing JSON is no work for a thread that serves others.
const HEAVY: usize = 256 << 10;

/// Whose call it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Somebody's.
    Caller,
    /// The self-test's, which does what is forbidden to see it refused.
    SelfTest,
}

/// A call that is ready to be sent.
pub(super) struct Job {
    call: Arc<Call>,
    origin: Origin,
    session: bool,
    terms: Terms,
    frame: Vec<u8>,
}

impl Job {
    /// Puts the call into a frame, with what is known of its code.
    ///
    /// # Errors
    /// The outcome, when it is too big for that.
    pub(super) async fn new(
        call: Call,
        terms: Terms,
        mode: Mode,
        code: BTreeMap<String, Text>,
    ) -> Result<Self, Outcome> {
        let size: usize = call.imports.values().map(|import| import.content.len()).sum();
        let session = call.language == Language::Jinja && mode == Mode::Render;
        let encode = move || {
            let (now, seed) = (now(&call), seed(&call));
            let ask = Ask { mode, call, code, bounds: terms.bounds, now, seed };
            let body = serde_json::to_vec(&ask).expect("keys are strings and floats are finite");
            let frame = protocol::encode(&body, LONGEST);
            (ask.call, frame)
        };
        let (call, frame) = if size < HEAVY { encode() } else { aside(encode).await };
        let frame = frame.map_err(|_| Outcome::Failed(verdict::too_big(LONGEST)))?;
        Ok(Self { call: Arc::new(call), origin: Origin::Caller, session, terms, frame })
    }

    /// The same, of another's.
    pub(super) fn of(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    pub(super) fn language(&self) -> Language {
        self.call.language
    }

    pub(super) fn deadline(&self) -> Instant {
        self.terms.deadline
    }

    async fn read(&self, body: Vec<u8>) -> Outcome {
        let bounds: Bounds = self.terms.bounds;
        if body.len() < HEAVY {
            return verdict::answer(&body, &self.call, &bounds);
        }
        let call = Arc::clone(&self.call);
        aside(move || verdict::answer(&body, &call, &bounds)).await
    }
}

/// What clocks say in there: `current_time` of the environment, as seconds since 1970, and its beginning otherwise. Time
/// is the caller's to give, since a result may depend on nothing else.
fn now(call: &Call) -> i64 {
    match call.env.get("current_time") {
        Some(expansion::Value::Number(number)) => number.as_i64().unwrap_or_default(),
        Some(expansion::Value::String(text)) => text.parse().unwrap_or_default(),
        _ => 0,
    }
}

/// Where the answer goes. The first one counts.
pub(super) struct Reply {
    sender: Option<oneshot::Sender<Result<Outcome, PoolError>>>,
    rendered: bool,
}

impl Reply {
    pub(super) fn new(sender: oneshot::Sender<Result<Outcome, PoolError>>) -> Self {
        Self { sender: Some(sender), rendered: false }
    }

    /// Whether the template was rendered.
    pub(super) fn rendered(&self) -> bool {
        self.rendered
    }

    fn send(&mut self, result: Result<Outcome, PoolError>) {
        if let Some(sender) = self.sender.take() {
            self.rendered = matches!(result, Ok(Outcome::Rendered(_)));
            // The caller may have gone away, which is up to him.
            let _ = sender.send(result);
        }
    }

    /// Waits until nobody wants the answer any more.
    async fn unwanted(&mut self) {
        match &mut self.sender {
            Some(sender) => sender.closed().await,
            None => std::future::pending().await,
        }
    }
}

/// What came of one attempt.
enum Attempt {
    /// There is an answer, or nobody waits for one.
    Over,
    /// The worker died, or something killed the child.
    Lost(Arc<Worker>),
    /// A child that had rendered other templates before died: what they left may be to blame.
    Stale,
}

impl Inner {
    /// Renders a call to its end. When it returns, none of its children lives but kept ones.
    pub(super) async fn perform(&self, job: &Job, reply: &mut Reply) {
        let (mut lost, mut fresh): (Option<Arc<Worker>>, bool) = (None, false);
        loop {
            let attempt = if job.session {
                self.ask_session(job, reply, lost.as_ref(), fresh).await
            } else {
                self.ask_child(job, reply, lost.as_ref()).await
            };
            match attempt {
                Ok(Attempt::Over) => return,
                Ok(Attempt::Stale) => fresh = true,
                Ok(Attempt::Lost(worker)) if lost.is_none() => lost = Some(worker),
                Ok(Attempt::Lost(_)) => return reply.send(Err(verdict::lost())),
                Err(error) => return reply.send(Err(error)),
            }
            self.metrics.retries.inc();
        }
    }

    /// Has a child of its own render the call.
    async fn ask_child(
        &self,
        job: &Job,
        reply: &mut Reply,
        avoid: Option<&Arc<Worker>>,
    ) -> Result<Attempt, PoolError> {
        let worker = self.choose(avoid, job.deadline()).await?;
        let Ok(mut child) = worker.start(false).await else { return Ok(Attempt::Lost(worker)) };
        let until = self.until(job);
        match child.ask(&job.frame, job.terms.bounds.output, until, reply.unwanted()).await {
            // Answered first, cleaned up then: the child has no more say.
            Said::Frame(body) => reply.send(Ok(job.read(body).await)),
            said => {
                if let Some(result) = self.dissatisfied(job, &said) {
                    reply.send(result);
                } else {
                    return self.judge(job, child, worker, reply).await;
                }
            }
        }
        child.kill().await;
        Ok(Attempt::Over)
    }

    /// Has a kept child render the call, or one that will be kept.
    async fn ask_session(
        &self,
        job: &Job,
        reply: &mut Reply,
        avoid: Option<&Arc<Worker>>,
        fresh: bool,
    ) -> Result<Attempt, PoolError> {
        let kept = if fresh { None } else { self.sessions.take() };
        let mut session = match kept {
            Some(session) => session,
            None => {
                let worker = self.choose(avoid, job.deadline()).await?;
                let Ok(child) = worker.start(true).await else { return Ok(Attempt::Lost(worker)) };
                Session { child, worker, calls: 0 }
            }
        };
        let until = self.until(job);
        match session.child.ask(&job.frame, job.terms.bounds.output, until, reply.unwanted()).await
        {
            Said::Frame(body) => {
                session.calls += 1;
                // Kept first, answered then, so that whoever asks next finds it.
                let spent = self.sessions.put(session);
                reply.send(Ok(job.read(body).await));
                if let Some(child) = spent {
                    child.kill().await;
                }
            }
            said => {
                if let Some(result) = self.dissatisfied(job, &said) {
                    reply.send(result);
                    session.child.kill().await;
                } else if session.calls > 0 {
                    session.child.end(until).await;
                    return Ok(Attempt::Stale);
                } else {
                    return self.judge(job, session.child, session.worker, reply).await;
                }
            }
        }
        Ok(Attempt::Over)
    }

    /// The result for a child that did not do as it should but lives; none for one that is dying.
    fn dissatisfied(&self, job: &Job, said: &Said) -> Option<Result<Outcome, PoolError>> {
        match said {
            Said::Frame(_) | Said::Nothing => None,
            Said::Unacceptable(error) => Some(Ok(Outcome::Failed(verdict::unacceptable(*error)))),
            Said::Late | Said::Unwanted if Instant::now() >= job.deadline() => {
                Some(Err(PoolError::Timeout))
            }
            Said::Late | Said::Unwanted => Some(Ok(Outcome::Failed(verdict::late(&self.config)))),
        }
    }

    /// Finds out what killed a child.
    async fn judge(
        &self,
        job: &Job,
        child: Child,
        worker: Arc<Worker>,
        reply: &mut Reply,
    ) -> Result<Attempt, PoolError> {
        let until = self.until(job);
        let end = child.end(until).await;
        // It closed its channel and lived on until it was killed here, which nobody else is to blame for.
        if end.is_some()
            && Instant::now() >= until
            && let Some(result) = self.dissatisfied(job, &Said::Late)
        {
            reply.send(result);
            return Ok(Attempt::Over);
        }
        match verdict::death(job.language(), end, &self.config) {
            Verdict::Fault(fault) => {
                report(job, &fault);
                reply.send(Ok(Outcome::Failed(fault)));
                Ok(Attempt::Over)
            }
            Verdict::Lost => Ok(Attempt::Lost(worker)),
            Verdict::Walls(reason) => {
                tracing::error!(target: "security", %reason, "a template was not run");
                Err(PoolError::Walls(reason))
            }
        }
    }

    /// When a child is out of time.
    fn until(&self, job: &Job) -> Instant {
        job.deadline().min(Instant::now() + self.config.wall)
    }
}

/// A forbidden system call is no accident: whoever watches over the cluster wants to know.
fn report(job: &Job, fault: &Fault) {
    if fault.kind == "Forbidden" && job.origin == Origin::Caller {
        let text = |name: &str| {
            let value = job.call.env.get(name).and_then(expansion::Value::as_str);
            printable(value.unwrap_or_default(), 100)
        };
        tracing::warn!(
            target: "security",
            template = %printable(&job.call.template, 100),
            deployment = %text("deployment"),
            project = %text("project"),
            "a template made a system call that is forbidden"
        );
    }
}
