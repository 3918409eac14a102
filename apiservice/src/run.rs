//! Does what the command line says.

use std::io::IsTerminal as _;

use anyhow::{Context as _, Result};
use tracing_subscriber::EnvFilter;

use crate::args::{Args, Command};
use crate::{cluster, standalone};

/// Does what the command line says.
///
/// # Errors
/// Whatever keeps the command from being done, with what was being done.
pub fn run(args: Args) -> Result<()> {
    let filter = EnvFilter::try_new(&args.log_level).context("--log-level")?;
    let colours = std::io::stderr().is_terminal();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colours)
        .init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match args.command {
        Command::Serve(serve) if serve.standalone => runtime.block_on(standalone::serve(&serve)),
        Command::Serve(serve) => runtime.block_on(cluster::serve(&serve)),
        Command::Uninstall(uninstall) => runtime.block_on(cluster::uninstall(&uninstall)),
    }
}
