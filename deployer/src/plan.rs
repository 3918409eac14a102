//! What is to be done, settled once: which object each resource is, where it goes, in which wave, and
//! whose values it needs.
//!
//! Everything after this goes by the plan and asks nothing again, so that what is reviewed is what is
//! done.

mod object;
mod order;

use std::collections::{BTreeMap, BTreeSet};

use expansion::{Expanded, Link, Target as Referent};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cluster::{Cluster, ClusterError, Kind, Mapping, Target};

pub(crate) use object::{OWNER, Owner, Placed, bare, json, owner};

/// What is applied, in which order, and where to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The resources, in the order of the expanded configuration.
    pub resources: Vec<Planned>,
    /// What the configuration says to others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<PlannedOutput>,
    /// The Deployments whose outputs are needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deployments: Vec<String>,
}

/// A resource, and the object that it becomes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Planned {
    /// Its name in the configuration.
    pub name: String,
    /// The object.
    #[serde(flatten)]
    pub target: Target,
    /// The wave in which it is applied; the first is 0.
    pub wave: usize,
    /// References in it, which are replaced when it is applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
}

/// An output, with the references in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedOutput {
    /// Its name.
    pub name: String,
    /// Its value, as far as it is known before anything is applied.
    #[serde(default)]
    pub value: Value,
    /// References in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
}

/// A reference to something that is known only later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// All of it, as it stands in the text.
    pub text: String,
    /// Whose value it is.
    #[serde(flatten)]
    pub of: Of,
    /// Where in that; all of it, unless it is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Whose value a reference stands for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Of {
    /// That of the object of a resource, by its position in the plan.
    Resource(usize),
    /// An output of another Deployment.
    Deployment(String),
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .problems.join("\n"))]
pub struct PlanError {
    /// Everything that is wrong, each with the resource that it is wrong with.
    pub problems: Vec<String>,
    /// The same in one word, as conditions give reasons.
    pub reason: &'static str,
    /// Whether waiting alone may help.
    pub passes: bool,
}

impl PlanError {
    /// Only another configuration helps.
    fn invalid(problems: Vec<String>) -> Self {
        Self { problems, reason: "Invalid", passes: false }
    }
}

impl Plan {
    /// Settles what is to be done. Objects without a namespace go to `namespace`.
    ///
    /// # Errors
    /// When a resource is no object, or one of a kind that the cluster does not have, or the same
    /// object as another; when a reference is about nothing; when the cluster cannot be asked.
    pub async fn make(
        expanded: &Expanded,
        namespace: &str,
        cluster: &dyn Cluster,
    ) -> Result<Self, PlanError> {
        let names: Vec<String> = expanded.resources.iter().map(object::name).collect();
        let objects = objects(&names, expanded)?;
        let mappings = mappings(&objects, cluster).await?;
        let targets = targets(&names, &objects, &mappings, namespace)?;
        let waves = order::waves(&expanded.links, &objects, &targets);
        let mut problems = repeated(&names, &targets);
        let mut deployments = BTreeSet::new();
        let mut resources = Vec::new();
        for (at, target) in targets.into_iter().enumerate() {
            let (links, name) = (&expanded.links[at], names[at].clone());
            let (references, mut wrong) = references(&links.references, &mut deployments);
            let nobody = |name| format!("metadata.dependsOn: there is no resource {name}");
            wrong.extend(links.missing.iter().map(nobody));
            problems.extend(wrong.into_iter().map(|wrong| format!("resource {name}: {wrong}")));
            resources.push(Planned { name, target, wave: waves[at], references });
        }
        let mut outputs = Vec::new();
        for expansion::Output { name, value } in &expanded.outputs {
            if object::is_too_deep(value) {
                problems.push(format!("output {name}: {}", object::TOO_DEEP));
                continue;
            }
            let text = value.to_json();
            let used = expanded.output_links.iter().filter(|link| says(&text, &link.text));
            let (references, wrong) = references(used, &mut deployments);
            problems.extend(wrong.into_iter().map(|wrong| format!("output {name}: {wrong}")));
            let (name, value) = (name.clone(), object::json(value));
            outputs.push(PlannedOutput { name, value, references });
        }
        if !problems.is_empty() {
            return Err(PlanError::invalid(problems));
        }
        let deployments = deployments.into_iter().collect();
        Ok(Self { resources, outputs, deployments })
    }

    /// How many waves there are.
    pub fn waves(&self) -> usize {
        self.resources.iter().map(|resource| resource.wave + 1).max().unwrap_or_default()
    }
}

/// Whether a value, as JSON text, has a text in it.
fn says(json: &str, text: &str) -> bool {
    let text = Value::from(text).to_string();
    json.contains(text.trim_matches('"'))
}

/// The objects that resources become.
fn objects(names: &[String], expanded: &Expanded) -> Result<Vec<object::Object>, PlanError> {
    let (mut objects, mut problems) = (Vec::new(), Vec::new());
    for (name, resource) in names.iter().zip(&expanded.resources) {
        match object::read(resource) {
            Ok(object) => objects.push(object),
            Err(wrong) => {
                problems.extend(wrong.into_iter().map(|wrong| format!("resource {name}: {wrong}")));
            }
        }
    }
    if problems.is_empty() { Ok(objects) } else { Err(PlanError::invalid(problems)) }
}

/// Where the objects go.
fn targets(
    names: &[String],
    objects: &[object::Object],
    mappings: &BTreeMap<Kind, Mapping>,
    namespace: &str,
) -> Result<Vec<Target>, PlanError> {
    let (mut targets, mut problems) = (Vec::new(), Vec::new());
    for (name, object) in names.iter().zip(objects) {
        match object.place(mappings.get(&object.kind), namespace) {
            Ok(target) => targets.push(target),
            Err(wrong) => problems.push(format!("resource {name}: {wrong}")),
        }
    }
    if problems.is_empty() {
        return Ok(targets);
    }
    // Somebody may install the kind.
    Err(PlanError { problems, reason: "NotFound", passes: true })
}

/// Where the kinds of objects are found: in the cluster, or made by the plan itself.
async fn mappings(
    objects: &[object::Object],
    cluster: &dyn Cluster,
) -> Result<BTreeMap<Kind, Mapping>, PlanError> {
    let mut mappings = BTreeMap::new();
    let mut own: BTreeMap<_, _> =
        objects.iter().filter_map(object::Object::defines).flatten().collect();
    for kind in objects.iter().map(|object| &object.kind).collect::<BTreeSet<_>>() {
        let found = cluster.mapping(kind).await.map_err(|error| PlanError {
            reason: error.reason(),
            passes: error.passes() || matches!(error, ClusterError::Forbidden(_)),
            problems: vec![format!("{kind}: {error}")],
        })?;
        mappings.extend(found.or_else(|| own.remove(kind)).map(|found| (kind.clone(), found)));
    }
    Ok(mappings)
}

/// What is wrong with resources that are the same object.
fn repeated(names: &[String], targets: &[Target]) -> Vec<String> {
    let mut seen: BTreeMap<_, &str> = BTreeMap::new();
    let mut problems = Vec::new();
    for (name, target) in names.iter().zip(targets) {
        let (group, _) = target.group_version();
        let identity = (group, &target.resource, &target.namespace, &target.object_name);
        if let Some(first) = seen.insert(identity, name) {
            problems.push(format!("resources {first} and {name} are both {target}"));
        }
    }
    problems
}

/// References as a plan has them, and what is not clear about some.
fn references<'a>(
    links: impl IntoIterator<Item = &'a Link>,
    deployments: &mut BTreeSet<String>,
) -> (Vec<Reference>, Vec<String>) {
    let (mut found, mut unclear) = (Vec::new(), Vec::new());
    for Link { text, target, path } in links {
        let of = match target {
            Referent::Resource(at) => Ok(Of::Resource(*at)),
            Referent::Deployment(name) => Ok(Of::Deployment(name.clone())),
            Referent::Ambiguous => Err(format!("{text} could be about several resources")),
            Referent::Template => Err(format!("{text} is about a template without such an output")),
            Referent::Unknown => Err(format!("{text} is about a resource that is not there")),
            Referent::Malformed => Err(format!("malformed reference: {text}")),
        };
        match of {
            Ok(of) => {
                deployments.extend(match &of {
                    Of::Deployment(name) => Some(name.clone()),
                    Of::Resource(_) => None,
                });
                found.push(Reference { text: text.clone(), of, path: path.clone() });
            }
            Err(why) => unclear.push(why),
        }
    }
    (found, unclear)
}

#[cfg(test)]
mod tests;
