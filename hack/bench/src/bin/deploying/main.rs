//! The same ConfigMaps brought into a real cluster, changed and taken away again: by kubectl, which is told of each of
//! them, and by a Deployment, which kubectl only creates, edits and deletes. In turns, on one machine.
//!
//! A Deployment does more for each object: a review of each verb, a look at whose it is, the values of references, and a
//! journal; and its turn ends when it says that all is ready, or is gone.

mod side;

use std::time::Duration;

use anyhow::{Result, ensure};
use bench::process::Process;
use clap::Parser;
use tests::cluster::{Cluster, Routing};
use tests::installation::{Installation, Store};

use side::Side;

#[derive(Parser)]
struct Args {
    /// How many ConfigMaps there are
    #[arg(long, default_value_t = 200)]
    objects: usize,
    /// How many turns each side has
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let cluster = Cluster::durable(Routing::Off)?;
    let installation = Installation::new(cluster.into(), Store::Etcd)?;
    let mut replica = installation.start(&[])?;
    installation.await_available()?;
    let server = Process(replica.running()?.id());
    let cluster = installation.cluster();
    let sides = [Side::Deployment, Side::Kubectl].map(|side| (side, Vec::new()));
    let mut sides = Vec::from(sides);
    let before = server.cpu()?;
    for _ in 0..args.rounds {
        for (side, times) in &mut sides {
            let kubectl = cluster.namespace()?;
            times.push(side.turn(&kubectl, args.objects)?);
        }
    }
    let used = server.cpu()?.saturating_sub(before);
    println!("{:<28} {:>12} {:>12} {:>8}", "objects", "Deployment", "kubectl", "ratio");
    let (ours, theirs) = (&sides[0].1, &sides[1].1);
    for (at, what) in side::STEPS.iter().enumerate() {
        let [ours, theirs] = [ours, theirs].map(|turns| median(turns.iter().map(|it| it[at])));
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        let [ours, theirs] =
            [ours, theirs].map(|time| format!("{:.0} ms", time.as_secs_f64() * 1e3));
        println!(
            "{:<28} {ours:>12} {theirs:>12} {ratio:>7.2}x",
            format!("{what}, {}", args.objects)
        );
    }
    let handled = args.objects * args.rounds;
    let each = used.as_secs_f64() * 1e3 / handled as f64;
    println!("  {each:.2} ms of Formwork's processor time for each object's life");
    let status = replica.stop()?;
    ensure!(status.success(), "the server ended with {status}");
    Ok(())
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    times[times.len() / 2]
}
