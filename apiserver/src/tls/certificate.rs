//! The certificate that the server shows, replaceable while it serves.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::{self, PemObject as _};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate chain and its key. New handshakes use the latest; open connections keep theirs.
pub struct ServingCertificate {
    current: ArcSwap<CertifiedKey>,
}

/// A certificate and key that cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServingCertificateError {
    /// The certificate is not PEM.
    #[error("read the PEM certificate: {0}")]
    Certificate(pem::Error),
    /// The key is not PEM, or none is there.
    #[error("read the PEM key: {0}")]
    Key(pem::Error),
    /// There is no certificate, the key is of no known kind, or the two do not belong together.
    #[error("use the certificate with its key")]
    Pair(#[source] rustls::Error),
}

impl ServingCertificate {
    /// A chain in PEM, leaf first, and its key in PEM (PKCS #8, PKCS #1 or SEC 1).
    ///
    /// # Errors
    /// When either cannot be read, or the key is not the leaf's.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Arc<Self>, ServingCertificateError> {
        let current = ArcSwap::from_pointee(read(chain, key)?);
        Ok(Arc::new(Self { current }))
    }

    /// Serves another certificate from now on. On an error the present one stays.
    ///
    /// # Errors
    /// As [`ServingCertificate::from_pem`].
    pub fn replace(&self, chain: &[u8], key: &[u8]) -> Result<(), ServingCertificateError> {
        self.current.store(Arc::new(read(chain, key)?));
        Ok(())
    }
}

fn read(chain: &[u8], key: &[u8]) -> Result<CertifiedKey, ServingCertificateError> {
    let chain = CertificateDer::pem_slice_iter(chain)
        .collect::<Result<Vec<_>, _>>()
        .map_err(ServingCertificateError::Certificate)?;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(ServingCertificateError::Key)?;
    CertifiedKey::from_der(chain, key, &super::provider()).map_err(ServingCertificateError::Pair)
}

impl ResolvesServerCert for ServingCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current.load_full())
    }
}

/// Says nothing of the key.
impl fmt::Debug for ServingCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServingCertificate").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_another_certificate_is_refused_and_the_present_pair_stays() {
        let make = || rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (one, other) = (make(), make());
        let (chain, key) = (one.cert.pem(), one.signing_key.serialize_pem());
        let serving = ServingCertificate::from_pem(chain.as_bytes(), key.as_bytes()).unwrap();
        let before = serving.current.load_full();
        let mixed = serving.replace(other.cert.pem().as_bytes(), key.as_bytes());
        assert!(matches!(mixed, Err(ServingCertificateError::Pair(_))));
        assert!(serving.replace(b"", key.as_bytes()).is_err());
        assert!(serving.replace(chain.as_bytes(), b"nonsense").is_err());
        assert!(Arc::ptr_eq(&before, &serving.current.load_full()));
    }
}
