//! A certificate authority of the server's own, kept in `DATA-DIR/pki` so that clients which trust
//! it still do after a restart. The certificates that it signs are made anew at every start.

use std::fs;
use std::io::Write as _;
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use jiff::{Timestamp, ToSpan as _};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SanType,
};

/// How long the authority is valid, in hours: ten years.
const CA_HOURS: i64 = 10 * 365 * 24;
/// How long what it signs is valid, in hours: one year.
const LEAF_HOURS: i64 = 365 * 24;

/// PEM texts of everything that is needed to serve and to be an administrator.
pub(crate) struct Certificates {
    /// The authority's certificate.
    pub(crate) ca: String,
    /// The server's certificate and key.
    pub(crate) serving: (String, String),
    /// The administrator's certificate and key: user `admin` of group `system:masters`.
    pub(crate) admin: (String, String),
}

/// Loads or makes the authority in `directory`, and signs certificates for a server at `address`.
///
/// # Errors
/// When the directory cannot be written, or holds an authority that cannot be read.
pub(crate) fn ensure(directory: &Path, address: IpAddr, now: Timestamp) -> Result<Certificates> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .with_context(|| format!("create {}", directory.display()))?;
    let (ca, key) = authority(directory, now)?;
    let issuer = Issuer::from_ca_cert_pem(&ca, key).context("read the CA certificate")?;
    let serving =
        sign(serving_params(address)?, ExtendedKeyUsagePurpose::ServerAuth, &issuer, now)?;
    let admin = sign(admin_params(), ExtendedKeyUsagePurpose::ClientAuth, &issuer, now)?;
    Ok(Certificates { ca, serving, admin })
}

fn authority(directory: &Path, now: Timestamp) -> Result<(String, KeyPair)> {
    let (ca_file, key_file) = (directory.join("ca.crt"), directory.join("ca.key"));
    if ca_file.exists() && key_file.exists() {
        let ca = read(&ca_file)?;
        let key = KeyPair::from_pem(&read(&key_file)?).context("read the CA key")?;
        return Ok((ca, key));
    }
    let key = KeyPair::generate().context("make a CA key")?;
    let mut params = CertificateParams::default();
    params.distinguished_name = distinguished("formwork-ca", None);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    set_validity(&mut params, now, CA_HOURS)?;
    let ca = params.self_signed(&key).context("sign the CA")?.pem();
    // The key first: a certificate without its key would be taken for an authority at the next start.
    write_private(&key_file, &key.serialize_pem())?;
    write_private(&ca_file, &ca)?;
    Ok((ca, key))
}

fn serving_params(address: IpAddr) -> Result<CertificateParams> {
    let mut params = CertificateParams::new(vec!["localhost".to_owned()])?;
    params.distinguished_name = distinguished("formwork", None);
    let loopback: IpAddr = [127, 0, 0, 1].into();
    for address in [loopback, address] {
        let name = SanType::IpAddress(address);
        if !address.is_unspecified() && !params.subject_alt_names.contains(&name) {
            params.subject_alt_names.push(name);
        }
    }
    Ok(params)
}

fn admin_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = distinguished("admin", Some("system:masters"));
    params
}

fn distinguished(name: &str, organization: Option<&str>) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    if let Some(organization) = organization {
        distinguished.push(DnType::OrganizationName, organization);
    }
    distinguished.push(DnType::CommonName, name);
    distinguished
}

fn sign(
    mut params: CertificateParams,
    usage: ExtendedKeyUsagePurpose,
    issuer: &Issuer<'_, KeyPair>,
    now: Timestamp,
) -> Result<(String, String)> {
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![usage];
    set_validity(&mut params, now, LEAF_HOURS)?;
    let key = KeyPair::generate().context("make a key")?;
    let certificate = params.signed_by(&key, issuer).context("sign a certificate")?;
    Ok((certificate.pem(), key.serialize_pem()))
}

/// Valid from an hour ago, as clocks differ.
fn set_validity(params: &mut CertificateParams, now: Timestamp, hours: i64) -> Result<()> {
    let date = |time: Timestamp| {
        let date = time.to_zoned(jiff::tz::TimeZone::UTC).date();
        rcgen::date_time_ymd(
            i32::from(date.year()),
            date.month().unsigned_abs(),
            date.day().unsigned_abs(),
        )
    };
    params.not_before = date(now.checked_sub(1.hour())?);
    // A date has no hours: a day more makes the validity at least what it should be.
    params.not_after = date(now.checked_add((hours + 24).hours())?);
    Ok(())
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("read {}", file.display()))
}

/// Writes a file that only its owner may read, in one step.
pub(super) fn write_private(file: &Path, text: &str) -> Result<()> {
    let temporary = file.with_extension("tmp");
    let attempt = || -> std::io::Result<()> {
        let mut out = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)?;
        out.write_all(text.as_bytes())?;
        out.sync_all()?;
        fs::rename(&temporary, file)
    };
    attempt().with_context(|| format!("write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authority_outlives_a_restart_and_its_key_is_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let pki = directory.path().join("pki");
        let now = Timestamp::now();
        let first = ensure(&pki, [127, 0, 0, 1].into(), now).unwrap();
        let second = ensure(&pki, [0, 0, 0, 0].into(), now).unwrap();
        assert_eq!(first.ca, second.ca);
        assert_ne!(first.serving.1, second.serving.1);
        let mode = fs::metadata(pki.join("ca.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
