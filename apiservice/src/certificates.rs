//! Certificate authorities and what they sign, as PEM texts.
//!
//! A standalone server keeps its authority in a file, a server in a cluster in a Secret. Both make
//! it here, and both sign their serving certificates anew in memory.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SanType,
};
use x509_parser::pem::parse_x509_pem;

/// Certificates are valid from this long before they are made, for clocks differ.
const BACKDATED: Duration = Duration::from_secs(60 * 60);

/// An authority: its certificate and the key that signs.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Authority {
    /// The certificate in PEM.
    pub(crate) certificate: String,
    /// The private key in PEM.
    pub(crate) key: String,
    /// From when the certificate is valid.
    pub(crate) not_before: Timestamp,
    /// Until when it is.
    pub(crate) not_after: Timestamp,
}

/// A certificate that an authority signed.
#[derive(Clone)]
pub(crate) struct Issued {
    /// The certificate in PEM.
    pub(crate) certificate: String,
    /// Its private key in PEM.
    pub(crate) key: String,
    /// Until when the certificate is valid.
    pub(crate) not_after: Timestamp,
}

/// What a certificate is to say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subject<'a> {
    /// The common name: a user to a server that is shown it.
    pub(crate) name: &'a str,
    /// The organization: a group to a server that is shown it.
    pub(crate) organization: Option<&'a str>,
    /// The DNS names of a server.
    pub(crate) hosts: Vec<String>,
    /// The addresses of a server. Unspecified ones are left out, and so are repetitions.
    pub(crate) addresses: Vec<IpAddr>,
}

/// What a certificate is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    /// To be shown by a server.
    Server,
    /// To be shown by a client.
    Client,
}

impl Authority {
    /// A new authority, valid for `lifetime` from `now`, to the second.
    ///
    /// # Errors
    /// When there is no randomness, or the time is out of range.
    pub(crate) fn generate(name: &str, now: Timestamp, lifetime: Duration) -> Result<Self> {
        let key = KeyPair::generate().context("make a CA key")?;
        let mut params = CertificateParams::default();
        params.distinguished_name = distinguished(name, None);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        set_validity(&mut params, now, now.checked_add(lifetime)?)?;
        let certificate = params.self_signed(&key).context("sign the CA")?.pem();
        Self::from_pem(certificate, key.serialize_pem())
    }

    /// An authority that was kept.
    ///
    /// # Errors
    /// When either text cannot be read, the certificate is not an authority's, or the key is
    /// another's: such an authority would sign what nobody accepts.
    pub(crate) fn from_pem(certificate: String, key: String) -> Result<Self> {
        let pair = KeyPair::from_pem(&key).context("read the CA key")?;
        let (_, pem) = parse_x509_pem(certificate.as_bytes()).context("read the CA certificate")?;
        let parsed = pem.parse_x509().context("read the CA certificate")?;
        ensure!(parsed.is_ca(), "the certificate is not that of an authority");
        ensure!(
            parsed.public_key().subject_public_key.data.as_ref() == pair.public_key_raw(),
            "the key of the CA is not that of its certificate"
        );
        let validity = parsed.validity();
        let not_before = Timestamp::from_second(validity.not_before.timestamp())?;
        let not_after = Timestamp::from_second(validity.not_after.timestamp())?;
        Ok(Self { certificate, key, not_before, not_after })
    }

    /// Signs a certificate with a new key, valid for `lifetime` from `now` but never longer than
    /// the authority itself.
    ///
    /// # Errors
    /// When there is no randomness, a name is none, or the time is out of range.
    pub(crate) fn issue(
        &self,
        subject: Subject<'_>,
        usage: Usage,
        now: Timestamp,
        lifetime: Duration,
    ) -> Result<Issued> {
        let signer = KeyPair::from_pem(&self.key).context("read the CA key")?;
        let issuer = Issuer::from_ca_cert_pem(&self.certificate, signer)
            .context("read the CA certificate")?;
        let mut params = CertificateParams::new(subject.hosts)?;
        params.distinguished_name = distinguished(subject.name, subject.organization);
        for address in subject.addresses {
            let name = SanType::IpAddress(address);
            if !address.is_unspecified() && !params.subject_alt_names.contains(&name) {
                params.subject_alt_names.push(name);
            }
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![match usage {
            Usage::Server => ExtendedKeyUsagePurpose::ServerAuth,
            Usage::Client => ExtendedKeyUsagePurpose::ClientAuth,
        }];
        params.use_authority_key_identifier_extension = true;
        let not_after = now.checked_add(lifetime)?.min(self.not_after);
        set_validity(&mut params, now, not_after)?;
        let key = KeyPair::generate().context("make a key")?;
        let certificate = params.signed_by(&key, &issuer).context("sign a certificate")?.pem();
        Ok(Issued { certificate, key: key.serialize_pem(), not_after })
    }
}

fn distinguished(name: &str, organization: Option<&str>) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    if let Some(organization) = organization {
        distinguished.push(DnType::OrganizationName, organization);
    }
    distinguished.push(DnType::CommonName, name);
    distinguished
}

fn set_validity(params: &mut CertificateParams, now: Timestamp, end: Timestamp) -> Result<()> {
    let at = |time: Timestamp| -> Result<_> {
        let since = u64::try_from(time.as_second()).context("a time before 1970")?;
        Ok(rcgen::date_time_ymd(1970, 1, 1) + Duration::from_secs(since))
    };
    params.not_before = at(now.checked_sub(BACKDATED)?)?;
    params.not_after = at(end)?;
    Ok(())
}

/// Says nothing of the key.
impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority").field("not_after", &self.not_after).finish_non_exhaustive()
    }
}

/// Says nothing of the key.
impl fmt::Debug for Issued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issued").field("not_after", &self.not_after).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    #[test]
    fn an_authority_is_valid_for_as_long_as_it_was_asked_to_be() {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let authority = Authority::generate("a", now, DAY).unwrap();
        assert_eq!(authority.not_before, now.checked_sub(BACKDATED).unwrap());
        assert_eq!(authority.not_after, now.checked_add(DAY).unwrap());
        let subject = Subject { name: "s", hosts: vec!["h".into()], ..Subject::default() };
        let issued = authority.issue(subject, Usage::Server, now, DAY * 7).unwrap();
        assert_eq!(issued.not_after, authority.not_after, "nothing outlives its authority");
    }

    #[test]
    fn an_authority_is_read_only_whole() {
        let now = Timestamp::now();
        let (one, other) = (
            Authority::generate("a", now, DAY).unwrap(),
            Authority::generate("b", now, DAY).unwrap(),
        );
        let again = Authority::from_pem(one.certificate.clone(), one.key.clone()).unwrap();
        assert_eq!(again, one);
        assert!(Authority::from_pem(one.certificate.clone(), other.key).is_err());
        assert!(Authority::from_pem(one.certificate.clone(), String::new()).is_err());
        assert!(Authority::from_pem(String::new(), one.key.clone()).is_err());
        let leaf = one.issue(Subject::default(), Usage::Client, now, DAY).unwrap();
        assert!(Authority::from_pem(leaf.certificate, leaf.key).is_err());
        assert!(!format!("{one:?}").contains("PRIVATE"));
    }
}
