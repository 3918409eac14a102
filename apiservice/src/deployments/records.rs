//! Deployments and Manifests in our own store.
//!
//! What is written carries the resourceVersion that was read, so that a pass over an old state changes
//! nothing.

use std::sync::Arc;

use apiserver::authn::User;
use apiserver::environment::Environment;
use apiserver::meta::{ObjectMeta, OwnerReference};
use apiserver::object::{Fields, Object};
use apiserver::options::Wanted;
use apiserver::resource::{Context, Part, Resource};
use apiserver::status::{Error, Reason};
use apiserver::store::{Preconditions, Propagation, Store};
use deployer::types::{Deployment, FINALIZER, Manifest, Status};
use deployer::{RecordError, Records};
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::runtime::events::{Event, EventType, Recorder};

/// In whose name the deployer writes.
const MANAGER: &str = "formwork-deployer";
/// As many bytes an Event may say (events.k8s.io/v1).
const NOTE: usize = 1024;

/// The store, as the deployer knows one.
pub(super) struct Stored {
    store: Store,
    deployments: Arc<Resource>,
    manifests: Arc<Resource>,
    environment: Arc<dyn Environment>,
    events: Option<Recorder>,
    user: User,
}

impl Stored {
    pub(super) fn new(
        store: Store,
        deployments: Arc<Resource>,
        manifests: Arc<Resource>,
        environment: Arc<dyn Environment>,
        events: Option<Recorder>,
    ) -> Self {
        let user = User { name: "system:formwork:deployer".to_owned(), ..User::default() };
        Self { store, deployments, manifests, environment, events, user }
    }

    fn context<'a>(&'a self, namespace: &'a str, name: &'a str) -> Context<'a> {
        Context::of(&self.user, namespace, name, self.environment.now())
    }

    async fn read(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Object>, RecordError> {
        let found = self.store.get(&resource.definition, namespace, name, Wanted::Newest).await;
        match found.and_then(|entry| object(&entry)) {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.reason() == Reason::NotFound => Ok(None),
            Err(error) => Err(record_error(error)),
        }
    }

    /// A Manifest of a Deployment, as it is stored.
    async fn stored_manifest(
        &self,
        of: &Deployment,
        name: &str,
    ) -> Result<Option<Object>, RecordError> {
        let found = self.read(&self.manifests, &of.namespace, name).await?;
        Ok(found.filter(|object| owned(object, of)))
    }
}

fn object(entry: &apiserver::storage::Entry) -> Result<Object, Error> {
    apiserver::object::Stored::new(&entry.value, entry.revision)?.to_object()
}

fn owned(object: &Object, of: &Deployment) -> bool {
    object.meta.owner_references.iter().any(|owner| owner.uid == of.uid)
}

#[allow(clippy::needless_pass_by_value, reason = "it is what map_err gives")]
fn record_error(error: Error) -> RecordError {
    let message = error.message().to_owned();
    match error.reason() {
        // What is gone was somebody's doing, too.
        Reason::Conflict | Reason::AlreadyExists | Reason::NotFound => RecordError::Conflict,
        Reason::Invalid
        | Reason::BadRequest
        | Reason::Forbidden
        | Reason::RequestEntityTooLarge => RecordError::Refused(message),
        _ => RecordError::Unavailable(message),
    }
}

/// A Deployment as the deployer knows it.
pub(super) fn deployment(object: &Object) -> Result<Deployment, RecordError> {
    let unreadable = |error: serde_json::Error| RecordError::Refused(error.to_string());
    let spec = object.fields.get("spec").unwrap_or("{}");
    let status = object.fields.get("status").unwrap_or("{}");
    let meta = &object.meta;
    Ok(Deployment {
        namespace: meta.namespace.clone(),
        name: meta.name.clone(),
        uid: meta.uid.clone(),
        generation: meta.generation,
        resource_version: meta.resource_version.clone(),
        deleting: meta.is_deleting(),
        spec: serde_json::from_str(spec).map_err(unreadable)?,
        status: serde_json::from_str(status).map_err(unreadable)?,
    })
}

/// The members of an object but one, and that one as JSON text, if any.
fn with_member(fields: &Fields, name: &str, value: &str) -> Fields {
    let mut text = String::with_capacity(fields.as_str().len() + value.len());
    let others = fields.iter().filter(|(member, _)| *member != name);
    for (name, value) in others.chain([(name, value)]) {
        let comma = if text.is_empty() { "" } else { "," };
        text.extend([comma, "\"", name, "\":", value]);
    }
    Fields::new(text)
}

impl Records for Stored {
    fn deployment<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Deployment>, RecordError>> {
        Box::pin(async move {
            let found = self.read(&self.deployments, namespace, name).await?;
            found.as_ref().map(deployment).transpose()
        })
    }

    fn write_status<'a>(
        &'a self,
        deployment: &'a Deployment,
        status: &'a Status,
    ) -> BoxFuture<'a, Result<String, RecordError>> {
        Box::pin(async move {
            let text = serde_json::to_string(status)
                .map_err(|error| RecordError::Refused(error.to_string()))?;
            let cx = self.context(&deployment.namespace, &deployment.name);
            let change = |object: &mut Object| {
                object.meta.uid.clone_from(&deployment.uid);
                object.meta.resource_version.clone_from(&deployment.resource_version);
                object.fields = with_member(&object.fields, "status", &text);
                Ok(())
            };
            let written =
                self.store.change(&self.deployments, Part::Status, &cx, MANAGER, change).await;
            written.map(|object| object.meta.resource_version).map_err(record_error)
        })
    }

    fn release<'a>(&'a self, deployment: &'a Deployment) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(async move {
            let cx = self.context(&deployment.namespace, &deployment.name);
            let change = |object: &mut Object| {
                object.meta.uid.clone_from(&deployment.uid);
                object.meta.finalizers.retain(|finalizer| finalizer != FINALIZER);
                Ok(())
            };
            let written =
                self.store.change(&self.deployments, Part::Main, &cx, MANAGER, change).await;
            written.map(drop).map_err(record_error)
        })
    }

    fn manifest<'a>(
        &'a self,
        deployment: &'a Deployment,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Manifest>, RecordError>> {
        Box::pin(async move {
            let Some(object) = self.stored_manifest(deployment, name).await? else {
                return Ok(None);
            };
            let manifest: Manifest = serde_json::from_str(&object.fields.to_json())
                .map_err(|error| RecordError::Refused(error.to_string()))?;
            Ok(Some(Manifest { name: object.meta.name, ..manifest }))
        })
    }

    fn manifests<'a>(
        &'a self,
        deployment: &'a Deployment,
    ) -> BoxFuture<'a, Result<Vec<String>, RecordError>> {
        Box::pin(async move {
            let view = self.store.view(Wanted::Newest).await.map_err(record_error)?;
            let definition = &self.manifests.definition;
            let all = view.list(definition, &deployment.namespace).map_err(record_error)?;
            let mut own: Vec<_> = all
                .filter_map(Result::ok)
                .filter(|object| owned(object, deployment))
                .map(|object| {
                    (object.meta.creation_timestamp.map(|time| time.as_second()), object.meta.name)
                })
                .collect();
            own.sort_by_key(|(created, name)| (*created, name.len(), name.clone()));
            Ok(own.into_iter().map(|(_, name)| name).collect())
        })
    }

    fn create_manifest<'a>(
        &'a self,
        deployment: &'a Deployment,
        manifest: &'a Manifest,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(async move {
            let text = serde_json::to_string(manifest)
                .map_err(|error| RecordError::Refused(error.to_string()))?;
            let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            let owner = OwnerReference {
                api_version: self.deployments.api_version().to_owned(),
                kind: "Deployment".to_owned(),
                name: deployment.name.clone(),
                uid: deployment.uid.clone(),
                controller: Some(true),
                ..OwnerReference::default()
            };
            let meta = ObjectMeta {
                name: manifest.name.clone(),
                namespace: deployment.namespace.clone(),
                owner_references: vec![owner],
                ..ObjectMeta::default()
            };
            let fields = Fields::new(inner.unwrap_or_default().to_owned());
            let cx = self.context(&deployment.namespace, &manifest.name);
            let created = self.store.create(&self.manifests, &cx, Object { meta, fields }).await;
            created.map(drop).map_err(record_error)
        })
    }

    fn delete_manifest<'a>(
        &'a self,
        deployment: &'a Deployment,
        name: &'a str,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(async move {
            let cx = self.context(&deployment.namespace, name);
            let (any, background) = (Preconditions::default(), Propagation::Background);
            match self.store.delete(&self.manifests, &cx, &any, background).await {
                Ok(_) => Ok(()),
                Err(error) if error.reason() == Reason::NotFound => Ok(()),
                Err(error) => Err(record_error(error)),
            }
        })
    }

    fn tell<'a>(
        &'a self,
        deployment: &'a Deployment,
        reason: &'a str,
        message: &'a str,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let Some(events) = &self.events else { return };
            let about = ObjectReference {
                api_version: Some(self.deployments.api_version().to_owned()),
                kind: Some("Deployment".to_owned()),
                namespace: Some(deployment.namespace.clone()),
                name: Some(deployment.name.clone()),
                uid: Some(deployment.uid.clone()),
                resource_version: Some(deployment.resource_version.clone()),
                ..ObjectReference::default()
            };
            let well = matches!(reason, "Created" | "Updated" | "RolledBack");
            let event = Event {
                type_: if well { EventType::Normal } else { EventType::Warning },
                reason: reason.to_owned(),
                note: Some(message.chars().take(NOTE / 4).collect()),
                action: "Deploy".to_owned(),
                secondary: None,
            };
            if let Err(error) = events.publish(&event, &about).await {
                tracing::info!(%error, "an event was not told");
            }
        })
    }
}
