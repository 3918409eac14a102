//! Users whom a proxy in front of this server names: the aggregation layer of kube-apiserver.
//!
//! What such headers say is believed when the peer shows a certificate of the authority that exists
//! for this purpose, and of no other, with one of the names that are allowed. That authority proves
//! who may speak for others; it never makes its holders users themselves.

mod headers;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use futures::future::{BoxFuture, ready};
use http::HeaderMap;
use rustls::RootCertStore;
use rustls_pki_types::UnixTime;

use super::subject::Subject;
use super::trust::{self, CaBundleError};
use super::{Authenticator, Peer, Rejected, User, Verdict};
use crate::field::quote;

pub(crate) use headers::extra_key;
pub use headers::{BadHeaderName, IdentityHeaders};

/// Which proxies are believed, and in which headers; nobody until told. It can be replaced while
/// it is in use.
#[derive(Debug, Default)]
pub struct FrontProxy {
    trusted: ArcSwapOption<Trusted>,
}

/// All of it is replaced at once: an authority is never taken with the allowed names of another.
#[derive(Debug)]
struct Trusted {
    roots: Arc<RootCertStore>,
    allowed_names: Vec<String>,
    headers: IdentityHeaders,
}

impl FrontProxy {
    /// Believes the holders of certificates of these authorities (PEM) whose common name is one of
    /// `allowed_names`, or all of them if that is empty. It counts for every later request on
    /// every connection. On an error everything stays as it is.
    ///
    /// # Errors
    /// When any of `authorities` is no certificate, or none is there.
    pub fn replace(
        &self,
        authorities: &[u8],
        allowed_names: Vec<String>,
        headers: IdentityHeaders,
    ) -> Result<(), CaBundleError> {
        let roots = Arc::new(trust::read(authorities)?);
        self.trusted.store(Some(Arc::new(Trusted { roots, allowed_names, headers })));
        Ok(())
    }

    /// Whether anybody is believed at all.
    pub fn is_known(&self) -> bool {
        self.trusted.load().is_some()
    }
}

/// Takes the user from request headers, if they come from the [`FrontProxy`].
///
/// A peer with a certificate of its own is not disturbed: that proves nothing here, which is
/// forgiven when another authenticator accepts what the peer shows, and is a 401 otherwise.
pub struct RequestHeaders {
    proxy: Arc<FrontProxy>,
}

impl RequestHeaders {
    /// Believes this proxy.
    pub fn new(proxy: Arc<FrontProxy>) -> Self {
        Self { proxy }
    }

    fn judge(&self, headers: &HeaderMap, peer: &Peer, now: UnixTime) -> Verdict {
        let trusted = self.proxy.trusted.load();
        let (Some(trusted), false) = (trusted.as_ref(), peer.certificates().is_empty()) else {
            return Ok(None);
        };
        trusted.check(peer, now)?;
        let user = trusted.headers.user(headers).map_err(|why| Rejected(why.to_string()))?;
        Ok(user.map(Arc::new))
    }
}

impl Trusted {
    /// Whether the peer may speak for others.
    fn check(&self, peer: &Peer, now: UnixTime) -> Result<(), Rejected> {
        let subject = peer.under(&self.roots, now, || {
            Subject::verified(peer.certificates(), &self.roots, now)
                .map_err(|why| Rejected(format!("verify the proxy's certificate: {why}")))
        })?;
        let name = &subject.common_name;
        if self.allowed_names.is_empty() || self.allowed_names.contains(name) {
            return Ok(());
        }
        Err(Rejected(format!("{} may not speak for others", quote(name))))
    }
}

impl Authenticator for RequestHeaders {
    fn authenticate<'a>(
        &'a self,
        headers: &'a HeaderMap,
        peer: &'a Peer,
    ) -> BoxFuture<'a, Verdict> {
        Box::pin(ready(self.judge(headers, peer, UnixTime::now())))
    }

    fn strip(&self, headers: &mut HeaderMap) {
        if let Some(trusted) = self.proxy.trusted.load().as_ref() {
            trusted.headers.strip(headers);
        }
    }
}
