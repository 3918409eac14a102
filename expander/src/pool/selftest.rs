//! Whether the walls hold: asked before the first template runs, and again each minute.
//!
//! All attacks run in a worker of their own, which is started as the others are but for its limits: those are tight, so
//! that a server does not spend seconds on finding out that a loop without end has one.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use protocol::{Bounds, Mode};
use tokio::time::{Instant, sleep};

use crate::config::{Config, SelfTest};
use crate::error::PoolError;
use crate::render::Terms;
use crate::walls::Walls;
use crate::worker::Launch;

use super::attempt::Origin;
use super::canary::{self, Canary};
use super::{Inner, Pool};

/// How often the short test runs.
const INTERVAL: Duration = Duration::from_secs(60);
/// How long to wait before a test is repeated that came to no result.
const AGAIN: Duration = Duration::from_secs(1);
/// How long a canary may take; those that take long wait for a limit.
const PATIENCE: Duration = Duration::from_secs(60);

/// Processor time of the attacks, some of which use up all of theirs, at first.
const CPU: Duration = Duration::from_millis(200);
/// What they have of it at most, on a machine that is slow.
const MOST_CPU: Duration = Duration::from_millis(12_800);
/// Memory of an attack, in MiB.
const MEMORY: u64 = 64;

/// What a test found.
enum Found {
    /// All attacks were contained.
    Contained,
    /// One was not.
    Breach(String),
    /// The clock ended one before the wall that it is for.
    Late(&'static str),
    /// It could not be carried out.
    Nothing(PoolError),
}

/// Tests until the pool ends.
pub(super) async fn run(inner: &Arc<Inner>, launch: &Arc<dyn Launch>) {
    first(inner, launch).await;
    if inner.config.self_test == SelfTest::Skipped {
        return;
    }
    loop {
        sleep(INTERVAL).await;
        match few_attacks(inner).await {
            Found::Contained | Found::Late(_) => {}
            Found::Breach(reason) => refuse(inner, reason),
            Found::Nothing(error) => tracing::warn!(%error, "the self-test could not run"),
        }
    }
}

/// Settles whether templates may be run.
async fn first(inner: &Arc<Inner>, launch: &Arc<dyn Launch>) {
    let mut cpu = CPU;
    loop {
        let walls = walls(inner).await;
        if let Some(reason) = walls.missing(&inner.config.minimum) {
            return refuse(inner, reason);
        }
        let found = match inner.config.self_test {
            SelfTest::Attacks => all_attacks(inner, launch, cpu).await,
            SelfTest::Skipped => Found::Contained,
        };
        match found {
            Found::Contained => {
                tracing::info!(%walls, "templates may be run");
                inner.metrics.walls(&walls);
                inner.standing.hold(walls);
                return;
            }
            Found::Breach(reason) | Found::Nothing(PoolError::Walls(reason)) => {
                return refuse(inner, reason);
            }
            Found::Late(canary) if cpu < MOST_CPU => {
                tracing::warn!(canary, ?cpu, "the self-test took too long, and is repeated");
                cpu *= 2;
            }
            Found::Late(canary) => {
                return refuse(inner, format!("the self-test failed: {canary} took too long"));
            }
            Found::Nothing(error) => {
                tracing::warn!(%error, "the self-test could not run");
                sleep(AGAIN).await;
            }
        }
    }
}

/// All attacks on a worker of their own, and a few on those that serve.
async fn all_attacks(inner: &Arc<Inner>, launch: &Arc<dyn Launch>, cpu: Duration) -> Found {
    let config = Config {
        workers: 1,
        cpu,
        wall: PATIENCE,
        memory: MEMORY,
        self_test: SelfTest::Skipped,
        ..inner.config.clone()
    };
    let found = match Pool::launch(config, launch) {
        Ok(pool) => {
            let found = attack(&pool.inner, |_| true).await;
            pool.stop().await;
            found
        }
        Err(error) => Found::Nothing(PoolError::Unavailable(error.to_string())),
    };
    match found {
        Found::Contained => few_attacks(inner).await,
        other => other,
    }
}

/// A few attacks on the workers that serve. A template has no more time there than they have, so that none comes further
/// than one that the clock ended.
async fn few_attacks(inner: &Arc<Inner>) -> Found {
    match attack(inner, |canary| canary.often).await {
        Found::Late(canary) => {
            tracing::warn!(canary, "the self-test took too long");
            Found::Contained
        }
        other => other,
    }
}

/// What every worker that is there says of its walls; waits until there is one.
async fn walls(inner: &Inner) -> Walls {
    let mut posted = inner.posted.subscribe();
    loop {
        posted.mark_unchanged();
        let walls = inner.workers().map(|worker| worker.walls()).reduce(Walls::weakest);
        if let Some(walls) = walls {
            return walls;
        }
        posted.changed().await.expect("the pool keeps the sender");
    }
}

fn refuse(inner: &Inner, reason: String) {
    tracing::error!(target: "security", %reason, "templates are not run");
    inner.metrics.walls(&Walls::default());
    inner.standing.refuse(reason);
}

/// Has the canaries run, beside each other as templates would.
async fn attack(inner: &Arc<Inner>, which: fn(&Canary) -> bool) -> Found {
    let canaries = canary::all(inner.config.memory).into_iter().filter(which);
    let tries = canaries.map(|canary| one(inner, canary));
    let mut found = stream::iter(tries).buffer_unordered(inner.slots.most());
    while let Some(found) = found.next().await {
        if !matches!(found, Found::Contained) {
            return found;
        }
    }
    Found::Contained
}

async fn one(inner: &Arc<Inner>, canary: Canary) -> Found {
    let bounds = Bounds { fuel: 1_000_000, output: 1 << 20 };
    let terms = Terms { bounds, deadline: Instant::now() + PATIENCE };
    match inner.render(canary.call(), terms, Mode::Render, Origin::SelfTest).await {
        Ok(outcome) if canary.is_contained(&outcome) => Found::Contained,
        Ok(outcome) if canary::is_late(&outcome) => Found::Late(canary.name),
        Ok(outcome) => {
            tracing::error!(target: "security", canary = canary.name, ?outcome, "not contained");
            Found::Breach(format!("the self-test failed: {}", canary.name))
        }
        Err(error) => Found::Nothing(error),
    }
}
