//! Flags about Deployment Manager's own paths: where they are served, to whom, and as whom they act.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::duration::positive;

/// Deployment Manager's own paths, for clients that know no others.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Deployment Manager's own paths")]
pub struct Compat {
    /// Serve Deployment Manager's own REST paths here as well: a loopback address and a port, such as 127.0.0.1:8080, in
    /// plain HTTP and to whoever asks; another address only with TLS and a token. The path of its expandybird is
    /// /expandybird/expand.
    #[arg(long, value_name = "IP:PORT", value_parser = address)]
    pub dm_compat_address: Option<SocketAddr>,

    /// As whom those paths act: a client of the Kubernetes API that has to be allowed whatever it is asked for. Without it,
    /// POST /expand is all there is; a standalone server acts as its administrator.
    #[arg(long, value_name = "FILE", requires_all = ["dm_compat_address", "dm_compat_namespace"])]
    pub dm_compat_kubeconfig: Option<PathBuf>,

    /// The namespace of their deployments, registries and credentials.
    #[arg(long, value_name = "NAME", requires = "dm_compat_address")]
    pub dm_compat_namespace: Option<String>,

    /// How long a deployment is waited for before its client is told that it still goes on.
    #[arg(long, value_name = "DURATION", default_value = "15m", value_parser = positive)]
    pub dm_compat_timeout: Duration,

    /// The certificate that those paths are served with, and its chain; read again when it changes.
    #[arg(long, value_name = "FILE", requires_all = ["dm_compat_address", "dm_compat_tls_key_file"])]
    pub dm_compat_tls_cert_file: Option<PathBuf>,

    /// The key of that certificate.
    #[arg(long, value_name = "FILE", requires = "dm_compat_tls_cert_file")]
    pub dm_compat_tls_key_file: Option<PathBuf>,

    /// A file with the bearer token that clients have to show for all but /healthz.
    #[arg(long, value_name = "FILE", requires = "dm_compat_address")]
    pub dm_compat_token_file: Option<PathBuf>,
}

impl Compat {
    /// Whether the flags may stand together.
    ///
    /// # Errors
    /// When the network is listened to without TLS or a token, or when nobody said as whom to act.
    pub(crate) fn check(&self, standalone: bool) -> Result<()> {
        let Some(address) = self.dm_compat_address else { return Ok(()) };
        let guarded = self.dm_compat_tls_cert_file.is_some() && self.dm_compat_token_file.is_some();
        ensure!(
            is_loopback(address.ip()) || guarded,
            "--dm-compat-address: {address} is no loopback address, which takes --dm-compat-tls-cert-file, \
             --dm-compat-tls-key-file and --dm-compat-token-file"
        );
        ensure!(
            self.dm_compat_namespace.is_none() || self.dm_compat_kubeconfig.is_some() || standalone,
            "--dm-compat-namespace: in a cluster --dm-compat-kubeconfig has to say as whom to act there"
        );
        Ok(())
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        format!("{text:?} is no address with a port, such as 127.0.0.1:8080 or [::1]:8080")
    })
}

fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> Compat {
        Compat {
            dm_compat_address: Some(address.parse().unwrap()),
            dm_compat_kubeconfig: None,
            dm_compat_namespace: None,
            dm_compat_timeout: Duration::from_secs(1),
            dm_compat_tls_cert_file: None,
            dm_compat_tls_key_file: None,
            dm_compat_token_file: None,
        }
    }

    #[test]
    fn the_network_is_listened_to_only_with_tls_and_a_token() {
        for own in ["127.0.0.1:8080", "127.1.2.3:0", "[::1]:80", "[::ffff:127.0.0.1]:80"] {
            assert!(at(own).check(true).is_ok(), "{own}");
        }
        for other in ["0.0.0.0:80", "[::]:80", "10.0.0.1:80", "[::ffff:10.0.0.1]:80"] {
            assert!(at(other).check(true).unwrap_err().to_string().contains("loopback"), "{other}");
            let tls = || Compat { dm_compat_tls_cert_file: Some("c".into()), ..at(other) };
            assert!(tls().check(true).is_err(), "{other}");
            let token = Compat { dm_compat_token_file: Some("t".into()), ..at(other) };
            assert!(token.check(true).is_err(), "{other}");
            let both = Compat { dm_compat_token_file: Some("t".into()), ..tls() };
            assert!(both.check(true).is_ok(), "{other}");
        }
        for bad in ["", "8080", ":8080", "127.0.0.1", "localhost:80"] {
            assert!(address(bad).unwrap_err().contains("no address"), "{bad}");
        }
    }

    #[test]
    fn in_a_cluster_somebody_says_as_whom_to_act() {
        let named = || Compat { dm_compat_namespace: Some("demo".into()), ..at("127.0.0.1:0") };
        assert!(named().check(true).is_ok());
        assert!(named().check(false).is_err());
        let given = Compat { dm_compat_kubeconfig: Some("k".into()), ..named() };
        assert!(given.check(false).is_ok());
    }
}
