//! A server without a cluster. What a cluster would give it, it makes for itself: certificates, a
//! kubeconfig, and the answer that a namespace exists.

mod certificates;
mod kubeconfig;
mod namespaces;

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use apiserver::authn::{
    Anonymous, Authenticator, CaBundle, ClientCertificates, StaticTokens, Union,
};
use apiserver::authz;
use apiserver::environment::{Environment as _, System};
use apiserver::tls::ServingCertificate;

use crate::args::Serve;
use crate::foundation::Foundation;

use self::certificates::Certificates;
use self::namespaces::EveryNamespace;
use crate::certificates::Issued;

/// Nobody else on the network is let near a server that knows no cluster, unless somebody says so.
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Serves until the process is told to stop.
///
/// # Errors
/// Whatever keeps the server from starting, with what was being done.
pub(crate) async fn serve(serve: &Serve) -> Result<()> {
    let address = serve.listening.bind_address.unwrap_or(LOOPBACK);
    let pki = serve.storage.data_dir.join("pki");
    let certificates = certificates::ensure(&pki, address, System.now())?;
    let foundation = Foundation::lay(serve).await?;
    let (api, deployments) = foundation.api(Vec::new(), None);
    let chain = foundation.chain(
        Arc::new(authenticator(serve, &certificates)?),
        Arc::new(authz::Union::standalone()),
        Arc::new(EveryNamespace(api)),
    );
    let Issued { certificate, key, .. } = &certificates.serving;
    let certificate = ServingCertificate::from_pem(certificate.as_bytes(), key.as_bytes())?;

    let listener = foundation.listen(LOOPBACK).await?;
    let kubeconfig = serve.storage.data_dir.join("admin.kubeconfig");
    kubeconfig::write(&kubeconfig, &url(listener.local_addr()?), &certificates)?;
    tracing::info!(kubeconfig = %kubeconfig.display(), "for kubectl");
    foundation.serve(chain, certificate, listener, deployments, Some(&kubeconfig)).await
}

/// What kubectl is told to dial: an address that it can reach, not the one of all interfaces.
fn url(address: SocketAddr) -> String {
    let ip: IpAddr = address.ip();
    if ip.is_unspecified() {
        return format!("https://127.0.0.1:{}", address.port());
    }
    format!("https://{address}")
}

fn authenticator(serve: &Serve, certificates: &Certificates) -> Result<Union> {
    let authorities = Arc::new(CaBundle::from_pem(certificates.ca.as_bytes())?);
    let mut members: Vec<Box<dyn Authenticator>> =
        vec![Box::new(ClientCertificates::new(authorities))];
    if let Some(file) = &serve.authentication.token_auth_file {
        let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
        let tokens =
            StaticTokens::from_csv(&text).with_context(|| format!("read {}", file.display()))?;
        members.push(Box::new(tokens));
    }
    let anonymous = Anonymous::allowed_if(serve.authentication.anonymous_auth);
    Ok(Union::new(members, anonymous))
}
