//! A pool with the worker that was built beside this test.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use expander::{Config, Pool, SelfTest, Terms};
use expansion::{Call, Import, Imports, Language, Limits, Map, Value};
use tokio::time::Instant;

/// The worker's binary.
pub(crate) fn program() -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let profile = test.parent().and_then(|deps| deps.parent()).context("a test stands in deps")?;
    let program = profile.join("formwork-expander");
    ensure!(program.is_file(), "cargo build -p formwork-expander first");
    Ok(program)
}

/// A pool that differs from the default in this.
pub(crate) fn pool(change: impl FnOnce(&mut Config)) -> Result<Pool> {
    let mut config = Config { program: Some(program()?), ..Config::default() };
    change(&mut config);
    Ok(Pool::start(config)?)
}

/// No self-test, which takes its time.
pub(crate) fn unprobed(config: &mut Config) {
    config.self_test = SelfTest::Skipped;
}

/// A call of a template with this source.
pub(crate) fn call(language: Language, source: &str) -> Call {
    let name = match language {
        Language::Jinja => "t.jinja",
        Language::Python => "t.py",
    };
    let text = |key: &str, value: &str| (key.to_owned(), Value::from(value));
    let import = Import { path: String::new(), content: source.into() };
    let mut resource = Map::from([text("name", "r"), text("type", name)]);
    resource.insert("properties".into(), Value::Map(Map::new()));
    Call {
        id: 1,
        language,
        template: name.into(),
        resource,
        env: Map::from([
            text("deployment", "d"),
            text("project", "p"),
            text("current_time", "1700000000"),
            text("name", "r"),
            text("type", name),
        ]),
        imports: Arc::new(Imports::from([(name.to_owned(), import)])),
    }
}

/// Plenty of everything.
pub(crate) fn terms() -> Terms {
    Terms::new(&Limits::default(), Instant::now() + Duration::from_secs(60))
}
