//! Users who prove themselves with a client certificate.

use std::sync::Arc;

use futures::future::{BoxFuture, ready};
use http::HeaderMap;
use rustls_pki_types::UnixTime;

use super::subject::{self, Subject};
use super::trust::CaBundle;
use super::{Authenticator, Peer, Rejected, Verdict};
use crate::metrics::identity::Identity;

/// Takes the subject of a client certificate as the user: the common name is the name, every
/// organization a group.
pub struct ClientCertificates {
    authorities: Arc<CaBundle>,
    metrics: Identity,
}

impl ClientCertificates {
    /// Trusts the certificates of these authorities. While the bundle is empty, nobody is known.
    pub fn new(authorities: Arc<CaBundle>) -> Self {
        Self { authorities, metrics: Identity::default() }
    }

    /// Reports for how long the certificates that are shown are still valid.
    #[must_use]
    pub(super) fn observed_by(self, metrics: Identity) -> Self {
        Self { metrics, ..self }
    }

    fn judge(&self, peer: &Peer, now: UnixTime) -> Verdict {
        let chain = peer.certificates();
        let (Some(leaf), Some(roots)) = (chain.first(), self.authorities.roots()) else {
            return Ok(None);
        };
        let subject = peer.under(&roots, now, || {
            if let Some(remaining) = subject::remaining_seconds(leaf, now) {
                self.metrics.certificate_shown(remaining);
            }
            Subject::verified(chain, &roots, now)
                .map_err(|why| Rejected(format!("verify client certificate: {why}")))
        })?;
        subject.user.clone().map(Some)
    }
}

impl Authenticator for ClientCertificates {
    fn authenticate<'a>(&'a self, _: &'a HeaderMap, peer: &'a Peer) -> BoxFuture<'a, Verdict> {
        Box::pin(ready(self.judge(peer, UnixTime::now())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{
        BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    };

    fn authority() -> (Vec<u8>, Issuer<'static, KeyPair>) {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem().into_bytes();
        (pem, Issuer::new(params, key))
    }

    fn client(issuer: &Issuer<'_, KeyPair>, usage: ExtendedKeyUsagePurpose) -> Peer {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "alice");
        params.distinguished_name.push(DnType::OrganizationName, "dev");
        params.extended_key_usages = vec![usage];
        let certificate = params.signed_by(&KeyPair::generate().unwrap(), issuer).unwrap();
        Peer::new(vec![certificate.der().clone()])
    }

    fn trusting(pem: &[u8]) -> ClientCertificates {
        ClientCertificates::new(Arc::new(CaBundle::from_pem(pem).unwrap()))
    }

    #[test]
    fn a_certificate_of_the_authority_names_its_user() {
        let (pem, issuer) = authority();
        let peer = client(&issuer, ExtendedKeyUsagePurpose::ClientAuth);
        let user = trusting(&pem).judge(&peer, UnixTime::now()).unwrap().unwrap();
        assert_eq!(user.name, "alice");
        assert_eq!(user.groups, ["dev", "system:authenticated"]);
        let id = &user.extra["authentication.kubernetes.io/credential-id"][0];
        assert_eq!(id.len(), "X509SHA256=".len() + 64);
    }

    #[test]
    fn a_certificate_of_another_authority_or_for_another_use_is_rejected() {
        let (pem, issuer) = authority();
        let (_, foreign) = authority();
        let check = |peer: &Peer| {
            assert!(trusting(&pem).judge(peer, UnixTime::now()).is_err());
        };
        check(&client(&foreign, ExtendedKeyUsagePurpose::ClientAuth));
        check(&client(&issuer, ExtendedKeyUsagePurpose::ServerAuth));
    }

    #[test]
    fn without_a_certificate_or_an_authority_nobody_is_known() {
        let (pem, issuer) = authority();
        assert_eq!(trusting(&pem).judge(&Peer::default(), UnixTime::now()), Ok(None));
        let trusts_nobody = ClientCertificates::new(Arc::default());
        let peer = client(&issuer, ExtendedKeyUsagePurpose::ClientAuth);
        assert_eq!(trusts_nobody.judge(&peer, UnixTime::now()), Ok(None));
    }

    #[test]
    fn a_replaced_bundle_counts_on_the_next_request_of_an_open_connection() {
        let (pem, issuer) = authority();
        let (other, _) = authority();
        let peer = client(&issuer, ExtendedKeyUsagePurpose::ClientAuth);
        let bundle = Arc::new(CaBundle::from_pem(&pem).unwrap());
        let authenticator = ClientCertificates::new(bundle.clone());
        assert!(authenticator.judge(&peer, UnixTime::now()).is_ok());
        bundle.replace(&other).unwrap();
        assert!(authenticator.judge(&peer, UnixTime::now()).is_err());
        bundle.replace(b"").unwrap_err();
        bundle.replace(&pem).unwrap();
        assert!(authenticator.judge(&peer, UnixTime::now()).is_ok());
    }

    #[test]
    fn an_expired_certificate_is_noticed_on_an_open_connection() {
        let (pem, issuer) = authority();
        let peer = client(&issuer, ExtendedKeyUsagePurpose::ClientAuth);
        let authenticator = trusting(&pem);
        assert!(authenticator.judge(&peer, UnixTime::now()).is_ok());
        let far = std::time::Duration::from_secs(100_000_000_000);
        assert!(authenticator.judge(&peer, UnixTime::since_unix_epoch(far)).is_err());
    }
}
