//! The life of some ConfigMaps, in one of two ways.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};
use tests::kubectl::Kubectl;

/// What is timed in a turn.
pub(crate) const STEPS: [&str; 3] = ["create", "change one of", "delete"];

/// Who looks after the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// A Deployment of ours.
    Deployment,
    /// kubectl alone, by server-side apply.
    Kubectl,
}

impl Side {
    /// How long each of [`STEPS`] takes in an empty namespace.
    pub(crate) fn turn(self, kubectl: &Kubectl, objects: usize) -> Result<[Duration; 3]> {
        let first = self.wanted(objects, "before");
        let second = self.wanted(objects, "after");
        let create = timed(|| self.apply(kubectl, &first))?;
        let change = timed(|| self.apply(kubectl, &second))?;
        let delete = timed(|| self.delete(kubectl, &second))?;
        Ok([create, change, delete])
    }

    /// The objects, the first of which says something, as this side is told.
    fn wanted(self, objects: usize, said: &str) -> String {
        let objects = (0..objects).map(|at| {
            json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": format!("c{at}") },
                "data": { "text": if at == 0 { said } else { "the same" } },
            })
        });
        match self {
            Self::Kubectl => {
                let items: Vec<Value> = objects.collect();
                json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string()
            }
            Self::Deployment => {
                let resource = |object: Value| json!({ "name": object["metadata"]["name"], "type": "ConfigMap", "properties": object });
                let resources: Vec<_> = objects.map(resource).collect();
                let configuration = json!({ "resources": resources }).to_string();
                json!({
                    "apiVersion": "dm.formwork.dev/v1alpha1", "kind": "Deployment",
                    "metadata": { "name": "bench" }, "spec": { "configuration": configuration },
                })
                .to_string()
            }
        }
    }

    fn apply(self, kubectl: &Kubectl, wanted: &str) -> Result<()> {
        if self == Self::Kubectl {
            kubectl.ok_with(&["apply", "--server-side", "-f", "-"], wanted)?;
            return Ok(());
        }
        kubectl.ok_with(&["apply", "-f", "-"], wanted)?;
        let which = "deployments.dm.formwork.dev/bench";
        kubectl.ok(&["wait", "--for=condition=Ready", which, "--timeout=300s"])?;
        Ok(())
    }

    fn delete(self, kubectl: &Kubectl, wanted: &str) -> Result<()> {
        kubectl.ok_with(&["delete", "-f", "-"], wanted)?;
        Ok(())
    }
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed())
}
