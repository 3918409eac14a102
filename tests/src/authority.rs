//! Certificates that tests make: by the cluster's own authorities, or by one that nobody knows.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SigningKey,
};

/// A certificate authority with its key.
pub struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

/// What a certificate is to say.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The common name: to Kubernetes, the user; of a server also its host.
    pub name: &'a str,
    /// The organization: to Kubernetes, a group.
    pub group: Option<&'a str>,
    /// From when on.
    pub not_before: SystemTime,
    /// Until when.
    pub not_after: SystemTime,
    /// What for.
    pub usage: Usage,
}

/// Which end of a connection a certificate is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// The one that asks.
    Client,
    /// The one that answers.
    Server,
}

/// A certificate and its key.
#[derive(Clone)]
pub struct Credential {
    /// In PEM.
    pub certificate: String,
    /// In PEM, PKCS #8.
    pub key: String,
}

impl Authority {
    /// A new one.
    ///
    /// # Errors
    /// When there is no randomness.
    pub fn new(name: &str) -> Result<Self> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?.pem();
        Ok(Self { certificate, issuer: Issuer::new(params, key) })
    }

    /// One that is in files.
    ///
    /// # Errors
    /// When they cannot be read, or are none.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self> {
        let read = |path: &Path| {
            std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))
        };
        let certificate = read(certificate)?;
        let key = KeyPair::from_pem(&read(key)?)?;
        let issuer = Issuer::from_ca_cert_pem(&certificate, key)?;
        Ok(Self { certificate, issuer })
    }

    /// Its certificate, in PEM.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Its key, in PEM.
    pub fn key(&self) -> String {
        self.issuer.key().serialize_pem()
    }

    /// Signs a client's certificate with a new key.
    ///
    /// # Errors
    /// When a name cannot stand in a certificate.
    pub fn sign(&self, subject: &Subject<'_>) -> Result<Credential> {
        let (usage, hosts) = match subject.usage {
            Usage::Client => (ExtendedKeyUsagePurpose::ClientAuth, Vec::new()),
            Usage::Server => (ExtendedKeyUsagePurpose::ServerAuth, vec![subject.name.to_owned()]),
        };
        let mut params = CertificateParams::new(hosts)?;
        params.distinguished_name.push(DnType::CommonName, subject.name);
        if let Some(group) = subject.group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        params.not_before = subject.not_before.into();
        params.not_after = subject.not_after.into();
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?.pem();
        Ok(Credential { certificate, key: key.serialize_pem() })
    }
}

/// Signs `bytes` with the key in a file, as X.509 writes signatures.
///
/// # Errors
/// When there is no key.
pub fn sign(key: &Path, bytes: &[u8]) -> Result<Vec<u8>> {
    let key = std::fs::read_to_string(key).with_context(|| format!("read {}", key.display()))?;
    Ok(KeyPair::from_pem(&key)?.sign(bytes)?)
}

impl<'a> Subject<'a> {
    /// A client's that holds for an hour around `now`.
    pub fn at(now: SystemTime, name: &'a str, group: Option<&'a str>) -> Self {
        let half = Duration::from_secs(1800);
        let usage = Usage::Client;
        Self { name, group, not_before: now - half, not_after: now + half, usage }
    }
}

impl Credential {
    /// Writes `NAME.crt` and `NAME.key` into `folder`, replacing what is there.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(&self, folder: &Path, name: &str) -> Result<(PathBuf, PathBuf)> {
        let certificate = folder.join(format!("{name}.crt"));
        let key = folder.join(format!("{name}.key"));
        std::fs::write(&certificate, &self.certificate)?;
        std::fs::write(&key, &self.key)?;
        Ok((certificate, key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Cluster, Routing};
    use crate::kubectl::{Ended, Kubectl};

    fn whoami(cluster: &Cluster, credential: &Credential) -> Result<Ended> {
        let folder = tempfile::tempdir()?;
        let (certificate, key) = credential.write(folder.path(), "user")?;
        let kubectl = Kubectl::with(vec![
            "--server".into(),
            cluster.apiserver()?.into(),
            "--certificate-authority".into(),
            cluster.pki("ca.crt").into(),
            "--client-certificate".into(),
            certificate.into(),
            "--client-key".into(),
            key.into(),
        ])?;
        kubectl.run(&["auth", "whoami", "-o", "jsonpath={.status.userInfo}"])
    }

    #[test]
    fn the_cluster_believes_what_its_client_ca_signed_while_it_holds() -> Result<()> {
        let cluster = Cluster::shared(Routing::Off)?;
        let now = SystemTime::now();
        let carol = Subject::at(now, "carol", Some("dev"));

        let known = whoami(&cluster, &cluster.client_ca()?.sign(&carol)?)?;
        assert!(known.stdout.contains(r#""username":"carol""#), "{known:?}");
        assert!(known.stdout.contains(r#""dev""#), "{known:?}");

        let expired = Subject { not_after: now - Duration::from_secs(60), ..carol.clone() };
        for refused in [
            cluster.client_ca()?.sign(&expired)?,
            cluster.front_proxy_ca()?.sign(&carol)?,
            Authority::new("nobody's")?.sign(&carol)?,
        ] {
            let ended = whoami(&cluster, &refused)?;
            assert!(ended.code != Some(0), "{ended:?}");
        }
        Ok(())
    }
}
