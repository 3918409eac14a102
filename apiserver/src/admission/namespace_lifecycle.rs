//! `NamespaceLifecycle`: nothing is created in a namespace that is not there or about to go.
//!
//! What lies in a namespace may always be changed and deleted, or a namespace could not be emptied.
//! Upstream also distrusts its informer for a while about namespaces whose deletion it has itself
//! admitted; that is kube-apiserver's part, as no deletion of a namespace comes by here.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

use super::namespaces::{Namespaces, Phase};
use super::{Attributes, Operation, Plugin};
use crate::status::{Cause, Error, Subject};

/// How long a request waits for the namespaces to be known at all; then it is refused.
const READY_WAIT: Duration = Duration::from_secs(10);
/// How long a namespace that is not known may take to appear: whoever makes a namespace and then
/// its contents is faster than the informer.
const MISSING_WAIT: Duration = Duration::from_millis(50);

const NAMESPACES: Subject<'static> = Subject { group: "", kind: "namespaces" };

/// The plugin.
pub struct NamespaceLifecycle {
    namespaces: Arc<Namespaces>,
}

impl NamespaceLifecycle {
    /// Goes by these namespaces.
    pub fn new(namespaces: Arc<Namespaces>) -> Self {
        Self { namespaces }
    }

    async fn check(&self, attributes: &Attributes<'_>) -> Result<(), Error> {
        let namespace = attributes.cx.namespace;
        if namespace.is_empty() {
            return Ok(());
        }
        if !self.namespaces.synced(READY_WAIT).await {
            return Err(attributes.forbidden("not yet ready to handle request"));
        }
        let phase = match self.namespaces.appears(namespace, MISSING_WAIT).await {
            Some(phase) => Some(phase),
            None => self.namespaces.look_up(namespace).await.map_err(Error::internal)?,
        };
        match phase {
            Some(Phase::Active) => Ok(()),
            Some(Phase::Terminating) => Err(terminating(attributes, namespace)),
            None => Err(Error::not_found(NAMESPACES, namespace)),
        }
    }
}

/// 403 with the cause by which controllers tell that there is no use in another try.
fn terminating(attributes: &Attributes<'_>, namespace: &str) -> Error {
    let error = attributes.forbidden(&format!(
        "unable to create new content in namespace {namespace} because it is being terminated"
    ));
    let mut details = error.details().cloned().unwrap_or_default();
    details.causes.push(Cause {
        reason: "NamespaceTerminating".to_owned(),
        message: format!("namespace {namespace} is being terminated"),
        field: "metadata.namespace".to_owned(),
    });
    error.with_details(details)
}

impl Plugin for NamespaceLifecycle {
    fn name(&self) -> &'static str {
        "NamespaceLifecycle"
    }

    fn handles(&self, operation: Operation) -> bool {
        operation == Operation::Create
    }

    fn admit<'a>(&'a self, attributes: &'a Attributes<'a>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(self.check(attributes))
    }
}

#[cfg(test)]
mod tests;
