//! Our own objects, wherever they are stored.

use futures::future::BoxFuture;

use crate::types::{Deployment, Manifest, Status};

/// Why the store did not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// Somebody else has written since: read again.
    #[error("somebody else has written")]
    Conflict,
    /// Another try may succeed.
    #[error("the store: {0}")]
    Unavailable(String),
    /// It was refused, and will be again.
    #[error("the store refuses: {0}")]
    Refused(String),
}

/// Deployments and their Manifests.
pub trait Records: Send + Sync + 'static {
    /// Reads a Deployment, as new as any; none if it is not there.
    fn deployment<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Deployment>, RecordError>>;

    /// Replaces the status of a Deployment that is as it was read. Nothing is written when the status
    /// is the same. Answers the new resourceVersion.
    fn write_status<'a>(
        &'a self,
        deployment: &'a Deployment,
        status: &'a Status,
    ) -> BoxFuture<'a, Result<String, RecordError>>;

    /// Takes our finalizer from a Deployment, which may be its end.
    fn release<'a>(&'a self, deployment: &'a Deployment) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Reads a Manifest of a Deployment; none if it has none of that name.
    fn manifest<'a>(
        &'a self,
        deployment: &'a Deployment,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Manifest>, RecordError>>;

    /// The Manifests of a Deployment by their names, the oldest first.
    fn manifests<'a>(
        &'a self,
        deployment: &'a Deployment,
    ) -> BoxFuture<'a, Result<Vec<String>, RecordError>>;

    /// Stores a Manifest.
    ///
    /// # Errors
    /// [`RecordError::Conflict`] when there is one of that name.
    fn create_manifest<'a>(
        &'a self,
        deployment: &'a Deployment,
        manifest: &'a Manifest,
    ) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Deletes a Manifest. Nothing happens if it is not there.
    fn delete_manifest<'a>(
        &'a self,
        deployment: &'a Deployment,
        name: &'a str,
    ) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Tells users what happened, once.
    fn tell<'a>(
        &'a self,
        deployment: &'a Deployment,
        reason: &'a str,
        message: &'a str,
    ) -> BoxFuture<'a, ()>;
}
