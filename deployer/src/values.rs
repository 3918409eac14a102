//! Values of live objects, and of other Deployments, for the references that stand for them.

use std::collections::BTreeMap;

use expansion::references;
use futures::FutureExt as _;
use serde_json::{Map, Value};

use crate::authorize::Authorized;
use crate::begin::other;
use crate::cluster::Verb;
use crate::deployer::{Next, Pass, Step};
use crate::plan::{Of, Plan, PlannedOutput, Reference};
use crate::together::together;
use crate::types::Output;

/// What is known, as far as it was asked for.
pub(crate) struct Values {
    /// The objects of resources, by their positions in the plan; none for one that is not there.
    live: BTreeMap<usize, Option<Value>>,
    /// Outputs of other Deployments.
    outputs: BTreeMap<String, Value>,
    plan: Vec<crate::cluster::Target>,
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

    /// Reads objects as the requester.
    pub(crate) async fn read(
        &mut self,
        pass: &mut Pass<'_>,
        at: impl Iterator<Item = usize>,
    ) -> Step<()> {
        let (cluster, user) = (pass.cluster(), pass.deployment.spec.requester.clone());
        let (plan, user) = (&self.plan, &user);
        let reads = at.map(|at| async move { (at, cluster.get(user, &plan[at]).await) }.boxed());
        let reads = together(reads).await;
        for (at, read) in reads {
            match read {
                Ok(live) => _ = self.live.insert(at, live),
                Err(error) => {
                    let message = format!("{}: {error}", self.plan[at]);
                    pass.fail("Ready", error.reason(), &message).await?;
                    return Err(Next::Retry);
                }
            }
        }
        Ok(())
    }

    /// Reads what references are about, unless it is known.
    pub(crate) async fn gather<'r>(
        &mut self,
        pass: &mut Pass<'_>,
        authorized: &Authorized,
        references: impl Iterator<Item = &'r Reference>,
    ) -> Step<()> {
        let mut objects = Vec::new();
        for reference in references {
            match &reference.of {
                Of::Resource(at) if !self.knows(*at) && !objects.contains(at) => objects.push(*at),
                Of::Resource(_) => {}
                Of::Deployment(name) => self.ask(pass, authorized, name).await?,
            }
        }
        self.read(pass, objects.into_iter()).await
    }

    /// Reads the outputs of another Deployment.
    async fn ask(&mut self, pass: &Pass<'_>, authorized: &Authorized, name: &str) -> Step<()> {
        let namespace = &pass.deployment.namespace;
        if self.outputs.contains_key(name)
            || authorized.user(Verb::Get, &other(namespace, name)).is_err()
        {
            return Ok(());
        }
        if let Some(other) = pass.deployer.records.deployment(namespace, name).await? {
            let pairs =
                other.status.outputs.into_iter().map(|Output { name, value }| (name, value));
            self.outputs.insert(name.to_owned(), Value::Object(pairs.collect::<Map<_, _>>()));
        }
        Ok(())
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
        references::substitute(&mut value, &mut |text| {
            let reference = found.iter().find(|reference| reference.text == text);
            reference.map(|reference| self.value(reference)).transpose()
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
