//! The library's example, a server of another kind.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::kubectl::Kubectl;
use crate::watching::Watching;

const NOTE: &str =
    r#"{"apiVersion":"example.com/v1","kind":"Note","metadata":{"name":"shopping"},"text":"Milk"}"#;

/// The running example; dropping it kills it.
struct Minimal(Child);

impl Minimal {
    /// Starts it, and returns the flags with which kubectl finds it: they stand in what it prints.
    fn start() -> Result<(Self, Vec<OsString>)> {
        let this = std::env::current_exe()?;
        let folder =
            this.parent().and_then(Path::parent).context("tests run from target/X/deps")?;
        let program = folder.join("examples/minimal");
        let mut process = Command::new(&program)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| {
                let program = program.display();
                format!("{program}: build it with `cargo build -p apiserver --examples`")
            })?;
        let stdout = process.stdout.take().context("stdout is piped")?;
        let minimal = Self(process);
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let flags = line.split_whitespace().filter(|word| word.starts_with("--"));
        Ok((minimal, flags.map(OsString::from).collect()))
    }
}

impl Drop for Minimal {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_kind_of_its_own_has_storage_watch_table_and_openapi() -> Result<()> {
    let (_minimal, flags) = Minimal::start()?;
    let kubectl = Kubectl::with(flags)?;

    let watching = Watching::start(&kubectl, &["get", "notes", "-w", "--output-watch-events"])?;
    kubectl.ok_with(&["create", "-f", "-"], NOTE)?;
    watching.expect(&["ADDED", "shopping", "Milk"])?;
    kubectl.ok(&["patch", "note", "shopping", "--type=merge", "-p", r#"{"text":"Bread"}"#])?;
    watching.expect(&["MODIFIED", "shopping", "Bread"])?;

    let table = kubectl.ok(&["get", "notes"])?;
    ensure!(table.contains("TEXT") && table.contains("Bread"), "{table}");
    let explained = kubectl.ok(&["explain", "note.text"])?;
    ensure!(explained.contains("What the note says."), "{explained}");
    let refused = kubectl.refused(&["create", "-f", "-"], &NOTE.replace("Milk", ""))?;
    ensure!(refused.contains("text: Required value: say something"), "{refused}");
    Ok(())
}

/// What a user of the library has to write for it.
#[test]
fn it_takes_no_more_than_80_lines() {
    let lines = include_str!("../../apiserver/examples/minimal.rs").lines().count();
    assert!(lines <= 80, "{lines} lines");
}
