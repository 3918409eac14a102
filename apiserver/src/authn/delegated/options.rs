//! What delegated authentication goes by where it is told, and the files it is told of.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::{
    Anonymous, BadHeaderName, CaBundle, CaBundleError, FrontProxy, IdentityHeaders,
};

/// Whether the cluster's ConfigMap is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lookup {
    /// Without it, and without files in its place, the server is not ready.
    #[default]
    Required,
    /// The server is good without it too (`--authentication-tolerate-lookup-failure`): requests with
    /// certificates that then nobody can judge are anonymous.
    Tolerated,
    /// It is not read (`--authentication-skip-lookup`); what no file says is not there.
    Skipped,
}

/// The front proxy by flags: `--requestheader-*`, in place of what the cluster says.
#[derive(Clone, Debug)]
pub struct ProxyFlags {
    /// The authority of the proxy's certificate (PEM).
    pub ca_file: PathBuf,
    /// Common names that its certificate may have; any if there are none.
    pub allowed_names: Vec<String>,
    /// Where it names users.
    pub headers: IdentityHeaders,
}

/// How delegated authentication is set up. The default is upstream's: all from the cluster.
#[derive(Clone, Debug)]
pub struct DelegatedOptions {
    /// The authority of users' certificates (PEM), in place of what the cluster says.
    pub client_ca_file: Option<PathBuf>,
    /// The front proxy, in place of what the cluster says.
    pub proxy: Option<ProxyFlags>,
    /// Whether the cluster's ConfigMap is needed.
    pub lookup: Lookup,
    /// For how long kube-apiserver's word on a token is remembered, good or bad; 0 for not at all.
    pub token_cache_ttl: Duration,
    /// What becomes of requests without any credential.
    pub anonymous: Anonymous,
}

impl Default for DelegatedOptions {
    fn default() -> Self {
        Self {
            client_ca_file: None,
            proxy: None,
            lookup: Lookup::default(),
            token_cache_ttl: Duration::from_secs(10),
            anonymous: Anonymous::default(),
        }
    }
}

/// Why delegated authentication cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum DelegatedError {
    /// A file cannot be read.
    #[error("read {0}")]
    Read(PathBuf, #[source] std::io::Error),
    /// A file is no bundle of authorities.
    #[error("use {0}")]
    Authorities(PathBuf, #[source] CaBundleError),
    /// A configured name cannot be the name of a header.
    #[error(transparent)]
    Header(#[from] BadHeaderName),
}

impl ProxyFlags {
    /// Makes `proxy` what the flags say, with these authorities.
    pub(super) fn apply(&self, pem: &[u8], proxy: &FrontProxy) -> Result<(), CaBundleError> {
        proxy.replace(pem, self.allowed_names.clone(), self.headers.clone())
    }
}

impl DelegatedOptions {
    /// Fills what files fill.
    pub(super) fn read_files(
        &self,
        client_ca: &CaBundle,
        proxy: &FrontProxy,
    ) -> Result<(), DelegatedError> {
        if let Some(file) = &self.client_ca_file {
            let used = client_ca.replace(&read(file)?);
            used.map_err(|error| DelegatedError::Authorities(file.clone(), error))?;
        }
        if let Some(flags) = &self.proxy {
            let used = flags.apply(&read(&flags.ca_file)?, proxy);
            used.map_err(|error| DelegatedError::Authorities(flags.ca_file.clone(), error))?;
        }
        Ok(())
    }

    /// Whether nothing of the ConfigMap has to be waited for.
    pub(super) fn lookup_is_needless(&self) -> bool {
        self.lookup != Lookup::Required || (self.client_ca_file.is_some() && self.proxy.is_some())
    }
}

fn read(file: &Path) -> Result<Vec<u8>, DelegatedError> {
    std::fs::read(file).map_err(|error| DelegatedError::Read(file.to_owned(), error))
}
