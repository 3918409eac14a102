//! How a pool is set up.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::StartError;
use crate::walls::Layer;

/// The name of the worker's binary.
const PROGRAM: &str = "formwork-expander";

/// What a child needs besides its budget, in MiB: the pages that it copies of the worker's.
const OVERHEAD: u64 = 14;

/// How a pool is set up. `Config::default()` is fit for serving.
#[derive(Clone, Debug)]
pub struct Config {
    /// The worker's binary. None: `formwork-expander` beside the executable that runs, else in `PATH`.
    pub program: Option<PathBuf>,
    /// How many workers stand ready. Two, so that one serves while the other is started again.
    pub workers: usize,
    /// Most calls that run at once. None: as many as there are cores, and memory for.
    pub concurrency: Option<usize>,
    /// Memory of one child in MiB, beyond what the interpreter itself takes.
    pub memory: u64,
    /// Memory of all children together in MiB. It bounds how many run at once; one always may.
    pub memory_total: u64,
    /// Processor time of a Python call.
    pub cpu: Duration,
    /// How long a call may take by the clock, waiting in the queue not counted.
    pub wall: Duration,
    /// How many calls may wait for a child. One more is turned away with [`Busy`](crate::PoolError::Busy).
    pub queue: usize,
    /// How long a call waits for a child at most.
    pub queue_wait: Duration,
    /// How many calls a Jinja child renders before a fresh one takes its place.
    pub session_calls: u32,
    /// The layers without which no template is run.
    pub minimum: BTreeSet<Layer>,
    /// What is tried before the first template runs.
    pub self_test: SelfTest,
    /// How often a worker is asked whether it is there, and how long it may take to say so.
    pub health: Duration,
    /// Further arguments of the worker, such as `--no-namespaces` and `--convert`.
    pub arguments: Vec<String>,
}

/// What is tried before the first template runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelfTest {
    /// Attacks of every kind run through the very path that templates take, and again each minute a few of them.
    Attacks,
    /// What the worker says of its walls is believed. For a command that runs its user's own templates once.
    Skipped,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            program: None,
            workers: 2,
            concurrency: None,
            memory: 256,
            memory_total: 2048,
            cpu: Duration::from_secs(2),
            wall: Duration::from_secs(10),
            queue: 128,
            queue_wait: Duration::from_secs(10),
            session_calls: 1000,
            minimum: BTreeSet::from([Layer::Seccomp, Layer::NoNewPrivs, Layer::Rlimits]),
            self_test: SelfTest::Attacks,
            health: Duration::from_secs(5),
            arguments: Vec::new(),
        }
    }
}

impl Config {
    /// How many calls run at once: no more than there are cores or memory for. A Jinja child is kept while its slot runs
    /// Python, so a slot may hold two children. It asks the system, which takes longer than many a call.
    pub fn slots(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let memory = self.memory_total / (2 * (self.memory + OVERHEAD));
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        self.concurrency.unwrap_or(cores).min(memory).max(1)
    }

    /// Where the worker's binary is.
    ///
    /// # Errors
    /// When there is none.
    pub fn find_program(&self) -> Result<PathBuf, StartError> {
        if let Some(program) = &self.program {
            // Absolute, because it is not started in this folder.
            let found = std::path::absolute(program).ok().filter(|program| program.is_file());
            return found.ok_or_else(|| StartError::Missing(program.clone()));
        }
        let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join(PROGRAM)));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut places = beside.into_iter().chain(
            std::env::split_paths(&path)
                // A relative folder would let whoever chose the working directory choose the jailer.
                .filter(|folder| folder.is_absolute())
                .map(|folder| folder.join(PROGRAM)),
        );
        places.find(|place| place.is_file()).ok_or_else(|| StartError::Missing(PROGRAM.into()))
    }

    /// The command line of a worker, without its name.
    pub(crate) fn command_line(&self) -> Vec<String> {
        let limits = ["--worker".into(), "--memory".into(), self.memory.to_string()];
        let cpu = ["--cpu".into(), self.cpu.as_millis().to_string()];
        limits.into_iter().chain(cpu).chain(self.arguments.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_bounds_how_many_calls_run_at_once() {
        let config =
            |memory_total| Config { concurrency: Some(8), memory_total, ..Config::default() };
        assert_eq!(config(1 << 20).slots(), 8);
        assert_eq!(config(2 * 2 * 270).slots(), 2);
        assert_eq!(config(1).slots(), 1, "one call always may run");
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error_at_the_start() {
        let config = Config { program: Some("/nonexistent/worker".into()), ..Config::default() };
        assert!(matches!(config.find_program(), Err(StartError::Missing(_))));
    }
}
