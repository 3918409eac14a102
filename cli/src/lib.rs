//! Templates and deployments from the command line: the programs `kubectl-formwork` and `dm`.
//!
//! kubectl finds the first by its name and hands over everything after `formwork`. It processes
//! templates with the server, or with the same processor in this process (`--local`), lists what
//! parameters a template takes, and writes the objects of a namespace as a template. It expands
//! configurations of Deployment Manager. It creates nothing: its output goes to `kubectl create -f -`.
//! The second is the command of Deployment Manager, whose Deployments it creates, changes and shows.

mod args;
mod body;
mod client;
mod describe;
mod dm;
mod expand;
mod export;
mod failure;
mod json_text;
mod output;
mod parameters;
mod process;
mod random;
mod show;
mod source;
mod tabs;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};

/// Runs `kubectl formwork` as the process was called.
pub fn kubectl_formwork() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // clap prints help to stdout and mistakes to stderr; kubectl's commands exit with 1, not 2.
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    let done = blocking(async {
        match cli.command {
            Command::Process(args) => process::run(args, &cli.connection).await,
            Command::Parameters(args) => show::run(args, &cli.connection).await,
            Command::Export(args) => export::run(args, &cli.connection).await,
            Command::Expand(args) => expand::run(args, &cli.connection).await,
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

/// Runs `dm` as the process was called.
pub fn dm() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match blocking(dm::run(&args)) {
        Ok(code) => code,
        Err(error) => {
            let code = failure::report(&error);
            if dm::is_diff(&args) { ExitCode::from(dm::NO_DIFF) } else { code }
        }
    }
}

fn blocking<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}
