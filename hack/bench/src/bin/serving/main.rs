//! The server under load, on one machine over loopback: requests per second, latency, the server's processor time
//! per request, and its memory.
//!
//! The load comes from one thread, so on two cores the server has one for itself. The processor time per request is
//! the figure to compare: it does not depend on what else the machine does. What is compared with a constant answer
//! is measured in turns with it.

mod orders;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use bench::client::{Order, Target};
use bench::load::{Limit, Outcome, drive};
use bench::print::{self, mebibytes};
use bench::server::Server;
use bench::watchers;
use clap::Parser;

use orders::Orders;

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
    let idle = server.process().resident()?;

    print::head();
    let orders = Orders::read(&args.templates)?;
    for connections in [1, args.connections] {
        compared(&server, &target, &orders, &args, connections).await?;
    }
    stored(&server, &target, &orders, &args).await?;

    let watched = watchers::fan_out(
        server.process(),
        &target,
        &mut target.connect().await?,
        orders::TEMPLATES,
        args.watchers,
        args.events,
        &|number| orders.create_small(&format!("watched-{number}")),
    )
    .await?;
    let connections = args.watchers.div_ceil(watchers::PER_CONNECTION);
    print::line(&format!("delivery to {} watchers", args.watchers), connections, &watched)?;

    println!(
        "\nresident memory: {} idle, {} after all of this",
        mebibytes(idle),
        mebibytes(server.process().resident()?)
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
    let mut connections = target.connections(connections).await?;
    let mut outcomes = requests.map(|_| Outcome::default());
    for (_, order) in &requests {
        drive(server.process(), &mut connections, Limit { requests: 500, ..limit }, order).await?;
    }
    for _ in 0..args.rounds {
        for (outcome, (_, order)) in outcomes.iter_mut().zip(&requests) {
            outcome.add(drive(server.process(), &mut connections, limit, order).await?);
        }
    }
    for (outcome, (name, _)) in outcomes.iter().zip(&requests) {
        print::line(name, connections.len(), outcome)?;
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
    let mut connections = target.connections(args.connections).await?;
    let limit = |requests| Limit { requests, time: Duration::from_secs(10) };

    let create = |number: usize| orders.create_medium(&format!("stored-{number}"));
    let created = drive(server.process(), &mut connections, limit(5_000), &create).await?;
    print::line("create, medium", connections.len(), &created)?;

    let names = created.latencies.len();
    let get =
        |number: usize| Order::get(format!("{}/stored-{}", orders::TEMPLATES, number % names));
    print::line(
        "get",
        connections.len(),
        &drive(server.process(), &mut connections, limit(50_000), &get).await?,
    )?;

    let few = connections.len().min(4);
    let list = |_| Order::get(format!("{}?limit=500", orders::TEMPLATES));
    print::line(
        "list of 500",
        few,
        &drive(server.process(), &mut connections[..few], limit(1_000), &list).await?,
    )
}
