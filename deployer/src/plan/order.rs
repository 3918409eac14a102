//! In which wave each resource is applied.

use std::collections::BTreeMap;

use expansion::Links;

use super::object::Object;
use crate::cluster::Target;

/// The wave of each resource: one behind the last of those that it needs. Beside what is written, an
/// object needs the namespace that it is in and the definition of its kind, where the plan makes
/// those.
pub(super) fn waves(links: &[Links], objects: &[Object], targets: &[Target]) -> Vec<usize> {
    let (mut namespaces, mut definitions) = (BTreeMap::new(), BTreeMap::new());
    for (at, (object, target)) in objects.iter().zip(targets).enumerate() {
        if target.kind == "Namespace" && target.api_version == "v1" {
            namespaces.insert(target.object_name.as_str(), at);
        }
        for (kind, _) in object.defines().into_iter().flatten() {
            definitions.insert(kind, at);
        }
    }
    let needs: Vec<Vec<usize>> = (0..objects.len())
        .map(|at| {
            let namespace = namespaces.get(targets[at].namespace.as_str());
            let definition = definitions.get(&objects[at].kind);
            let written = links.get(at).map(|links| links.needs.clone()).unwrap_or_default();
            written.into_iter().chain(namespace.copied()).chain(definition.copied()).collect()
        })
        .collect();
    let mut waves = vec![0; needs.len()];
    for (wave, members) in expansion::waves(&needs).into_iter().enumerate() {
        for at in members {
            waves[at] = wave;
        }
    }
    waves
}
