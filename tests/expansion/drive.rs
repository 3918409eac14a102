//! Runs configurations through the real pool: what is expanded here is rendered as the server renders it.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use expander::{Config, ExpandError, Fetch, Fetching, Pool, SelfTest, expand};
use expansion::{Expanded, Failure, Imports, Input, Wanted};
use tests::{corpus, process};
use tokio::time::Instant;

use crate::collect::registered;

/// What became of a configuration.
pub(crate) type Ran = Result<Expanded, Failure>;

/// Workers, and a registry of templates in a folder.
pub(crate) struct Drive {
    pool: Pool,
    registry: Registry,
}

impl Drive {
    /// Starts the workers; within a runtime.
    pub(crate) fn start() -> Result<Self> {
        let program = Some(process::program("formwork-expander")?);
        // The walls have tests of their own; here five pools start at once.
        let config = Config { program, self_test: SelfTest::Skipped, ..Config::default() };
        let pool = Pool::start(config)?;
        Ok(Self { pool, registry: Registry(corpus::find("dm/registry")) })
    }

    /// Expands one configuration. Only what is nobody's fault but ours is an error.
    pub(crate) async fn run(&self, input: Input) -> Result<Ran> {
        let deadline = Instant::now() + Duration::from_secs(60);
        match expand(input, &self.pool, &self.registry, deadline).await {
            Ok(expanded) => Ok(Ok(expanded)),
            Err(ExpandError::Failure(failure)) => Ok(Err(failure)),
            Err(error) => bail!(error),
        }
    }
}

struct Registry(Option<PathBuf>);

impl Fetch for Registry {
    fn fetch<'a>(&'a self, wanted: &'a [Wanted]) -> Fetching<'a> {
        let find = |wanted: &Wanted| registered(self.0.as_deref()?, &wanted.name);
        let found: Imports = wanted.iter().filter_map(find).flatten().collect();
        Box::pin(async { Ok(found) })
    }
}
