//! A closed loop: every connection sends its next request when the answer to the last one is there.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures::future::try_join_all;

use crate::client::{Connection, Order};
use crate::process::Process;

/// When to stop: whichever comes first.
#[derive(Clone, Copy)]
pub struct Limit {
    /// So many requests were sent.
    pub requests: usize,
    /// So much time has passed.
    pub time: Duration,
}

/// One run, or several added up.
#[derive(Default)]
pub struct Outcome {
    /// From sending a request to having all of its answer.
    pub latencies: Vec<Duration>,
    /// From the first request to the last answer.
    pub elapsed: Duration,
    /// Processor time of the server, in all its threads
    pub cpu: Duration,
}

/// Sends `order(0)`, `order(1)`, … over all `connections` at once. Any status but the expected one is an error.
///
/// # Errors
/// Those of [`Connection::ask`], and of asking the kernel.
pub async fn drive(
    server: Process,
    connections: &mut [Connection],
    limit: Limit,
    order: &(dyn Fn(usize) -> Order + Sync),
) -> Result<Outcome> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let (started, cpu) = (Instant::now(), server.cpu()?);
    let loops = connections.iter_mut().map(async |connection| {
        let mut latencies = Vec::new();
        loop {
            let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if number >= limit.requests || started.elapsed() >= limit.time {
                return anyhow::Ok(latencies);
            }
            let order = order(number);
            let sent = Instant::now();
            connection.ask(&order).await?;
            latencies.push(sent.elapsed());
        }
    });
    let latencies = try_join_all(loops).await?.concat();
    Ok(Outcome { latencies, elapsed: started.elapsed(), cpu: server.cpu()?.saturating_sub(cpu) })
}

impl Outcome {
    /// Answers a second, over all connections.
    pub fn requests_per_second(&self) -> f64 {
        self.latencies.len() as f64 / self.elapsed.as_secs_f64()
    }

    /// Microseconds of the server's processor time per request.
    pub fn cpu_per_request(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.latencies.len() as f64
    }

    /// The latency that `part` of all requests do not exceed; `part` is from 0 to 1.
    ///
    /// # Errors
    /// When nothing was answered.
    pub fn quantile(&self, part: f64) -> Result<Duration> {
        let mut sorted = self.latencies.clone();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1).context("at least one request was answered")?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an index below the length"
        )]
        let index = (last as f64 * part).round() as usize;
        Ok(sorted[index])
    }

    /// Counts another run to this one.
    pub fn add(&mut self, other: Outcome) {
        self.latencies.extend(other.latencies);
        self.elapsed += other.elapsed;
        self.cpu += other.cpu;
    }
}
