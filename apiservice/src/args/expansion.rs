//! Flags about the expansion of Deployment Manager's templates.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use expander::Layer;

use super::duration::positive;

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
}
