//! `formwork serve`.

use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use super::duration::parse as duration;
use super::{Audit, Authentication, Authorization, Compat, Expansion, Registration, Storage};

/// How to serve.
#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Need no cluster: an embedded store, a CA of its own, and an admin kubeconfig for kubectl.
    #[arg(long)]
    pub standalone: bool,

    /// The cluster to be part of; without it, the one that this process runs in.
    #[arg(long, value_name = "FILE", conflicts_with = "standalone")]
    pub kubeconfig: Option<PathBuf>,

    /// Where to listen.
    #[command(flatten)]
    pub listening: Listening,

    /// What the objects are kept in.
    #[command(flatten)]
    pub storage: Storage,

    /// Who asks.
    #[command(flatten)]
    pub authentication: Authentication,

    /// What they may do.
    #[command(flatten)]
    pub authorization: Authorization,

    /// How the cluster is told of this server.
    #[command(flatten)]
    pub registration: Registration,

    /// What is written down about requests.
    #[command(flatten)]
    pub audit: Audit,

    /// What templates of Deployment Manager run in, and what they may take.
    #[command(flatten)]
    pub expansion: Expansion,

    /// Deployment Manager's own paths.
    #[command(flatten)]
    pub compat: Compat,

    /// Whether replicas agree by a Lease on which of them carries out Deployments; only one server that is
    /// alone may do without.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub leader_elect: bool,

    /// Deployments that are worked on at a time; of one namespace it is half as many.
    #[arg(long, value_name = "N", default_value = "8")]
    pub concurrent_deployment_syncs: NonZeroUsize,

    /// Requests that only read, at once; 0 for no bound.
    #[arg(long, value_name = "N", default_value_t = 400)]
    pub max_requests_inflight: usize,

    /// Requests that change something, at once; 0 for no bound.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub max_mutating_requests_inflight: usize,

    /// The share of HTTP/2 requests after which a client is asked for a new connection, so that connections
    /// spread over the replicas: from 0 to 0.02. For clients that connect directly: kube-apiserver cannot repeat
    /// a request with a body that it was sending at that moment, and answers 503.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = goaway_chance)]
    pub goaway_chance: f64,

    /// How long to serve on after SIGTERM, not ready, until nobody sends requests here any more.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration)]
    pub shutdown_delay_duration: Duration,
}

/// More would cost more connections than it spreads.
fn goaway_chance(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| format!("{text:?} is no number"))?;
    if (0.0..=0.02).contains(&share) { Ok(share) } else { Err("must be from 0 to 0.02".to_owned()) }
}

/// Where to listen, and with which certificate.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Secure serving")]
pub struct Listening {
    /// The address to listen on; without it 127.0.0.1 when standalone, and all of them in a cluster.
    #[arg(long, value_name = "IP")]
    pub bind_address: Option<IpAddr>,

    /// The port to listen on; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 8443)]
    pub secure_port: u16,

    /// The certificate to serve with, and its chain; read again when it changes. Without it the server
    /// makes its own.
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_private_key_file",
        conflicts_with = "standalone"
    )]
    pub tls_cert_file: Option<PathBuf>,

    /// The key of that certificate.
    #[arg(long, value_name = "FILE", requires = "tls_cert_file")]
    pub tls_private_key_file: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use expander::Layer;

    use crate::args::{Args, Command, Serve};

    fn serve(flags: &str) -> Result<Box<Serve>, clap::Error> {
        let line = format!("formwork serve {flags}");
        match Args::try_parse_from(line.split_whitespace())?.command {
            Command::Serve(serve) => Ok(serve),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_flags_have_the_documented_defaults() {
        let serve = serve("--standalone").unwrap();
        assert!(serve.standalone);
        assert_eq!(serve.storage.data_dir.to_str(), Some("./formwork-data"));
        assert_eq!((serve.listening.bind_address, serve.listening.secure_port), (None, 8443));
        assert!(serve.storage.etcd.etcd_servers.is_empty());
        assert!(serve.registration.publish_api_services);
        let expansion = &serve.expansion;
        assert_eq!(expansion.expander_minimum, [Layer::Seccomp, Layer::NoNewPrivs, Layer::Rlimits]);
        assert!(expansion.template_allowed_hosts.is_empty());
        assert_eq!(serve.compat.dm_compat_address, None);
    }

    #[test]
    fn lists_are_given_with_commas() {
        let serve =
            serve("--etcd-servers https://a:2379,https://b:2379 --requestheader-allowed-names a,b");
        let serve = serve.unwrap();
        assert_eq!(serve.storage.etcd.etcd_servers, ["https://a:2379", "https://b:2379"]);
        let names = serve.authentication.request_header.requestheader_allowed_names;
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn flags_that_do_not_go_together_are_refused() {
        for flags in [
            "--standalone --kubeconfig k",
            "--standalone --etcd-servers http://a:2379",
            "--standalone --tls-cert-file c --tls-private-key-file k",
            "--tls-cert-file c",
            "--cert-manager-certificate ns/name",
            "--standalone --dm-compat-namespace demo",
            "--standalone --dm-compat-address 127.0.0.1:0 --dm-compat-tls-cert-file c",
            "--standalone --dm-compat-address 127.0.0.1:0 --dm-compat-kubeconfig k",
            "--dm-compat-address 127.0.0.1:0 --dm-compat-timeout 0s",
            "--standalone --template-allow-private-addresses",
            "--standalone --expander-minimum apparmor",
        ] {
            assert!(serve(flags).is_err(), "{flags}");
        }
    }
}
