//! Users who prove themselves with a client certificate.

use std::sync::Arc;

use futures::future::{BoxFuture, ready};
use http::HeaderMap;
use rustls::RootCertStore;
use rustls_pki_types::{CertificateDer, UnixTime};
use sha2::{Digest as _, Sha256};
use x509_parser::oid_registry::Oid;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::trust::{CaBundle, verify};
use super::{Authenticator, Peer, Rejected, User, Verdict};

/// The key of [`User::extra`] that names the credential.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// Kubernetes' own attribute of a subject for a user's uid: 1.3.6.1.4.1.57683.2.
const UID: Oid<'static> = x509_parser::oid_registry::asn1_rs::oid!(1.3.6.1.4.1.57683.2);

/// Takes the subject of a client certificate as the user: the common name is the name, every
/// organization a group.
pub struct ClientCertificates {
    authorities: Arc<CaBundle>,
}

impl ClientCertificates {
    /// Trusts the certificates of these authorities. While the bundle is empty, nobody is known.
    pub fn new(authorities: Arc<CaBundle>) -> Self {
        Self { authorities }
    }

    fn judge(&self, peer: &Peer, now: UnixTime) -> Verdict {
        let (Some(leaf), Some(roots)) = (peer.certificates().first(), self.authorities.roots())
        else {
            return Ok(None);
        };
        peer.under(&roots, now, || conclude(peer.certificates(), leaf, &roots, now))
    }
}

impl Authenticator for ClientCertificates {
    fn authenticate<'a>(&'a self, _: &'a HeaderMap, peer: &'a Peer) -> BoxFuture<'a, Verdict> {
        Box::pin(ready(self.judge(peer, UnixTime::now())))
    }
}

fn conclude(
    chain: &[CertificateDer<'_>],
    leaf: &CertificateDer<'_>,
    roots: &RootCertStore,
    now: UnixTime,
) -> Verdict {
    verify(roots, chain, now)
        .map_err(|why| Rejected(format!("verify client certificate: {why}")))?;
    subject_of(leaf).map(|user| Some(Arc::new(user)))
}

/// The user a verified certificate is about.
fn subject_of(leaf: &CertificateDer<'_>) -> Result<User, Rejected> {
    let (_, certificate) = X509Certificate::from_der(leaf)
        .map_err(|why| Rejected(format!("parse client certificate: {why}")))?;
    let subject = certificate.subject();
    let text = |attribute: &x509_parser::x509::AttributeTypeAndValue<'_>| {
        attribute.as_str().ok().map(str::to_owned)
    };
    // Go keeps the last common name where there are several.
    let name = subject.iter_common_name().filter_map(text).last().unwrap_or_default();
    if name.is_empty() {
        return Err(Rejected("the client certificate has no common name".into()));
    }
    let groups = subject.iter_organization().filter_map(text).collect();
    let mut user = User::authenticated(name, groups);
    user.uid = subject.iter_by_oid(&UID).find_map(text).unwrap_or_default();
    let id = format!("X509SHA256={}", hex(&Sha256::digest(leaf)));
    user.extra.insert(CREDENTIAL_ID.to_owned(), vec![id]);
    Ok(user)
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
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
