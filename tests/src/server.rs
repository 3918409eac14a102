//! A standalone server as a child process on a folder of its own.
//!
//! It runs the binary that Cargo built beside the tests; it never builds one.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak, mpsc};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::client::Target;

const READY_WITHIN: Duration = Duration::from_secs(60);
const STOPPED_WITHIN: Duration = Duration::from_secs(30);

/// The line that says where it serves.
const READY: &str = "serving on https://";

/// Users of the recorded exchanges: token, name, uid, groups.
const TOKENS: &str = "admin-token,admin,admin-uid,\"system:masters\"\n\
                      alice-token,alice,alice-uid,\"dev\"\n\
                      bob-token,bob,bob-uid,\"dev\"\n";

/// A running server. Dropping it kills the process; the folder goes with the last owner of it.
#[derive(Debug)]
pub struct Server {
    process: Child,
    data: PathBuf,
    authority: String,
    // Only to be dropped after the process.
    _folder: Option<TempDir>,
}

impl Server {
    /// Starts one on a fresh temporary folder and waits until it serves.
    ///
    /// # Errors
    /// When the binary is missing, ends early, or is not ready within a minute.
    pub fn start() -> Result<Self> {
        Self::start_with(&[])
    }

    /// Starts one on a fresh temporary folder with more flags.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn start_with(flags: &[&str]) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("formwork-test-").tempdir()?;
        let mut server = Self::spawn(folder.path(), flags)?;
        server._folder = Some(folder);
        Ok(server)
    }

    /// Starts one on `data`, which stays when the server goes.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn start_on(data: &Path) -> Result<Self> {
        Self::spawn(data, &[])
    }

    fn spawn(data: &Path, flags: &[&str]) -> Result<Self> {
        let program = program()?;
        let tokens = data.join("tokens.csv");
        std::fs::write(&tokens, TOKENS)?;
        let mut process = Command::new(&program)
            .args(["serve", "--standalone", "--bind-address", "127.0.0.1", "--secure-port", "0"])
            .arg("--data-dir")
            .arg(data)
            .arg("--token-auth-file")
            .arg(&tokens)
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {}", program.display()))?;

        let log = data.join("server.log");
        let announced = follow(process.stderr.take().context("stderr is piped")?, log.clone());
        match announced.recv_timeout(READY_WITHIN) {
            Ok(authority) => Ok(Self { process, data: data.to_owned(), authority, _folder: None }),
            Err(_) => {
                let _ = process.kill();
                let status = process.wait()?;
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                bail!("the server was never ready ({status}); it said:\n{said}")
            }
        }
    }

    /// Where and as whom to ask: the administrator of the kubeconfig.
    ///
    /// # Errors
    /// When the kubeconfig that the server wrote cannot be read.
    pub fn target(&self) -> Result<Target> {
        Target::from_kubeconfig(&self.kubeconfig(), &self.authority)
    }

    /// The kubeconfig that the server wrote.
    pub fn kubeconfig(&self) -> PathBuf {
        self.data.join("admin.kubeconfig")
    }

    /// `host:port` it serves on.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// What it logged so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.data.join("server.log")).unwrap_or_default()
    }

    /// Whether the process is still there.
    ///
    /// # Errors
    /// When the kernel cannot be asked.
    pub fn is_running(&mut self) -> Result<bool> {
        Ok(self.process.try_wait()?.is_none())
    }

    /// `kill -9`, and waits until it is gone.
    ///
    /// # Errors
    /// When the process cannot be signalled.
    pub fn kill(mut self) -> Result<()> {
        self.process.kill()?;
        self.process.wait()?;
        Ok(())
    }

    /// SIGTERM, and the status it ends with.
    ///
    /// # Errors
    /// When it does not end within half a minute.
    pub fn stop(mut self) -> Result<ExitStatus> {
        kill_process(Pid::from_child(&self.process), Signal::TERM)?;
        let deadline = Instant::now() + STOPPED_WITHIN;
        // The one thing here that cannot be awaited with a deadline: std's wait has none.
        loop {
            if let Some(status) = self.process.try_wait()? {
                return Ok(status);
            }
            ensure!(Instant::now() < deadline, "SIGTERM did not end the server");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After `stop` or `kill` there is nothing left to kill.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Copies what the server says into `log`, and announces the address of the ready line.
fn follow(stderr: ChildStderr, log: PathBuf) -> mpsc::Receiver<String> {
    let (announce, announced) = mpsc::channel();
    std::thread::spawn(move || {
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
    announced
}

/// `formwork`, in the folder that Cargo built this test into.
fn program() -> Result<PathBuf> {
    let this = std::env::current_exe()?;
    let folder = this.parent().and_then(Path::parent).context("tests run from target/X/deps")?;
    let program = folder.join("formwork");
    ensure!(
        program.exists(),
        "{} is missing: build it with `cargo build -p apiservice`",
        program.display()
    );
    Ok(program)
}

/// The server that the tests of a binary share, for those that cannot disturb each other.
///
/// It lives as long as any test holds it, so that none outlives the tests.
///
/// # Errors
/// As [`Server::start`].
pub fn shared() -> Result<Arc<Server>> {
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(server) = shared.upgrade() {
        return Ok(server);
    }
    let server = Arc::new(Server::start()?);
    *shared = Arc::downgrade(&server);
    Ok(server)
}
