//! What a client certificate says of its holder, once an authority is found to vouch for it.

use std::fmt;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls_pki_types::{CertificateDer, UnixTime};
use sha2::{Digest as _, Sha256};
use x509_parser::oid_registry::Oid;
use x509_parser::prelude::{FromDer as _, X509Certificate};
use x509_parser::x509::{AttributeTypeAndValue, X509Name};

use super::trust::verify;
use super::{Rejected, User};

/// The key of [`User::extra`] that names the credential.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// Kubernetes' own attribute of a subject for a user's uid: 1.3.6.1.4.1.57683.2.
const UID: Oid<'static> = x509_parser::oid_registry::asn1_rs::oid!(1.3.6.1.4.1.57683.2);

/// The holder of a verified certificate.
pub(super) struct Subject {
    /// The common name; empty when there is none.
    pub(super) common_name: String,
    /// The holder as a user, if the subject can be one.
    pub(super) user: Result<Arc<User>, Rejected>,
}

/// Why a chain proves nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unproven {
    /// No authority vouches for it, not now, or not for clients.
    #[error(transparent)]
    Chain(#[from] webpki::Error),
    /// The leaf cannot be read.
    #[error("read the subject: {0}")]
    Leaf(String),
}

impl Subject {
    /// The subject of a chain, leaf first, that leads to one of `roots`.
    pub(super) fn verified(
        chain: &[CertificateDer<'_>],
        roots: &RootCertStore,
        now: UnixTime,
    ) -> Result<Self, Unproven> {
        verify(roots, chain, now)?;
        let leaf = chain.first().ok_or(webpki::Error::UnknownIssuer)?;
        let (_, certificate) =
            X509Certificate::from_der(leaf).map_err(|why| Unproven::Leaf(why.to_string()))?;
        let subject = certificate.subject();
        // Go keeps the last common name where there are several.
        let common_name = subject.iter_common_name().filter_map(text).last().unwrap_or_default();
        let user = user(&common_name, subject, leaf).map(Arc::new);
        Ok(Self { common_name, user })
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").field("common_name", &self.common_name).finish_non_exhaustive()
    }
}

fn text(attribute: &AttributeTypeAndValue<'_>) -> Option<String> {
    attribute.as_str().ok().map(str::to_owned)
}

fn user(name: &str, subject: &X509Name<'_>, leaf: &CertificateDer<'_>) -> Result<User, Rejected> {
    if name.is_empty() {
        return Err(Rejected("the client certificate has no common name".into()));
    }
    let groups = subject.iter_organization().filter_map(text).collect();
    let mut user = User::authenticated(name, groups);
    user.uid = uid(subject)?;
    let id = format!("X509SHA256={}", hex(&Sha256::digest(leaf)));
    user.extra.insert(CREDENTIAL_ID.to_owned(), vec![id]);
    Ok(user)
}

/// At most one uid, and not an empty one, as upstream.
fn uid(subject: &X509Name<'_>) -> Result<String, Rejected> {
    let mut uids = subject.iter_by_oid(&UID).map(text);
    match (uids.next(), uids.next()) {
        (None, _) => Ok(String::new()),
        (Some(Some(uid)), None) if !uid.is_empty() => Ok(uid),
        _ => Err(Rejected("the client certificate has more than one uid or a bad one".into())),
    }
}

/// For how many seconds from now a certificate is valid; negative when it no longer is.
pub(super) fn remaining_seconds(leaf: &CertificateDer<'_>, now: UnixTime) -> Option<i64> {
    let (_, certificate) = X509Certificate::from_der(leaf).ok()?;
    let now = i64::try_from(now.as_secs()).ok()?;
    Some(certificate.validity().not_after.timestamp() - now)
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}
