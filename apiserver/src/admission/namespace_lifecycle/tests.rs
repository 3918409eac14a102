//! The plugin before a kube-apiserver of a few lines: a list, a stream of events, and single objects.

use std::collections::BTreeMap;
use std::sync::Mutex;

use bytes::Bytes;
use futures::channel::mpsc;
use http::{Request, StatusCode};
use jiff::Timestamp;
use kube::Client;
use serde_json::{Value, json};

use super::*;
use crate::authn::User;
use crate::resource::{Context, FieldValidation};
use crate::response::{Response, ResponseBody};
use crate::sample;

/// The namespaces of a cluster, and whether they are being deleted.
#[derive(Default)]
struct Cluster {
    listed: Mutex<BTreeMap<&'static str, bool>>,
    /// Those that the informer has not heard of.
    unheard: Mutex<BTreeMap<&'static str, bool>>,
    watches: Mutex<Vec<mpsc::UnboundedReceiver<Result<Bytes, std::convert::Infallible>>>>,
}

fn namespace(name: &str, terminating: bool) -> Value {
    let mut metadata = json!({ "name": name, "resourceVersion": "2" });
    if terminating {
        metadata["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    }
    json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata })
}

impl Cluster {
    fn with(listed: &[(&'static str, bool)]) -> Arc<Self> {
        let listed = Mutex::new(listed.iter().copied().collect());
        Arc::new(Self { listed, ..Self::default() })
    }

    fn client(self: &Arc<Self>) -> Client {
        let cluster = self.clone();
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let response = cluster.answer(&request);
            async move { Ok::<_, std::convert::Infallible>(response) }
        });
        Client::new(service, "default")
    }

    fn answer(&self, request: &Request<kube::client::Body>) -> Response {
        if let Some(name) = request.uri().path().strip_prefix("/api/v1/namespaces/") {
            let unheard = self.unheard.lock().unwrap();
            return match (name, unheard.get(name)) {
                ("broken", _) => status(StatusCode::INTERNAL_SERVER_ERROR, "InternalError"),
                (_, None) => status(StatusCode::NOT_FOUND, "NotFound"),
                (_, Some(&terminating)) => {
                    Response::new(namespace(name, terminating).to_string().into())
                }
            };
        }
        if request.uri().query().unwrap_or_default().contains("watch=true") {
            let events = self.watches.lock().unwrap().pop();
            return Response::new(match events {
                Some(events) => ResponseBody::from_stream(events),
                None => ResponseBody::from_stream(futures::stream::pending::<
                    Result<Bytes, std::convert::Infallible>,
                >()),
            });
        }
        let listed = self.listed.lock().unwrap();
        let items: Vec<_> =
            listed.iter().map(|(name, terminating)| namespace(name, *terminating)).collect();
        let list = json!({
            "kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1",
            "metadata": { "resourceVersion": "2" }, "items": items,
        });
        Response::new(list.to_string().into())
    }

    /// The plugin, with its informer running and synced.
    async fn plugin(self: &Arc<Self>) -> NamespaceLifecycle {
        let namespaces = Namespaces::new(self.client());
        tokio::spawn(namespaces.clone().follow());
        assert!(namespaces.synced(Duration::from_secs(60)).await);
        NamespaceLifecycle::new(namespaces)
    }
}

fn status(code: StatusCode, reason: &str) -> Response {
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "no", "reason": reason, "code": code.as_u16(),
    });
    let mut response = Response::new(body.to_string().into());
    *response.status_mut() = code;
    response
}

async fn create(plugin: &NamespaceLifecycle, namespace: &str) -> Result<(), Error> {
    let user = User::anonymous();
    let cx = Context {
        user: &user,
        namespace,
        name: "",
        dry_run: true,
        field_validation: FieldValidation::Warn,
        now: Timestamp::UNIX_EPOCH,
    };
    let definition = sample::cart();
    let attributes = Attributes {
        operation: Operation::Create,
        definition: &definition,
        subresource: "",
        cx: &cx,
        object: None,
        old: None,
    };
    plugin.admit(&attributes).await
}

#[tokio::test(start_paused = true)]
async fn objects_are_created_where_the_namespace_is_active_and_in_the_cluster() {
    let plugin = Cluster::with(&[("shop", false)]).plugin().await;
    assert_eq!(create(&plugin, "shop").await, Ok(()));
    assert_eq!(create(&plugin, "").await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_is_not_there_is_not_found() {
    let plugin = Cluster::with(&[]).plugin().await;
    let error = create(&plugin, "shop").await.unwrap_err();
    let want = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "namespaces \"shop\" not found", "reason": "NotFound",
        "details": { "name": "shop", "kind": "namespaces" }, "code": 404,
    });
    assert_eq!(serde_json::to_value(error.to_status()).unwrap(), want);
}

#[tokio::test(start_paused = true)]
async fn nothing_new_gets_into_a_namespace_that_is_being_deleted() {
    let plugin = Cluster::with(&[("shop", true)]).plugin().await;
    let error = create(&plugin, "shop").await.unwrap_err();
    let want = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "carts.shop.example \"Unknown\" is forbidden: unable to create new content in namespace shop because it is being terminated",
        "reason": "Forbidden",
        "details": {
            "name": "Unknown", "group": "shop.example", "kind": "carts",
            "causes": [{
                "reason": "NamespaceTerminating",
                "message": "namespace shop is being terminated",
                "field": "metadata.namespace",
            }],
        },
        "code": 403,
    });
    assert_eq!(serde_json::to_value(error.to_status()).unwrap(), want);
    assert!(!plugin.handles(Operation::Update) && !plugin.handles(Operation::Delete));
}

#[tokio::test(start_paused = true)]
async fn what_the_informer_has_not_heard_of_is_asked_for() {
    let cluster = Cluster::with(&[]);
    *cluster.unheard.lock().unwrap() = [("new", false), ("going", true)].into();
    let plugin = cluster.plugin().await;
    assert_eq!(create(&plugin, "new").await, Ok(()));
    assert_eq!(create(&plugin, "going").await.unwrap_err().details().unwrap().causes.len(), 1);
    let error = create(&plugin, "broken").await.unwrap_err();
    assert_eq!(error.reason(), crate::status::Reason::InternalError);
}

#[tokio::test(start_paused = true)]
async fn the_informer_follows_what_changes() {
    let cluster = Cluster::with(&[("shop", false)]);
    let (events, watch) = mpsc::unbounded();
    cluster.watches.lock().unwrap().push(watch);
    let plugin = cluster.plugin().await;
    let tell = |kind: &str, object: Value| {
        let event = format!("{}\n", json!({ "type": kind, "object": object }));
        events.unbounded_send(Ok(event.into())).unwrap();
    };
    tell("ADDED", namespace("later", false));
    let later = plugin.namespaces.appears("later", Duration::from_secs(60)).await;
    assert_eq!(later, Some(Phase::Active));
    tell("MODIFIED", namespace("shop", true));
    tell("DELETED", namespace("later", true));
    tell("ADDED", namespace("last", false));
    plugin.namespaces.appears("last", Duration::from_secs(60)).await.unwrap();
    assert!(create(&plugin, "shop").await.is_err());
    assert!(create(&plugin, "later").await.is_err());
}

#[tokio::test(start_paused = true)]
async fn as_long_as_no_namespace_is_known_every_creation_is_refused() {
    let namespaces = Namespaces::new(Cluster::with(&[("shop", false)]).client());
    let error = create(&NamespaceLifecycle::new(namespaces), "shop").await.unwrap_err();
    let want = "carts.shop.example \"Unknown\" is forbidden: not yet ready to handle request";
    assert_eq!(error.message(), want);
}
