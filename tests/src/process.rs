//! A `formwork` as a child process. It counts as started once it says where it serves.
//!
//! It runs the binary that Cargo built beside the tests; it never builds one.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};

const READY_WITHIN: Duration = Duration::from_secs(60);
const STOPPED_WITHIN: Duration = Duration::from_secs(30);

/// The line that says where it serves.
const READY: &str = "serving on https://";

/// A running `formwork serve`. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    log: PathBuf,
    authority: String,
    /// Ends when all that it said is in the log.
    follower: JoinHandle<()>,
}

impl Process {
    /// Starts `formwork serve` with `flags`, adds what it says to the file `log`, and waits until it serves.
    ///
    /// # Errors
    /// When the binary is missing, ends early, or is not ready within a minute.
    pub fn serve<F: AsRef<OsStr>>(flags: impl IntoIterator<Item = F>, log: &Path) -> Result<Self> {
        Self::run(&program("formwork")?, flags, log)
    }

    /// The same with another `formwork` than Cargo's.
    ///
    /// # Errors
    /// As [`Process::serve`].
    pub fn run<F: AsRef<OsStr>>(
        program: &Path,
        flags: impl IntoIterator<Item = F>,
        log: &Path,
    ) -> Result<Self> {
        let mut child = Command::new(program)
            .arg("serve")
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {}", program.display()))?;
        let (announced, follower) =
            follow(child.stderr.take().context("stderr is piped")?, log.to_owned());
        match announced.recv_timeout(READY_WITHIN) {
            Ok(authority) => Ok(Self { child, log: log.to_owned(), authority, follower }),
            Err(_) => {
                let _ = child.kill();
                let status = child.wait()?;
                let said = std::fs::read_to_string(log).unwrap_or_default();
                bail!("the server was never ready ({status}); it said:\n{said}")
            }
        }
    }

    /// The process's id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How many files and sockets it may have open from now on, beside those that it has.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn leave_files(&self, more: u64) -> Result<()> {
        let pid = i32::try_from(self.child.id())?;
        let open = std::fs::read_dir(format!("/proc/{pid}/fd"))?.count() as u64;
        let pid = Pid::from_raw(pid).context("a process has an id")?;
        let limit = Rlimit { current: Some(open + more), ..getrlimit(Resource::Nofile) };
        prlimit(Some(pid), Resource::Nofile, limit)?;
        Ok(())
    }

    /// `host:port` it serves on.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// What it logged so far, and what was in that file before.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Whether the process is still there.
    ///
    /// # Errors
    /// When the kernel cannot be asked.
    pub fn is_running(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// Sends it a signal, unless it has ended.
    ///
    /// # Errors
    /// When it cannot be signalled.
    pub fn signal(&mut self, signal: Signal) -> Result<()> {
        if self.is_running()? {
            kill_process(Pid::from_child(&self.child), signal)?;
        }
        Ok(())
    }

    /// SIGSTOP: when this returns, it holds its connections and answers nothing.
    ///
    /// # Errors
    /// When it cannot be signalled, or does not stop.
    pub fn pause(&mut self) -> Result<()> {
        pause(Pid::from_child(&self.child))
    }

    /// `kill -9`, and waits until it is gone.
    ///
    /// # Errors
    /// When the process cannot be signalled.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// SIGTERM, and the status it ends with.
    ///
    /// # Errors
    /// When it does not end within half a minute.
    pub fn stop(&mut self) -> Result<ExitStatus> {
        self.signal(Signal::TERM)?;
        self.ended(STOPPED_WITHIN)
    }

    /// Waits until it ends and all that it said is in the log, and returns its status.
    ///
    /// # Errors
    /// When it, or one of its workers, is still there after `patience`.
    pub fn ended(&mut self, patience: Duration) -> Result<ExitStatus> {
        let deadline = Instant::now() + patience;
        // The one thing here that cannot be awaited with a deadline: std's wait has none.
        loop {
            let status = self.child.try_wait()?;
            if let Some(status) = status
                && self.follower.is_finished()
            {
                return Ok(status);
            }
            ensure!(
                Instant::now() < deadline,
                "the server did not end within {patience:?}: {status:?}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // After `stop` or `kill` there is nothing left to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Copies what the server says into `log`, and announces the address of the ready line.
fn follow(stderr: ChildStderr, log: PathBuf) -> (mpsc::Receiver<String>, JoinHandle<()>) {
    let (announce, announced) = mpsc::channel();
    let follower = std::thread::spawn(move || {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(log).ok();
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if let Some(file) = &mut file {
                let _ = writeln!(file, "{line}");
            }
            if let Some((_, rest)) = line.split_once(READY) {
                let end = rest
                    .find(|c: char| !(c.is_ascii_alphanumeric() || ".:-[]".contains(c)))
                    .unwrap_or(rest.len());
                let _ = announce.send(rest[..end].to_owned());
            }
        }
    });
    (announced, follower)
}

/// A program of ours, in the folder that Cargo built this one into.
///
/// # Errors
/// When it is not built.
pub fn program(name: &str) -> Result<PathBuf> {
    let this = std::env::current_exe()?;
    let folder = this.parent().context("a program lies in a folder")?;
    // Tests lie one deeper.
    let folder = folder.parent().filter(|_| folder.ends_with("deps")).unwrap_or(folder);
    let program = folder.join(name);
    ensure!(
        program.exists(),
        "{} is missing: build it with `cargo build --workspace`",
        program.display()
    );
    Ok(program)
}

/// SIGSTOP, and waits until every thread of `process` has stopped: until then some may still answer.
pub(crate) fn pause(process: Pid) -> Result<()> {
    kill_process(process, Signal::STOP)?;
    let deadline = Instant::now() + STOPPED_WITHIN;
    while !has_stopped(process)? {
        ensure!(Instant::now() < deadline, "SIGSTOP did not stop the process");
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn has_stopped(process: Pid) -> Result<bool> {
    for thread in std::fs::read_dir(format!("/proc/{}/task", process.as_raw_pid()))? {
        // One that has ended meanwhile answers nothing either.
        let Ok(stat) = std::fs::read_to_string(thread?.path().join("stat")) else { continue };
        // The state stands behind the program's name, which is in parentheses.
        if !stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" T")) {
            return Ok(false);
        }
    }
    Ok(true)
}
