//! No cluster: a standalone server stores Deployments and expands them, and has nowhere to put them.

use deployer::types::Requester;
use deployer::{Access, Applied, Apply, Cluster, ClusterError, Kind, Mapping, Target};
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use serde_json::Value;

/// The cluster of a server that has none.
pub(super) struct Absent;

fn absent<T: Send + 'static>() -> BoxFuture<'static, Result<T, ClusterError>> {
    let message = "this server stands alone, and has no cluster".to_owned();
    ready(Err(ClusterError::Unavailable { message, after: None })).boxed()
}

impl Cluster for Absent {
    fn mapping<'a>(&'a self, _: &'a Kind) -> BoxFuture<'a, Result<Option<Mapping>, ClusterError>> {
        absent()
    }

    fn review<'a>(
        &'a self,
        _: &'a Requester,
        _: &'a Access,
    ) -> BoxFuture<'a, Result<Result<(), String>, ClusterError>> {
        absent()
    }

    fn get<'a>(
        &'a self,
        _: &'a Requester,
        _: &'a Target,
    ) -> BoxFuture<'a, Result<Option<Value>, ClusterError>> {
        absent()
    }

    fn apply<'a>(
        &'a self,
        _: &'a Requester,
        _: &'a Target,
        _: Apply<'a>,
    ) -> BoxFuture<'a, Result<Applied, ClusterError>> {
        absent()
    }

    fn patch<'a>(
        &'a self,
        _: &'a Requester,
        _: &'a Target,
        _: &'a Value,
    ) -> BoxFuture<'a, Result<(), ClusterError>> {
        absent()
    }

    fn delete<'a>(
        &'a self,
        _: &'a Requester,
        _: &'a Target,
        _: &'a str,
    ) -> BoxFuture<'a, Result<(), ClusterError>> {
        absent()
    }

    /// Every namespace is there when there is no cluster.
    fn is_ending<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<bool, ClusterError>> {
        ready(Ok(false)).boxed()
    }
}
