//! The command line. Flags carry the names that kube-apiserver gave them.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};

/// Server-side templates for any Kubernetes.
#[derive(Debug, Parser)]
#[command(name = "formwork", version, about)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the binary does.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the API.
    Serve(Serve),
}

/// How to serve.
#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Need no cluster: an embedded store, a CA of its own, and an admin kubeconfig for kubectl.
    #[arg(long)]
    pub standalone: bool,

    /// Where the store, the certificates and the admin kubeconfig are kept.
    #[arg(long, value_name = "DIR", default_value = "./formwork-data")]
    pub data_dir: PathBuf,

    /// The address to listen on.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub bind_address: IpAddr,

    /// The port to listen on; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 8443)]
    pub secure_port: u16,

    /// A file of bearer tokens, one `token,user,uid,"group1,group2"` a line.
    #[arg(long, value_name = "FILE")]
    pub token_auth_file: Option<PathBuf>,

    /// Requests that only read, at once; 0 for no bound.
    #[arg(long, value_name = "N", default_value_t = 400)]
    pub max_requests_inflight: usize,

    /// Requests that change something, at once; 0 for no bound.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub max_mutating_requests_inflight: usize,

    /// How long to serve on after SIGTERM, not ready, until nobody sends requests here any more.
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub shutdown_delay_duration: Duration,

    /// What to log: error, warn, info, debug or trace, or a filter such as `info,apiserver=debug`.
    #[arg(long, value_name = "FILTER", default_value = "info", env = "FORMWORK_LOG")]
    pub log_level: String,
}

/// A number of seconds, with or without the `s` that Go durations have.
fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.strip_suffix('s').unwrap_or(text);
    number.parse().map(Duration::from_secs).map_err(|_| format!("{text:?} is no number of seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_have_the_documented_defaults() {
        let args = Args::try_parse_from(["formwork", "serve", "--standalone"]).unwrap();
        let Command::Serve(serve) = args.command;
        assert!(serve.standalone);
        assert_eq!(serve.data_dir, PathBuf::from("./formwork-data"));
        assert_eq!(
            (serve.bind_address.to_string().as_str(), serve.secure_port),
            ("127.0.0.1", 8443)
        );
    }

    #[test]
    fn a_duration_is_in_seconds() {
        assert_eq!(seconds("5s"), Ok(Duration::from_secs(5)));
        assert!(seconds("5m").is_err());
    }
}
