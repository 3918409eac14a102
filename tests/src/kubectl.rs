//! The real kubectl, in a namespace and with a home of its own.

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::server::{self, Server};

/// kube-apiserver asks for the documents of others again after a minute, if it came too early at first.
const PATIENCE: Duration = Duration::from_secs(150);

/// kubectl as one user, in one namespace.
pub struct Kubectl {
    program: PathBuf,
    /// The one it is in unless told otherwise.
    pub namespace: String,
    // Caches of discovery belong to one server's port.
    home: TempDir,
    /// Where the server is, and as whom to ask.
    flags: Vec<OsString>,
    // Keeps the shared server alive.
    _server: Option<Arc<Server>>,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    /// `None`: by a signal.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
}

impl Kubectl {
    /// The administrator in a namespace of the shared standalone server that no other test uses.
    ///
    /// # Errors
    /// When the server does not start.
    pub fn new() -> Result<Self> {
        let server = server::shared()?;
        let kubectl = Self::of(&server.kubeconfig())?;
        Ok(Self { _server: Some(server), ..kubectl })
    }

    /// Whoever the kubeconfig says.
    ///
    /// # Errors
    /// As [`Kubectl::with`].
    pub fn of(kubeconfig: &Path) -> Result<Self> {
        Self::with(vec!["--kubeconfig".into(), kubeconfig.into()])
    }

    /// Whoever `flags` say.
    ///
    /// # Errors
    /// When it can have no home.
    pub fn with(flags: Vec<OsString>) -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let program = std::env::var_os("FORMWORK_KUBECTL")
            .map_or_else(|| PathBuf::from("kubectl"), PathBuf::from);
        let namespace = format!("e2e-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        Ok(Self { program, namespace, home: tempfile::tempdir()?, flags, _server: None })
    }

    /// Another kubectl than that of `FORMWORK_KUBECTL`.
    pub fn program(self, program: PathBuf) -> Self {
        Self { program, ..self }
    }

    /// In another namespace; with an empty one, in those that the objects name.
    pub fn in_namespace(self, namespace: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), ..self }
    }

    /// A command with its arguments, not started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env("HOME", self.home.path())
            .env("KUBECACHEDIR", self.home.path().join("cache"))
            .env_remove("KUBECONFIG")
            .args(&self.flags)
            .stdin(Stdio::null());
        if !self.namespace.is_empty() {
            command.args(["--namespace", &self.namespace]);
        }
        command.args(arguments);
        command
    }

    /// Runs it to its end, whatever that is.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(&self, arguments: &[&str]) -> Result<Ended> {
        let output = self.command(arguments).output();
        Ok(Ended::of(&output.with_context(|| {
            format!("running {} (FORMWORK_KUBECTL names another)", self.program.display())
        })?))
    }

    /// Runs it with `input` on its standard input.
    ///
    /// # Errors
    /// When it cannot be started, or does not read.
    pub fn run_with(&self, arguments: &[&str], input: &str) -> Result<Ended> {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let written = child.stdin.take().context("stdin is piped")?.write_all(input.as_bytes());
        match written {
            // It knew without reading.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written?,
        }
        Ok(Ended::of(&child.wait_with_output()?))
    }

    /// What it prints, when it succeeds.
    ///
    /// # Errors
    /// When it fails, with what it said.
    pub fn ok(&self, arguments: &[&str]) -> Result<String> {
        self.run(arguments)?.success(arguments)
    }

    /// What it prints, when it succeeds with `input`.
    ///
    /// # Errors
    /// When it fails, with what it said.
    pub fn ok_with(&self, arguments: &[&str], input: &str) -> Result<String> {
        self.run_with(arguments, input)?.success(arguments)
    }

    /// What it complains of; it has to fail.
    ///
    /// # Errors
    /// When it succeeds.
    pub fn refused(&self, arguments: &[&str], input: &str) -> Result<String> {
        let ended = self.run_with(arguments, input)?;
        ensure!(ended.code != Some(0), "kubectl {arguments:?} succeeded: {}", ended.stdout);
        Ok(ended.stderr)
    }

    /// Asks again and again until it succeeds and prints what is `wanted`, for what nothing can be waited for with
    /// `kubectl wait`.
    ///
    /// # Errors
    /// When that takes more than some minutes, with how it last ended.
    pub fn until(&self, arguments: &[&str], wanted: impl Fn(&str) -> bool) -> Result<String> {
        let wanted = |ended: &Ended| ended.code == Some(0) && wanted(&ended.stdout);
        Ok(self.repeat(arguments, wanted)?.stdout)
    }

    /// Asks again and again until it is refused with `wanted`, and returns all that it then complains of.
    ///
    /// # Errors
    /// When that takes more than some minutes, with how it last ended.
    pub fn until_refused(&self, arguments: &[&str], wanted: &str) -> Result<String> {
        let refused = |ended: &Ended| ended.code != Some(0) && ended.stderr.contains(wanted);
        Ok(self.repeat(arguments, refused)?.stderr)
    }

    fn repeat(&self, arguments: &[&str], wanted: impl Fn(&Ended) -> bool) -> Result<Ended> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let ended = self.run(arguments)?;
            if wanted(&ended) {
                return Ok(ended);
            }
            ensure!(Instant::now() < deadline, "kubectl {}: {ended:?}", arguments.join(" "));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// A file in this test's home.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn file(&self, name: &str, text: &str) -> Result<String> {
        let path = self.home.path().join(name);
        std::fs::write(&path, text)?;
        Ok(path.display().to_string())
    }

    /// An executable script in this test's home.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn script(&self, name: &str, text: &str) -> Result<String> {
        use std::os::unix::fs::PermissionsExt;
        let path = self.file(name, text)?;
        std::fs::set_permissions(Path::new(&path), PermissionsExt::from_mode(0o755))?;
        Ok(path)
    }
}

impl Ended {
    fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    fn success(self, arguments: &[&str]) -> Result<String> {
        ensure!(
            self.code == Some(0),
            "kubectl {}: {:?}\n{}{}",
            arguments.join(" "),
            self.code,
            self.stdout,
            self.stderr
        );
        Ok(self.stdout)
    }
}
