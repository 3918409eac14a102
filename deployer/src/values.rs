//! Values of live objects, and of other Deployments, for the references that stand for them.

use std::collections::{BTreeMap, BTreeSet};

use expansion::references;
use futures::FutureExt as _;
use serde_json::{Map, Value};

use crate::authorize::{Changes, Denied, authorize};
use crate::changes::own;
use crate::cluster::{ClusterError, Target};
use crate::pass::{Next, Pass, Step};
use crate::plan::{Of, Owner, Plan, PlannedOutput, Reference, owner};
use crate::together::together;
use crate::types::{Deployment, Output};

/// As many bytes may come in by the references of one resource; no cluster stores an object that is
/// larger.
const LARGEST: usize = 4 << 20;

/// What is known, as far as it was asked for.
pub(crate) struct Values {
    /// The objects of resources, by their positions in the plan; none for one that is not there.
    live: BTreeMap<usize, Option<Value>>,
    /// Outputs of other Deployments.
    outputs: BTreeMap<String, Value>,
    plan: Vec<Target>,
}

/// Why a reference cannot be replaced yet.
pub(crate) struct Unknown(pub(crate) String);

impl From<references::Malformed> for Unknown {
    fn from(malformed: references::Malformed) -> Self {
        Self(malformed.to_string())
    }
}

impl Values {
    /// Nothing is known of the objects of a plan.
    pub(crate) fn new(plan: &Plan) -> Self {
        let plan = plan.resources.iter().map(|planned| planned.target.clone()).collect();
        Self { live: BTreeMap::new(), outputs: BTreeMap::new(), plan }
    }

    /// The object of a resource was seen.
    pub(crate) fn know(&mut self, at: usize, live: Value) {
        self.live.insert(at, Some(live));
    }

    /// Whether it was seen.
    pub(crate) fn knows(&self, at: usize) -> bool {
        self.live.contains_key(&at)
    }

    /// The object of a resource.
    pub(crate) fn live(&self, at: usize) -> Option<&Value> {
        self.live.get(&at)?.as_ref()
    }

    /// Whether the object of a resource is there and belongs to a Deployment.
    pub(crate) fn is_ours(&self, at: usize, deployment: &Deployment) -> bool {
        self.live(at).is_some_and(|live| owner(live, &deployment.uid) == Owner::Us)
    }

    /// Reads objects as the requester, as far as that goes; answers those that cannot be read.
    pub(crate) async fn look(
        &mut self,
        pass: &Pass<'_>,
        at: impl Iterator<Item = usize>,
    ) -> BTreeMap<usize, ClusterError> {
        let (cluster, user) = (pass.cluster(), &pass.deployment.spec.requester);
        let plan = &self.plan;
        let reads = at.map(|at| async move { (at, cluster.get(user, &plan[at]).await) }.boxed());
        let reads = together(reads).await;
        let mut unread = BTreeMap::new();
        for (at, read) in reads {
            match read {
                Ok(live) => _ = self.live.insert(at, live),
                Err(error) => _ = unread.insert(at, error),
            }
        }
        unread
    }

    /// Reads objects as the requester. It ends the pass if one cannot be read.
    pub(crate) async fn read(
        &mut self,
        pass: &mut Pass<'_>,
        at: impl Iterator<Item = usize>,
    ) -> Step<()> {
        let Some((at, error)) = self.look(pass, at).await.pop_first() else { return Ok(()) };
        let message = format!("{}: {error}", self.plan[at]);
        pass.fail("Ready", error.reason(), &message).await?;
        Err(Next::Retry)
    }

    /// Reads what references are about, unless it is known.
    pub(crate) async fn gather<'r>(
        &mut self,
        pass: &mut Pass<'_>,
        references: impl Iterator<Item = &'r Reference>,
    ) -> Step<()> {
        let (mut objects, mut deployments) = (BTreeSet::new(), BTreeSet::new());
        for reference in references {
            match &reference.of {
                Of::Resource(at) if self.knows(*at) => {}
                Of::Resource(at) => _ = objects.insert(*at),
                Of::Deployment(name) => _ = deployments.insert(name.as_str()),
            }
        }
        if let Err(denied) = self.ask(pass, deployments).await? {
            return pass.denied(denied).await;
        }
        self.read(pass, objects.into_iter()).await
    }

    /// Reads the outputs of other Deployments, if the requester may read those.
    pub(crate) async fn ask(
        &mut self,
        pass: &Pass<'_>,
        names: impl IntoIterator<Item = &str>,
    ) -> Step<Result<(), Denied>> {
        let namespace = &pass.deployment.namespace;
        let unknown = names.into_iter().filter(|name| !self.outputs.contains_key(*name));
        let others: Vec<_> = unknown.map(|name| own("Deployment", namespace, name)).collect();
        let changes = Changes::default().read(&others);
        if let Err(denied) =
            authorize(pass.cluster(), &pass.deployment.spec.requester, changes).await
        {
            return Ok(Err(denied));
        }
        for Target { object_name: name, .. } in others {
            if let Some(other) = pass.means.records.deployment(namespace, &name).await? {
                let pairs =
                    other.status.outputs.into_iter().map(|Output { name, value }| (name, value));
                self.outputs.insert(name, Value::Object(pairs.collect::<Map<_, _>>()));
            }
        }
        Ok(Ok(()))
    }

    /// A value with its references replaced.
    ///
    /// # Errors
    /// When one of them stands for something that is not there, or not yet.
    pub(crate) fn replaced(&self, found: &[Reference], value: &Value) -> Result<Value, Unknown> {
        if found.is_empty() {
            return Ok(value.clone());
        }
        let mut value: expansion::Value =
            serde_json::from_value(value.clone()).map_err(|error| Unknown(error.to_string()))?;
        let mut size = 0;
        references::substitute(&mut value, &mut |text| {
            let reference = found.iter().find(|reference| reference.text == text);
            let found = reference.map(|reference| self.value(reference)).transpose()?;
            size += found.as_ref().map_or(0, expansion::Value::size);
            if size > LARGEST {
                return Err(Unknown(format!(
                    "the values of its references exceed {LARGEST} bytes"
                )));
            }
            Ok(found)
        })?;
        Ok(crate::plan::json(&value))
    }

    /// What a reference stands for.
    fn value(&self, reference: &Reference) -> Result<expansion::Value, Unknown> {
        let Reference { text, of, path } = reference;
        let whole = match of {
            Of::Resource(at) => self.live(*at).ok_or_else(|| {
                Unknown(format!("waits for {text}: {} is not there", self.plan[*at]))
            })?,
            Of::Deployment(name) => self.outputs.get(name).ok_or_else(|| {
                Unknown(format!("waits for {text}: there is no Deployment {name}"))
            })?,
        };
        let whole: expansion::Value =
            serde_json::from_value(whole.clone()).map_err(|error| Unknown(error.to_string()))?;
        let Some(path) = path else { return Ok(whole) };
        references::find(&whole, path)
            .map_err(|_| Unknown(format!("waits for {text}: there is no {path} in it yet")))
    }

    /// The outputs of a configuration.
    ///
    /// # Errors
    /// As [`Values::replaced`].
    pub(crate) fn outputs(&self, planned: &[PlannedOutput]) -> Result<Vec<Output>, Unknown> {
        let output = |PlannedOutput { name, value, references }: &PlannedOutput| {
            let value = self.replaced(references, value)?;
            Ok(Output { name: name.clone(), value })
        };
        planned.iter().map(output).collect()
    }
}
