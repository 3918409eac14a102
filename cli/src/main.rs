//! `kubectl formwork`: templates from the command line.
//!
//! kubectl finds this binary by its name and hands over everything after `formwork`. It processes
//! templates with the server, or with the same processor in this process (`--local`), lists what
//! parameters a template takes, and writes the objects of a namespace as a template. It expands
//! configurations of Deployment Manager. It creates nothing: its output goes to `kubectl create -f -`.

mod args;
mod body;
mod client;
mod describe;
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

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // clap prints help to stdout and mistakes to stderr; kubectl's commands exit with 1, not 2.
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match cli.command {
            Command::Process(args) => process::run(args, &cli.connection).await,
            Command::Parameters(args) => show::run(args, &cli.connection).await,
            Command::Export(args) => export::run(args, &cli.connection).await,
            Command::Expand(args) => expand::run(args, &cli.connection).await,
        }
    })
}
