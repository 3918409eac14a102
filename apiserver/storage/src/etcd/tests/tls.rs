//! TLS with certificates on both sides, and their rotation.

use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};

use super::*;
use crate::etcd::Tls;

/// An authority of this test.
fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Makes `NAME.crt` and `NAME.key` in `folder`, and `ca.crt` of who vouches for them.
fn issue(authority: &CertifiedIssuer<'_, KeyPair>, folder: &Path, name: &str) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let certificate = params.signed_by(&key, authority).unwrap();
    std::fs::write(folder.join(format!("{name}.crt")), certificate.pem()).unwrap();
    std::fs::write(folder.join(format!("{name}.key")), key.serialize_pem()).unwrap();
    std::fs::write(folder.join("ca.crt"), authority.pem()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_are_needed_and_rotate_without_a_restart() {
    let Some(binary) = server::binary() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (ca, crt, key_file) = (file("ca.crt"), file("etcd.crt"), file("etcd.key"));
    let first = authority();
    issue(&first, folder.path(), "etcd");
    issue(&first, folder.path(), "client");
    let arguments = [
        "--client-cert-auth",
        "--enable-grpc-gateway=false",
        "--trusted-ca-file",
        ca.to_str().unwrap(),
        "--cert-file",
        crt.to_str().unwrap(),
        "--key-file",
        key_file.to_str().unwrap(),
    ];
    let mut etcd = server::member(&binary, "https", &arguments);
    let tls = Tls {
        ca: Some(ca.clone()),
        certificate: Some(file("client.crt")),
        key: Some(file("client.key")),
    };
    let options = Options { tls: tls.clone(), ..etcd.options("/store") };
    let store = server::connect(options.clone()).await;
    let created = create(&store, "/a").await;

    let nobody = Tls { certificate: None, key: None, ..tls };
    let stranger = Options { request_timeout: Duration::from_secs(1), tls: nobody, ..options };
    assert!(matches!(Etcd::connect(stranger).await.map(drop), Err(ConnectError::Store(_))));

    etcd.kill();
    let second = authority();
    issue(&second, folder.path(), "etcd");
    issue(&second, folder.path(), "client");
    etcd.start();
    let found = store.get(&key("/a")).await.unwrap();
    assert_eq!(found.map(|entry| entry.revision), Some(created));
}
