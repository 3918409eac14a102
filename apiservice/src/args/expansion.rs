//! Flags about the expansion of Deployment Manager's templates.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use expander::Layer;

use super::duration::parse as duration;

/// What templates run in, and what they may take.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Expansion")]
pub struct Expansion {
    /// The program that templates run in; without it, formwork-expander beside this one. Without any, templates are
    /// refused and everything else is served.
    #[arg(long, value_name = "FILE")]
    pub expander: Option<PathBuf>,

    /// The memory that a template may take, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u64).range(32..))]
    pub expander_memory: u64,

    /// The processor time that a Python template may take.
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = positive)]
    pub expander_cpu: Duration,

    /// Templates that run at once; without it, as many as there are processors, and as fit into 2 GiB.
    #[arg(long, value_name = "N")]
    pub expander_concurrency: Option<NonZeroUsize>,

    /// Templates that wait for others to end; more are answered 429.
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub expander_queue: usize,

    /// What has to stand between templates and the machine; where one of these is missing, templates are refused.
    #[arg(
        long,
        value_name = "LAYERS",
        value_delimiter = ',',
        default_value = "seccomp,no-new-privs,rlimits"
    )]
    pub expander_minimum: Vec<Layer>,

    /// Hosts that templates are fetched from when a type is a URL or github.com/OWNER/REPO/…, each as HOST or HOST:PORT, with
    /// http:// before it where it may come in the clear; without any, none is.
    #[arg(long, value_name = "HOSTS", value_delimiter = ',')]
    pub template_allowed_hosts: Vec<String>,

    /// Fetch templates from private and loopback addresses too, if their host is allowed.
    #[arg(long, requires = "template_allowed_hosts")]
    pub template_allow_private_addresses: bool,

    /// GitHub's API, which templates of github.com/OWNER/REPO/… are fetched from; with GitHub Enterprise
    /// https://HOST/api/v3. Nothing is fetched from there unless github.com is an allowed host.
    #[arg(long, value_name = "URL", default_value = "https://api.github.com")]
    pub template_github_url: String,

    /// Serve Deployment Manager's own POST /expand here as well, in plain HTTP and to whoever asks: a loopback address and
    /// a port, such as 127.0.0.1:8080. The path of its expandybird is /expandybird/expand.
    #[arg(long, value_name = "IP:PORT", value_parser = loopback)]
    pub dm_compat_address: Option<SocketAddr>,
}

fn positive(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("must be more than nothing".to_owned()),
        given => Ok(given),
    }
}

/// Who asks there is not asked who they are, so that only this machine may.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text.parse().map_err(|_| {
        format!("{text:?} is no address with a port, such as 127.0.0.1:8080 or [::1]:8080")
    })?;
    let is_local = match address.ip() {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => ip.to_canonical().is_loopback(),
    };
    match is_local {
        true => Ok(address),
        false => {
            Err("must be a loopback address: this listener asks nobody who they are".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_machine_itself_is_listened_to() {
        for good in ["127.0.0.1:8080", "127.1.2.3:0", "[::1]:80", "[::ffff:127.0.0.1]:80"] {
            assert!(loopback(good).is_ok(), "{good}");
        }
        for bad in ["0.0.0.0:80", "[::]:80", "10.0.0.1:80", "[::ffff:10.0.0.1]:80"] {
            assert!(loopback(bad).unwrap_err().contains("loopback"), "{bad}");
        }
        for bad in ["", "8080", ":8080", "127.0.0.1", "localhost:80"] {
            assert!(loopback(bad).unwrap_err().contains("no address"), "{bad}");
        }
    }
}
