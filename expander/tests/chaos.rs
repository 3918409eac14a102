//! Workers that are killed at any moment cost at most the call in hand, and thousands of calls leave nothing behind.
//!
//! `FORMWORK_CHAOS_CALLS` says how many calls; 10,000 is what the design asks for, fewer are made by default.

#[path = "worker/setup.rs"]
mod setup;

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use expander::{Pool, PoolError};
use expansion::{Language, Outcome};
use futures::stream::{self, StreamExt as _};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use rustix::process::{Pid, Signal, kill_process};
use setup::{call, pool, terms};
use tokio::time::{Instant, sleep};

/// How often a worker is killed: as often as they are started again without a pause, three times each.
const KILLS: usize = 6;

/// The rest of memory that may come and go, in KiB.
const SLACK: u64 = 6 * 1024;

/// A process below this one.
#[derive(Debug)]
struct Process {
    state: String,
    memory: u64,
}

/// All processes below this one, by number.
fn below() -> Result<BTreeMap<i32, Process>> {
    let mut processes = BTreeMap::new();
    let mut parents = BTreeMap::new();
    for entry in fs::read_dir("/proc")? {
        let Ok(pid) = entry?.file_name().to_string_lossy().parse::<i32>() else { continue };
        // It may be gone by now.
        let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { continue };
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_default().trim_start_matches(':').trim().to_owned()
        };
        let memory = field("VmRSS").trim_end_matches(" kB").trim().parse().unwrap_or_default();
        parents.insert(pid, field("PPid").parse::<i32>()?);
        processes.insert(pid, Process { state: field("State"), memory });
    }
    let own = i32::try_from(std::process::id())?;
    let is_below = |pid: &i32| {
        let mut pid = *pid;
        while let Some(parent) = parents.get(&pid).filter(|parent| **parent > 0) {
            if *parent == own {
                return true;
            }
            pid = *parent;
        }
        false
    };
    processes.retain(|pid, _| is_below(pid));
    Ok(processes)
}

fn descriptors() -> Result<usize> {
    Ok(fs::read_dir("/proc/self/fd")?.count())
}

fn own_memory() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// How many calls were begun anew.
fn retries(pool: &Pool) -> Result<u64> {
    let (mut registry, mut text) = (Registry::default(), String::new());
    pool.register(&mut registry);
    encode(&mut text, &registry)?;
    let line = text.lines().find_map(|line| line.strip_prefix("formwork_expander_retries_total "));
    Ok(line.context("the metric")?.parse()?)
}

/// Renders `calls` templates that count to `work`, four at a time, and gives how many were not rendered.
async fn render(pool: &Pool, calls: usize, work: usize, done: &AtomicUsize) -> Result<usize> {
    let source =
        format!("def generate_config(context):\n  return {{'resources': [sum(range({work}))]}}");
    let source = source.as_str();
    let one = |at: usize| async move {
        let call = match at % 4 {
            0 => call(Language::Jinja, "resources: [{{ env | length }}]"),
            _ => call(Language::Python, source),
        };
        let result = pool.render(call, terms()).await;
        done.fetch_add(1, Ordering::Relaxed);
        match result {
            Ok(Outcome::Rendered(_)) => Ok(0),
            Err(PoolError::Unavailable(_)) => Ok(1),
            other => Err(anyhow::anyhow!("{other:?}")),
        }
    };
    let mut results = stream::iter(0..calls).map(one).buffer_unordered(4);
    let mut lost = 0;
    while let Some(result) = results.next().await {
        lost += result?;
    }
    Ok(lost)
}

/// The children of a process, by number.
fn children(of: &str) -> Result<Vec<i32>> {
    let mut children = Vec::new();
    // It may be gone by now, and have none.
    for task in fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten() {
        let list = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in list.split_whitespace() {
            children.push(child.parse()?);
        }
    }
    Ok(children)
}

/// Whether it runs at this moment; a kept child that has nothing to do sleeps.
fn runs(process: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" R"))
}

/// A worker with a call in hand. Direct children are the workers, whatever else is below them.
async fn busy() -> Result<i32> {
    let since = Instant::now();
    loop {
        for worker in children("self")? {
            if children(&worker.to_string())?.into_iter().any(runs) {
                return Ok(worker);
            }
        }
        ensure!(since.elapsed() < Duration::from_secs(30), "no call is in hand");
        sleep(Duration::from_millis(1)).await;
    }
}

/// Kills a worker again and again while calls go on.
async fn kill(calls: usize, done: &AtomicUsize) -> Result<()> {
    for at in 0..KILLS {
        while done.load(Ordering::Relaxed) < (at + 1) * calls / (KILLS + 1) {
            sleep(Duration::from_millis(1)).await;
        }
        let pid = Pid::from_raw(busy().await?).context("a number")?;
        kill_process(pid, Signal::KILL)?;
    }
    Ok(())
}

/// All processes below this one, once there are no more than `most`, and no zombie. Whoever asked has the answer before
/// its child is killed and reaped, so the last ones take a moment.
async fn reaped(most: usize) -> Result<BTreeMap<i32, Process>> {
    let since = Instant::now();
    loop {
        let processes = below()?;
        let zombie = processes.values().any(|process| process.state.starts_with('Z'));
        if !zombie && processes.len() <= most {
            return Ok(processes);
        }
        ensure!(since.elapsed() < Duration::from_secs(30), "processes are left: {processes:?}");
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_workers_cost_no_more_than_the_call_in_hand_and_nothing_is_left_behind() -> Result<()>
{
    let calls = std::env::var("FORMWORK_CHAOS_CALLS").map_or(Ok(2000), |calls| calls.parse())?;
    let pool = pool(setup::unprobed)?;
    let done = AtomicUsize::new(0);
    let stormy = calls / 10;
    let (lost, killed) = tokio::join!(render(&pool, stormy, 300_000, &done), kill(stormy, &done));
    killed?;
    let lost = lost?;
    ensure!(lost <= KILLS * 4, "{lost} calls were lost to {KILLS} kills");
    ensure!(retries(&pool)? > 0, "no worker was killed with a call in hand");

    // From here on it is quiet: memory and descriptors are compared with those after the first calls.
    let ready = |pool: &Pool| pool.readiness().is_ok_and(|text| text.contains("2 of 2"));
    let since = Instant::now();
    while !ready(&pool) {
        ensure!(since.elapsed() < Duration::from_secs(60), "the workers never came back");
        sleep(Duration::from_millis(10)).await;
    }
    ensure!(render(&pool, stormy, 1, &done).await? == 0, "nothing is lost when nothing is killed");
    let (before, own, open) = (below()?, own_memory()?, descriptors()?);
    ensure!(render(&pool, calls - 2 * stormy, 1, &done).await? == 0);
    let (own_after, open_after) = (own_memory()?, descriptors()?);
    let after = reaped(before.len() + 2).await?;

    println!("{calls} calls, {KILLS} kills, {} calls made again, {lost} lost", retries(&pool)?);
    println!("descriptors {open} {open_after}, own memory {own} {own_after} KiB");
    println!("before {before:?}\nafter {after:?}");
    ensure!(open_after <= open + 4, "{open} descriptors became {open_after}");
    ensure!(own_after < own + own / 10 + SLACK, "{own} KiB became {own_after}");
    for (pid, process) in &after {
        if let Some(before) = before.get(pid) {
            ensure!(process.memory < before.memory + SLACK, "{pid} grew: {before:?} {process:?}");
        }
    }

    pool.stop().await;
    let since = Instant::now();
    while !below()?.is_empty() {
        ensure!(since.elapsed() < Duration::from_secs(30), "left behind: {:?}", below()?);
        sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}
