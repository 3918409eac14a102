//! A certificate authority of the server's own, kept in `DATA-DIR/pki` so that clients which trust
//! it still do after a restart. The certificates that it signs are made anew at every start.

use std::fs;
use std::io::Write as _;
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use jiff::Timestamp;

use crate::certificates::{Authority, Issued, Subject, Usage};

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// How long the authority is valid.
const CA_LIFETIME: Duration = YEAR.saturating_mul(10);
/// How long what it signs is valid.
const LEAF_LIFETIME: Duration = YEAR;

/// Everything that is needed to serve and to be an administrator.
pub(crate) struct Certificates {
    /// The authority's certificate in PEM.
    pub(crate) ca: String,
    /// The server's certificate and key.
    pub(crate) serving: Issued,
    /// The administrator's certificate and key: user `admin` of group `system:masters`.
    pub(crate) admin: Issued,
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
    let authority = authority(directory, now)?;
    let server = Subject {
        name: "formwork",
        hosts: vec!["localhost".to_owned()],
        addresses: vec![[127, 0, 0, 1].into(), address],
        ..Subject::default()
    };
    let serving = authority.issue(server, Usage::Server, now, LEAF_LIFETIME)?;
    let admin =
        Subject { name: "admin", organization: Some("system:masters"), ..Subject::default() };
    let admin = authority.issue(admin, Usage::Client, now, LEAF_LIFETIME)?;
    Ok(Certificates { ca: authority.certificate, serving, admin })
}

fn authority(directory: &Path, now: Timestamp) -> Result<Authority> {
    let (ca_file, key_file) = (directory.join("ca.crt"), directory.join("ca.key"));
    if ca_file.exists() && key_file.exists() {
        return Authority::from_pem(read(&ca_file)?, read(&key_file)?)
            .with_context(|| format!("use the authority in {}", directory.display()));
    }
    let authority = Authority::generate("formwork-ca", now, CA_LIFETIME)?;
    // The key first: a certificate without its key would be taken for an authority at the next start.
    write_private(&key_file, &authority.key)?;
    write_private(&ca_file, &authority.certificate)?;
    Ok(authority)
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
        assert_ne!(first.serving.key, second.serving.key);
        let mode = fs::metadata(pki.join("ca.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
