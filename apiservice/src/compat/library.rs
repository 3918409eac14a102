//! The Registries of the namespace, as the client that is acted as may use them.
//!
//! They are listed when a type is looked for, and what they refer to is read through the Kubernetes API: whoever may not
//! do that expands what needs none of them, as before.

use expander::{Finding, Registries};
use futures::future::BoxFuture;
use kube::api::DynamicObject;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::actor::{Actor, Kind};
use crate::registry::registries::spec::Spec;
use crate::sources::{self, Known, Reader, Unread};

/// What the actor may use, for one request.
pub(super) struct Library<'a> {
    actor: &'a Actor,
    known: OnceCell<Known<&'a Actor>>,
}

impl<'a> Library<'a> {
    /// Nothing is asked yet.
    pub(super) fn new(actor: &'a Actor) -> Self {
        Self { actor, known: OnceCell::new() }
    }

    async fn list(&self) -> Result<Known<&'a Actor>, String> {
        let all = self.actor.list(Kind::Registry).await;
        let all = all.map_err(|fault| format!("registries cannot be listed: {fault}"))?;
        let spec = |object: DynamicObject| serde_json::from_value(object.data["spec"].clone());
        let all: Result<Vec<Spec>, _> = all.into_iter().map(spec).collect();
        Ok(Known::new(all.map_err(|error| format!("a registry: {error}"))?, self.actor))
    }
}

impl Registries for Library<'_> {
    fn of<'a>(&'a self, name: &'a str) -> Finding<'a> {
        Box::pin(async move {
            let known = self.known.get_or_try_init(|| self.list()).await?;
            known.of(name).await
        })
    }
}

impl Reader for &Actor {
    fn read<'a>(
        &'a self,
        kind: sources::Kind,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Value>, Unread>> {
        Box::pin(async move {
            match self.referred(kind, name).await {
                Ok(found) => Ok(found.map(|object| object.data)),
                Err(kube::Error::Api(status)) if status.code == 403 => {
                    Err(Unread::Forbidden(status.message.clone()))
                }
                Err(error) => Err(Unread::Unusable(error.to_string())),
            }
        })
    }
}
