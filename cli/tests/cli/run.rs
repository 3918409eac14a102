//! Running the binary and looking at what it said.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a run of the command gave.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A run to be started.
pub(crate) struct Run<'a> {
    program: &'static str,
    args: Vec<&'a str>,
    stdin: &'a str,
    folder: PathBuf,
    kubeconfig: Option<PathBuf>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(args: &[&'a str]) -> Self {
        Run {
            program: env!("CARGO_BIN_EXE_kubectl-formwork"),
            args: args.to_vec(),
            stdin: "",
            folder: PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests"),
            kubeconfig: None,
        }
    }

    /// The other program.
    pub(crate) fn dm(args: &[&'a str]) -> Self {
        Run { program: env!("CARGO_BIN_EXE_dm"), ..Run::new(args) }
    }

    pub(crate) fn stdin(mut self, text: &'a str) -> Self {
        self.stdin = text;
        self
    }

    pub(crate) fn folder(mut self, folder: &Path) -> Self {
        self.folder = folder.to_owned();
        self
    }

    pub(crate) fn kubeconfig(mut self, path: &Path) -> Self {
        self.kubeconfig = Some(path.to_owned());
        self
    }

    /// Runs it in an environment without any server unless a kubeconfig was given.
    pub(crate) fn go(self) -> Outcome {
        let nowhere = self.folder.join("no-kubeconfig");
        let mut child = Command::new(self.program)
            .args(&self.args)
            .current_dir(&self.folder)
            .env_remove("KUBERNETES_SERVICE_HOST")
            .env_remove("GITHUB_API_TOKEN")
            .env_remove("GITHUB_USERNAME")
            .env("HOME", &nowhere)
            .env("KUBECONFIG", self.kubeconfig.unwrap_or(nowhere))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that fails early does not read its input.
        let _ = child.stdin.take().unwrap().write_all(self.stdin.as_bytes());
        let output = child.wait_with_output().unwrap();
        Outcome {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Outcome {
    /// Expects success without a word on standard error; gives the output.
    pub(crate) fn quietly(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// Expects success; gives what was said beside the output.
    pub(crate) fn said(self) -> (String, String) {
        assert_eq!(self.code, 0, "{}", self.err);
        (self.out, self.err)
    }

    /// Expects exit code 1 and no output; gives the message.
    pub(crate) fn refused(self) -> String {
        assert_eq!((self.code, self.out.as_str()), (1, ""), "{}", self.err);
        self.err
    }
}
