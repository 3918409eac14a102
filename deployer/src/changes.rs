//! Everything that carrying out a plan may do, as reviews ask for it.

use crate::authorize::Changes;
use crate::cluster::Target;
use crate::pass::Pass;
use crate::plan::Plan;

/// Everything that carrying out a plan may do.
pub(crate) fn changes(pass: &Pass<'_>, plan: &Plan) -> Changes {
    let targets = || plan.resources.iter().map(|resource| &resource.target);
    let old = pass.status.resources.iter().map(|resource| &resource.target);
    let obsolete = old.filter(|old| !targets().any(|target| target.is(old)));
    let spec = &pass.deployment.spec;
    let namespace = &pass.deployment.namespace;
    let deployments: Vec<_> =
        plan.deployments.iter().map(|name| own("Deployment", namespace, name)).collect();
    Changes::default()
        .apply(targets(), spec.create_policy)
        .read(&deployments)
        .give_up(obsolete, spec.delete_policy)
}

/// A Deployment or a Manifest, as reviews speak of it.
pub fn own(kind: &str, namespace: &str, name: &str) -> Target {
    Target {
        api_version: "dm.formwork.dev/v1alpha1".to_owned(),
        kind: kind.to_owned(),
        resource: format!("{}s", kind.to_lowercase()),
        namespace: namespace.to_owned(),
        object_name: name.to_owned(),
    }
}
