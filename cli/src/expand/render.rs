//! Who renders the templates of a configuration that is expanded without a server.

use std::path::PathBuf;
use std::sync::OnceLock;

use expander::{Config, InProcess, Pool, PoolError, Render, SelfTest, Terms};
use expansion::{Call, Language, Outcome};

/// Renders Jinja in this process, since the files are the user's own, and Python in the worker that the server uses as
/// well: there the same template gives the same result. The worker is started when the first Python template comes.
pub(crate) struct Renderer {
    config: Config,
    pool: OnceLock<Result<Pool, PoolError>>,
}

impl Renderer {
    /// `expander` is the worker's program; it is looked for if nobody says where it is. `arguments` are for the worker.
    pub(crate) fn new(expander: Option<PathBuf>, arguments: &[&str]) -> Self {
        let config = Config {
            program: expander,
            workers: 1,
            self_test: SelfTest::Skipped,
            arguments: arguments.iter().map(ToString::to_string).collect(),
            ..Config::default()
        };
        Self { config, pool: OnceLock::new() }
    }

    /// Translates a Python 2 template; its worker has been told to be able to.
    ///
    /// # Errors
    /// When there is no worker, or it comes to no result.
    pub(crate) async fn convert(&self, call: Call, terms: Terms) -> Result<Outcome, PoolError> {
        self.pool()?.convert(call, terms).await
    }

    fn pool(&self) -> Result<&Pool, PoolError> {
        let start = || {
            Pool::start(self.config.clone()).map_err(|error| {
                PoolError::Unavailable(format!("{error} (--expander says where it is)"))
            })
        };
        self.pool.get_or_init(start).as_ref().map_err(Clone::clone)
    }
}

impl Render for Renderer {
    fn width(&self) -> usize {
        self.config.slots()
    }

    fn render(&self, call: Call, terms: Terms) -> expander::Rendering<'_> {
        match call.language {
            Language::Jinja => InProcess.render(call, terms),
            Language::Python => Box::pin(async move { self.pool()?.render(call, terms).await }),
        }
    }
}
