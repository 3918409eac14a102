//! Hostile templates against the real worker, each with the outcome that it has to have, while well-behaved expansions
//! go on beside them.
//!
//! A row per attack, a file per family. Where the guards of the language stop an attack, the same is tried round them,
//! so that it is the kernel's wall that holds. What only machine code can try is in the worker's own tests.

mod attack;
mod census;
mod companions;
mod files;
mod guards;
mod jinja;
mod kernel;
mod memory;
mod neighbours;
mod processes;
mod protocol;
mod results;
mod schemas;
mod sockets;
mod time;
mod yaml;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Result, ensure};
use expander::{Config, Pool};
use futures::future::join_all;
use futures::stream::{self, StreamExt as _};
use tests::process::program;
use tokio::time::Instant;

use attack::Attack;
use census::Census;
use companions::SECRET;

/// Calls that run at once.
const SLOTS: usize = 6;
/// What stands in the key file of the canary.
const KEY: &str = "the-key-of-the-server";
/// Memory that attacks may cost this process, in KiB: answers that it read, and what the allocator keeps of them.
const GROWTH: u64 = 512 << 10;
/// Memory that calls may cost a worker, in KiB.
const WORKER_GROWTH: u64 = 2 << 10;

/// Processor time for what is to meet the clock.
const HASTY: Duration = Duration::from_millis(800);
/// Processor time for all else: more than any row needs on a slow machine, so that it meets the wall that it is for.
const PATIENT: Duration = Duration::from_secs(30);

fn config(concurrency: usize, cpu: Duration, arguments: &[&str]) -> Result<Config> {
    Ok(Config {
        program: Some(program("formwork-expander")?),
        concurrency: Some(concurrency),
        memory: 64,
        cpu,
        // The timer on processor time comes first, whatever else runs.
        wall: cpu.max(Duration::from_secs(3)) * 20,
        queue_wait: Duration::from_secs(120),
        health: Duration::from_secs(30),
        arguments: arguments.iter().map(|&argument| argument.into()).collect(),
        ..Config::default()
    })
}

/// Where attacks are tried.
struct Pools {
    /// Those whose outcome is that they take too long.
    hasty: Pool,
    /// All others.
    patient: Pool,
}

impl Pools {
    async fn start(arguments: &[&str]) -> Result<Self> {
        let hasty = started(config(SLOTS, HASTY, arguments)?).await?;
        let patient = started(config(SLOTS, PATIENT, arguments)?).await?;
        Ok(Self { hasty, patient })
    }

    fn of(&self, attack: &Attack) -> &Pool {
        if attack.is_to_run_out_of_time() { &self.hasty } else { &self.patient }
    }

    async fn stop(self) {
        self.hasty.stop().await;
        self.patient.stop().await;
    }
}

async fn started(config: Config) -> Result<Pool> {
    let workers = config.workers;
    let pool = Pool::start(config)?;
    pool.ready(Instant::now() + Duration::from_secs(60)).await?;
    let all = format!("{workers} of {workers} workers ready");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !pool.readiness().is_ok_and(|text| text.contains(&all)) {
        ensure!(Instant::now() < deadline, "not all workers come up: {:?}", pool.readiness());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(pool)
}

/// All rows.
fn attacks() -> Vec<Attack> {
    let families = [
        ("files", files::attacks()),
        ("sockets", sockets::attacks()),
        ("processes", processes::attacks()),
        ("kernel", kernel::attacks()),
        ("guards", guards::attacks()),
        ("time", time::attacks()),
        ("memory", memory::attacks()),
        ("results", results::attacks()),
        ("protocol", protocol::attacks()),
        ("jinja", jinja::attacks()),
        ("yaml", yaml::attacks()),
        ("schemas", schemas::attacks()),
    ];
    let named = |(family, attacks): (&'static str, Vec<Attack>)| {
        let name = move |attack: Attack| attack.of(family);
        attacks.into_iter().map(name)
    };
    families.into_iter().flat_map(named).collect()
}

/// A folder with a key in it, which is all that is in it afterwards.
fn canary() -> Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("server.key"), KEY)?;
    Ok(folder)
}

fn check_canary(folder: &Path) -> Result<()> {
    let names: Vec<_> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<Result<_>>()?;
    ensure!(names == ["server.key"], "somebody wrote: {names:?}");
    ensure!(fs::read(folder.join("server.key"))? == KEY.as_bytes(), "somebody changed the key");
    Ok(())
}

/// Tries all of `attacks`, several at a time: whatever was not as it has to be.
async fn attempt(pools: &Pools, attacks: &[Attack], canary: &Path) -> Vec<String> {
    let tries = attacks.iter().map(|attack| async move {
        match attack.attempt(pools.of(attack), canary).await {
            Ok(seen) if seen.contains(SECRET) || seen.contains(KEY) => {
                Err(format!("{} saw what it must not: {seen}", attack.name))
            }
            tried => tried,
        }
    });
    let tried = stream::iter(tries).buffer_unordered(SLOTS - 1);
    tried.filter_map(|tried| async { tried.err() }).collect().await
}

/// Runs one test at a time, for the processes below this one are counted, and what it has open: a runtime, too.
fn alone(test: impl Future<Output = Result<()>>) -> Result<()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(test);
    drop(runtime);
    ended
}

#[test]
fn attacks_are_contained_and_hurt_nobody_beside_them() -> Result<()> {
    alone(attacks_beside_neighbours())
}

async fn attacks_beside_neighbours() -> Result<()> {
    let attacks = attacks();
    let names: BTreeSet<_> = attacks.iter().map(|attack| attack.name.as_str()).collect();
    assert_eq!(names.len(), attacks.len(), "every row has a name of its own");
    let canary = canary()?;
    let nothing = Census::take()?;
    let pools = Pools::start(&[]).await?;
    let companions = companions::ten();
    // Half of those in each language are in each pool.
    let beside = |number: usize| if number < 5 { &pools.hasty } else { &pools.patient };
    let expanded = companions.iter().enumerate().map(|(at, one)| one.expand(beside(at)));
    let firsts = join_all(expanded).await;
    for first in &firsts {
        ensure!(matches!(first, attack::Got::Expands(_)), "{first:?}");
    }
    let before = Census::when(|census| census.zombies.is_empty()).await?;

    let over = AtomicBool::new(false);
    let lives = companions.iter().zip(&firsts).enumerate();
    let lives = lives.map(|(at, (one, first))| one.live(beside(at), first, &over));
    let (wrong, lived) = tokio::join!(
        async {
            let wrong = attempt(&pools, &attacks, canary.path()).await;
            over.store(true, Ordering::Relaxed);
            wrong
        },
        join_all(lives)
    );
    println!(
        "{} attacks, {} rounds of neighbours",
        attacks.len(),
        lived.iter().map(|life| life.0).sum::<u64>()
    );
    let disturbed: Vec<_> = lived.iter().flat_map(|(_, wrong)| wrong.iter().cloned()).collect();
    let wrong = [wrong, disturbed].concat();
    assert!(wrong.is_empty(), "{} are not as they have to be:\n{}", wrong.len(), wrong.join("\n"));
    ensure!(lived.iter().all(|(rounds, _)| *rounds >= 3), "there was nobody beside them");

    check_canary(canary.path())?;
    // Of each slot at most one child is kept, with a channel and a handle.
    let after = Census::when(|census| {
        census.zombies.is_empty()
            && census.children.len() <= 2 * SLOTS
            && census.descriptors <= nothing.descriptors.max(before.descriptors) + 4 * SLOTS
    })
    .await?;
    check_unharmed(&before, &after)?;
    pools.stop().await;
    let none = |census: &Census| census.workers.is_empty() && census.children.is_empty();
    Census::when(|census| none(census) && census.descriptors <= nothing.descriptors).await?;
    Ok(())
}

fn check_unharmed(before: &Census, after: &Census) -> Result<()> {
    let pids = |census: &Census| census.workers.keys().copied().collect::<Vec<_>>();
    ensure!(pids(before) == pids(after), "a worker died: {before:?}, then {after:?}");
    for (pid, memory) in &after.workers {
        ensure!(
            *memory <= before.workers[pid] + WORKER_GROWTH,
            "a worker grew: {before:?}, then {after:?}"
        );
    }
    println!("this process had {} KiB, and has {}", before.memory, after.memory);
    ensure!(after.memory <= before.memory + GROWTH, "memory grew: {before:?}, then {after:?}");
    Ok(())
}

#[test]
fn without_namespaces_attacks_come_no_further() -> Result<()> {
    alone(attacks_without_namespaces())
}

async fn attacks_without_namespaces() -> Result<()> {
    let canary = canary()?;
    let pools = Pools::start(&["--no-namespaces"]).await?;
    let families = [files::attacks(), sockets::attacks(), processes::attacks(), kernel::attacks()];
    let attacks: Vec<_> = families.into_iter().flatten().collect();
    let wrong = attempt(&pools, &attacks, canary.path()).await;
    assert!(wrong.is_empty(), "{} are not as they have to be:\n{}", wrong.len(), wrong.join("\n"));
    check_canary(canary.path())
}

#[test]
fn one_call_leaves_nothing_for_the_next() -> Result<()> {
    alone(async {
        let pool = started(Config { workers: 1, ..config(1, PATIENT, &[])? }).await?;
        neighbours::jinja_leaves_nothing(&pool).await?;
        neighbours::python_leaves_nothing(&pool).await
    })
}
