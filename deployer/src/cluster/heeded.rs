//! How long the cluster wants to be left alone, as far as it says so in the course of one pass.
//!
//! A step of a pass knows only that it failed. Which of its requests was turned away, and for how long,
//! is heard here, by whichever step the request was made.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::Value;

use super::{
    Access, Applied, Apply, Cluster, ClusterError, Collection, Following, Kind, Mapping, Target,
};
use crate::types::Requester;

/// A cluster that is listened to.
pub(crate) struct Heeded {
    cluster: Arc<dyn Cluster>,
    after: Mutex<Option<Duration>>,
}

impl Heeded {
    pub(crate) fn new(cluster: Arc<dyn Cluster>) -> Self {
        Self { cluster, after: Mutex::default() }
    }

    /// The longest time that was asked for.
    pub(crate) fn after(&self) -> Option<Duration> {
        *self.after.lock().expect("nobody panics with it")
    }

    fn hear<'a, T: 'a>(
        &'a self,
        answer: BoxFuture<'a, Result<T, ClusterError>>,
    ) -> BoxFuture<'a, Result<T, ClusterError>> {
        let hear = |answer: &Result<T, ClusterError>| {
            if let Err(ClusterError::Unavailable { after: Some(after), .. }) = answer {
                let mut longest = self.after.lock().expect("nobody panics with it");
                *longest = longest.max(Some(*after));
            }
        };
        answer.inspect(hear).boxed()
    }
}

impl Cluster for Heeded {
    fn mapping<'a>(
        &'a self,
        kind: &'a Kind,
    ) -> BoxFuture<'a, Result<Option<Mapping>, ClusterError>> {
        self.hear(self.cluster.mapping(kind))
    }

    fn review<'a>(
        &'a self,
        user: &'a Requester,
        access: &'a Access,
    ) -> BoxFuture<'a, Result<Result<(), String>, ClusterError>> {
        self.hear(self.cluster.review(user, access))
    }

    fn get<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
    ) -> BoxFuture<'a, Result<Option<Value>, ClusterError>> {
        self.hear(self.cluster.get(user, target))
    }

    fn apply<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
        apply: Apply<'a>,
    ) -> BoxFuture<'a, Result<Applied, ClusterError>> {
        self.hear(self.cluster.apply(user, target, apply))
    }

    fn patch<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
        patch: &'a Value,
    ) -> BoxFuture<'a, Result<(), ClusterError>> {
        self.hear(self.cluster.patch(user, target, patch))
    }

    fn delete<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
        uid: &'a str,
    ) -> BoxFuture<'a, Result<(), ClusterError>> {
        self.hear(self.cluster.delete(user, target, uid))
    }

    fn follow(&self, collection: &Collection) -> Following {
        self.cluster.follow(collection)
    }

    fn is_ending<'a>(&'a self, namespace: &'a str) -> BoxFuture<'a, Result<bool, ClusterError>> {
        self.hear(self.cluster.is_ending(namespace))
    }
}
