//! TLS as a Kubernetes API server speaks it: the client's certificate is asked for, never needed,
//! and never a reason to break off the handshake.
//!
//! What a certificate is worth is decided per request by an authenticator, because one connection
//! may belong to a proxy whose certificate one authority signed, or to a probe with a certificate
//! that nobody here knows. The cryptography is aws-lc-rs, named in every configuration: nothing
//! depends on a process-wide default.

mod certificate;
mod reload;

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{NoServerSessionStorage, ServerConfig};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};

pub use certificate::{ServingCertificate, ServingCertificateError};
pub use reload::reload_when_changed;

/// The cryptography of this server.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

/// The configuration of the serving side: TLS 1.2 and 1.3, HTTP/2 preferred.
///
/// Sessions are not resumed. Clients of this kind keep their connections, and a resumed session
/// would carry an identity past the proof that its key is still held.
///
/// # Errors
/// When the cryptography has none of these versions.
pub fn server_config(certificate: Arc<ServingCertificate>) -> Result<ServerConfig, Error> {
    let provider = provider();
    let verifier = Arc::new(AskForCertificate { provider: provider.clone() });
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(certificate);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// Go's `tls.RequestClientCert`: whatever certificate the client shows is taken, as long as the
/// client holds its key.
#[derive(Debug)]
struct AskForCertificate {
    provider: Arc<CryptoProvider>,
}

impl ClientCertVerifier for AskForCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    /// No hints: a client would hold back a certificate of an authority that is not among them.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _leaf: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
