//! What the kernel says a process used.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::param::clock_ticks_per_second;

/// A process that is measured; who started it looks after it.
#[derive(Clone, Copy, Debug)]
pub struct Process(pub u32);

impl Process {
    /// Processor time of all its threads so far, those that ended included.
    ///
    /// # Errors
    /// When it is not there.
    pub fn cpu(self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0))?;
        // The second field, the command in parentheses, may hold spaces; utime and stime are the 14th and 15th.
        let (_, fields) = stat.rsplit_once(')').context("stat names the command")?;
        let ticks = fields
            .split_whitespace()
            .skip(11)
            .take(2)
            .map(str::parse::<u64>)
            .sum::<Result<u64, _>>()?;
        Ok(Duration::from_millis(ticks * 1000 / clock_ticks_per_second()))
    }

    /// Resident memory now, in KiB.
    ///
    /// # Errors
    /// When it is not there.
    pub fn resident(self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .context("status has VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }
}
