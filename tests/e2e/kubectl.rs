//! The real kubectl, in a namespace and with a home of its own.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ::tests::server::{self, Server};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

/// kubectl as the administrator, in one namespace.
pub(crate) struct Kubectl {
    program: PathBuf,
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
pub(crate) struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Kubectl {
    /// A namespace of the shared server that no other test uses.
    pub(crate) fn new() -> Result<Self> {
        let server = server::shared()?;
        let flags = vec!["--kubeconfig".into(), server.kubeconfig().into()];
        Ok(Self { _server: Some(server), ..Self::with(flags)? })
    }

    /// A server that `flags` name.
    pub(crate) fn with(flags: Vec<OsString>) -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let program = std::env::var_os("FORMWORK_KUBECTL")
            .map_or_else(|| PathBuf::from("kubectl"), PathBuf::from);
        let namespace = format!("e2e-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        Ok(Self { program, namespace, home: tempfile::tempdir()?, flags, _server: None })
    }

    /// A command with its arguments, not started.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env("HOME", self.home.path())
            .env("KUBECACHEDIR", self.home.path().join("cache"))
            .env_remove("KUBECONFIG")
            .args(&self.flags)
            .args(["--namespace", &self.namespace])
            .args(arguments)
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end, whatever that is.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Ended> {
        let output = self.command(arguments).output();
        Ok(Ended::of(&output.with_context(|| {
            format!("running {} (FORMWORK_KUBECTL names another)", self.program.display())
        })?))
    }

    /// Runs it with `input` on its standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Result<Ended> {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        child.stdin.take().context("stdin is piped")?.write_all(input.as_bytes())?;
        Ok(Ended::of(&child.wait_with_output()?))
    }

    /// What it prints, when it succeeds.
    pub(crate) fn ok(&self, arguments: &[&str]) -> Result<String> {
        self.run(arguments)?.success(arguments)
    }

    /// What it prints, when it succeeds with `input`.
    pub(crate) fn ok_with(&self, arguments: &[&str], input: &str) -> Result<String> {
        self.run_with(arguments, input)?.success(arguments)
    }

    /// What it complains of; it has to fail.
    pub(crate) fn refused(&self, arguments: &[&str], input: &str) -> Result<String> {
        let ended = self.run_with(arguments, input)?;
        ensure!(ended.code != Some(0), "kubectl {arguments:?} succeeded: {}", ended.stdout);
        Ok(ended.stderr)
    }

    /// The object as JSON.
    pub(crate) fn get(&self, name: &str) -> Result<Value> {
        Ok(serde_json::from_str(&self.ok(&["get", "template", name, "-o", "json"])?)?)
    }

    /// Creates the template of [`template`] with this name and these labels.
    pub(crate) fn create(&self, name: &str, labels: &str) -> Result<()> {
        self.ok_with(&["create", "-f", "-"], &template(name, labels))?;
        Ok(())
    }

    /// A file in this test's home.
    pub(crate) fn file(&self, name: &str, text: &str) -> Result<String> {
        let path = self.home.path().join(name);
        std::fs::write(&path, text)?;
        Ok(path.display().to_string())
    }

    /// An executable script in this test's home.
    pub(crate) fn script(&self, name: &str, text: &str) -> Result<String> {
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

/// A small template; `labels` is a flow mapping's inside, such as `app: web`.
pub(crate) fn template(name: &str, labels: &str) -> String {
    format!(
        "apiVersion: template.openshift.io/v1
kind: Template
metadata:
  name: {name}
  labels: {{{labels}}}
  annotations: {{description: A small web server}}
message: ${{NAME}} is on its way
parameters:
- name: NAME
  description: What to call it
  value: web
- name: REPLICAS
  value: \"2\"
- name: PASSWORD
  generate: expression
  from: '[a-zA-Z0-9]{{12}}'
objects:
- apiVersion: v1
  kind: Service
  metadata: {{name: '${{NAME}}'}}
  spec:
    selector: {{app: '${{NAME}}'}}
    ports: [{{port: 80}}]
- apiVersion: apps/v1
  kind: Deployment
  metadata: {{name: '${{NAME}}'}}
  spec: {{replicas: '${{{{REPLICAS}}}}'}}
"
    )
}
