//! What expansions run on: the pool of jailed processes, the results that are kept, and whatever may be fetched.
//!
//! A server has one, and everybody who expands shares it. How a request is read and answered is no business of it.

mod asking;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use apiserver::health::Health;
use apiserver::metrics::Metrics;
use apiserver::status::{Error, Reason};
use expander::{
    Access, Among, Cache, Config, ExpandError, Fetch, Locked, NoFetch, Pool, PoolError, Register,
    Registries, Render, Rendering, Terms, Web,
};
use expansion::{Call, Failure, Imports, Input, Wanted};
use prometheus_client::registry::Metric;
use tokio::time::Instant;

pub(crate) use expander::Cached as Done;

use crate::args;

/// How long an expansion may take. Less than a request has, so that whoever asks is told what took so long.
const TIME: Duration = Duration::from_secs(30);
/// Bytes of results that are kept.
const KEPT: u64 = 64 << 20;
/// Expansions that are under way at once. What they are limited to each is a hundred megabytes of memory in the worst case.
const AT_ONCE: usize = 32;

/// What expansions run on. Clones share it.
#[derive(Clone)]
pub(crate) struct Engine(Arc<Parts>);

struct Parts {
    renderer: Renderer,
    cache: Cache,
    /// What fetches, if anything may be fetched.
    web: Option<Web>,
    /// Who asks registries what they have.
    asking: asking::Places,
}

enum Renderer {
    Pool(Pool),
    /// Why there is none.
    Absent(String),
    #[cfg(test)]
    InProcess(expander::InProcess),
}

/// Why there is no result.
pub(crate) enum Refused {
    /// The configuration, a template or a schema is at fault.
    Failure(Failure),
    /// Something else is.
    Request(Error),
}

impl Engine {
    /// One that runs no template, for those who only want to know what would be served.
    pub(crate) fn absent() -> Self {
        Self::of(Renderer::Absent("this server runs no templates".to_owned()), None)
    }

    /// One that runs Jinja here, without any wall.
    #[cfg(test)]
    pub(crate) fn in_process() -> Self {
        Self::of(Renderer::InProcess(expander::InProcess), None)
    }

    fn of(renderer: Renderer, web: Option<Web>) -> Self {
        let cache = Cache::new(KEPT).at_once(AT_ONCE);
        Self(Arc::new(Parts { renderer, cache, web, asking: asking::Places::default() }))
    }

    /// Starts the pool. Without the program that templates run in there is none, and all else is served.
    ///
    /// # Errors
    /// When the flags name a program that is not there, or hosts that are none.
    pub(crate) fn start(flags: &args::Expansion) -> Result<Self> {
        let web = Web::new(access(flags)).context("--template-allowed-hosts")?;
        let renderer = match Pool::start(config(flags)) {
            Ok(pool) => Renderer::Pool(pool),
            Err(error) if flags.expander.is_some() => return Err(error).context("--expander"),
            Err(error) => {
                tracing::warn!(%error, "templates of Deployment Manager are not run");
                Renderer::Absent("this server has no program to run templates".to_owned())
            }
        };
        Ok(Self::of(renderer, Some(web)))
    }

    /// Shows what templates run behind, and what is counted.
    pub(crate) fn report(&self, health: &Health, metrics: &Metrics) {
        let parts = self.0.clone();
        health.add_note("expander", move || parts.renderer.state());
        let mut registry = Registry(metrics);
        self.0.cache.register(&mut registry);
        if let Renderer::Pool(pool) = &self.0.renderer {
            pool.register(&mut registry);
        }
    }

    /// Ends what templates run in.
    pub(crate) async fn stop(&self) {
        if let Renderer::Pool(pool) = &self.0.renderer {
            pool.stop().await;
        }
    }

    /// Expands a configuration, or finds that it was expanded before. Files that were fetched before are not fetched
    /// again; registries are those that somebody may use.
    pub(crate) async fn expand(
        &self,
        input: Input,
        fetched: &Imports,
        registries: Option<&dyn Registries>,
    ) -> Result<Done, Refused> {
        let Parts { renderer, cache, web, .. } = &*self.0;
        let among = among(web.as_ref(), registries);
        let fetch = fetch(web.as_ref(), among.as_ref());
        let deadline = Instant::now() + TIME;
        if fetched.is_empty() && registries.is_none() {
            return cache.expand(input, renderer, fetch, deadline).await.map_err(Refused::from);
        }
        let fetch = Locked::new(fetched, fetch);
        cache.expand_apart(input, renderer, &fetch, deadline).await.map_err(Refused::from)
    }

    /// The text of the schema of a template that is fetched, if it has one. Registries are those that somebody may use.
    ///
    /// # Errors
    /// Why the template cannot be had.
    pub(crate) async fn schema(
        &self,
        name: &str,
        registries: Option<&dyn Registries>,
    ) -> Result<Option<String>, String> {
        let wanted = [Wanted { name: name.to_owned() }];
        let web = self.0.web.as_ref();
        let among = among(web, registries);
        let fetched = fetch(web, among.as_ref()).fetch(&wanted).await;
        let mut files = fetched.map_err(|error| error.to_string())?;
        if !files.contains_key(name) {
            return Err(format!("{name}: is not to be had"));
        }
        Ok(files.remove(&format!("{name}.schema")).map(|file| file.content.to_string()))
    }
}

/// What brings files where somebody has registries of his own.
fn among<'a>(web: Option<&'a Web>, registries: Option<&'a dyn Registries>) -> Option<Among<'a>> {
    web.zip(registries).map(|(web, registries)| web.among(registries))
}

/// What brings files.
fn fetch<'a>(web: Option<&'a Web>, among: Option<&'a Among<'a>>) -> &'a dyn Fetch {
    match (among, web) {
        (Some(among), _) => among,
        (None, Some(web)) => web,
        (None, None) => &NoFetch,
    }
}

impl Renderer {
    /// One line for who looks after the server.
    fn state(&self) -> String {
        match self {
            Self::Pool(pool) => pool.readiness().unwrap_or_else(|why| format!("refuses: {why}")),
            Self::Absent(why) => format!("refuses: {why}"),
            #[cfg(test)]
            Self::InProcess(_) => "without walls".to_owned(),
        }
    }
}

impl Render for Renderer {
    fn width(&self) -> usize {
        match self {
            Self::Pool(pool) => pool.width(),
            Self::Absent(_) => 1,
            #[cfg(test)]
            Self::InProcess(renderer) => renderer.width(),
        }
    }

    fn render(&self, call: Call, terms: Terms) -> Rendering<'_> {
        match self {
            Self::Pool(pool) => Render::render(pool, call, terms),
            Self::Absent(why) => Box::pin(async { Err(PoolError::Walls(why.clone())) }),
            #[cfg(test)]
            Self::InProcess(renderer) => Render::render(renderer, call, terms),
        }
    }
}

fn access(flags: &args::Expansion) -> Access {
    Access {
        hosts: flags.template_allowed_hosts.clone(),
        private_addresses: flags.template_allow_private_addresses,
        github: flags.template_github_url.clone(),
        ..Access::default()
    }
}

fn config(flags: &args::Expansion) -> Config {
    let default = Config::default();
    Config {
        program: flags.expander.clone(),
        memory: flags.expander_memory,
        cpu: flags.expander_cpu,
        concurrency: flags.expander_concurrency.map(NonZeroUsize::get),
        queue: flags.expander_queue,
        minimum: flags.expander_minimum.iter().copied().collect(),
        // Whoever says how many may run at once has counted what they take.
        memory_total: match flags.expander_concurrency {
            Some(_) => u64::MAX,
            None => default.memory_total,
        },
        ..default
    }
}

impl From<ExpandError> for Refused {
    fn from(error: ExpandError) -> Self {
        Self::Request(match error {
            ExpandError::Failure(failure) => return Self::Failure(failure),
            ExpandError::Pool(PoolError::Busy { retry_after }) => {
                let seconds = u32::try_from(retry_after.as_secs()).unwrap_or(u32::MAX);
                Error::busy("too many templates wait to be rendered", seconds)
            }
            // Another try would not put up walls.
            ExpandError::Pool(error @ PoolError::Walls(_)) => {
                Error::new(Reason::ServiceUnavailable, error.to_string())
            }
            ExpandError::Pool(error @ PoolError::Unavailable(_)) => Error::unavailable(error),
            ExpandError::Pool(PoolError::Timeout) | ExpandError::Timeout => {
                Error::timeout("Timeout: the expansion took longer than it may")
            }
        })
    }
}

/// The server's registry, as the expander knows one.
struct Registry<'a>(&'a Metrics);

impl Register for Registry<'_> {
    fn register(&mut self, name: &str, help: &str, metric: impl Metric) {
        self.0.register(name, help, metric);
    }
}
