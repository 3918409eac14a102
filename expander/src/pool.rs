//! The pool: workers that stand ready, and calls that are let in, rendered and judged.
//!
//! A call belongs to a task of its own, which holds a slot until the child is gone, whatever becomes of the caller. It
//! asks one child; what the child says, or how it dies, is the answer. Only when a worker dies is it asked once more:
//! rendering has no effects, so nothing is done twice.

mod attempt;
mod canary;
mod compiled;
mod selftest;
mod session;
mod slots;
mod standing;
#[cfg(test)]
mod tests;
mod verdict;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use expansion::{Call, Language, Outcome, Rendered};
use protocol::{Bounds, Mode};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout_at};

use crate::config::Config;
use crate::error::{PoolError, StartError};
use crate::metrics::{Metrics, Register};
use crate::render::{Render, Rendering, Terms};
use crate::walls::Walls;
use crate::worker::{Event, Keeper, Launch, Program, Worker};

use self::attempt::{Job, Origin, Reply};
use self::compiled::{Compiled, Found, Source};
use self::session::Sessions;
use self::slots::{Slot, Slots};
use self::standing::Standing;

/// How long a call waits for a worker when none is ready. Starting one takes 50 ms.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many bytes the code of one source may take.
const LONGEST_CODE: usize = 1 << 20;

/// Renders templates in jailed processes. Clones share the same workers; they end with the last clone.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
    stop: Arc<Stop>,
}

/// Tells everybody to end when the last pool is dropped.
struct Stop(watch::Sender<bool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

struct Inner {
    config: Config,
    slots: Slots,
    /// One place for each worker.
    posts: Vec<Mutex<Option<Arc<Worker>>>>,
    /// Changes whenever a post does.
    posted: watch::Sender<u64>,
    sessions: Sessions,
    compiled: Compiled,
    standing: Standing,
    metrics: Metrics,
}

impl Pool {
    /// Starts the workers; calls may be made at once and wait for them. Called within a tokio runtime.
    ///
    /// # Errors
    /// When there is no worker to start.
    pub fn start(config: Config) -> Result<Self, StartError> {
        let path = config.find_program()?;
        let program: Arc<dyn Launch> = Arc::new(Program(path));
        Self::launch(config, &program)
    }

    fn launch(config: Config, launch: &Arc<dyn Launch>) -> Result<Self, StartError> {
        let slots = config.slots();
        let workers = config.workers.max(1);
        let inner = Arc::new(Inner {
            slots: Slots::new(slots, config.queue, config.queue_wait),
            posts: (0..workers).map(|_| Mutex::default()).collect(),
            posted: watch::Sender::new(0),
            sessions: Sessions::new(slots, config.session_calls),
            compiled: Compiled::new(),
            standing: Standing::new(),
            metrics: Metrics::new(),
            config,
        });
        let stop = watch::Sender::new(false);
        for post in 0..workers {
            let arguments = inner.config.command_line();
            let keeper = Keeper::new(Arc::clone(launch), arguments).map_err(StartError::Threads)?;
            let (inner, stop) = (Arc::clone(&inner), stop.subscribe());
            tokio::spawn(async move {
                let tell = |event| inner.note(post, event);
                keeper.keep(inner.config.health, stop, tell).await;
            });
        }
        let (testing, mut stopped) = (Arc::clone(&inner), stop.subscribe());
        let launch = Arc::clone(launch);
        tokio::spawn(async move {
            tokio::select! {
                () = selftest::run(&testing, &launch) => {}
                _ = stopped.wait_for(|stop| *stop) => {}
            }
        });
        Ok(Self { inner, stop: Arc::new(Stop(stop)) })
    }

    /// Renders one call, and waits for a child for it first if need be. A template that fails is an `Ok`.
    ///
    /// # Errors
    /// When the template could not be tried, or not to its end.
    pub async fn render(&self, call: Call, terms: Terms) -> Result<Outcome, PoolError> {
        self.inner.standing.settled(terms.deadline).await?;
        self.inner.render(call, terms, Mode::Render, Origin::Caller).await
    }

    /// Translates the template of a call from Python 2 to Python 3. The workers must have been started with `--convert`.
    ///
    /// # Errors
    /// As [`Pool::render`].
    pub async fn convert(&self, call: Call, terms: Terms) -> Result<Outcome, PoolError> {
        self.inner.standing.settled(terms.deadline).await?;
        self.inner.render(call, terms, Mode::Convert, Origin::Caller).await
    }

    /// The walls that hold, once that is known and enough of them do.
    pub fn walls(&self) -> Option<Walls> {
        self.inner.standing.walls().ok()
    }

    /// What to say of the expander in `/readyz?verbose`.
    ///
    /// # Errors
    /// Why templates are not rendered.
    pub fn readiness(&self) -> Result<String, String> {
        let walls = self.inner.standing.walls().map_err(|error| match error {
            PoolError::Walls(reason) | PoolError::Unavailable(reason) => reason,
            PoolError::Busy { .. } | PoolError::Timeout => error.to_string(),
        })?;
        let (ready, all) = (self.inner.workers().count(), self.inner.posts.len());
        let text = format!("{walls}; {ready} of {all} workers ready");
        if ready > 0 { Ok(text) } else { Err(text) }
    }

    /// Waits until it is known whether templates may be run.
    ///
    /// # Errors
    /// When they may not, or it is not known by then.
    pub async fn ready(&self, deadline: Instant) -> Result<Walls, PoolError> {
        self.inner.standing.settled(deadline).await
    }

    /// Adds the metrics `formwork_expander_…`.
    pub fn register(&self, registry: &mut impl Register) {
        self.inner.metrics.register(registry);
    }

    /// Ends all workers and waits until they are gone. Calls that are under way fail.
    pub async fn stop(&self) {
        self.stop.0.send_replace(true);
        self.stop.0.closed().await;
    }
}

impl Render for Pool {
    fn width(&self) -> usize {
        self.inner.slots.most()
    }

    fn render(&self, call: Call, terms: Terms) -> Rendering<'_> {
        Box::pin(Pool::render(self, call, terms))
    }
}

impl Inner {
    /// Renders a call without asking whether that is allowed, which the self-test needs to find out.
    async fn render(
        self: &Arc<Self>,
        call: Call,
        terms: Terms,
        mode: Mode,
        origin: Origin,
    ) -> Result<Outcome, PoolError> {
        let (language, begun) = (call.language, Instant::now());
        let result = match self.slots.take(terms.deadline, &self.metrics.waiting).await {
            // A frame repeats every import, so there are as many of them as slots, and not as callers.
            Ok(slot) => {
                let Found { code, wanted } = match (language, mode) {
                    (Language::Python, Mode::Render) => self.compiled.find(&call),
                    _ => Found::default(),
                };
                match Job::new(call, terms, mode, code).await {
                    Ok(job) => self.run(job.of(origin), wanted, slot).await,
                    Err(outcome) => Ok(outcome),
                }
            }
            Err(error) => Err(error),
        };
        self.metrics.ended(language, &result, begun.elapsed());
        result
    }

    /// Has a task of its own see to a call, so that its children are looked after when the caller goes away.
    async fn run(
        self: &Arc<Self>,
        job: Job,
        wanted: Vec<Source>,
        slot: Slot,
    ) -> Result<Outcome, PoolError> {
        let (reply, result) = oneshot::channel();
        let inner = Arc::clone(self);
        tokio::spawn(async move {
            inner.metrics.in_flight.inc();
            let mut reply = Reply::new(reply);
            inner.perform(&job, &mut reply).await;
            // The answer is on its way, and the right to have a child is still here.
            for source in wanted {
                if reply.rendered() {
                    inner.compile(&source).await;
                } else {
                    inner.compiled.leave(&source);
                }
            }
            inner.metrics.in_flight.dec();
            drop(slot);
        });
        let given_up = |_| Err(PoolError::Unavailable("the call was given up".into()));
        result.await.unwrap_or_else(given_up)
    }

    /// Has a source compiled for later calls. One that does not compile is compiled by each, to say why.
    async fn compile(&self, source: &Source) {
        let bounds = Bounds { fuel: 0, output: LONGEST_CODE };
        let terms = Terms { bounds, deadline: Instant::now() + self.config.wall };
        let job = Job::new(source.call(), terms, Mode::Compile, BTreeMap::new()).await;
        let Ok(job) = job else { return };
        let (reply, result) = oneshot::channel();
        self.perform(&job, &mut Reply::new(reply)).await;
        if let Ok(Ok(Outcome::Rendered(Rendered::Text { text, .. }))) = result.await {
            self.compiled.keep(source, &text);
            self.metrics.compiled.inc();
        }
    }

    fn note(&self, post: usize, event: Event) {
        let worker = match event {
            Event::Ready(worker) => {
                tracing::info!(post, walls = %worker.walls(), "a worker is ready");
                self.standing.born();
                Some(worker)
            }
            Event::Died(reason) => {
                tracing::warn!(post, %reason, "a worker died");
                self.metrics.restarts.inc();
                self.standing.died();
                None
            }
        };
        *self.posts[post].lock().unwrap_or_else(PoisonError::into_inner) = worker;
        self.posted.send_modify(|version| *version += 1);
    }

    /// The workers that live.
    fn workers(&self) -> impl Iterator<Item = Arc<Worker>> {
        let worker = |post: &Mutex<Option<Arc<Worker>>>| {
            post.lock().unwrap_or_else(PoisonError::into_inner).clone()
        };
        self.posts.iter().filter_map(worker).filter(|worker| worker.load().is_some())
    }

    /// The worker with the fewest children, `avoid` only if there is no other; waits for one when there is none.
    async fn choose(
        &self,
        avoid: Option<&Arc<Worker>>,
        deadline: Instant,
    ) -> Result<Arc<Worker>, PoolError> {
        let until = deadline.min(Instant::now() + PATIENCE);
        let mut posted = self.posted.subscribe();
        loop {
            posted.mark_unchanged();
            let fit = self.workers().filter(|worker| self.fit(worker));
            let rank = |worker: &Arc<Worker>| {
                (avoid.is_some_and(|avoid| Arc::ptr_eq(avoid, worker)), worker.load())
            };
            if let Some(worker) = fit.min_by_key(rank) {
                return Ok(worker);
            }
            match timeout_at(until, posted.changed()).await {
                Ok(_) => {}
                Err(_) if until == deadline => return Err(PoolError::Timeout),
                Err(_) => return Err(PoolError::Unavailable("no worker is ready".into())),
            }
        }
    }

    /// A worker that was started again may find the machine changed.
    fn fit(&self, worker: &Worker) -> bool {
        worker.walls().missing(&self.config.minimum).is_none() || self.standing.walls().is_err()
    }
}
