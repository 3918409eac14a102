//! What others make and replace: the authorities of the cluster, certificates in files, and the token by which the
//! cluster knows us. One test, since a control plane is dear and a token is read again within a minute.

mod serving;
mod token;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use ::tests::authority::{Authority, Credential, Subject};
use ::tests::cluster::{Cluster, Routing};
use ::tests::installation::{Installation, Store};
use ::tests::kubectl::Kubectl;
use ::tests::load::Load;
use anyhow::{Result, ensure};

use self::serving::Serving;
use self::token::Token;
pub(crate) use self::token::until_void;
use super::until;

/// A credential that a client takes another in place of.
type Held = Arc<Mutex<Credential>>;

const MASTERS: Option<&str> = Some("system:masters");

#[tokio::test(flavor = "multi_thread")]
async fn what_others_replace_is_followed_under_load() -> Result<()> {
    let cluster = Arc::new(Cluster::start(Routing::Off)?);
    let installation = Installation::new(cluster, Store::Embedded)?;
    let mut token = Token::file(&installation)?;
    let mut serving = Serving::start(&installation)?;
    token.renew()?;
    let mut load = Load::start(installation.cluster()).await?;

    let proxy = held(front_proxy(&installation.cluster().front_proxy_ca()?)?);
    let user = held(user(&installation.cluster().client_ca()?)?);
    serving.ask_all_the_time(&mut load, "ask as the front proxy", &proxy);
    serving.ask_all_the_time(&mut load, "ask with a certificate", &user);
    load.goes_on().await?;

    serving.is_renewed(&load).await?;
    serving.is_signed_by_another(&load).await?;
    front_proxy_ca_is_replaced(&installation, &serving, &load, &proxy).await?;
    client_ca_is_replaced(&installation, &serving, &load, &user).await?;
    token.ends(&installation, &serving, &proxy, &load).await?;
    let report = load.end().await;
    report.flawless()?;
    ensure!(report.resumed == 0, "open watches stay open: {report}");
    Ok(())
}

fn held(credential: Credential) -> Held {
    Arc::new(Mutex::new(credential))
}

fn replace(held: &Held, credential: Credential) {
    *held.lock().unwrap_or_else(PoisonError::into_inner) = credential;
}

fn front_proxy(authority: &Authority) -> Result<Credential> {
    authority.sign(&Subject::at(SystemTime::now(), "front-proxy-client", None))
}

fn user(authority: &Authority) -> Result<Credential> {
    authority.sign(&Subject::at(SystemTime::now(), "somebody", MASTERS))
}

/// As an administrator does it: both authorities, then the proxy's new certificate, then the new authority alone.
async fn front_proxy_ca_is_replaced(
    installation: &Installation,
    serving: &Serving,
    load: &Load,
    held: &Held,
) -> Result<()> {
    let cluster = installation.cluster();
    let (old, new) = (cluster.front_proxy_ca()?, Authority::new("next-front-proxy-ca")?);
    let (former, latter) = (front_proxy(&old)?, front_proxy(&new)?);
    ensure!(serving.status(&latter).await? == 401, "nobody knows it yet");
    let file = cluster.pki("front-proxy-ca.crt");
    write(&file, &format!("{}{}", old.certificate(), new.certificate()))?;
    until("both authorities count", async || Ok(serving.status(&latter).await? == 200)).await?;
    replace(held, latter.clone());
    load.goes_on().await?;

    // Only so does kube-apiserver say when it has read a file again.
    let kubectl = installation.kubectl()?;
    kubectl.ok_with(&["replace", "--raw", "/debug/flags/v", "-f", "-"], "2")?;
    let said = Said::before(cluster)?;
    write(&cluster.pki("front-proxy-client.key"), &latter.key)?;
    write(&cluster.pki("front-proxy-client.crt"), &latter.certificate)?;
    said.until(&["Loaded a new cert", "aggregator-proxy-cert"]).await?;
    load.goes_on().await?;

    forget(cluster, &kubectl, &file, &new).await?;
    until("the old authority is forgotten", async || Ok(serving.status(&former).await? == 401))
        .await?;
    load.goes_on().await
}

/// Of the users' certificates those of both authorities count, and then those of the new one.
async fn client_ca_is_replaced(
    installation: &Installation,
    serving: &Serving,
    load: &Load,
    held: &Held,
) -> Result<()> {
    let cluster = installation.cluster();
    let (old, new) = (cluster.client_ca()?, Authority::new("next-ca")?);
    let (former, latter) = (user(&old)?, user(&new)?);
    ensure!(serving.status(&latter).await? == 401, "nobody knows it yet");
    let file = cluster.pki("ca.crt");
    write(&file, &format!("{}{}", old.certificate(), new.certificate()))?;
    until("both authorities count", async || Ok(serving.status(&latter).await? == 200)).await?;
    replace(held, latter);
    load.goes_on().await?;

    // The administrator's own certificate is the old one's. Who has a token goes on.
    forget(cluster, &cluster.kubectl("alice")?, &file, &new).await?;
    until("the old authority is forgotten", async || Ok(serving.status(&former).await? == 401))
        .await?;
    load.goes_on().await
}

/// Leaves only the `new` authority in `file`.
///
/// kube-apiserver only ever adds authorities to what it publishes, so that its replicas do not take away each other's.
/// Whoever wants an old one to go deletes all of it, and kube-apiserver writes anew what it knows: the old one again,
/// had it not read the file by then.
async fn forget(cluster: &Cluster, kubectl: &Kubectl, file: &Path, new: &Authority) -> Result<()> {
    let said = Said::before(cluster)?;
    write(file, new.certificate())?;
    said.until(&["Loaded a new CA Bundle", &file.display().to_string()]).await?;
    kubectl.ok(&[
        "delete",
        "configmap/extension-apiserver-authentication",
        "--namespace=kube-system",
    ])?;
    Ok(())
}

/// What kube-apiserver says from some moment on. Of files it speaks at verbosity 2.
struct Said {
    log: PathBuf,
    before: usize,
}

impl Said {
    fn before(cluster: &Cluster) -> Result<Self> {
        let log = cluster.directory().join("log/kube-apiserver.log");
        Ok(Self { before: fs::read(&log)?.len(), log })
    }

    /// Waits for a line that has all of these words.
    async fn until(&self, words: &[&str]) -> Result<()> {
        until("kube-apiserver has read a file again", async || {
            let log = fs::read(&self.log)?;
            let said = String::from_utf8_lossy(&log[self.before..]);
            Ok(said.lines().any(|line| words.iter().all(|word| line.contains(word))))
        })
        .await
    }
}

/// Whole or not at all.
fn write(file: &Path, text: &str) -> Result<()> {
    let new = file.with_extension("new");
    fs::write(&new, text)?;
    Ok(fs::rename(&new, file)?)
}
