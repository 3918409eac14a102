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

use self::command::Command;
use self::flags::Line;
use crate::failure::Failure;
use crate::output::to_stdout;

/// Runs the command that `args`, without the program's name, say.
///
/// # Errors
/// Whatever stops it, with a text for the user.
pub(crate) async fn run(args: &[String]) -> anyhow::Result<()> {
    let line = Line::read(args).map_err(|misuse| told(&misuse))?;
    if line.switch("version") == Some(true) {
        return to_stdout(concat!("dm ", env!("CARGO_PKG_VERSION"), "\n"));
    }
    let (false, [name, arguments @ ..]) =
        (line.switch("help") == Some(true), line.arguments.as_slice())
    else {
        return to_stdout(&usage::text());
    };
    let command = Command::read(name, arguments, &line)?;
    match line.text("service") {
        Some(url) => rest::run(command, url, &line).await,
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
