//! A certificate that somebody else makes and renews: cert-manager, or an administrator.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use apiserver::tls::{ServingCertificate, reload_when_changed};

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(10);

/// Serves with the certificate and the key in these files, whatever they hold from now on.
///
/// # Errors
/// When they cannot be read, or do not belong together.
pub(crate) fn certificate(chain: &Path, key: &Path) -> Result<Arc<ServingCertificate>> {
    let read = |file: &Path| std::fs::read(file).with_context(|| file.display().to_string());
    let certificate = ServingCertificate::from_pem(&read(chain)?, &read(key)?)?;
    let served = certificate.clone();
    let files = vec![chain.to_owned(), key.to_owned()];
    tokio::spawn(reload_when_changed(files, LOOK, move |contents| match contents {
        [chain, key] => served.replace(chain, key),
        _ => Ok(()),
    }));
    Ok(certificate)
}
