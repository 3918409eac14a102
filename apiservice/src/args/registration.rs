//! Flags about how the cluster is told of this server.

use std::time::Duration;

use super::duration::parse as duration;

/// The Service by which the cluster reaches this server.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Registration")]
pub struct Service {
    /// The namespace that this server runs in.
    #[arg(long, value_name = "NAME", default_value = "formwork-system", env = "POD_NAMESPACE")]
    pub namespace: String,

    /// The Service by which the cluster reaches this server.
    #[arg(long, value_name = "NAME", default_value = "formwork")]
    pub service_name: String,

    /// The port of that Service.
    #[arg(long, value_name = "PORT", default_value_t = 443)]
    pub service_port: u16,
}

/// How the cluster is told of this server.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Registration")]
pub struct Registration {
    /// Where the cluster is to send requests.
    #[command(flatten)]
    pub service: Service,

    /// Whether to write the APIServices by which the cluster forwards requests here.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub publish_api_services: bool,

    /// A cert-manager Certificate, as NAMESPACE/NAME: its authority is put into the APIServices by
    /// cert-manager, and the server serves with the files that it writes.
    #[arg(long, value_name = "NAMESPACE/NAME", requires = "tls_cert_file")]
    pub cert_manager_certificate: Option<String>,

    /// How long the authority is valid that the server makes for its certificates. It is replaced in
    /// time, without a moment in which the server is not trusted. At least twelve times
    /// --serving-ca-propagation.
    #[arg(long, value_name = "DURATION", default_value = "8760h", value_parser = duration)]
    pub serving_ca_lifetime: Duration,

    /// How long a new authority is published before it is used. The old one stays trusted for three
    /// times as long after that.
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub serving_ca_propagation: Duration,
}
