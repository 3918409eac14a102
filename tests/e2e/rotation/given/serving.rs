//! A replica whose certificate somebody else makes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use ::tests::authority::{Authority, Credential, Subject, Usage};
use ::tests::client::{Client, Request};
use ::tests::installation::{API_SERVICES, Installation};
use ::tests::load::{Load, expect};
use ::tests::replica::Replica;
use anyhow::{Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;
use tempfile::TempDir;

use super::Held;
use crate::rotation::{NAME, TEMPLATES, shown, until};

/// A replica with a certificate in files, as cert-manager keeps it.
pub(super) struct Serving {
    replica: Replica,
    authority: Authority,
    /// What clients trust that ask directly.
    trusted: Arc<Mutex<String>>,
    /// A Secret that is mounted.
    volume: TempDir,
    written: u32,
}

impl Serving {
    pub(super) fn start(installation: &Installation) -> Result<Self> {
        let (authority, volume) = (Authority::new("one")?, tempfile::tempdir()?);
        let trusted = Arc::new(Mutex::new(authority.certificate().to_owned()));
        let replica = installation.replica(&[
            &format!("--tls-cert-file={}", volume.path().join("tls.crt").display()),
            &format!("--tls-private-key-file={}", volume.path().join("tls.key").display()),
        ])?;
        let mut serving = Self { replica, authority, trusted, volume, written: 0 };
        serving.renew()?;
        serving.replica.start()?;
        let kubectl = installation.kubectl()?;
        for name in API_SERVICES {
            let name = format!("apiservice/{name}");
            kubectl.ok(&["wait", "--for=create", &name, "--timeout=60s"])?;
            let bundle = BASE64_STANDARD.encode(serving.authority.certificate());
            kubectl.ok(&patch(&name, &json!({ "spec": { "caBundle": bundle } }).to_string()))?;
        }
        installation.await_available()?;
        Ok(serving)
    }

    /// The kubelet's way: everything changes with one symbolic link.
    fn renew(&mut self) -> Result<()> {
        let host = Subject::at(SystemTime::now(), NAME, None);
        let renewed = self.authority.sign(&Subject { usage: Usage::Server, ..host })?;
        let volume = self.volume.path();
        self.written += 1;
        let data = volume.join(format!("..{}", self.written));
        fs::create_dir(&data)?;
        renewed.write(&data, "tls")?;
        symlink(&data, volume.join("..new"))?;
        fs::rename(volume.join("..new"), volume.join("..data"))?;
        if self.written == 1 {
            for file in ["tls.crt", "tls.key"] {
                symlink(Path::new("..data").join(file), volume.join(file))?;
            }
        }
        Ok(())
    }

    pub(super) async fn is_renewed(&mut self, load: &Load) -> Result<()> {
        let authority = self.authority.certificate().to_owned();
        let before = shown(&self.replica, &authority).await?;
        self.renew()?;
        until("the renewed certificate is shown", async || {
            Ok(shown(&self.replica, &authority).await? != before)
        })
        .await?;
        load.goes_on().await
    }

    /// Published before it signs, and the old one until nothing of it is shown any more.
    pub(super) async fn is_signed_by_another(&mut self, load: &Load) -> Result<()> {
        let other = Authority::new("another")?;
        let old = std::mem::replace(&mut self.authority, other);
        let new = self.authority.certificate().to_owned();
        self.publish(load, format!("{}{new}", old.certificate())).await?;
        load.goes_on().await?;
        self.renew()?;
        until("what the other has signed is shown", async || {
            Ok(shown(&self.replica, &new).await.is_ok())
        })
        .await?;
        ensure!(shown(&self.replica, old.certificate()).await.is_err(), "both have signed it");
        self.publish(load, new).await?;
        load.goes_on().await
    }

    /// What cert-manager's injector does.
    async fn publish(&self, load: &Load, bundle: String) -> Result<()> {
        for name in API_SERVICES {
            let path = format!("/apis/apiregistration.k8s.io/v1/apiservices/{name}");
            let spec = json!({ "spec": { "caBundle": BASE64_STANDARD.encode(&bundle) } });
            let request = Request::new(http::Method::PATCH, path)
                .json("application/merge-patch+json", spec.to_string());
            expect(load.client().clone(), request, 200).await?;
        }
        *self.trusted.lock().unwrap_or_else(PoisonError::into_inner) = bundle;
        Ok(())
    }

    pub(super) fn client(&self, credential: &Credential) -> Result<Client> {
        direct(&self.replica.address().to_string(), &self.trusted, credential)
    }

    /// The status of what somebody is answered who says that this administrator asks.
    pub(super) async fn status(&self, credential: &Credential) -> Result<u16> {
        Ok(self.client(credential)?.send(&as_administrator()).await?.status)
    }

    pub(super) fn ask_all_the_time(&self, load: &mut Load, doing: &'static str, held: &Held) {
        let (address, trusted) = (self.replica.address().to_string(), self.trusted.clone());
        let held = held.clone();
        load.add(doing, move || {
            let credential = held.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let client = direct(&address, &trusted, &credential);
            async move { expect(client?, as_administrator(), 200).await }
        });
    }
}

fn direct(address: &str, trusted: &Mutex<String>, credential: &Credential) -> Result<Client> {
    let trusted = trusted.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Client::new(address, NAME, trusted.as_bytes(), Some(credential))
}

fn as_administrator() -> Request {
    Request::get(TEMPLATES)
        .header("x-remote-user", "administrator")
        .header("x-remote-group", "system:masters")
}

fn patch<'a>(object: &'a str, patch: &'a str) -> [&'a str; 5] {
    ["patch", object, "--type=merge", "-p", patch]
}
