//! Everybody has a turn, and then again: whatever else the machine does hits all of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use bench::load::Outcome;
use futures::future::try_join_all;

use crate::asked::{Asked, Client};
use crate::case::Case;

pub(crate) struct Turns {
    pub(crate) rounds: usize,
    /// Of one turn.
    pub(crate) time: Duration,
}

/// Prints the head of the table.
pub(crate) fn head() {
    println!(
        "{:<14} {:>6}  {:<9} {:>7} {:>8} {:>11} {:>11} {:>8} {:>8}",
        "template", "bytes", "asked", "clients", "/s", "p50", "p99", "p50", "/s"
    );
}

impl Turns {
    /// Measures everybody and prints a line for each; ratios are to the first of them.
    pub(crate) async fn compare(
        &self,
        case: &Case,
        everybody: &[(&str, Asked<'_>)],
        clients: usize,
        wanted: f64,
    ) -> Result<()> {
        let mut contest = Vec::new();
        for (name, asked) in everybody {
            let clients = try_join_all((0..clients).map(|_| asked.client())).await?;
            contest.push((*name, clients, Outcome::default()));
        }
        // The first round warms everything up.
        for round in 0..=self.rounds {
            for (_, clients, outcome) in &mut contest {
                let turn = self.turn(case, clients).await?;
                if round > 0 {
                    outcome.add(turn);
                }
            }
        }
        let outcomes: Vec<_> = contest.iter().map(|(name, _, outcome)| (*name, outcome)).collect();
        print(case, clients, &outcomes)?;
        let what = if clients == 1 { "p50" } else { "/s" };
        println!("{:>22} wanted: {what} {wanted:.0}x", "");
        Ok(())
    }

    async fn turn(&self, case: &Case, clients: &mut [Client]) -> Result<Outcome> {
        /// Every expansion of the whole run is for another deployment.
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let started = Instant::now();
        let loops = clients.iter_mut().map(async |client| {
            let mut latencies = Vec::new();
            while started.elapsed() < self.time {
                let deployment = format!("bench-{}", NEXT.fetch_add(1, Ordering::Relaxed));
                let asked = Instant::now();
                client.expand(case, &deployment).await?;
                latencies.push(asked.elapsed());
            }
            anyhow::Ok(latencies)
        });
        let latencies = try_join_all(loops).await?.concat();
        Ok(Outcome { latencies, elapsed: started.elapsed(), cpu: Duration::ZERO })
    }
}

fn print(case: &Case, clients: usize, outcomes: &[(&str, &Outcome)]) -> Result<()> {
    let Some((_, first)) = outcomes.first() else { return Ok(()) };
    for (name, outcome) in outcomes {
        let median = outcome.quantile(0.5)?;
        println!(
            "{:<14} {:>6}  {name:<9} {clients:>7} {:>8.0} {:>11} {:>11} {:>7.1}x {:>7.1}x",
            case.template,
            case.size(),
            outcome.requests_per_second(),
            milliseconds(median),
            milliseconds(outcome.quantile(0.99)?),
            first.quantile(0.5)?.as_secs_f64() / median.as_secs_f64(),
            outcome.requests_per_second() / first.requests_per_second(),
        );
    }
    Ok(())
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}
