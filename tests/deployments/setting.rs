//! A namespace in a cluster where Deployments are carried out and pods run, and what is done there.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::cluster::{Cluster, Routing};
use tests::installation::{Installation, Serving, Store};
use tests::kubectl::Kubectl;
use tests::kubelet::Kubelet;

/// A server that carries out Deployments in a cluster where pods run.
#[derive(Debug)]
struct Shared {
    // Before the cluster, which it follows.
    _kubelet: Kubelet,
    serving: Arc<Serving>,
}

impl Shared {
    fn get() -> Result<Arc<Self>> {
        static SHARED: Mutex<Weak<Shared>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = shared.upgrade() {
            return Ok(found);
        }
        let made = Arc::new(Self::of(Installation::shared()?)?);
        *shared = Arc::downgrade(&made);
        Ok(made)
    }

    fn of(serving: Arc<Serving>) -> Result<Self> {
        let kubelet = Kubelet::start(serving.installation.cluster())?;
        Ok(Self { _kubelet: kubelet, serving })
    }
}

/// A namespace of its own for a test.
pub(crate) struct Setting {
    shared: Arc<Shared>,
    /// The administrator, in that namespace.
    pub(crate) kubectl: Kubectl,
}

impl Setting {
    pub(crate) fn new() -> Result<Self> {
        Self::of(Shared::get()?)
    }

    /// One in a cluster of its own, for a server with other flags.
    pub(crate) fn with(flags: &[&str]) -> Result<Self> {
        Self::on(Store::Embedded, flags)
    }

    /// The same for a server on another store.
    pub(crate) fn on(store: Store, flags: &[&str]) -> Result<Self> {
        let cluster = Arc::new(Cluster::start(Routing::Off)?);
        let serving = Serving::start_with(cluster, store, flags)?;
        Self::of(Arc::new(Shared::of(Arc::new(serving))?))
    }

    fn of(shared: Arc<Shared>) -> Result<Self> {
        let kubectl = shared.serving.installation.cluster().namespace()?;
        // Without it no pod may be made.
        kubectl.ok(&["wait", "--for=create", "serviceaccount/default", "--timeout=60s"])?;
        Ok(Self { shared, kubectl })
    }

    pub(crate) fn serving(&self) -> &Serving {
        &self.shared.serving
    }

    /// `alice` or `bob`, in the namespace.
    pub(crate) fn user(&self, name: &str) -> Result<Kubectl> {
        let cluster = self.serving().installation.cluster();
        Ok(cluster.kubectl(name)?.in_namespace(&self.kubectl.namespace))
    }

    /// Applies a Deployment as the administrator.
    pub(crate) fn apply(&self, name: &str, spec: &Value) -> Result<()> {
        self.kubectl.ok_with(&["apply", "-f", "-"], &deployment(name, spec))?;
        Ok(())
    }

    /// Waits until a Deployment is as it is wanted.
    pub(crate) fn await_ready(&self, name: &str) -> Result<()> {
        let ready = ["wait", "--for=condition=Ready", &dmd(name), "--timeout=90s"];
        self.kubectl.ok(&ready).with_context(|| self.yaml(name))?;
        Ok(())
    }

    /// Waits until a Deployment has a condition that is not so, for a reason, and answers the message.
    pub(crate) fn await_refusal(&self, name: &str, kind: &str, reason: &str) -> Result<String> {
        let path = format!("jsonpath={{.status.conditions[?(@.type==\"{kind}\")]}}");
        let found = self.kubectl.until(&["get", &dmd(name), "-o", &path], |found| {
            let condition: Value = serde_json::from_str(found).unwrap_or_default();
            condition["status"] == "False" && condition["reason"] == reason
        });
        let condition: Value = serde_json::from_str(&found.with_context(|| self.yaml(name))?)?;
        Ok(condition["message"].as_str().unwrap_or_default().to_owned())
    }

    /// Something of an object.
    pub(crate) fn read(&self, object: &str, path: &str) -> Result<String> {
        self.kubectl.ok(&["get", object, "-o", &format!("jsonpath={{{path}}}")])
    }

    /// An object, whole.
    pub(crate) fn object(&self, object: &str) -> Result<Value> {
        Ok(serde_json::from_str(&self.kubectl.ok(&["get", object, "-o", "json"])?)?)
    }

    /// Whether an object is there.
    pub(crate) fn exists(&self, object: &str) -> Result<bool> {
        Ok(!self.kubectl.ok(&["get", object, "--ignore-not-found", "-o", "name"])?.is_empty())
    }

    fn yaml(&self, name: &str) -> String {
        self.kubectl.ok(&["get", &dmd(name), "-o", "yaml"]).unwrap_or_default()
    }
}

/// What kubectl calls a Deployment of ours.
pub(crate) fn dmd(name: &str) -> String {
    format!("deployments.dm.formwork.dev/{name}")
}

/// A Deployment as JSON text.
pub(crate) fn deployment(name: &str, spec: &Value) -> String {
    json!({
        "apiVersion": "dm.formwork.dev/v1alpha1",
        "kind": "Deployment",
        "metadata": { "name": name },
        "spec": spec,
    })
    .to_string()
}

/// A spec of these resources.
pub(crate) fn resources(resources: &Value) -> Value {
    json!({ "configuration": json!({ "resources": resources }).to_string() })
}

/// A resource that is a ConfigMap.
pub(crate) fn config_map(name: &str, data: &Value) -> Value {
    json!({ "name": name, "type": "ConfigMap", "properties": {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": data,
    }})
}

/// A spec of one of the examples: a configuration, and all other files of its folder as imports.
pub(crate) fn example(folder: &str, configuration: &str) -> Result<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(folder);
    let mut imports = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name().into_string().ok().context("a name in UTF-8")?;
        if [".py", ".jinja", ".schema"].iter().any(|suffix| name.ends_with(suffix)) {
            let content = fs::read_to_string(folder.join(&name))?;
            imports.push(json!({ "path": name, "content": content }));
        }
    }
    let configuration = fs::read_to_string(folder.join(configuration))?;
    Ok(json!({ "configuration": configuration, "imports": imports }))
}
