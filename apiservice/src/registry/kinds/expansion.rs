//! The schema of the kind `Expansion`: a configuration and its files go in as `spec`, what comes of them is `status`.

use apiserver::resource::Definition;
use apiserver::schema::Schema;

/// The group and the version of everything about Deployment Manager.
pub(in crate::registry) const API: (&str, &str) = ("dm.formwork.dev", "v1alpha1");

/// What the audit log does not show. Templates turn what they are given into whatever they like, so any of it may hold
/// what a value of the environment or of a property was.
const SECRETS: &[&str] = &["spec.configuration", "spec.imports[].content", "spec.env.*", "status"];

/// The definition of the kind.
pub(in crate::registry) fn expansion() -> Definition {
    let schema = Schema::object(
        name("Expansion"),
        "An Expansion turns a configuration of Deployment Manager into resources. It is answered and not stored.",
    )
    .required("spec", spec().described("What to expand."))
    .optional("status", status().described("What came of it; whatever is sent here is ignored."));
    let (group, version) = API;
    let definition = Definition::namespaced(group, version, "Expansion", "expansions", schema);
    Definition { secrets: SECRETS, ..definition }
}

fn name(kind: &str) -> String {
    format!("dev.formwork.dm.v1alpha1.{kind}")
}

fn spec() -> Schema {
    Schema::object(name("ExpansionSpec"), "ExpansionSpec is a configuration, and what it needs.")
        .required(
            "configuration",
            Schema::string("The configuration, as YAML text: resources, each with a name and a type, and outputs."),
        )
        .optional(
            "imports",
            Schema::list(import()).described(
                "The files that the configuration refers to: templates, their schemas, and what those import.",
            ),
        )
        .optional(
            "env",
            Schema::map(Schema::string("").or_scalar()).described(
                "What templates see as env, beside the name and the type of their resource. Unless given, deployment is \
                 the name of this object (without one, the namespace), project is the namespace, and current_time is \
                 now, in seconds since 1970, if any file speaks of it.",
            ),
        )
        .optional(
            "validateSchemas",
            Schema::boolean(
                "Whether properties are held to the schemas of their templates, which fill in defaults as well.",
            )
            .default_value(true),
        )
}

/// A file that is sent.
pub(super) fn import() -> Schema {
    Schema::object(name("ImportFile"), "ImportFile is a file that a configuration refers to.")
        .optional(
            "name",
            Schema::string(
                "What it is called in types and imports. Without it, the path as it is written, and the last part of the \
                 path where only one file has it.",
            ),
        )
        .optional(
            "path",
            Schema::string("Where it comes from. Its suffix tells templates apart: '.jinja' and '.py'."),
        )
        .required("content", Schema::string("The text of the file."))
}

fn status() -> Schema {
    let config = Schema::object(
        name("ExpandedConfiguration"),
        "ExpandedConfiguration is what is left of a configuration when its templates are expanded.",
    )
    .required("resources", resources());
    let layout = Schema::object(
        name("Layout"),
        "Layout is the tree of resources that a configuration expands to.",
    )
    .required("resources", resources())
    .optional("outputs", outputs());
    Schema::object(name("ExpansionStatus"), "ExpansionStatus is what came of a configuration.")
        .optional(
            "config",
            config.described("The resources that are no templates, as a flat list."),
        )
        .optional(
            "layout",
            layout.described(
                "Where they come from: every resource with its name and type, and every template with its properties \
                 and its resources.",
            ),
        )
        .optional("outputs", outputs())
        .optional(
            "warnings",
            Schema::list(Schema::string("")).described("What is odd and no error."),
        )
        .optional(
            "digest",
            Schema::string(
                "The digest of all that was expanded. What has the same digest expands to the same.",
            ),
        )
}

fn resources() -> Schema {
    Schema::list(Schema::opaque_object("A resource.")).described("The resources, in order.")
}

fn outputs() -> Schema {
    let output =
        Schema::object(name("Output"), "Output is a value that a configuration gives a name.")
            .required("name", Schema::string("Its name."))
            .optional("value", Schema::opaque("Its value, of whatever type."));
    Schema::list(output).described("What the configuration says of itself.")
}
