//! The schemas of the kinds `Type` and `TypeInstance`, which nobody stores.

use apiserver::resource::Definition;
use apiserver::schema::Schema;

use super::expansion::API;

fn name(kind: &str) -> String {
    format!("dev.formwork.dm.v1alpha1.{kind}")
}

/// The definition of the kind `Type`.
pub(in crate::registry) fn type_definition() -> Definition {
    let names = Schema::list(Schema::string("")).described("The Deployments that use it.");
    let schema = Schema::object(
        name("Type"),
        "A Type is what Deployments of a namespace are made of: a template, or a kind of object. It follows from their \
         current Manifests, and nobody stores it.",
    )
    .always("type", Schema::string("The type, as configurations and templates write it."))
    .always("template", Schema::boolean("Whether it is a template."))
    .always("instances", Schema::int64("How many resources are of it."))
    .always("deployments", names)
    .optional(
        "schema",
        Schema::string("The schema of its properties, as its Deployments have it; where theirs differ, the first one's."),
    );
    let (group, version) = API;
    Definition::namespaced(group, version, "Type", "types", schema)
}

/// The definition of the kind `TypeInstance`.
pub(in crate::registry) fn type_instance() -> Definition {
    let schema = Schema::object(
        name("TypeInstance"),
        "A TypeInstance is a resource of a Deployment, on whichever level of its layout. It follows from the current \
         Manifest, and nobody stores it.",
    )
    .always("type", Schema::string("The type of the resource."))
    .always("resource", Schema::string("The name of the resource."))
    .always("deployment", Schema::string("The Deployment that it is of."))
    .always("manifest", Schema::string("The Manifest in whose layout it stands."))
    .always("path", Schema::string("Where it stands there, as a path of JSON such as '$.resources[0].resources[1]'."));
    let (group, version) = API;
    Definition::namespaced(group, version, "TypeInstance", "typeinstances", schema)
}
