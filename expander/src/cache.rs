//! Results of expansions, kept under the digest of what they depend on.
//!
//! Expansion is hermetic, so a kept result is as good as a new one. Only successes are kept, and only those for which
//! nothing was fetched: what a URL answers may be another thing tomorrow. Equal requests at the same time are expanded
//! once, and of others only so many are, because each may take memory by its budgets.

use std::sync::Arc;

use expansion::{Expanded, Imports, Input};
use moka::future::Cache as Store;
use prometheus_client::metrics::counter::Counter;
use tokio::time::{Instant, timeout_at};

use crate::digest::digest;
use crate::drive::{self, Finished, aside};
use crate::error::{ExpandError, PoolError};
use crate::fetch::Fetch;
use crate::metrics::Register;
use crate::render::Render;
use crate::room::Room;
use crate::weight;

/// From how many bytes of input on the digest is no work for a thread that serves others.
const HEAVY: usize = 1 << 20;

/// How many big expansions run at once. One may take some hundred megabytes if it is built for that.
const BIG: usize = 2;

/// Results by digest.
pub struct Cache {
    kept: Store<String, Arc<Expanded>>,
    room: Room,
    hits: Counter,
    misses: Counter,
}

/// A result with the digest of all that went into it.
#[derive(Clone, Debug)]
pub struct Cached {
    /// See [`digest()`](crate::digest()): of the input and of what was fetched.
    pub digest: String,
    /// The result.
    pub expanded: Arc<Expanded>,
    /// The files that went into it beside the input, by name.
    pub fetched: Arc<Imports>,
}

/// What is told to all who wait for the same expansion, but not kept.
enum Passed {
    Failed(ExpandError),
    Fetched(Cached),
}

impl Cached {
    /// About how many bytes of memory the result takes, for whoever writes it down: that may be no work for a thread that
    /// serves others.
    pub fn size(&self) -> usize {
        weight::of_expanded(&self.expanded)
    }
}

impl Cache {
    /// A cache of about so many bytes; with 0 nothing is kept, but equal requests still share one expansion.
    pub fn new(bytes: u64) -> Self {
        let weigh = |digest: &String, expanded: &Arc<Expanded>| {
            u32::try_from(digest.len() + weight::of_expanded(expanded)).unwrap_or(u32::MAX)
        };
        Self {
            kept: Store::builder().max_capacity(bytes).weigher(weigh).build(),
            room: Room::boundless(),
            hits: Counter::default(),
            misses: Counter::default(),
        }
    }

    /// Runs at most so many expansions at once, and of those that are given more than half a megabyte two. Others wait
    /// for ten seconds, and are [`Busy`](PoolError::Busy) then.
    pub fn at_once(self, most: usize) -> Self {
        Self { room: Room::new(most, BIG), ..self }
    }

    /// Adds the metrics `formwork_expander_cache_…`.
    pub fn register(&self, registry: &mut impl Register) {
        let name = "formwork_expander_cache_hits";
        registry.register(name, "Expansions answered from the cache", self.hits.clone());
        let name = "formwork_expander_cache_misses";
        registry.register(name, "Expansions that were run", self.misses.clone());
    }

    /// As [`expand`](crate::expand), unless the result is known. Who asks for the same at the same time shares the answer,
    /// and so has to share `fetch` too.
    ///
    /// # Errors
    /// As [`expand`](crate::expand).
    pub async fn expand(
        &self,
        input: Input,
        renderer: &dyn Render,
        fetch: &dyn Fetch,
        deadline: Instant,
    ) -> Result<Cached, ExpandError> {
        let (digest, input) = digested(input).await;
        loop {
            let mut ran = false;
            let run = async {
                ran = true;
                let done = self.run(&digest, input.clone(), renderer, fetch, deadline).await;
                match done.map_err(Passed::Failed)? {
                    done if done.fetched.is_empty() => Ok(done.expanded),
                    done => Err(Passed::Fetched(done)),
                }
            };
            let found = self.kept.try_get_with_by_ref(&digest, run);
            let Ok(found) = timeout_at(deadline, found).await else {
                return Err(ExpandError::Timeout);
            };
            let cached = match found {
                Ok(expanded) => {
                    Cached { digest: digest.clone(), expanded, fetched: Arc::default() }
                }
                Err(passed) => match &*passed {
                    Passed::Fetched(cached) => cached.clone(),
                    // Whoever ran it may have had less time, or no luck: that is not this caller's error.
                    Passed::Failed(error) if !ran && passes(error) => continue,
                    Passed::Failed(error) => return Err(error.clone()),
                },
            };
            if !ran {
                self.hits.inc();
            }
            return Ok(cached);
        }
    }

    /// As [`expand`](Self::expand), where `fetch` brings what it would not bring to others: nobody shares what comes of it.
    ///
    /// # Errors
    /// As [`expand`](crate::expand).
    pub async fn expand_apart(
        &self,
        input: Input,
        renderer: &dyn Render,
        fetch: &dyn Fetch,
        deadline: Instant,
    ) -> Result<Cached, ExpandError> {
        let (digest, input) = digested(input).await;
        if let Some(expanded) = self.kept.get(&digest).await {
            self.hits.inc();
            return Ok(Cached { digest, expanded, fetched: Arc::default() });
        }
        let done = self.run(&digest, input, renderer, fetch, deadline).await?;
        if done.fetched.is_empty() {
            self.kept.insert(digest, done.expanded.clone()).await;
        }
        Ok(done)
    }

    async fn run(
        &self,
        digest: &str,
        input: Input,
        renderer: &dyn Render,
        fetch: &dyn Fetch,
        deadline: Instant,
    ) -> Result<Cached, ExpandError> {
        let place = self.room.enter().await?;
        self.misses.inc();
        let finished = drive::run(input.clone(), place, renderer, fetch, deadline).await?;
        let Finished { expanded, fetched } = finished;
        let expanded = Arc::new(expanded);
        let Some(mut fetched) = fetched else {
            let digest = digest.to_owned();
            return Ok(Cached { digest, expanded, fetched: Arc::default() });
        };
        fetched.retain(|name, _| !input.imports.contains_key(name));
        let mut whole = input;
        whole.imports.extend(fetched.clone());
        let (digest, _) = digested(whole).await;
        Ok(Cached { digest, expanded, fetched: Arc::new(fetched) })
    }
}

/// Whether another attempt may end otherwise.
fn passes(error: &ExpandError) -> bool {
    match error {
        ExpandError::Timeout | ExpandError::Pool(PoolError::Busy { .. } | PoolError::Timeout) => {
            true
        }
        ExpandError::Failure(_)
        | ExpandError::Pool(PoolError::Walls(_) | PoolError::Unavailable(_)) => false,
    }
}

async fn digested(input: Input) -> (String, Input) {
    let size: usize = input.imports.values().map(|import| import.content.len()).sum();
    if size + input.configuration.len() < HEAVY {
        return (digest(&input), input);
    }
    aside(move || (digest(&input), input)).await
}
