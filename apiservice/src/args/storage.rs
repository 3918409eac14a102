//! Flags about what the objects are kept in.

use std::path::PathBuf;
use std::time::Duration;

use super::duration::parse as duration;

/// What the objects are kept in: a file, or etcd.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Storage")]
pub struct Storage {
    /// Where the embedded store is kept; standalone also the certificates and the admin kubeconfig.
    #[arg(long, value_name = "DIR", default_value = "./formwork-data")]
    pub data_dir: PathBuf,

    /// etcd, for more than one replica.
    #[command(flatten)]
    pub etcd: Etcd,
}

/// How etcd is reached.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Storage")]
pub struct Etcd {
    /// etcd instead of the embedded store, for any number of replicas: URLs with commas between.
    #[arg(long, value_name = "URL", value_delimiter = ',', conflicts_with = "standalone")]
    pub etcd_servers: Vec<String>,

    /// The certificate authorities of etcd.
    #[arg(long, value_name = "FILE", requires = "etcd_servers")]
    pub etcd_cafile: Option<PathBuf>,

    /// The certificate to show to etcd; read again when it changes.
    #[arg(long, value_name = "FILE", requires = "etcd_keyfile")]
    pub etcd_certfile: Option<PathBuf>,

    /// The key of that certificate.
    #[arg(long, value_name = "FILE", requires = "etcd_certfile")]
    pub etcd_keyfile: Option<PathBuf>,

    /// Under which everything is stored in etcd.
    #[arg(long, value_name = "PATH", default_value = "/formwork")]
    pub etcd_prefix: String,

    /// How often the history in etcd is compacted, and how much of it is kept at least; 0 leaves that to
    /// others, for example to a kube-apiserver on the same etcd.
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub etcd_compaction_interval: Duration,
}
