//! `get --watch` and `wait`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::kubectl::{Kubectl, Templates as _};

const PATIENCE: Duration = Duration::from_secs(30);

/// A kubectl that goes on until it is dropped, and the lines it prints.
pub(crate) struct Watching {
    process: Child,
    lines: Receiver<String>,
}

impl Watching {
    pub(crate) fn start(kubectl: &Kubectl, arguments: &[&str]) -> Result<Self> {
        let mut process =
            kubectl.command(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdout = process.stdout.take().context("stdout is piped")?;
        let (send, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { process, lines })
    }

    /// Waits for a line that holds all of `parts`.
    pub(crate) fn expect(&self, parts: &[&str]) -> Result<()> {
        let mut seen = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            if parts.iter().all(|part| line.contains(part)) {
                return Ok(());
            }
            seen.push(line);
        }
        bail!("no line with {parts:?} came; others were:\n{}", seen.join("\n"))
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_watch_shows_every_change() -> Result<()> {
    let kubectl = Kubectl::new()?;
    kubectl.create("first", "")?;
    let watching =
        Watching::start(&kubectl, &["get", "templates", "--watch", "--output-watch-events"])?;
    watching.expect(&["ADDED", "first"])?;
    kubectl.create("second", "")?;
    watching.expect(&["ADDED", "second"])?;
    kubectl.ok(&["label", "template", "first", "a=b"])?;
    watching.expect(&["MODIFIED", "first"])?;
    kubectl.ok(&["delete", "template", "second"])?;
    watching.expect(&["DELETED", "second"])
}

#[test]
fn a_watch_by_label_sees_objects_enter_and_leave() -> Result<()> {
    let kubectl = Kubectl::new()?;
    kubectl.create("steady", "in: 'yes'")?;
    kubectl.create("mover", "")?;
    let watching = Watching::start(
        &kubectl,
        &["get", "templates", "-w", "-l", "in=yes", "--output-watch-events"],
    )?;
    watching.expect(&["ADDED", "steady"])?;
    kubectl.ok(&["label", "template", "mover", "in=yes"])?;
    watching.expect(&["ADDED", "mover"])?;
    kubectl.ok(&["label", "template", "mover", "in-"])?;
    watching.expect(&["DELETED", "mover"])
}

#[test]
fn watch_only_leaves_out_what_was_there() -> Result<()> {
    let kubectl = Kubectl::new()?;
    kubectl.create("old", "")?;
    let watching = Watching::start(
        &kubectl,
        &["get", "template", "old", "--watch-only", "-o", "jsonpath={.metadata.labels.a}{'\\n'}"],
    )?;
    // It prints nothing until something happens, so it is asked for again until the watch stands.
    for round in 0..100 {
        kubectl.ok(&["label", "--overwrite", "template", "old", &format!("a=r{round}")])?;
        if let Ok(line) = watching.lines.recv_timeout(Duration::from_millis(500)) {
            assert!(line.starts_with('r'), "{line}");
            return Ok(());
        }
    }
    bail!("no change was shown")
}

#[test]
fn wait_returns_when_the_condition_holds() -> Result<()> {
    let kubectl = Kubectl::new()?;
    kubectl.create("w", "")?;
    let waiting = kubectl
        .command(&[
            "wait",
            "template/w",
            "--for=jsonpath={.metadata.labels.done}=1",
            "--timeout=30s",
        ])
        .stdout(Stdio::piped())
        .spawn()?;
    kubectl.ok(&["label", "template", "w", "done=1"])?;
    assert!(waiting.wait_with_output()?.status.success());
    let waiting = kubectl
        .command(&["wait", "template/w", "--for=delete", "--timeout=30s"])
        .stdout(Stdio::piped())
        .spawn()?;
    kubectl.ok(&["delete", "template", "w"])?;
    assert!(waiting.wait_with_output()?.status.success());
    Ok(())
}
