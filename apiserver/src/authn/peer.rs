//! The other end of a connection: its certificates, and what was concluded from them.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::RootCertStore;
use rustls_pki_types::{CertificateDer, UnixTime};

use super::Rejected;
use super::subject::Subject;

/// How many seconds a conclusion holds before the chain is checked again, so that a certificate
/// that expires in the middle of a long connection is noticed.
const HOLDS_FOR_SECONDS: u64 = 10;

/// The client side of one connection. TLS has proven that it holds the key of its leaf
/// certificate, and nothing more: who signed that certificate is for an authenticator to check.
#[derive(Default)]
pub struct Peer {
    certificates: Vec<CertificateDer<'static>>,
    address: Option<IpAddr>,
    conclusions: Mutex<Vec<Conclusion>>,
}

/// What a chain was found to say under one set of authorities. A new set is a new `Arc`, so a
/// reload makes every older conclusion void.
struct Conclusion {
    roots: Arc<RootCertStore>,
    until: u64,
    subject: Result<Arc<Subject>, Rejected>,
}

impl Peer {
    /// A peer that presented these certificates, leaf first; none for a client without one.
    pub fn new(certificates: Vec<CertificateDer<'static>>) -> Self {
        Self { certificates, address: None, conclusions: Mutex::default() }
    }

    /// The same at an address.
    #[must_use]
    pub fn at(mut self, address: Option<IpAddr>) -> Self {
        self.address = address;
        self
    }

    /// Where the connection comes from, if that is known.
    pub fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// The certificates from the handshake, leaf first.
    pub fn certificates(&self) -> &[CertificateDer<'static>] {
        &self.certificates
    }

    /// Whether some authority was found to vouch for this peer, so that somebody answers for what
    /// comes over the connection even where a request in it is anonymous.
    pub(crate) fn is_vouched_for(&self) -> bool {
        self.conclusions().iter().any(|known| known.subject.is_ok())
    }

    /// Whom the certificates name under `roots`: `conclude` is asked once, and then its answer
    /// stands for ten seconds of this connection. Checking signatures costs more than the
    /// rest of a small request.
    pub(super) fn under(
        &self,
        roots: &Arc<RootCertStore>,
        now: UnixTime,
        conclude: impl FnOnce() -> Result<Subject, Rejected>,
    ) -> Result<Arc<Subject>, Rejected> {
        let mut conclusions = self.conclusions();
        conclusions.retain(|known| known.until > now.as_secs());
        if let Some(known) = conclusions.iter().find(|known| Arc::ptr_eq(&known.roots, roots)) {
            return known.subject.clone();
        }
        let subject = conclude().map(Arc::new);
        let until = now.as_secs() + HOLDS_FOR_SECONDS;
        conclusions.push(Conclusion { roots: roots.clone(), until, subject: subject.clone() });
        subject
    }

    fn conclusions(&self) -> MutexGuard<'_, Vec<Conclusion>> {
        self.conclusions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").field("certificates", &self.certificates.len()).finish()
    }
}
