//! The server under load, on one machine over loopback: requests per second, latency, the server's processor time
//! per request, and its memory.
//!
//! The load comes from one thread, so on two cores the server has one for itself. The processor time per request is
//! the figure to compare: it does not depend on what else the machine does. What is compared with a constant answer
//! is measured in turns with it.

mod client;
mod load;
mod orders;
mod server;
mod watchers;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;

use client::{Connection, Order, Target};
use load::{Limit, Outcome, drive};
use orders::Orders;
use server::Server;

#[derive(Parser)]
struct Args {
    /// The server's program
    #[arg(long)]
    formwork: PathBuf,
    /// Folder of small.json and medium.json
    #[arg(long, default_value = "hack/bench/templates")]
    templates: PathBuf,
    /// How many connections ask at the same time
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// How many turns each of the compared requests has
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// How long a turn takes at most
    #[arg(long, default_value_t = 1000)]
    turn_ms: u64,
    /// How many watches are open at once
    #[arg(long, default_value_t = 1000)]
    watchers: usize,
    /// How many objects the watchers are told of
    #[arg(long, default_value_t = 100)]
    events: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let args = Args::parse();
    let scratch = tempfile::tempdir()?;
    let server = Server::start(&args.formwork, scratch.path())?;
    let target = Target::from_kubeconfig(&server.kubeconfig)?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let idle = server.resident()?;

    println!(
        "{:<28} {:>5} {:>9} {:>10} {:>10} {:>12}",
        "request", "conns", "/s", "p50", "p99", "cpu/request"
    );
    let orders = Orders::read(&args.templates)?;
    for connections in [1, args.connections] {
        compared(&server, &target, &orders, &args, connections).await?;
    }
    stored(&server, &target, &orders, &args).await?;

    let watched = watchers::fan_out(
        &server,
        &target,
        &mut target.connect().await?,
        orders::TEMPLATES,
        args.watchers,
        args.events,
        &|number| orders.create_small(&format!("watched-{number}")),
    )
    .await?;
    let connections = args.watchers.div_ceil(watchers::PER_CONNECTION);
    print(&format!("delivery to {} watchers", args.watchers), connections, &watched)?;

    println!(
        "\nresident memory: {} idle, {} after all of this",
        mebibytes(idle),
        mebibytes(server.resident()?)
    );
    // On another thread, because our own connections have to take their leave meanwhile.
    tokio::task::spawn_blocking(|| server.stop()).await?
}

/// What processing costs beside an answer that never changes, in turns.
async fn compared(
    server: &Server,
    target: &Target,
    orders: &Orders,
    args: &Args,
    connections: usize,
) -> Result<()> {
    let requests: [(&str, &(dyn Fn(usize) -> Order + Sync)); 3] = [
        ("GET /version", &|_| Order::get("/version")),
        ("processedtemplates, small", &|_| orders.process_small()),
        ("processedtemplates, medium", &|_| orders.process_medium()),
    ];
    let limit = Limit { requests: 200_000, time: Duration::from_millis(args.turn_ms) };
    let mut connections = connect(target, connections).await?;
    let mut outcomes = requests.map(|_| Outcome::default());
    for (_, order) in &requests {
        drive(server, &mut connections, Limit { requests: 500, ..limit }, order).await?;
    }
    for _ in 0..args.rounds {
        for (outcome, (_, order)) in outcomes.iter_mut().zip(&requests) {
            outcome.add(drive(server, &mut connections, limit, order).await?);
        }
    }
    for (outcome, (name, _)) in outcomes.iter().zip(&requests) {
        print(name, connections.len(), outcome)?;
    }
    let constant = outcomes[0].cpu_per_request();
    println!(
        "  cpu against the constant answer: small {:.2}x, medium {:.2}x",
        outcomes[1].cpu_per_request() / constant,
        outcomes[2].cpu_per_request() / constant,
    );
    Ok(())
}

/// What touches the store: create, then get and list what was created.
async fn stored(server: &Server, target: &Target, orders: &Orders, args: &Args) -> Result<()> {
    let mut connections = connect(target, args.connections).await?;
    let limit = |requests| Limit { requests, time: Duration::from_secs(10) };

    let create = |number: usize| orders.create_medium(&format!("stored-{number}"));
    let created = drive(server, &mut connections, limit(5_000), &create).await?;
    print("create, medium", connections.len(), &created)?;

    let names = created.latencies.len();
    let get =
        |number: usize| Order::get(format!("{}/stored-{}", orders::TEMPLATES, number % names));
    print("get", connections.len(), &drive(server, &mut connections, limit(50_000), &get).await?)?;

    let few = connections.len().min(4);
    let list = |_| Order::get(format!("{}?limit=500", orders::TEMPLATES));
    print("list of 500", few, &drive(server, &mut connections[..few], limit(1_000), &list).await?)
}

async fn connect(target: &Target, count: usize) -> Result<Vec<Connection>> {
    let mut connections = Vec::with_capacity(count);
    for _ in 0..count {
        connections.push(target.connect().await.context("connecting")?);
    }
    Ok(connections)
}

fn print(name: &str, connections: usize, outcome: &Outcome) -> Result<()> {
    println!(
        "{name:<28} {connections:>5} {:>9.0} {:>10} {:>10} {:>9.1} us",
        outcome.requests_per_second(),
        milliseconds(outcome.quantile(0.5)?),
        milliseconds(outcome.quantile(0.99)?),
        outcome.cpu_per_request(),
    );
    Ok(())
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

fn mebibytes(kibibytes: u64) -> String {
    format!("{:.1} MiB", kibibytes as f64 / 1024.0)
}
