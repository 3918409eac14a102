//! Records in which nothing is written: for whoever only wants to know what would be done.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};

use crate::records::{RecordError, Records};
use crate::types::{Deployment, Manifest, Status};

/// Reads what is there, and forgets what is written.
pub(crate) struct Scratch(pub(crate) Arc<dyn Records>);

impl Records for Scratch {
    fn deployment<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Deployment>, RecordError>> {
        self.0.deployment(namespace, name)
    }

    fn write_status<'a>(
        &'a self,
        deployment: &'a Deployment,
        _: &'a Status,
    ) -> BoxFuture<'a, Result<String, RecordError>> {
        ready(Ok(deployment.resource_version.clone())).boxed()
    }

    fn release<'a>(&'a self, _: &'a Deployment) -> BoxFuture<'a, Result<(), RecordError>> {
        ready(Ok(())).boxed()
    }

    fn manifest<'a>(
        &'a self,
        deployment: &'a Deployment,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Manifest>, RecordError>> {
        self.0.manifest(deployment, name)
    }

    fn manifests<'a>(
        &'a self,
        deployment: &'a Deployment,
    ) -> BoxFuture<'a, Result<Vec<String>, RecordError>> {
        self.0.manifests(deployment)
    }

    fn create_manifest<'a>(
        &'a self,
        _: &'a Deployment,
        _: &'a Manifest,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        ready(Ok(())).boxed()
    }

    fn delete_manifest<'a>(
        &'a self,
        _: &'a Deployment,
        _: &'a str,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        ready(Ok(())).boxed()
    }

    fn tell<'a>(&'a self, _: &'a Deployment, _: &'a str, _: &'a str) -> BoxFuture<'a, ()> {
        ready(()).boxed()
    }
}
