//! Results of expansions, kept under the digest of what they depend on.
//!
//! Expansion is hermetic, so a kept result is as good as a new one. Only successes are kept, and only those for which
//! nothing was fetched: what a URL answers may be another thing tomorrow. Equal requests at the same time are expanded
//! once.

use std::sync::Arc;

use expansion::{Expanded, Input};
use moka::future::Cache as Store;
use prometheus_client::metrics::counter::Counter;
use tokio::time::{Instant, timeout_at};

use crate::digest::digest;
use crate::drive::{self, Finished, aside};
use crate::error::{ExpandError, PoolError};
use crate::fetch::Fetch;
use crate::metrics::Register;
use crate::render::Render;
use crate::weight;

/// From how many bytes of input on the digest is no work for a thread that serves others.
const HEAVY: usize = 1 << 20;

/// Results by digest.
pub struct Cache {
    kept: Store<String, Arc<Expanded>>,
    hits: Counter,
    misses: Counter,
}

/// A result with the digest of its input.
#[derive(Clone, Debug)]
pub struct Cached {
    /// See [`digest()`](crate::digest()).
    pub digest: String,
    /// The result.
    pub expanded: Arc<Expanded>,
}

/// What is told to all who wait for the same expansion, but not kept.
enum Passed {
    Failed(ExpandError),
    Fetched(Arc<Expanded>),
}

impl Cache {
    /// A cache of about so many bytes; with 0 nothing is kept, but equal requests still share one expansion.
    pub fn new(bytes: u64) -> Self {
        let weigh = |digest: &String, expanded: &Arc<Expanded>| {
            let Expanded { resources, layout, outputs, warnings } = &**expanded;
            let values = resources.iter().chain(layout).chain(outputs.iter().map(|o| &o.value));
            let values: usize = values.map(weight::of).sum();
            let warnings: usize = warnings.iter().map(|warning| 64 + warning.message.len()).sum();
            u32::try_from(digest.len() + values + warnings).unwrap_or(u32::MAX)
        };
        Self {
            kept: Store::builder().max_capacity(bytes).weigher(weigh).build(),
            hits: Counter::default(),
            misses: Counter::default(),
        }
    }

    /// Adds the metrics `formwork_expander_cache_…`.
    pub fn register(&self, registry: &mut impl Register) {
        let name = "formwork_expander_cache_hits";
        registry.register(name, "Expansions answered from the cache", self.hits.clone());
        let name = "formwork_expander_cache_misses";
        registry.register(name, "Expansions that were run", self.misses.clone());
    }

    /// As [`expand`](crate::expand), unless the result is known.
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
                self.misses.inc();
                match drive::run(input.clone(), renderer, fetch, deadline).await {
                    Ok(Finished { expanded, fetched: false }) => Ok(Arc::new(expanded)),
                    Ok(Finished { expanded, .. }) => Err(Passed::Fetched(Arc::new(expanded))),
                    Err(error) => Err(Passed::Failed(error)),
                }
            };
            let found = self.kept.try_get_with_by_ref(&digest, run);
            let Ok(found) = timeout_at(deadline, found).await else {
                return Err(ExpandError::Timeout);
            };
            let expanded = match found {
                Ok(expanded) => expanded,
                Err(passed) => match &*passed {
                    Passed::Fetched(expanded) => Arc::clone(expanded),
                    // Whoever ran it may have had less time, or no luck: that is not this caller's error.
                    Passed::Failed(error) if !ran && passes(error) => continue,
                    Passed::Failed(error) => return Err(error.clone()),
                },
            };
            if !ran {
                self.hits.inc();
            }
            return Ok(Cached { digest, expanded });
        }
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
