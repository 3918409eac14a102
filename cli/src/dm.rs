//! `dm`, the command of Deployment Manager.
//!
//! It has the original's commands and flags. What they do, it does through the Kubernetes API (`kubernetes`), where a
//! deployment is an object that a server works on while this command looks on; or, with `--service`, by the requests
//! that the original made (`rest`).

mod archive;
mod command;
mod credential;
mod deployment;
mod flags;
mod input;
mod kubernetes;
mod layout;
mod progress;
mod properties;
mod registry;
mod rest;
mod shapes;
mod status;
mod usage;
mod watching;

use std::process::ExitCode;

use self::command::Command;
use self::flags::Line;
use crate::failure::Failure;
use crate::output::to_stdout;

/// How `diff` ends where something would change: as `kubectl diff` does.
const DIFFERENT: u8 = 1;

/// How `diff` ends where nobody could say whether something would change.
pub(crate) const NO_DIFF: u8 = 2;

/// Whether `args` ask for `diff`. Those that cannot be read may do so if they have the word.
pub(crate) fn is_diff(args: &[String]) -> bool {
    match Line::read(args) {
        Ok(line) => line.arguments.first().is_some_and(|name| name == "diff"),
        Err(_) => args.iter().any(|argument| argument == "diff"),
    }
}

/// Runs the command that `args`, without the program's name, say. Answers the exit code.
///
/// # Errors
/// Whatever stops it, with a text for the user.
pub(crate) async fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    let line = Line::read(args).map_err(|misuse| told(&misuse))?;
    if line.switch("version") == Some(true) {
        to_stdout(concat!("dm ", env!("CARGO_PKG_VERSION"), "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let (false, [name, arguments @ ..]) =
        (line.switch("help") == Some(true), line.arguments.as_slice())
    else {
        to_stdout(&usage::text())?;
        return Ok(ExitCode::SUCCESS);
    };
    let command = Command::read(name, arguments, &line)?;
    match line.text("service") {
        Some(url) => rest::run(command, url, &line).await.map(|()| ExitCode::SUCCESS),
        None => kubernetes::run(command, &line).await,
    }
}

/// What is wrong with how the program was called.
fn told(what: &impl ToString) -> anyhow::Error {
    Failure::Several(vec![format!("Error: {}\nRun 'dm --help' for usage", what.to_string())]).into()
}

/// Prints JSON as the original does: as YAML, and a blank line.
fn print(json: &str) -> anyhow::Result<()> {
    to_stdout(&format!("{}\n", yaml::from_json(json)?))
}
