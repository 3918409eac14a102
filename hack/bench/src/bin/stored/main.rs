//! The same objects stored as Templates here and as custom resources in kube-apiserver, which is what a user would
//! pick instead: both on one etcd, both over TLS, in turns, on one machine.
//!
//! Requests go to the server that keeps the objects; "aggregated" is the way that users take to Formwork, through
//! kube-apiserver. Users are of `system:masters`, whom neither server makes wait.

mod cluster;
mod side;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use bench::client::Connection;
use bench::load::{Limit, Outcome};
use bench::print::{self, mebibytes};
use clap::Parser;

use cluster::Setting;
use side::Side;

#[derive(Parser)]
struct Args {
    /// Folder of medium.json
    #[arg(long, default_value = "hack/bench/templates")]
    templates: PathBuf,
    /// How many objects are stored on each side
    #[arg(long, default_value_t = 20_000)]
    objects: usize,
    /// How many connections ask at the same time
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// How many turns each side has
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// How long a turn takes at most
    #[arg(long, default_value_t = 2000)]
    turn_ms: u64,
    /// How many watches are open at once
    #[arg(long, default_value_t = 1000)]
    watchers: usize,
    /// How many objects the watchers are told of in a turn
    #[arg(long, default_value_t = 40)]
    events: usize,
}

/// How long a process is left alone before its memory is looked at.
const SETTLE: Duration = Duration::from_secs(5);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let args = Args::parse();
    let mut setting = Setting::start()?;
    let mut sides = setting.sides(&args.templates)?;
    let before = memory(&sides).await?;
    print::head();
    let created = fill(&mut sides, &args).await?;
    let after = memory(&sides).await?;
    report("create", args.connections, &sides, &created)?;
    // Only now, as what it creates would be counted among ours.
    sides.push(setting.through_aggregator(&sides[0])?);
    let turn = Limit { requests: usize::MAX, time: Duration::from_millis(args.turn_ms) };
    let rounds = args.rounds;
    let mut pool = connect(&sides, args.connections).await?;
    let mut outcomes = nothing(&sides);
    for _ in 0..rounds {
        for (index, side) in sides.iter().enumerate() {
            outcomes[index].add(side.get(&mut pool[index], turn).await?);
        }
    }
    report("get", args.connections, &sides, &outcomes)?;
    let few = args.connections.min(4);
    let mut outcomes = nothing(&sides);
    for _ in 0..rounds {
        for (index, side) in sides.iter().enumerate() {
            outcomes[index].add(side.list(&mut pool[index][..few], turn).await?);
        }
    }
    report("list of 500", few, &sides, &outcomes)?;
    let mut outcomes = nothing(&sides);
    for round in 0..rounds {
        for (index, side) in sides.iter().enumerate() {
            let round = index * rounds + round;
            outcomes[index].add(side.watch(args.watchers, args.events, round).await?);
        }
    }
    let connections = args.watchers.div_ceil(bench::watchers::PER_CONNECTION);
    report(&format!("delivery to {}", args.watchers), connections, &sides, &outcomes)?;

    println!("\nresident memory, before and after {} objects of 6 KB:", args.objects);
    let mut growth = Vec::new();
    for (index, side) in sides[..2].iter().enumerate() {
        let grown = after[index].saturating_sub(before[index]);
        let (before, after) = (mebibytes(before[index]), mebibytes(after[index]));
        println!("  {:<20} {before:>10} {after:>10}, grown by {}", side.name, mebibytes(grown));
        growth.push(grown as f64);
    }
    println!("  ours has grown by {:.2} of what theirs has", growth[0] / growth[1]);
    // On another thread, because our own connections have to take their leave meanwhile.
    tokio::task::spawn_blocking(|| setting.stop()).await?
}

/// Stores all objects on both sides, in turns.
async fn fill(sides: &mut [Side], args: &Args) -> Result<Vec<Outcome>> {
    let mut pool = connect(sides, args.connections).await?;
    let mut outcomes = nothing(sides);
    let turn =
        Limit { requests: args.objects.div_ceil(4 * args.rounds), time: Duration::from_secs(600) };
    while sides.iter().any(|side| side.stored < args.objects) {
        for (index, side) in sides.iter_mut().enumerate() {
            let left = args.objects.saturating_sub(side.stored);
            let turn = Limit { requests: turn.requests.min(left), ..turn };
            outcomes[index].add(side.create(&mut pool[index], turn).await?);
        }
    }
    Ok(outcomes)
}

async fn memory(sides: &[Side]) -> Result<Vec<u64>> {
    tokio::time::sleep(SETTLE).await;
    sides.iter().map(|side| side.process.resident()).collect()
}

async fn connect(sides: &[Side], count: usize) -> Result<Vec<Vec<Connection>>> {
    let mut pool = Vec::new();
    for side in sides {
        pool.push(side.target.connections(count).await.context(side.name)?);
    }
    Ok(pool)
}

fn nothing(sides: &[Side]) -> Vec<Outcome> {
    sides.iter().map(|_| Outcome::default()).collect()
}

/// A line for each side, and what the first does for each request of the second in the same time.
fn report(what: &str, connections: usize, sides: &[Side], outcomes: &[Outcome]) -> Result<()> {
    for (side, outcome) in sides.iter().zip(outcomes) {
        print::line(&format!("{what}, {}", side.name), connections, outcome)?;
    }
    let rate = |index: usize| outcomes[index].requests_per_second();
    println!("  {:.2}x the rate of custom resources", rate(0) / rate(1));
    if sides.len() > 2 {
        println!("  {:.2}x through kube-apiserver", rate(2) / rate(1));
    }
    Ok(())
}
