//! A store for Deployments and Manifests, with versions and conflicts.

use std::collections::BTreeMap;
use std::sync::Mutex;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use serde_json::{Value, json};

use super::world::requester;
use crate::records::{RecordError, Records};
use crate::types::{Deployment, Manifest, Spec, Status};

/// A store in memory.
#[derive(Default)]
pub(crate) struct TwinRecords(Mutex<State>);

#[derive(Default)]
struct State {
    deployments: BTreeMap<(String, String), Deployment>,
    /// By the uid of the Deployment, and by name; with a number that counts.
    manifests: BTreeMap<String, (String, u64, Manifest)>,
    events: Vec<String>,
    count: u64,
    writes: usize,
    /// As many bytes a status may have; 0 is no limit.
    limit: usize,
}

impl TwinRecords {
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.lock().unwrap())
    }

    /// From now on a status is refused that has more bytes.
    pub(crate) fn limit(&self, bytes: usize) {
        self.with(|state| state.limit = bytes);
    }

    /// A user creates a Deployment in `demo`.
    pub(crate) fn create(&self, name: &str, spec: Spec) {
        self.with(|state| {
            state.count += 1;
            let deployment = Deployment {
                namespace: "demo".to_owned(),
                name: name.to_owned(),
                uid: format!("uid-of-{name}"),
                generation: 1,
                resource_version: state.count.to_string(),
                deleting: false,
                spec,
                status: Status::default(),
            };
            state.deployments.insert(("demo".to_owned(), name.to_owned()), deployment);
        });
    }

    /// A user changes the spec.
    pub(crate) fn change(&self, name: &str, change: impl FnOnce(&mut Spec)) {
        self.with(|state| {
            state.count += 1;
            let found = state.deployments.get_mut(&("demo".to_owned(), name.to_owned()));
            let deployment = found.unwrap();
            deployment.resource_version = state.count.to_string();
            deployment.generation += 1;
            change(&mut deployment.spec);
        });
    }

    /// A user deletes it.
    pub(crate) fn end(&self, name: &str, user: &str) {
        self.change(name, |spec| spec.requester = requester(user));
        self.with(|state| {
            let found = state.deployments.get_mut(&("demo".to_owned(), name.to_owned()));
            found.unwrap().deleting = true;
        });
    }

    /// Somebody takes the finalizer from a Deployment and deletes it, or the store is lost.
    pub(crate) fn forget(&self, name: &str) {
        self.with(|state| state.deployments.remove(&("demo".to_owned(), name.to_owned())));
    }

    /// A Deployment.
    pub(crate) fn find(&self, name: &str) -> Option<Deployment> {
        self.with(|state| state.deployments.get(&("demo".to_owned(), name.to_owned())).cloned())
    }

    /// The names of all Manifests.
    pub(crate) fn names(&self) -> Vec<String> {
        self.with(|state| state.manifests.keys().cloned().collect())
    }

    /// Somebody deletes a Manifest.
    pub(crate) fn lose(&self, name: &str) {
        self.with(|state| state.manifests.remove(name));
    }

    /// How often something was written since this was asked last.
    pub(crate) fn writes(&self) -> usize {
        self.with(|state| std::mem::take(&mut state.writes))
    }

    /// What was told since this was asked last.
    pub(crate) fn events(&self) -> Vec<String> {
        self.with(|state| std::mem::take(&mut state.events))
    }

    /// All of it, without what is another each time.
    pub(crate) fn all(&self) -> BTreeMap<String, Value> {
        self.with(|state| {
            let deployments = state.deployments.values().map(|deployment| {
                let mut status = json!(deployment.status);
                bare(&mut status);
                (format!("Deployment {}", deployment.name), status)
            });
            let manifests = state.manifests.iter();
            let manifests = manifests.map(|(name, (.., found))| (name.clone(), json!(found)));
            deployments.chain(manifests).collect()
        })
    }
}

/// Takes uids and times from a status.
fn bare(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|key, _| {
                !matches!(key.as_str(), "uid" | "lastTransitionTime" | "startTime" | "endTime")
            });
            members.values_mut().for_each(bare);
        }
        Value::Array(items) => items.iter_mut().for_each(bare),
        _ => {}
    }
}

impl State {
    fn current(&mut self, read: &Deployment) -> Result<&mut Deployment, RecordError> {
        let key = (read.namespace.clone(), read.name.clone());
        let found = self.deployments.get_mut(&key);
        found
            .filter(|found| found.resource_version == read.resource_version)
            .ok_or(RecordError::Conflict)
    }
}

impl Records for TwinRecords {
    fn deployment<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Deployment>, RecordError>> {
        let key = (namespace.to_owned(), name.to_owned());
        ready(Ok(self.with(|state| state.deployments.get(&key).cloned()))).boxed()
    }

    fn write_status<'a>(
        &'a self,
        deployment: &'a Deployment,
        status: &'a Status,
    ) -> BoxFuture<'a, Result<String, RecordError>> {
        let written = self.with(|state| {
            let next = state.count + 1;
            if state.limit > 0 && json!(status).to_string().len() > state.limit {
                return Err(RecordError::Refused("it is too large".to_owned()));
            }
            let found = state.current(deployment)?;
            // As it is stored, so that nothing is in memory only.
            found.status = serde_json::from_value(json!(status)).unwrap();
            found.resource_version = next.to_string();
            state.count = next;
            state.writes += 1;
            Ok(next.to_string())
        });
        ready(written).boxed()
    }

    fn release<'a>(&'a self, deployment: &'a Deployment) -> BoxFuture<'a, Result<(), RecordError>> {
        let released = self.with(|state| {
            let key = (deployment.namespace.clone(), deployment.name.clone());
            if !state.deployments.contains_key(&key) {
                return Ok(());
            }
            state.current(deployment)?;
            state.deployments.remove(&key);
            state.writes += 1;
            Ok(())
        });
        ready(released).boxed()
    }

    fn manifest<'a>(
        &'a self,
        deployment: &'a Deployment,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Manifest>, RecordError>> {
        let found = self.with(|state| {
            let (uid, _, found) = state.manifests.get(name)?;
            (*uid == deployment.uid).then(|| found.clone())
        });
        ready(Ok(found)).boxed()
    }

    fn manifests<'a>(
        &'a self,
        deployment: &'a Deployment,
    ) -> BoxFuture<'a, Result<Vec<String>, RecordError>> {
        let names = self.with(|state| {
            let own = state.manifests.iter().filter(|(_, (uid, ..))| *uid == deployment.uid);
            let mut own: Vec<_> = own.map(|(name, (_, at, _))| (*at, name.clone())).collect();
            own.sort();
            own.into_iter().map(|(_, name)| name).collect()
        });
        ready(Ok(names)).boxed()
    }

    fn create_manifest<'a>(
        &'a self,
        deployment: &'a Deployment,
        manifest: &'a Manifest,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        let created = self.with(|state| {
            if state.manifests.contains_key(&manifest.name) {
                return Err(RecordError::Conflict);
            }
            state.count += 1;
            state.writes += 1;
            // As it is stored: the plan has to survive it.
            let mut stored: Manifest = serde_json::from_value(json!(manifest)).unwrap();
            stored.name.clone_from(&manifest.name);
            let entry = (deployment.uid.clone(), state.count, stored);
            state.manifests.insert(manifest.name.clone(), entry);
            Ok(())
        });
        ready(created).boxed()
    }

    fn delete_manifest<'a>(
        &'a self,
        _: &'a Deployment,
        name: &'a str,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        self.with(|state| {
            if state.manifests.remove(name).is_some() {
                state.writes += 1;
            }
        });
        ready(Ok(())).boxed()
    }

    fn tell<'a>(
        &'a self,
        deployment: &'a Deployment,
        reason: &'a str,
        message: &'a str,
    ) -> BoxFuture<'a, ()> {
        let event = format!("{} {reason}: {message}", deployment.name);
        self.with(|state| state.events.push(event));
        ready(()).boxed()
    }
}
