//! A replica in a real cluster as somebody stands before it: with a certificate, a token, headers, or none of them.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use tests::authority::{Authority, Credential, Subject};
use tests::client::{Answer, Client, PATIENCE, Request};
use tests::cluster::Cluster;
use tests::installation::{Installation, Serving};
use tests::kubectl::Kubectl;

/// What its CA signs for.
const NAME: &str = "formwork.formwork-system.svc";
pub(crate) const TEMPLATES: &str = "/apis/template.openshift.io/v1/namespaces/default/templates";
/// The name that the cluster's request-header CA has to have signed.
pub(crate) const PROXY: &str = "front-proxy-client";

/// Names and values.
pub(crate) type Headers<'a> = &'a [(&'a str, &'a str)];

/// As whom a request ran.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ran {
    /// 200: somebody with rights.
    Allowed,
    /// 403: the user without rights whom the message names.
    As(String),
    /// 401.
    Not,
    /// Another code.
    Otherwise(u16),
}

pub(crate) fn ran(answer: &Answer) -> Ran {
    let text = answer.text();
    let user = text.split_once("User \\\"").and_then(|(_, rest)| rest.split_once("\\\""));
    match (answer.status, user) {
        (200, _) => Ran::Allowed,
        (403, Some((user, _))) => Ran::As(user.to_owned()),
        (401, _) => Ran::Not,
        (code, _) => Ran::Otherwise(code),
    }
}

pub(crate) fn anonymous() -> Ran {
    Ran::As("system:anonymous".to_owned())
}

pub(crate) fn user(name: &str) -> Ran {
    Ran::As(name.to_owned())
}

/// A serving replica and who signs for whom.
pub(crate) struct Door {
    pub(crate) serving: Arc<Serving>,
    pub(crate) address: String,
    serving_ca: Vec<u8>,
}

impl Door {
    /// The one that tests share, unless they disturb its cluster.
    pub(crate) fn new() -> Result<Self> {
        Self::of(Installation::shared()?)
    }

    pub(crate) fn of(serving: Arc<Serving>) -> Result<Self> {
        let kubectl = serving.installation.kubectl()?;
        let path = "jsonpath={.spec.caBundle}";
        let bundle = kubectl.ok(&["get", "apiservice/v1.template.openshift.io", "-o", path])?;
        let serving_ca = BASE64_STANDARD.decode(bundle.trim())?;
        let address = serving.address().to_string();
        Ok(Self { serving, address, serving_ca })
    }

    pub(crate) fn cluster(&self) -> &Cluster {
        self.serving.installation.cluster()
    }

    pub(crate) fn client(&self, credential: Option<&Credential>) -> Result<Client> {
        Client::new(&self.address, NAME, &self.serving_ca, credential)
    }

    /// As whom a request for templates with these headers runs.
    pub(crate) async fn ask(
        &self,
        credential: Option<&Credential>,
        headers: Headers<'_>,
    ) -> Result<Ran> {
        let request = headers
            .iter()
            .fold(Request::get(TEMPLATES), |request, (name, value)| request.header(name, value));
        Ok(ran(&self.client(credential)?.send(&request).await?))
    }

    /// The certificate of kube-apiserver's own aggregator.
    pub(crate) fn proxy(&self) -> Result<Credential> {
        self.key_pair("front-proxy-client")
    }

    /// Whoever is of `system:masters`, asking the replica itself.
    pub(crate) fn master(&self) -> Result<Client> {
        self.client(Some(&self.key_pair("admin")?))
    }

    /// Whoever is of `system:masters`, asking kube-apiserver.
    pub(crate) fn master_through_kube_apiserver(&self) -> Result<Client> {
        self.through_kube_apiserver(Some(&self.key_pair("admin")?))
    }

    /// Alice, whose rights are those that a test gives her, asking kube-apiserver.
    pub(crate) fn alice(&self) -> Result<Client> {
        Ok(self.through_kube_apiserver(None)?.bearer("alice-token"))
    }

    fn through_kube_apiserver(&self, credential: Option<&Credential>) -> Result<Client> {
        let url = self.cluster().apiserver()?;
        let authority = url.strip_prefix("https://").context("a URL of kube-apiserver")?;
        let authorities = fs::read(self.cluster().pki("ca.crt"))?;
        Client::new(authority, "127.0.0.1", &authorities, credential)
    }

    fn key_pair(&self, name: &str) -> Result<Credential> {
        let read =
            |name: String| fs::read_to_string(self.cluster().pki(&name)).context(name.clone());
        Ok(Credential {
            certificate: read(format!("{name}.crt"))?,
            key: read(format!("{name}.key"))?,
        })
    }

    /// The sum of the samples of `metric` whose labels contain all of `labels`.
    pub(crate) async fn metric(&self, metric: &str, labels: &[&str]) -> Result<f64> {
        let text = self.master()?.send(&Request::get("/metrics")).await?.text();
        let samples = text.lines().filter(|line| {
            line.strip_prefix(metric).is_some_and(|rest| rest.starts_with(['{', ' ']))
                && labels.iter().all(|label| line.contains(label))
        });
        samples.map(|line| Ok(line.rsplit(' ').next().unwrap_or_default().parse::<f64>()?)).sum()
    }

    /// Waits until the samples of `metric` sum up to what is wanted.
    pub(crate) async fn until(
        &self,
        metric: &str,
        labels: &[&str],
        wanted: impl Fn(f64) -> bool,
    ) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let now = self.metric(metric, labels).await?;
            if wanted(now) {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "{metric} {labels:?} stays {now}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// A new namespace where Alice may edit, once that is known.
    pub(crate) async fn namespace_of_alice(&self) -> Result<Kubectl> {
        let kubectl = self.cluster().namespace()?;
        kubectl.ok(&["create", "rolebinding", "alice", "--clusterrole=edit", "--user=alice"])?;
        self.until_served(&self.alice()?, &Request::get(templates(&kubectl.namespace))).await?;
        Ok(kubectl)
    }

    /// Waits until a request is answered with 200, as once a role is known that allows it.
    pub(crate) async fn until_served(&self, client: &Client, request: &Request) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = client.send(request).await?;
            if answer.status == 200 {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "{}: {}", request.path, answer.text());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

pub(crate) fn signed(authority: &Authority, name: &str) -> Result<Credential> {
    authority.sign(&Subject::at(SystemTime::now(), name, None))
}

/// Where the templates of `namespace` are.
pub(crate) fn templates(namespace: &str) -> String {
    format!("/apis/template.openshift.io/v1/namespaces/{namespace}/templates")
}
