//! A cluster: kinds, objects with what a cluster counts, server-side apply, deletion, and who may
//! what. Its controllers work when [`TwinCluster::tick`] is called, or at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use serde_json::{Value, json};

use super::merge::Owned;
use crate::cluster::{Access, Applied, Apply, Cluster, ClusterError, Kind, Mapping, Target, Verb};
use crate::types::Requester;

/// Group, resource, namespace and name.
type Key = (String, String, String, String);

/// A cluster in memory.
pub(crate) struct TwinCluster(Mutex<State>);

#[derive(Default)]
struct State {
    kinds: BTreeMap<Kind, Mapping>,
    objects: BTreeMap<Key, Owned>,
    /// User, verb and resource that may not be; the namespace too, unless it is empty.
    denied: BTreeSet<(String, &'static str, String, String)>,
    /// Whether controllers work and finalizers go only when the clock ticks.
    slow: bool,
    /// Objects by name that never become ready.
    stuck: BTreeSet<String>,
    /// Objects by name that are never gone.
    held: BTreeSet<String>,
    /// Objects by name that may not be deleted by anybody.
    refused: BTreeSet<String>,
    count: u64,
    /// What was changed, in order.
    log: Vec<String>,
    /// What was reviewed.
    reviews: Vec<Access>,
}

/// Where an object of a known kind is.
pub(crate) fn target(kind: &str, namespace: &str, name: &str) -> Target {
    let (api_version, resource) = match kind {
        "Deployment" => ("apps/v1", "deployments"),
        "ConfigMap" => ("v1", "configmaps"),
        "Secret" => ("v1", "secrets"),
        "Service" => ("v1", "services"),
        "Namespace" => ("v1", "namespaces"),
        "ClusterRole" => ("rbac.authorization.k8s.io/v1", "clusterroles"),
        "CustomResourceDefinition" => ("apiextensions.k8s.io/v1", "customresourcedefinitions"),
        "Crontab" => ("example.com/v1", "crontabs"),
        other => panic!("{other}?"),
    };
    Target {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        resource: resource.to_owned(),
        namespace: namespace.to_owned(),
        object_name: name.to_owned(),
    }
}

fn key(target: &Target) -> Key {
    let (group, _) = target.group_version();
    let Target { resource, namespace, object_name, .. } = target;
    (group.to_owned(), resource.clone(), namespace.clone(), object_name.clone())
}

impl TwinCluster {
    /// One with a few kinds and the namespaces `demo` and `elsewhere`.
    pub(crate) fn new() -> Self {
        let mut state = State::default();
        for kind in ["Deployment", "ConfigMap", "Secret", "Service"] {
            state.serve(&target(kind, "", ""), true);
        }
        for kind in ["Namespace", "ClusterRole", "CustomResourceDefinition"] {
            state.serve(&target(kind, "", ""), false);
        }
        let cluster = Self(Mutex::new(state));
        cluster.put(&target("Namespace", "", "demo"), &json!({}));
        cluster.put(&target("Namespace", "", "elsewhere"), &json!({}));
        cluster
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.lock().unwrap())
    }

    /// It has a kind of namespaced objects more.
    pub(crate) fn serve(&self, api_version: &str, kind: &str, resource: &str) {
        let (api_version, kind) = (api_version.to_owned(), kind.to_owned());
        let mapping = Mapping { resource: resource.to_owned(), namespaced: true };
        self.with(|state| state.kinds.insert(Kind { api_version, kind }, mapping));
    }

    /// From now on controllers work and objects go when the clock ticks.
    pub(crate) fn slow(&self) {
        self.with(|state| state.slow = true);
    }

    /// Objects of that name are not ready from now on, whatever happens.
    pub(crate) fn stick(&self, name: &str) {
        self.with(|state| state.stuck.insert(name.to_owned()));
    }

    /// Objects of that name may become ready again.
    pub(crate) fn unstick(&self, name: &str) {
        self.with(|state| state.stuck.remove(name));
        self.with(State::work);
    }

    /// Objects of that name cannot be deleted.
    pub(crate) fn refuse(&self, name: &str) {
        self.with(|state| state.refused.insert(name.to_owned()));
    }

    /// Objects of that name stay when they are deleted.
    pub(crate) fn hold(&self, name: &str) {
        self.with(|state| state.held.insert(name.to_owned()));
    }

    /// And now they go.
    pub(crate) fn unhold(&self, name: &str) {
        self.with(|state| state.held.remove(name));
        self.with(State::work);
    }

    /// Controllers and finalizers have worked.
    pub(crate) fn tick(&self) {
        self.with(State::work);
    }

    /// A user may not do that to a resource, in a namespace or, if it is empty, in any.
    pub(crate) fn deny(&self, user: &str, verb: Verb, resource: &str, namespace: &str) {
        let rule = (user.to_owned(), verb.as_str(), resource.to_owned(), namespace.to_owned());
        self.with(|state| state.denied.insert(rule));
    }

    /// A user may not do that to one object.
    pub(crate) fn deny_one(&self, user: &str, verb: Verb, target: &Target) {
        let resource = format!("{}/{}", target.resource, target.object_name);
        self.deny(user, verb, &resource, &target.namespace);
    }

    /// Everybody may do everything again.
    pub(crate) fn allow_all(&self) {
        self.with(|state| state.denied.clear());
    }

    /// Somebody who has nothing to do with all this makes an object, or replaces it.
    pub(crate) fn put(&self, target: &Target, object: &Value) {
        self.with(|state| {
            let mut whole = json!({
                "apiVersion": target.api_version, "kind": target.kind,
                "metadata": { "name": target.object_name },
            });
            if !target.namespace.is_empty() {
                whole["metadata"]["namespace"] = target.namespace.as_str().into();
            }
            let mut owned = Owned { object: whole, ..Owned::default() };
            owned.patch(object, "somebody");
            state.store(&key(target), None, owned);
        });
    }

    /// Somebody changes an object.
    pub(crate) fn edit(&self, target: &Target, patch: &Value) {
        self.with(|state| {
            let before = state.objects[&key(target)].clone();
            let mut after = before.clone();
            after.patch(patch, "somebody");
            state.store(&key(target), Some(&before), after);
        });
    }

    /// Somebody deletes an object, whatever holds it.
    pub(crate) fn lose(&self, target: &Target) {
        self.with(|state| state.objects.remove(&key(target)));
    }

    /// An object, as it is.
    pub(crate) fn see(&self, target: &Target) -> Option<Value> {
        self.with(|state| state.objects.get(&key(target)).map(|owned| owned.object.clone()))
    }

    /// All objects without what is another each time: uids, versions, times.
    pub(crate) fn all(&self) -> BTreeMap<String, Value> {
        self.with(|state| {
            let bare = |owned: &Owned| {
                let mut object = owned.object.clone();
                for counted in ["uid", "resourceVersion", "generation"] {
                    object["metadata"].as_object_mut().unwrap().remove(counted);
                }
                if let Some(status) = object.get_mut("status").and_then(Value::as_object_mut) {
                    status.remove("observedGeneration");
                }
                object
            };
            let named = |(key, owned): (&Key, &Owned)| (format!("{key:?}"), bare(owned));
            state.objects.iter().map(named).collect()
        })
    }

    /// Everything about one object, owners of fields included.
    pub(crate) fn every_byte(&self, target: &Target) -> String {
        self.with(|state| format!("{:?}", state.objects.get(&key(target))))
    }

    /// What was changed since this was asked last.
    pub(crate) fn log(&self) -> Vec<String> {
        self.with(|state| std::mem::take(&mut state.log))
    }

    /// What was reviewed since this was asked last.
    pub(crate) fn reviews(&self) -> Vec<Access> {
        self.with(|state| std::mem::take(&mut state.reviews))
    }
}

impl State {
    fn serve(&mut self, target: &Target, namespaced: bool) {
        let kind = Kind { api_version: target.api_version.clone(), kind: target.kind.clone() };
        self.kinds.insert(kind, Mapping { resource: target.resource.clone(), namespaced });
    }

    /// Without a name: whether all objects of the resource in the namespace may be treated so.
    fn check(&self, user: &Requester, verb: Verb, target: &Target) -> Result<(), ClusterError> {
        let Target { resource, namespace, object_name, .. } = target;
        let refused = self.denied.iter().any(|(of, what, which, place)| {
            let (which, name) = which.split_once('/').unwrap_or((which, ""));
            let one = name.is_empty() || object_name.is_empty() || name == object_name;
            let here = place.is_empty() || place == namespace;
            *of == user.username && *what == verb.as_str() && which == resource && one && here
        });
        if user.username.is_empty() || refused {
            let (user, verb) = (&user.username, verb.as_str());
            return Err(ClusterError::Forbidden(format!("{user} cannot {verb} {target}")));
        }
        Ok(())
    }

    /// The resource has to be served.
    fn served(&self, target: &Target) -> Result<(), ClusterError> {
        let found = self.kinds.iter().any(|(kind, mapping)| {
            kind.api_version == target.api_version && mapping.resource == target.resource
        });
        let missing = || ClusterError::NotFound(format!("no resource {}", target.resource));
        found.then_some(()).ok_or_else(missing)
    }

    fn namespace(&self, name: &str) -> Option<&Value> {
        Some(&self.objects.get(&key(&target("Namespace", "", name)))?.object)
    }

    /// Stores an object if it is another than before, and counts.
    fn store(&mut self, at: &Key, before: Option<&Owned>, mut after: Owned) -> Value {
        if before == Some(&after) {
            return after.object;
        }
        self.count += 1;
        let generation = before.map_or(0, |before| {
            before.object["metadata"]["generation"].as_i64().unwrap_or_default()
        });
        let spec = |owned: &Owned| {
            let mut object = owned.object.clone();
            let members = object.as_object_mut().unwrap();
            members.remove("metadata");
            members.remove("status");
            object
        };
        let same = before.is_some_and(|before| spec(before) == spec(&after));
        let metadata = &mut after.object["metadata"];
        metadata["generation"] = (generation + i64::from(!same)).into();
        metadata["resourceVersion"] = self.count.to_string().into();
        if before.is_none() {
            metadata["uid"] = format!("uid-{}", self.count).into();
        }
        if at.1 == "services" && after.object["spec"]["clusterIP"].is_null() {
            let sum: u64 = at.3.bytes().map(u64::from).sum();
            after.object["spec"]["clusterIP"] = format!("10.0.0.{}", sum % 256).into();
        }
        self.objects.insert(at.clone(), after);
        if !self.slow {
            self.work();
        }
        self.objects[at].object.clone()
    }

    /// What controllers and finalizers do.
    fn work(&mut self) {
        let going = |(key, owned): &(&Key, &Owned)| {
            owned.object["metadata"]["deletionTimestamp"].is_string() && !self.held.contains(&key.3)
        };
        let gone: Vec<Key> =
            self.objects.iter().filter(going).map(|(key, _)| key.clone()).collect();
        for key in gone {
            self.objects.remove(&key);
            if key.1 == "namespaces" {
                self.objects.retain(|other, _| other.2 != key.3);
            }
        }
        for (key, owned) in &mut self.objects {
            let ready = !self.stuck.contains(&key.3);
            match (status(&key.1, &owned.object["spec"], ready), &mut owned.object) {
                (Value::Null, _) => {}
                (mut status, object) => {
                    status["observedGeneration"] = object["metadata"]["generation"].clone();
                    object["status"] = status;
                }
            }
            if key.1 == "customresourcedefinitions" && ready {
                let spec = &owned.object["spec"];
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let kind = Kind {
                    api_version: format!("{}/v1", text(&spec["group"])),
                    kind: text(&spec["names"]["kind"]),
                };
                let resource = text(&spec["names"]["plural"]);
                self.kinds
                    .insert(kind, Mapping { resource, namespaced: spec["scope"] == "Namespaced" });
            }
        }
    }
}

/// The status that a controller gives an object.
fn status(resource: &str, spec: &Value, ready: bool) -> Value {
    let state = if ready { "True" } else { "False" };
    match resource {
        "deployments" => {
            let replicas = spec["replicas"].as_i64().unwrap_or(1);
            let ready = if ready { replicas } else { 0 };
            json!({
                "replicas": replicas, "updatedReplicas": replicas,
                "availableReplicas": ready, "readyReplicas": ready,
                "conditions": [{ "type": "Available", "status": state }],
            })
        }
        "namespaces" => json!({ "phase": "Active" }),
        "customresourcedefinitions" => {
            json!({ "conditions": [{ "type": "Established", "status": state }] })
        }
        _ => Value::Null,
    }
}

impl Cluster for TwinCluster {
    fn mapping<'a>(
        &'a self,
        kind: &'a Kind,
    ) -> BoxFuture<'a, Result<Option<Mapping>, ClusterError>> {
        ready(Ok(self.with(|state| state.kinds.get(kind).cloned()))).boxed()
    }

    fn review<'a>(
        &'a self,
        user: &'a Requester,
        access: &'a Access,
    ) -> BoxFuture<'a, Result<Result<(), String>, ClusterError>> {
        let answer = self.with(|state| {
            state.reviews.push(access.clone());
            state.check(user, access.verb, &access.target).map_err(|_| "by the table".to_owned())
        });
        ready(Ok(answer)).boxed()
    }

    fn get<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
    ) -> BoxFuture<'a, Result<Option<Value>, ClusterError>> {
        let found = self.with(|state| {
            state.check(user, Verb::Get, target)?;
            Ok(state.objects.get(&key(target)).map(|owned| owned.object.clone()))
        });
        ready(found).boxed()
    }

    fn apply<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
        apply: Apply<'a>,
    ) -> BoxFuture<'a, Result<Applied, ClusterError>> {
        ready(self.with(|state| applied(state, user, target, &apply))).boxed()
    }

    fn patch<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
        patch: &'a Value,
    ) -> BoxFuture<'a, Result<(), ClusterError>> {
        let patched = self.with(|state| {
            state.check(user, Verb::Patch, target)?;
            let before = state.objects.get(&key(target)).cloned();
            let before = before.ok_or_else(|| ClusterError::NotFound(target.to_string()))?;
            let uid = &patch["metadata"]["uid"];
            if !uid.is_null() && *uid != before.object["metadata"]["uid"] {
                return Err(ClusterError::Conflict("another uid".to_owned()));
            }
            let mut after = before.clone();
            after.patch(patch, "formwork");
            state.log.push(format!("patch {target}"));
            state.store(&key(target), Some(&before), after);
            Ok(())
        });
        ready(patched).boxed()
    }

    fn delete<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
        uid: &'a str,
    ) -> BoxFuture<'a, Result<(), ClusterError>> {
        let deleted = self.with(|state| {
            state.check(user, Verb::Delete, target)?;
            if state.refused.contains(&target.object_name) {
                return Err(ClusterError::Invalid("a webhook says no".to_owned()));
            }
            let Some(owned) = state.objects.get_mut(&key(target)) else { return Ok(()) };
            let metadata = &mut owned.object["metadata"];
            if metadata["uid"] != uid {
                return Err(ClusterError::Conflict("another uid".to_owned()));
            }
            metadata["deletionTimestamp"] = "1970-01-01T00:00:00Z".into();
            state.log.push(format!("delete {target}"));
            if !state.slow {
                state.work();
            }
            Ok(())
        });
        ready(deleted).boxed()
    }

    fn is_ending<'a>(&'a self, namespace: &'a str) -> BoxFuture<'a, Result<bool, ClusterError>> {
        let ending = self.with(|state| {
            let found = state.namespace(namespace);
            found.is_none_or(|found| found["metadata"]["deletionTimestamp"].is_string())
        });
        ready(Ok(ending)).boxed()
    }
}

fn applied(
    state: &mut State,
    user: &Requester,
    target: &Target,
    apply: &Apply<'_>,
) -> Result<Value, ClusterError> {
    let &Apply { object, manager, force, dry_run } = apply;
    state.check(user, Verb::Patch, target)?;
    state.served(target)?;
    if !target.namespace.is_empty() {
        let missing = || ClusterError::NotFound(format!("no namespace {}", target.namespace));
        let namespace = state.namespace(&target.namespace).ok_or_else(missing)?;
        if namespace["metadata"]["deletionTimestamp"].is_string() {
            return Err(ClusterError::Forbidden("the namespace is being terminated".to_owned()));
        }
    }
    let before = state.objects.get(&key(target)).cloned();
    let presumed = &object["metadata"]["resourceVersion"];
    let version = before.as_ref().map(|before| &before.object["metadata"]["resourceVersion"]);
    if !presumed.is_null() && version != Some(presumed) {
        return Err(ClusterError::Conflict("the object has been modified".to_owned()));
    }
    if object["data"].get("invalid").is_some() {
        return Err(ClusterError::Invalid("data.invalid: Invalid value".to_owned()));
    }
    if before.is_none() {
        state.check(user, Verb::Create, target)?;
    }
    let mut identity = json!({
        "apiVersion": target.api_version, "kind": target.kind,
        "metadata": { "name": target.object_name },
    });
    if !target.namespace.is_empty() {
        identity["metadata"]["namespace"] = target.namespace.as_str().into();
    }
    let mut after =
        before.clone().unwrap_or_else(|| Owned { object: identity, ..Owned::default() });
    after.apply(object, manager, force)?;
    if dry_run {
        return Ok(after.object);
    }
    let created = if before.is_some() { "apply" } else { "create" };
    state.log.push(format!("{created} {target}"));
    Ok(state.store(&key(target), before.as_ref(), after))
}
