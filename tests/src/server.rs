//! A standalone server as a child process on a folder of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use anyhow::Result;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::client::Target;
use crate::process::{Process, program};

/// Users of the recorded exchanges: token, name, uid, groups.
const TOKENS: &str = "admin-token,admin,admin-uid,\"system:masters\"\n\
                      alice-token,alice,alice-uid,\"dev\"\n\
                      bob-token,bob,bob-uid,\"dev\"\n";

/// A running server. Dropping it kills the process; the folder goes with the last owner of it.
#[derive(Debug)]
pub struct Server {
    process: Process,
    data: PathBuf,
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
        Self::spawn_program(&program("formwork")?, data, flags)
    }

    fn spawn_program(program: &Path, data: &Path, flags: &[&str]) -> Result<Self> {
        let tokens = data.join("tokens.csv");
        std::fs::write(&tokens, TOKENS)?;
        let mut arguments: Vec<OsString> =
            ["--standalone", "--bind-address=127.0.0.1", "--secure-port=0"].map(Into::into).into();
        arguments.extend(["--data-dir".into(), data.into()]);
        arguments.extend(["--token-auth-file".into(), tokens.into()]);
        arguments.extend(flags.iter().map(Into::into));
        let process = Process::run(program, arguments, &data.join("server.log"))?;
        Ok(Self { process, data: data.to_owned(), _folder: None })
    }

    /// Starts the server of another folder than Cargo's with more flags, on a fresh temporary folder.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn start_program(program: &Path, flags: &[&str]) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("formwork-test-").tempdir()?;
        let mut server = Self::spawn_program(program, folder.path(), flags)?;
        server._folder = Some(folder);
        Ok(server)
    }

    /// Where and as whom to ask: the administrator of the kubeconfig.
    ///
    /// # Errors
    /// When the kubeconfig that the server wrote cannot be read.
    pub fn target(&self) -> Result<Target> {
        Target::from_kubeconfig(&self.kubeconfig(), self.authority())
    }

    /// How many files and sockets it may have open from now on, beside those that it has.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn leave_files(&self, more: u64) -> Result<()> {
        self.process.leave_files(more)
    }

    /// The process's id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Sends it a signal, unless it has ended.
    ///
    /// # Errors
    /// When it cannot be signalled.
    pub fn signal(&mut self, signal: Signal) -> Result<()> {
        self.process.signal(signal)
    }

    /// The kubeconfig that the server wrote.
    pub fn kubeconfig(&self) -> PathBuf {
        self.data.join("admin.kubeconfig")
    }

    /// `host:port` it serves on.
    pub fn authority(&self) -> &str {
        self.process.authority()
    }

    /// Where Deployment Manager's paths are, if flags ask for them.
    pub fn compat(&self) -> Option<String> {
        let log = self.log();
        let (_, rest) = log.split_once("paths are on http")?;
        let (_, rest) = rest.split_once("://")?;
        rest.split_whitespace().next().map(str::to_owned)
    }

    /// What it logged so far.
    pub fn log(&self) -> String {
        self.process.log()
    }

    /// Whether the process is still there.
    ///
    /// # Errors
    /// When the kernel cannot be asked.
    pub fn is_running(&mut self) -> Result<bool> {
        self.process.is_running()
    }

    /// `kill -9`, and waits until it is gone.
    ///
    /// # Errors
    /// When the process cannot be signalled.
    pub fn kill(mut self) -> Result<()> {
        self.process.kill()
    }

    /// SIGTERM, and the status it ends with.
    ///
    /// # Errors
    /// When it does not end within half a minute.
    pub fn stop(mut self) -> Result<ExitStatus> {
        self.process.stop()
    }
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
