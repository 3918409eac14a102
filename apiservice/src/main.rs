//! The `formwork` binary.

use std::process::ExitCode;

use apiservice::args::Args;
use apiservice::run;
use clap::Parser as _;

fn main() -> ExitCode {
    match run::run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("formwork: {error:#}");
            ExitCode::FAILURE
        }
    }
}
