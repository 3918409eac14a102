//! The layouts of what is deployed now: of every Deployment the one in its current Manifest.
//!
//! What cannot be read is left out and logged: one Deployment must not hide all others.

use std::borrow::Cow;

use apiserver::meta::{ObjectMeta, Time};
use apiserver::object::{Fields, Object};
use apiserver::resource::Definition;
use apiserver::status::Error;
use apiserver::store::View;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::kinds;

/// Where layouts are found.
pub(super) struct Layouts {
    deployments: Definition,
    manifests: Definition,
}

/// The current Manifest of a Deployment.
pub(super) struct Layout {
    /// The Deployment.
    pub(super) deployment: String,
    manifest: Object,
}

/// A resource in a layout.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Node<'a> {
    /// Where it stands: among the resources of the configuration, among those of that one, and so on.
    pub(super) place: Vec<usize>,
    /// Its name.
    pub(super) name: Cow<'a, str>,
    /// Its type.
    pub(super) kind: Cow<'a, str>,
}

/// What is read of a resource. Those below it stay text until their turn comes, so that no depth is
/// too deep.
#[derive(Deserialize)]
struct Resource<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    resources: Vec<&'a RawValue>,
}

/// What is read of the status of a Deployment.
#[derive(Default, Deserialize)]
struct Status {
    manifest: Option<String>,
    deployed: Option<String>,
}

impl Layouts {
    pub(super) fn new() -> Self {
        Self { deployments: kinds::deployment(), manifests: kinds::manifest() }
    }

    /// Those of a namespace, or of all where it is empty, by namespace and Deployment: what was last
    /// applied in full, else what is being applied.
    ///
    /// # Errors
    /// When Deployments cannot be listed.
    pub(super) fn current(&self, view: &View, namespace: &str) -> Result<Vec<Layout>, Error> {
        let found = view.list(&self.deployments, namespace)?.map(|deployment| {
            let Object { meta, fields } = deployment?;
            let status: Status = fields
                .get("status")
                .map_or_else(|| Ok(Status::default()), serde_json::from_str)
                .map_err(Error::internal)?;
            let Some(name) = status.deployed.or(status.manifest) else { return Ok(None) };
            let manifest = view.get(&self.manifests, &meta.namespace, &name)?;
            // One of the same name may be left over from an earlier Deployment.
            let own = |manifest: &Object| {
                manifest.meta.owner_references.iter().any(|owner| owner.uid == meta.uid)
            };
            let manifest = manifest.filter(own);
            Ok(manifest.map(|manifest| Layout { deployment: meta.name, manifest }))
        });
        let told = |error: &Error| tracing::warn!(%error, "a Deployment's layout is left out");
        Ok(found.filter_map(|found| found.inspect_err(told).ok().flatten()).collect())
    }
}

impl Layout {
    /// The Manifest that it is of.
    pub(super) fn manifest(&self) -> &str {
        &self.manifest.meta.name
    }

    /// When the Manifest was made.
    pub(super) fn created(&self) -> Option<Time> {
        self.manifest.meta.creation_timestamp
    }

    /// The metadata of something that follows from this layout alone.
    pub(super) fn metadata(&self, name: String) -> ObjectMeta {
        ObjectMeta {
            name,
            namespace: self.namespace().to_owned(),
            resource_version: self.manifest.meta.resource_version.clone(),
            creation_timestamp: self.created(),
            ..ObjectMeta::default()
        }
    }

    pub(super) fn namespace(&self) -> &str {
        &self.manifest.meta.namespace
    }

    /// A member of the Manifest, as JSON text.
    pub(super) fn member(&self, name: &str) -> &str {
        self.manifest.fields.get(name).unwrap_or("{}")
    }

    /// Every resource on every level, in the order of the document; none, if it is not readable.
    pub(super) fn nodes(&self) -> Vec<Node<'_>> {
        let nodes = nodes(self.member("layout"));
        let told = |error: &serde_json::Error| {
            tracing::warn!(%error, manifest = self.manifest(), "a layout is left out");
        };
        nodes.inspect_err(told).unwrap_or_default()
    }
}

fn nodes(layout: &str) -> Result<Vec<Node<'_>>, serde_json::Error> {
    let mut nodes = Vec::new();
    let mut left = numbered(serde_json::from_str::<Resource<'_>>(layout)?.resources, &[]);
    while let Some((place, text)) = left.pop() {
        let resource: Resource<'_> = serde_json::from_str(text.get())?;
        left.extend(numbered(resource.resources, &place));
        nodes.push(Node { place, name: resource.name, kind: resource.kind });
    }
    Ok(nodes)
}

/// Resources below a place with places of their own, the last one first.
fn numbered<'a>(below: Vec<&'a RawValue>, above: &[usize]) -> Vec<(Vec<usize>, &'a RawValue)> {
    let texts = below.into_iter().enumerate().rev();
    texts.map(|(at, text)| ([above, &[at]].concat(), text)).collect()
}

/// An object that nobody stores.
pub(super) fn object(meta: ObjectMeta, members: &impl Serialize) -> Result<Object, Error> {
    let text = serde_json::to_string(members).map_err(Error::internal)?;
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    Ok(Object { meta, fields: Fields::new(inner.unwrap_or_default().to_owned()) })
}

#[cfg(test)]
pub(super) mod tests;
