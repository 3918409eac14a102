//! The cluster that is deployed to, as far as a deployer needs one.
//!
//! Everything is done for somebody, and the cluster sees that user. What the deployer asks for itself
//! are mappings, reviews, and whether a namespace is about to go.

mod heeded;
mod kube;

use std::fmt;
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::types::Requester;

pub(crate) use self::heeded::Heeded;
pub use self::kube::Kube;

/// A kind, in one version of its group.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// `GROUP/VERSION`, or the version alone for the core group.
    pub api_version: String,
    /// The kind.
    pub kind: String,
}

/// Where the objects of a kind are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The resource, as in URLs.
    pub resource: String,
    /// Whether they live in namespaces.
    pub namespaced: bool,
}

/// An object, or where one would be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// `GROUP/VERSION`, or the version alone for the core group.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The resource, as in URLs.
    pub resource: String,
    /// The namespace; empty for objects of the cluster.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The object's name.
    pub object_name: String,
}

/// The objects of Deployments of one kind in one namespace, as one user sees them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Collection {
    /// As whom they are seen.
    pub user: Requester,
    /// `GROUP/VERSION`, or the version alone for the core group.
    pub api_version: String,
    /// The resource, as in URLs.
    pub resource: String,
    /// The namespace; empty for objects of the cluster.
    pub namespace: String,
}

/// What is heard of a collection: the uid of the Deployment whose object was changed, or that there
/// may have been any change.
pub type Following = BoxStream<'static, Result<Option<String>, ClusterError>>;

/// What may be done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// It is read.
    Get,
    /// It is made.
    Create,
    /// It is applied.
    Patch,
    /// It is deleted.
    Delete,
}

/// What is asked in a review: whether somebody may do something to an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// What would be done.
    pub verb: Verb,
    /// To which object; without a name to all of the resource in the namespace.
    pub target: Target,
}

impl Access {
    /// The same done to all objects of the resource in the namespace, which is asked without a name.
    pub(crate) fn to_all(&self) -> Self {
        let target = Target { object_name: String::new(), ..self.target.clone() };
        Self { verb: self.verb, target }
    }
}

/// How an object is applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Apply<'a> {
    /// The fields that the object is to have. A resourceVersion in it is presumed.
    pub object: &'a Value,
    /// Who owns these fields afterwards.
    pub manager: &'a str,
    /// Whether fields of others are taken from them.
    pub force: bool,
    /// Whether nothing is stored.
    pub dry_run: bool,
}

/// The object as it is afterwards.
pub type Applied = Value;

/// Why the cluster did not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    /// The object, or its kind, or its namespace is not there.
    #[error("{0}")]
    NotFound(String),
    /// The object is not what was presumed, or others own its fields.
    #[error("{0}")]
    Conflict(String),
    /// The user may not.
    #[error("{0}")]
    Forbidden(String),
    /// The object is not one that the cluster takes.
    #[error("{0}")]
    Invalid(String),
    /// Another try may succeed, perhaps after a while that the cluster named.
    #[error("{message}")]
    Unavailable {
        /// What happened.
        message: String,
        /// When to try again.
        after: Option<Duration>,
    },
}

/// A cluster.
pub trait Cluster: Send + Sync + 'static {
    /// Where objects of a kind are found; none if the cluster has no such kind.
    fn mapping<'a>(
        &'a self,
        kind: &'a Kind,
    ) -> BoxFuture<'a, Result<Option<Mapping>, ClusterError>>;

    /// Whether somebody may do something; if not, why, as far as the cluster says it.
    fn review<'a>(
        &'a self,
        user: &'a Requester,
        access: &'a Access,
    ) -> BoxFuture<'a, Result<Result<(), String>, ClusterError>>;

    /// Reads an object; none if it is not there.
    fn get<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
    ) -> BoxFuture<'a, Result<Option<Value>, ClusterError>>;

    /// Applies an object, server-side.
    fn apply<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
        apply: Apply<'a>,
    ) -> BoxFuture<'a, Result<Applied, ClusterError>>;

    /// Changes an object by a merge patch.
    fn patch<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
        patch: &'a Value,
    ) -> BoxFuture<'a, Result<(), ClusterError>>;

    /// Deletes the object of that uid, after what it owns. Nothing happens if it is not there.
    fn delete<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
        uid: &'a str,
    ) -> BoxFuture<'a, Result<(), ClusterError>>;

    /// Tells of changes of objects that belong to Deployments, for as long as that goes well. First of
    /// all comes that there may have been any. A cluster may tell nothing at all.
    fn follow(&self, collection: &Collection) -> Following {
        let _ = collection;
        stream::pending().boxed()
    }

    /// Whether a namespace is about to go, or is gone.
    fn is_ending<'a>(&'a self, namespace: &'a str) -> BoxFuture<'a, Result<bool, ClusterError>>;
}

impl Target {
    /// The group and the version; the group is empty for the core group.
    pub fn group_version(&self) -> (&str, &str) {
        self.api_version.split_once('/').unwrap_or(("", &self.api_version))
    }

    /// Whether both are the same object, in whatever version of its group.
    pub fn is(&self, other: &Self) -> bool {
        self.object_name == other.object_name
            && self.namespace == other.namespace
            && self.resource == other.resource
            && self.group_version().0 == other.group_version().0
    }
}

impl fmt::Display for Target {
    /// `Service demo/frontend`, `Namespace demo`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace.as_str() {
            "" => write!(f, "{} {}", self.kind, self.object_name),
            namespace => write!(f, "{} {namespace}/{}", self.kind, self.object_name),
        }
    }
}

impl fmt::Display for Kind {
    /// `apps/v1 Deployment`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.api_version, self.kind)
    }
}

impl Verb {
    /// The verb, as rules of RBAC name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Create => "create",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

impl ClusterError {
    /// It, in one word, as conditions and Events give reasons.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "NotFound",
            Self::Conflict(_) => "Conflict",
            Self::Forbidden(_) => "Forbidden",
            Self::Invalid(_) => "Invalid",
            Self::Unavailable { .. } => "Unavailable",
        }
    }

    /// Whether waiting alone may help.
    pub fn passes(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }
}
