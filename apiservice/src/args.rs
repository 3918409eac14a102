//! The command line. Flags carry the names that kube-apiserver gave them.

mod audit;
mod compat;
mod duration;
mod expansion;
mod identity;
mod registration;
mod serve;
mod storage;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub use audit::Audit;
pub use compat::Compat;
pub use expansion::Expansion;
pub use identity::{Authentication, Authorization, RequestHeader};
pub use registration::{Registration, Service};
pub use serve::{Listening, Serve};
pub use storage::{Etcd, Storage};

/// Server-side templates for any Kubernetes.
#[derive(Debug, Parser)]
#[command(name = "formwork", version, about)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// What to log: error, warn, info, debug or trace, or a filter such as `info,apiserver=debug`.
    #[arg(
        long,
        global = true,
        value_name = "FILTER",
        default_value = "info",
        env = "FORMWORK_LOG"
    )]
    pub log_level: String,
}

/// What the binary does.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the API: as part of a cluster, or with --standalone without one.
    Serve(Box<Serve>),
    /// Take the API out of a cluster: first its APIServices, then what the server made for itself.
    Uninstall(Uninstall),
}

/// What to take away, and from where.
#[derive(Debug, clap::Args)]
pub struct Uninstall {
    /// The cluster; without it, the one that this process runs in, or kubectl's.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// The Service of the server to take out.
    #[command(flatten)]
    pub service: Service,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory as _;
        Args::command().debug_assert();
    }
}
