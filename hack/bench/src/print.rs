//! Figures as text.

use std::time::Duration;

use anyhow::Result;

use crate::load::Outcome;

/// Prints the head of a table of outcomes.
pub fn head() {
    println!(
        "{:<28} {:>5} {:>9} {:>10} {:>10} {:>12}",
        "request", "conns", "/s", "p50", "p99", "cpu/request"
    );
}

/// Prints one outcome as a line of that table.
///
/// # Errors
/// When nothing was answered.
pub fn line(name: &str, connections: usize, outcome: &Outcome) -> Result<()> {
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

/// Memory, given in KiB.
pub fn mebibytes(kibibytes: u64) -> String {
    format!("{:.1} MiB", kibibytes as f64 / 1024.0)
}
