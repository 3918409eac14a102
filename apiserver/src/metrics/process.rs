//! What the kernel knows of this process, read from `/proc` when somebody asks. Where there is no
//! `/proc`, only the start is shown.

use std::fmt::Error;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Clock ticks per second in `/proc/self/stat`: `USER_HZ`, which is 100 on every Linux of today.
const TICKS: f64 = 100.0;

/// The metrics `process_*`.
#[derive(Debug)]
pub(super) struct Process {
    started: f64,
}

#[derive(Debug, PartialEq)]
struct Usage {
    cpu_seconds: f64,
    resident_bytes: u64,
    virtual_bytes: u64,
    open_files: u64,
    max_files: u64,
}

impl Process {
    pub(super) fn new() -> Self {
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { started: started.as_secs_f64() }
    }
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let mut show = |name: &str, help: &str, metric: &dyn EncodeMetric| {
            metric.encode(encoder.encode_descriptor(name, help, None, metric.metric_type())?)
        };
        let started = ConstGauge::new(self.started);
        show("process_start_time_seconds", "Start, in seconds since 1970", &started)?;
        let Some(usage) = Usage::now() else { return Ok(()) };
        // The encoder appends `_total`.
        show("process_cpu_seconds", "Processor time used", &ConstCounter::new(usage.cpu_seconds))?;
        for (name, help, value) in [
            ("process_resident_memory_bytes", "Memory in use", usage.resident_bytes),
            ("process_virtual_memory_bytes", "Address space in use", usage.virtual_bytes),
            ("process_open_fds", "Open files and sockets", usage.open_files),
            ("process_max_fds", "The most files and sockets that may be open", usage.max_files),
        ] {
            show(name, help, &ConstGauge::new(value))?;
        }
        Ok(())
    }
}

impl Usage {
    fn now() -> Option<Self> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let limits = fs::read_to_string("/proc/self/limits").ok()?;
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        let open_files = fs::read_dir("/proc/self/fd").ok()?.count();
        Some(Self {
            cpu_seconds: cpu_seconds(&stat)?,
            resident_bytes: kibibytes(&status, "VmRSS:")?,
            virtual_bytes: kibibytes(&status, "VmSize:")?,
            open_files: open_files.try_into().unwrap_or(u64::MAX),
            max_files: max_files(&limits)?,
        })
    }
}

/// User and system time, the 14th and 15th field. The second is the program's name in brackets and
/// may hold blanks, so the count begins after the last bracket.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut times = fields.split(' ').skip(11).map(|ticks| ticks.parse::<f64>().ok());
    Some((times.next()?? + times.next()??) / TICKS)
}

fn kibibytes(status: &str, key: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

fn max_files(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    match line.split_whitespace().next()? {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_tables_are_read() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4 1 2 3 4 150 50 0 0 20 0";
        assert_eq!(cpu_seconds(stat), Some(2.0));
        assert_eq!(kibibytes("Name:\tx\nVmRSS:\t    12 kB\n", "VmRSS:"), Some(12 * 1024));
        let limits =
            "Max processes  1  2  processes\nMax open files            1024   4096   files\n";
        assert_eq!(max_files(limits), Some(1024));
    }
}
