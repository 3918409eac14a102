//! Reading as a user of the cluster, after a review of whether that is allowed.

use deployer::types::Requester;
use deployer::{Access, Cluster, ClusterError, Target, Verb};
use futures::future::BoxFuture;
use serde_json::Value;

use super::{Kind, Reader, Unread};

/// A namespace of a cluster, as a user may read it.
pub(crate) struct Requested<'a> {
    cluster: &'a dyn Cluster,
    namespace: &'a str,
    requester: &'a Requester,
}

impl<'a> Requested<'a> {
    pub(super) fn new(
        cluster: &'a dyn Cluster,
        namespace: &'a str,
        requester: &'a Requester,
    ) -> Self {
        Self { cluster, namespace, requester }
    }
}

impl Reader for Requested<'_> {
    fn read<'a>(
        &'a self,
        kind: Kind,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Value>, Unread>> {
        let target = Target {
            api_version: "v1".to_owned(),
            kind: kind.to_string(),
            resource: kind.resource().to_owned(),
            namespace: self.namespace.to_owned(),
            object_name: name.to_owned(),
        };
        Box::pin(async move {
            let access = Access { verb: Verb::Get, target };
            let review = self.cluster.review(self.requester, &access).await;
            if let Err(why) = review.map_err(unread)? {
                let user = &self.requester.username;
                let why = if why.is_empty() { why } else { format!(": {why}") };
                return Err(Unread::Forbidden(format!("user {user:?} may not get it{why}")));
            }
            self.cluster.get(self.requester, &access.target).await.map_err(unread)
        })
    }
}

fn unread(error: ClusterError) -> Unread {
    match error {
        ClusterError::Forbidden(why) => Unread::Forbidden(why),
        error => Unread::Unusable(error.to_string()),
    }
}
