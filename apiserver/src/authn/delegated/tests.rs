//! Delegated authentication before a kube-apiserver of a few lines: one ConfigMap, followed.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Mutex;

use bytes::Bytes;
use futures::channel::mpsc;
use http::{HeaderValue, Request, StatusCode};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};
use serde_json::{Value, json};

use super::*;
use crate::authn::{ANONYMOUS, Anonymous, IdentityHeaders};
use crate::response::{Response, ResponseBody};
use crate::version::Version;

type Events = mpsc::UnboundedReceiver<Result<Bytes, Infallible>>;

/// What is in the cluster: the ConfigMap, or the code with which it is refused.
struct Cluster {
    listed: Mutex<Result<Option<Value>, u16>>,
    events: Mutex<Option<Events>>,
}

/// The end from which a test changes the ConfigMap.
type Change = mpsc::UnboundedSender<Result<Bytes, Infallible>>;

fn map(data: &Value) -> Value {
    json!({ "kind": "ConfigMap", "apiVersion": "v1", "data": data, "metadata":
        { "name": "extension-apiserver-authentication", "namespace": "kube-system",
          "resourceVersion": "2" } })
}

fn event(kind: &str, data: &Value) -> Result<Bytes, Infallible> {
    Ok(format!("{}\n", json!({ "type": kind, "object": map(data) })).into())
}

impl Cluster {
    fn new(listed: Result<Option<Value>, u16>) -> (Arc<Self>, Change) {
        let (change, events) = mpsc::unbounded();
        let (listed, events) = (Mutex::new(listed), Mutex::new(Some(events)));
        (Arc::new(Self { listed, events }), change)
    }

    fn client(self: &Arc<Self>) -> Client {
        let cluster = self.clone();
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let response = cluster.answer(request.uri());
            async move { Ok::<_, Infallible>(response) }
        });
        Client::new(service, "default")
    }

    fn answer(&self, uri: &http::Uri) -> Response {
        assert_eq!(uri.path(), "/api/v1/namespaces/kube-system/configmaps");
        let query = uri.query().unwrap_or_default();
        assert!(query.contains("metadata.name%3Dextension-apiserver-authentication"), "{query}");
        if query.contains("watch=true") {
            let events = self.events.lock().unwrap().take();
            return Response::new(match events {
                Some(events) => ResponseBody::from_stream(events),
                None => ResponseBody::from_stream(futures::stream::pending::<
                    Result<Bytes, Infallible>,
                >()),
            });
        }
        let (code, body) = match &*self.listed.lock().unwrap() {
            Ok(data) => {
                let items: Vec<_> = data.iter().map(map).collect();
                let list = json!({ "kind": "ConfigMapList", "apiVersion": "v1",
                    "metadata": { "resourceVersion": "2" }, "items": items });
                (StatusCode::OK, list)
            }
            Err(code) => {
                let status = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {},
                    "status": "Failure", "reason": "Forbidden", "code": code, "message":
                    "it is forbidden: User \"system:serviceaccount:ns:sa\" cannot list it" });
                (StatusCode::from_u16(*code).unwrap(), status)
            }
        };
        let mut response = Response::new(body.to_string().into());
        *response.status_mut() = code;
        response
    }
}

/// A certificate authority.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    fn peer(&self, name: &str) -> Peer {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let signed = params.signed_by(&KeyPair::generate().unwrap(), &self.issuer).unwrap();
        Peer::new(vec![signed.der().clone()])
    }
}

/// What kube-apiserver writes.
fn published(proxies: &Authority, clients: &Authority) -> Value {
    json!({
        "client-ca-file": clients.pem,
        "requestheader-client-ca-file": proxies.pem,
        "requestheader-allowed-names": "[\"proxy\"]",
        "requestheader-username-headers": "[\"X-Remote-User\"]",
        "requestheader-group-headers": "[\"X-Remote-Group\"]",
        "requestheader-extra-headers-prefix": "[\"X-Remote-Extra-\"]",
    })
}

fn delegated(cluster: &Arc<Cluster>, options: DelegatedOptions) -> Arc<Delegated> {
    let metrics = Metrics::new(&Version::new("v1.0.0"));
    Arc::new(Delegated::new(cluster.client(), options, &metrics).unwrap())
}

/// Who a request of `jane`, as the headers say, is from; `None` for a 401.
async fn ask(delegated: &Delegated, peer: &Peer) -> Option<String> {
    let mut headers = HeaderMap::new();
    headers.insert("x-remote-user", HeaderValue::from_static("jane"));
    let verdict = delegated.authenticate(&headers, peer).await;
    verdict.ok().flatten().map(|user| user.name.clone())
}

async fn is_ready(delegated: &Delegated) -> bool {
    let health = Health::new();
    delegated.report(&health);
    let name = "extension-apiserver-authentication";
    let answer = health.answer_one(crate::health::Endpoint::Readyz, name).await;
    answer.unwrap().status() == 200
}

/// Asks until the answer is `want`.
async fn becomes(delegated: &Delegated, peer: &Peer, want: Option<&str>) {
    while ask(delegated, peer).await.as_deref() != want {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_cluster_says_who_vouches_for_users_and_a_rotation_counts_at_once() {
    let (proxies, clients) = (Authority::new(), Authority::new());
    let (cluster, change) = Cluster::new(Ok(Some(published(&proxies, &clients))));
    let delegated = delegated(&cluster, DelegatedOptions::default());
    assert!(!is_ready(&delegated).await);
    let task = tokio::spawn(delegated.clone().run());
    delegated.ready().await;
    assert!(is_ready(&delegated).await);
    let (proxy, client) = (proxies.peer("proxy"), clients.peer("carol"));
    assert_eq!(ask(&delegated, &proxy).await.as_deref(), Some("jane"));
    assert_eq!(ask(&delegated, &client).await.as_deref(), Some("carol"));
    assert_eq!(ask(&delegated, &proxies.peer("other")).await, None);

    let next = Authority::new();
    change.unbounded_send(event("MODIFIED", &published(&next, &clients))).unwrap();
    becomes(&delegated, &proxy, None).await;
    assert_eq!(ask(&delegated, &next.peer("proxy")).await.as_deref(), Some("jane"));
    assert_eq!(ask(&delegated, &client).await.as_deref(), Some("carol"));
    task.abort();
}

#[tokio::test]
async fn what_was_read_stays_until_there_is_something_better() {
    let (proxies, clients) = (Authority::new(), Authority::new());
    let good = published(&proxies, &clients);
    let (cluster, _) = Cluster::new(Ok(Some(good.clone())));
    let delegated = delegated(&cluster, DelegatedOptions::default());
    let take = |data: &Value| {
        let data: BTreeMap<String, String> = serde_json::from_value(data.clone()).unwrap();
        delegated.take(&data);
    };
    take(&good);
    let mut bad = Vec::new();
    for (key, value) in [
        ("requestheader-client-ca-file", "no certificate"),
        ("requestheader-allowed-names", "proxy"),
        ("requestheader-extra-headers-prefix", "[\"\"]"),
        ("client-ca-file", ""),
    ] {
        let mut data = good.clone();
        data[key] = json!(value);
        bad.push(data);
    }
    bad.push(json!({}));
    for data in &bad {
        take(data);
        assert_eq!(ask(&delegated, &proxies.peer("proxy")).await.as_deref(), Some("jane"));
        assert_eq!(ask(&delegated, &proxies.peer("other")).await, None, "{data}");
        assert_eq!(ask(&delegated, &clients.peer("carol")).await.as_deref(), Some("carol"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_may_not_read_is_not_ready_and_takes_no_proxy_for_anonymous() {
    let (proxies, clients) = (Authority::new(), Authority::new());
    for listed in [Err(403), Err(500), Ok(None), Ok(Some(json!({})))] {
        let (cluster, _change) = Cluster::new(listed);
        let delegated = delegated(&cluster, DelegatedOptions::default());
        let task = tokio::spawn(delegated.clone().run());
        let waited = tokio::time::timeout(Duration::from_secs(60), delegated.ready()).await;
        assert!(waited.is_err() && !is_ready(&delegated).await);
        assert_eq!(ask(&delegated, &proxies.peer("proxy")).await, None);
        // A probe has no certificate.
        assert_eq!(ask(&delegated, &Peer::default()).await.as_deref(), Some(ANONYMOUS));
        assert_eq!(ask(&delegated, &clients.peer("carol")).await, None);
        task.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_allowed_to_read_later_becomes_ready_later() {
    let (proxies, clients) = (Authority::new(), Authority::new());
    let (cluster, _change) = Cluster::new(Err(403));
    let delegated = delegated(&cluster, DelegatedOptions::default());
    let task = tokio::spawn(delegated.clone().run());
    let waited = tokio::time::timeout(Duration::from_secs(60), delegated.ready()).await;
    assert!(waited.is_err());
    *cluster.listed.lock().unwrap() = Ok(Some(published(&proxies, &clients)));
    delegated.ready().await;
    assert_eq!(ask(&delegated, &proxies.peer("proxy")).await.as_deref(), Some("jane"));
    task.abort();
}

#[tokio::test(start_paused = true)]
async fn a_failing_lookup_can_be_tolerated_or_left_out() {
    let proxies = Authority::new();
    for lookup in [Lookup::Tolerated, Lookup::Skipped] {
        let (cluster, _change) = Cluster::new(Err(403));
        let options = DelegatedOptions { lookup, ..DelegatedOptions::default() };
        let delegated = delegated(&cluster, options);
        let task = tokio::spawn(delegated.clone().run());
        assert!(is_ready(&delegated).await);
        assert_eq!(ask(&delegated, &proxies.peer("proxy")).await.as_deref(), Some(ANONYMOUS));
        task.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn files_take_the_place_of_what_the_cluster_says_and_are_read_again() {
    let (cluster_proxies, cluster_clients) = (Authority::new(), Authority::new());
    let (proxies, clients) = (Authority::new(), Authority::new());
    let folder = tempfile::tempdir().unwrap();
    let (ca_file, client_ca_file) = (folder.path().join("proxies"), folder.path().join("clients"));
    std::fs::write(&ca_file, &proxies.pem).unwrap();
    std::fs::write(&client_ca_file, &clients.pem).unwrap();
    let flags = ProxyFlags {
        ca_file: ca_file.clone(),
        allowed_names: vec!["proxy".to_owned()],
        headers: IdentityHeaders::default(),
    };
    let options = DelegatedOptions {
        client_ca_file: Some(client_ca_file),
        proxy: Some(flags),
        anonymous: Anonymous::Refused,
        ..DelegatedOptions::default()
    };
    let published = published(&cluster_proxies, &cluster_clients);
    let (cluster, change) = Cluster::new(Ok(Some(published.clone())));
    let delegated = delegated(&cluster, options);
    assert!(is_ready(&delegated).await);
    let task = tokio::spawn(delegated.clone().run());
    change.unbounded_send(event("MODIFIED", &published)).unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(ask(&delegated, &proxies.peer("proxy")).await.as_deref(), Some("jane"));
    assert_eq!(ask(&delegated, &clients.peer("carol")).await.as_deref(), Some("carol"));
    assert_eq!(ask(&delegated, &cluster_proxies.peer("proxy")).await, None);
    assert_eq!(ask(&delegated, &cluster_clients.peer("carol")).await, None);
    assert_eq!(ask(&delegated, &Peer::default()).await, None);

    let next = Authority::new();
    std::fs::write(&ca_file, &next.pem).unwrap();
    let proxy = next.peer("proxy");
    while ask(&delegated, &proxy).await.as_deref() != Some("jane") {
        tokio::time::sleep(RELOAD_EVERY).await;
    }
    assert_eq!(ask(&delegated, &proxies.peer("other")).await, None);
    task.abort();
}

#[tokio::test]
async fn a_file_that_cannot_be_used_keeps_the_server_from_starting() {
    let (cluster, _) = Cluster::new(Ok(None));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca");
    let metrics = Metrics::new(&Version::new("v1.0.0"));
    let start = || {
        let client_ca_file = Some(file.clone());
        let options = DelegatedOptions { client_ca_file, ..DelegatedOptions::default() };
        Delegated::new(cluster.client(), options, &metrics).err()
    };
    assert!(matches!(start(), Some(DelegatedError::Read(..))));
    std::fs::write(&file, "no certificate").unwrap();
    assert!(matches!(start(), Some(DelegatedError::Authorities(..))));
}
