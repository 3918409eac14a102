//! Where etcd is and how it is spoken to.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::observer::{Observer, Unobserved};
use crate::Error;

/// Where etcd is and how it is spoken to.
#[derive(Clone)]
pub struct Options {
    /// URLs of its members. One of them is spoken to at a time, the next when that one fails.
    pub endpoints: Vec<String>,
    /// Where in etcd the store is. Nobody else may write below it.
    pub prefix: String,
    /// The files for TLS. All endpoints are https, if there are any.
    pub tls: Tls,
    /// How long a connection may take to come to be.
    pub dial_timeout: Duration,
    /// How long an operation may take, with all its repetitions. A list may take that long for each page.
    pub request_timeout: Duration,
    /// Who is told of every request.
    pub observer: Arc<dyn Observer>,
}

/// The files for TLS, PEM. They are read again when they change, and serve the connections made from then on.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// The authorities that vouch for etcd. The system's are not asked.
    pub ca: Option<PathBuf>,
    /// Our certificate, for an etcd that asks for one.
    pub certificate: Option<PathBuf>,
    /// Its key.
    pub key: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            endpoints: Vec::new(),
            prefix: "/formwork".to_owned(),
            tls: Tls::default(),
            dial_timeout: Duration::from_secs(5),
            request_timeout: Duration::from_secs(10),
            observer: Arc::new(Unobserved),
        }
    }
}

/// Why a store in etcd cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// There is no etcd to speak to.
    #[error("no etcd endpoint is given")]
    NoEndpoint,
    /// It cannot be told whether the endpoint is to be trusted, or the other way round.
    #[error("TLS to etcd: {0}")]
    Tls(&'static str),
    /// A file cannot be read.
    #[error("cannot read {}", file.display())]
    File {
        /// Which one.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The client refuses the endpoints or the certificates.
    #[error("cannot use the etcd endpoints")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Progress of older ones may run ahead of their events, so that a read could miss what was written.
    #[error("etcd is {found}, and {wanted} or newer is needed")]
    TooOld {
        /// What the member says that it is.
        found: String,
        /// The oldest that will do.
        wanted: &'static str,
    },
    /// Somebody else's data, or that of a newer release.
    #[error("the data in etcd has format {found:?}, and this release knows {known:?}")]
    Format {
        /// What is written there.
        found: String,
        /// What we write.
        known: &'static str,
    },
    /// It could not be asked.
    #[error("cannot reach etcd")]
    Store(#[from] Error),
}
