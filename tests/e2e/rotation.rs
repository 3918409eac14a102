//! Certificates and authorities are replaced while clients are at work, and nobody notices: here those of our own.

mod given;

use std::sync::Arc;
use std::time::{Duration, Instant};

use ::tests::client::{Client, Request};
use ::tests::cluster::{Cluster, Routing};
use ::tests::installation::{Installation, Store};
use ::tests::kubectl::Kubectl;
use ::tests::load::{Load, expect};
use ::tests::replica::Replica;
use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

pub(crate) use self::given::until_void;

/// What serving certificates are for.
pub(crate) const NAME: &str = "formwork.formwork-system.svc";
const TEMPLATES: &str = "/apis/template.openshift.io/v1/namespaces/default/templates";

const API_SERVICE: &str = "/apis/apiregistration.k8s.io/v1/apiservices/v1.template.openshift.io";

/// A certificate is signed anew after two thirds of a twelfth of the first; the authority lives on.
const FLAGS: &[&str] = &["--serving-ca-lifetime=240s", "--serving-ca-propagation=4s"];

#[tokio::test(flavor = "multi_thread")]
async fn the_serving_authority_of_one_replica_rotates_under_load() -> Result<()> {
    let cluster = Arc::new(Cluster::start(Routing::Off)?);
    let installation = Installation::new(cluster, Store::Embedded)?;
    let replica = installation.start(FLAGS)?;
    rotates_twice(&installation, &[&replica]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_serving_authority_of_two_replicas_rotates_under_load() -> Result<()> {
    let cluster = Arc::new(Cluster::start(Routing::On)?);
    let installation = Installation::new(cluster, Store::Etcd)?;
    let first = installation.start(FLAGS)?;
    let second = installation.start(FLAGS)?;
    rotates_twice(&installation, &[&first, &second]).await
}

/// Twice in a row, and then a certificate nears its end without a rotation.
async fn rotates_twice(installation: &Installation, replicas: &[&Replica]) -> Result<()> {
    installation.await_available()?;
    let mut load = Load::start(installation.cluster()).await?;
    for replica in replicas {
        trust_what_is_published(&mut load, replica);
    }
    for _ in 0..2 {
        load.goes_on().await?;
        rotates(&installation.kubectl()?, replicas, &load).await?;
    }
    let bundle = bundle(load.client()).await?;
    for replica in replicas {
        let before = shown(replica, &bundle).await?;
        until("a serving certificate is signed anew", async || {
            Ok(shown(replica, &bundle).await? != before)
        })
        .await?;
    }
    load.goes_on().await?;
    ensure!(self::bundle(load.client()).await? == bundle, "that was a rotation");
    let report = load.end().await;
    report.flawless()?;
    ensure!(report.resumed == 0, "open watches stay open: {report}");
    Ok(())
}

/// Asks for a rotation, and follows it from one authority through two to the other.
async fn rotates(kubectl: &Kubectl, replicas: &[&Replica], load: &Load) -> Result<()> {
    let old = bundle(load.client()).await?;
    ensure!(certificates(&old) == 1, "a rotation is under way: {old}");
    kubectl.ok(&["annotate", "secret", "formwork-serving-ca", "formwork.dev/rotate=now"])?;
    let mut both = String::new();
    until("the next authority is published", async || {
        both = bundle(load.client()).await?;
        Ok(certificates(&both) == 2)
    })
    .await?;
    let next = both.replace(&old, "");
    ensure!(certificates(&next) == 1, "the old authority is not published any more: {both}");
    load.goes_on().await?;

    for replica in replicas {
        until("the next authority signs", async || Ok(shown(replica, &next).await.is_ok())).await?;
        ensure!(shown(replica, &old).await.is_err(), "both have signed it");
    }
    let published = bundle(load.client()).await?;
    ensure!(certificates(&published) == 2, "the old one is dropped as it is replaced");
    load.goes_on().await?;
    until("the old authority is dropped", async || Ok(bundle(load.client()).await? == next))
        .await?;
    load.goes_on().await
}

/// A client that trusts what the APIService says, and finds with every request that this is enough.
fn trust_what_is_published(load: &mut Load, replica: &Replica) {
    let (administrator, address) = (load.client().clone(), replica.address().to_string());
    load.add("ask a replica directly", move || {
        let (administrator, address) = (administrator.clone(), address.clone());
        async move {
            let bundle = bundle(&administrator).await?;
            let client = Client::new(&address, NAME, bundle.as_bytes(), None)?;
            let request = Request::get(TEMPLATES).header("authorization", "Bearer alice-token");
            expect(client, request, 200).await
        }
    });
}

/// The certificate that a replica shows, if one of `authorities` signed it.
pub(crate) async fn shown(replica: &Replica, authorities: &str) -> Result<Vec<u8>> {
    let client = Client::new(&replica.address().to_string(), NAME, authorities.as_bytes(), None)?;
    Ok(client.shown().await?.to_vec())
}

/// The authorities that the aggregator trusts.
pub(crate) async fn bundle(administrator: &Client) -> Result<String> {
    let answer = administrator.send(&Request::get(API_SERVICE)).await?.json()?;
    let bundle = answer["spec"]["caBundle"].as_str().with_context(|| answer.to_string())?;
    Ok(String::from_utf8(BASE64_STANDARD.decode(bundle)?)?)
}

fn certificates(bundle: &str) -> usize {
    bundle.matches("BEGIN CERTIFICATE").count()
}

/// Waits for something that cannot be waited for but by looking.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(90);
    while !holds().await.with_context(|| what.to_owned())? {
        ensure!(Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}
