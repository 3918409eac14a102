//! One expansion: a fresh `python3` process that imports yaml and jinja2, which is what Deployment Manager had for every
//! request, against ours on the same configuration, in turns.
//!
//! Ours is measured twice: the `expander` with its workers, and the server over HTTPS. Nothing is answered from a cache:
//! the first has none, and the second is asked for another deployment each time. Before anything is timed, all three
//! results are compared.

mod asked;
mod case;
mod turns;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bench::client::Target;
use bench::server::Server;
use clap::Parser;
use expander::{Config, Pool};
use tokio::time::Instant;

use asked::Asked;
use case::Case;
use turns::Turns;

#[derive(Parser)]
struct Args {
    /// The worker's program
    #[arg(long)]
    expander: PathBuf,
    /// The server's program, with formwork-expander beside it; without it, there is no server in the contest
    #[arg(long)]
    formwork: Option<PathBuf>,
    /// The Python of the other side, which has yaml and jinja2
    #[arg(long, default_value = "/usr/bin/python3")]
    python: PathBuf,
    /// Folder of the templates, their configurations, and baseline.py
    #[arg(long, default_value = "hack/bench/expansion")]
    templates: PathBuf,
    /// One of the templates, and the others are left out
    #[arg(long)]
    only: Option<String>,
    /// How many clients ask at the same time, where there are several
    #[arg(long, default_value_t = 8)]
    clients: usize,
    /// How many turns each of the three has
    #[arg(long, default_value_t = 10)]
    rounds: usize,
    /// How long a turn takes
    #[arg(long, default_value_t = 1000)]
    turn_ms: u64,
}

/// How long a worker may take to be ready.
const START: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() -> Result<()> {
    // On the threads that a server has for requests: this one would have to be woken up for every answer.
    tokio::spawn(run(Args::parse())).await?
}

async fn run(args: Args) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let start = |program: &PathBuf| Server::start(program, scratch.path());
    let server = args.formwork.as_ref().map(start).transpose()?;
    let target = server.as_ref().map(|server| Target::from_kubeconfig(&server.kubeconfig));
    let target = target.transpose()?;
    let config = Config { program: Some(args.expander.clone()), ..Config::default() };
    let pool = Pool::start(config)?;
    let walls = pool.ready(Instant::now() + START).await?;
    println!("walls of the children: {walls}");

    turns::head();
    for (name, wanted) in [("service.py", 15.0), ("service.jinja", 300.0)] {
        if args.only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let case = Case::read(&args.templates, name, &args.python)?;
        let mut everybody =
            vec![("python3", Asked::Process), ("expander", Asked::Pool(pool.clone()))];
        everybody.extend(target.as_ref().map(|target| ("server", Asked::Server(target))));
        compare(&case, &everybody).await?;
        for (clients, wanted) in [(1, wanted), (args.clients, 15.0)] {
            let turns = Turns { rounds: args.rounds, time: Duration::from_millis(args.turn_ms) };
            turns.compare(&case, &everybody, clients, wanted).await?;
        }
    }
    pool.stop().await;
    // On another thread, because our own connections have to take their leave meanwhile.
    tokio::task::spawn_blocking(|| server.map_or(Ok(()), Server::stop)).await?
}

/// Fails unless everybody gives the same for the same deployment.
async fn compare(case: &Case, everybody: &[(&str, Asked<'_>)]) -> Result<()> {
    let mut first = None;
    for (name, asked) in everybody {
        let result = asked.client().await?.expand(case, case::DEPLOYMENT).await?.value();
        let result = result.with_context(|| format!("the result of {name}"))?;
        let want = first.get_or_insert_with(|| result.clone());
        ensure!(*want == result, "{name} has another result:\n{result:#}\ninstead of\n{want:#}");
    }
    Ok(())
}
