//! The one table of resources. Routing, discovery, OpenAPI and the tests of authorization all
//! follow from it: adding a resource is one file in [`crate::registry`] and one line here.

use apiserver::resource::{ApiGroup, ApiVersion};
use deployer::Deployer;
use processor::Dialect;

use crate::engine::Engine;
use crate::registry::{
    deploymentpreviews, deployments, expansions, manifests, processedtemplates, registries,
    templates, typeinstances, types,
};
use crate::sources::Sources;

/// Every API group that is served, for those who only want to know which these are.
pub fn names() -> Vec<ApiGroup> {
    groups(&Engine::absent(), None, None)
}

/// Every API group that is served. What has to be expanded, `engine` expands; what a Deployment would
/// do, `deployer` says; which Registries somebody may use, `sources`.
pub(crate) fn groups(
    engine: &Engine,
    sources: Option<&Sources>,
    deployer: Option<&Deployer>,
) -> Vec<ApiGroup> {
    vec![
        group(
            "template.openshift.io",
            "v1",
            vec![
                processedtemplates::resource(Dialect::OpenShift),
                templates::resource(Dialect::OpenShift),
            ],
        ),
        group(
            "formwork.dev",
            "v1alpha1",
            vec![
                processedtemplates::resource(Dialect::Proposal),
                templates::resource(Dialect::Proposal),
            ],
        ),
        group(
            "dm.formwork.dev",
            "v1alpha1",
            vec![
                deploymentpreviews::resource(deployer),
                deployments::resource(),
                expansions::resource(engine, sources),
                manifests::resource(),
                registries::resource(engine, sources),
                typeinstances::resource(),
                types::resource(),
            ],
        ),
    ]
}

fn group(
    name: &'static str,
    version: &'static str,
    resources: Vec<apiserver::resource::Resource>,
) -> ApiGroup {
    let resources = resources.into_iter().map(Into::into).collect();
    ApiGroup { name, versions: vec![ApiVersion { name: version, resources }] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_resource_is_of_the_group_that_serves_it() {
        for group in names() {
            for version in &group.versions {
                for resource in &version.resources {
                    assert_eq!(resource.definition.group, group.name);
                    assert_eq!(resource.definition.version, version.name);
                    for subresource in &resource.subresources {
                        assert_eq!(subresource.definition.group, group.name);
                    }
                }
            }
        }
    }
}
