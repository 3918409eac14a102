//! The admin kubeconfig: everything that kubectl needs, in one file.

use std::path::Path;

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::certificates::{Certificates, write_private};

/// Writes a kubeconfig for the administrator of the server at `url`, readable by its owner alone.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn write(file: &Path, url: &str, certificates: &Certificates) -> Result<()> {
    let ca = STANDARD.encode(&certificates.ca);
    let certificate = STANDARD.encode(&certificates.admin.certificate);
    let key = STANDARD.encode(&certificates.admin.key);
    let text = format!(
        "apiVersion: v1
kind: Config
clusters:
- name: formwork
  cluster:
    server: {url}
    certificate-authority-data: {ca}
users:
- name: admin
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
contexts:
- name: formwork
  context:
    cluster: formwork
    user: admin
    namespace: default
current-context: formwork
"
    );
    write_private(file, &text)
}
