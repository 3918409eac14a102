//! A bundle of certificate authorities that can be replaced while it is in use.
//!
//! There is one bundle per purpose, and they are never merged: a certificate of the authority that
//! may assert other people's identities (request headers) must not also pass as a user's own, nor
//! the other way round.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use rustls::RootCertStore;
use rustls_pki_types::pem::{self, PemObject as _};
use rustls_pki_types::{CertificateDer, UnixTime};
use webpki::{ALL_VERIFICATION_ALGS, EndEntityCert, KeyUsage};

/// Certificate authorities for one purpose; empty until some are given.
#[derive(Debug, Default)]
pub struct CaBundle {
    roots: ArcSwapOption<RootCertStore>,
}

/// A PEM bundle that is none.
#[derive(Debug, thiserror::Error)]
pub enum CaBundleError {
    /// The text is not PEM.
    #[error("read the PEM bundle: {0}")]
    Pem(pem::Error),
    /// It holds something that cannot be a certificate authority.
    #[error("take certificate number {0} as an authority")]
    Certificate(usize, #[source] rustls::Error),
    /// It holds no certificate.
    #[error("the bundle holds no certificate")]
    Empty,
}

impl CaBundle {
    /// Reads a bundle of PEM certificates.
    ///
    /// # Errors
    /// When any of it is no certificate, or none is there.
    pub fn from_pem(text: &[u8]) -> Result<Self, CaBundleError> {
        let bundle = Self::default();
        bundle.replace(text)?;
        Ok(bundle)
    }

    /// Puts other authorities in place of the present ones, for every later request on every
    /// connection. On an error the present ones stay.
    ///
    /// # Errors
    /// As [`CaBundle::from_pem`].
    pub fn replace(&self, text: &[u8]) -> Result<(), CaBundleError> {
        self.roots.store(Some(Arc::new(read(text)?)));
        Ok(())
    }

    /// Whether there are any.
    pub fn is_known(&self) -> bool {
        self.roots.load().is_some()
    }

    /// The present authorities.
    pub(super) fn roots(&self) -> Option<Arc<RootCertStore>> {
        self.roots.load_full()
    }
}

/// The authorities of a PEM bundle.
pub(super) fn read(text: &[u8]) -> Result<RootCertStore, CaBundleError> {
    let mut roots = RootCertStore::empty();
    for (index, certificate) in CertificateDer::pem_slice_iter(text).enumerate() {
        let certificate = certificate.map_err(CaBundleError::Pem)?;
        roots.add(certificate).map_err(|error| CaBundleError::Certificate(index, error))?;
    }
    if roots.is_empty() {
        return Err(CaBundleError::Empty);
    }
    Ok(roots)
}

/// Checks that a chain, leaf first, leads to one of `roots` and is meant for clients.
///
/// Intermediates may come with the handshake. webpki is stricter than Go: X.509 version 3 only,
/// no authority as its own leaf, RSA keys of 2048 bits or more.
pub(super) fn verify(
    roots: &RootCertStore,
    chain: &[CertificateDer<'_>],
    now: UnixTime,
) -> Result<(), webpki::Error> {
    let (leaf, intermediates) = chain.split_first().ok_or(webpki::Error::UnknownIssuer)?;
    EndEntityCert::try_from(leaf)?.verify_for_usage(
        ALL_VERIFICATION_ALGS,
        &roots.roots,
        intermediates,
        now,
        KeyUsage::client_auth(),
        None,
        None,
    )?;
    Ok(())
}
