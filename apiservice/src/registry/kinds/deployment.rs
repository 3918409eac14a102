//! The schemas of the kinds `Deployment` and `Manifest`.

use apiserver::resource::Definition;
use apiserver::schema::{Schema, meta};

use super::expansion::{API, import};

/// What the audit log does not show: what templates are given, and all that comes of it.
const DEPLOYMENT_SECRETS: &[&str] = &[
    "spec.configuration",
    "spec.imports[].content",
    "spec.template.properties",
    "spec.env.*",
    "status.outputs",
    "status.preview",
];
const MANIFEST_SECRETS: &[&str] = &["inputConfig", "expandedConfig", "layout", "plan"];

/// The definition of the kind `Deployment`.
pub(in crate::registry) fn deployment() -> Definition {
    let schema = Schema::object(
        name("Deployment"),
        "A Deployment is a configuration of Deployment Manager that is expanded, applied to the cluster as the user who asked \
         for it, and kept up.",
    )
    .required("spec", spec().described("What is wanted."))
    .optional("status", status().described("What was done, and is."));
    let (group, version) = API;
    Definition {
        short_names: &["dmd"],
        secrets: DEPLOYMENT_SECRETS,
        ..Definition::namespaced(group, version, "Deployment", "deployments", schema)
    }
}

/// The definition of the kind `DeploymentPreview`.
pub(in crate::registry) fn preview() -> Definition {
    let schema = Schema::object(
        name("DeploymentPreview"),
        "A DeploymentPreview says what would be done if the Deployment of its name had this spec. It is answered and not \
         stored, and nothing is done.",
    )
    .required("spec", spec().described("What would be wanted."))
    .optional("status", status().described("What would be done; whatever is sent here is ignored."));
    let (group, version) = API;
    let definition =
        Definition::namespaced(group, version, "DeploymentPreview", "deploymentpreviews", schema);
    Definition { secrets: DEPLOYMENT_SECRETS, ..definition }
}

/// The definition of the kind `Manifest`.
pub(in crate::registry) fn manifest() -> Definition {
    let resources = |what: &'static str| Schema::list(Schema::opaque_object(what)).atomic();
    let input = Schema::object(name("InputConfiguration"), "A configuration as it was sent.")
        .always("name", Schema::string("What it is called."))
        .always("content", Schema::string("Its text."))
        .optional(
            "imports",
            Schema::list(file())
                .described("The files that it refers to, with those that were fetched."),
        )
        .optional("refresh", Schema::string("The spec.refresh for which they were fetched."));
    let expanded = Schema::object(name("ExpandedConfig"), "Resources, flat.").always(
        "resources",
        resources("A resource that is no template.").described("The resources, in order."),
    );
    let schema = Schema::object(
        name("Manifest"),
        "A Manifest is what a Deployment was at one time: what was asked for, and all that came of it. Only the server writes it.",
    )
    .always("deployment", Schema::string("The Deployment that it is of."))
    .always("generation", Schema::int64("The generation of the Deployment that asked for it."))
    .always("inputConfig", input.described("What was asked for."))
    .always("expandedConfig", expanded.described("The resources that are no templates."))
    .always("layout", Schema::opaque_object("The tree that they came from, as Deployment Manager writes it."))
    .always("plan", Schema::opaque_object("What is applied, in which order, and where to."))
    .always("digest", Schema::string("The digest of all that was expanded."));
    let (group, version) = API;
    Definition {
        short_names: &["dmm"],
        secrets: MANIFEST_SECRETS,
        ..Definition::namespaced(group, version, "Manifest", "manifests", schema)
    }
}

fn name(kind: &str) -> String {
    format!("dev.formwork.dm.v1alpha1.{kind}")
}

fn spec() -> Schema {
    let names = |what: &'static str| Schema::list(Schema::string("")).described(what);
    Schema::object(
        name("DeploymentSpec"),
        "DeploymentSpec is what is wanted: exactly one of configuration, template and rollBackTo, and what goes with it.",
    )
    .optional("configuration", Schema::string("The configuration, as YAML text: resources, each with a name and a type, and outputs."))
    .optional("template", template().described("Instead of a configuration: its only resource."))
    .optional("imports", Schema::list(import()).described("The files that the configuration refers to: templates, their schemas, and what those import."))
    .optional("env", Schema::map(Schema::string("").or_scalar()).described(
        "What templates see as env, beside the name and the type of their resource. Unless given, deployment is the name of \
         this object, and project is its namespace.",
    ))
    .optional("validateSchemas", Schema::boolean("Whether properties are held to the schemas of their templates, which fill in defaults as well.").default_value(true))
    .optional("targetNamespace", Schema::string("Where objects go that do not name a namespace; without it, this object's namespace."))
    .optional("createPolicy", Schema::string(
        "'CreateOrAcquire': objects that are not there are created, and others are taken over unless they belong to another \
         Deployment. 'Acquire': objects have to be there.",
    ).one_of(["CreateOrAcquire", "Acquire"]).default_value("CreateOrAcquire"))
    .optional("deletePolicy", Schema::string(
        "What becomes of objects that are no longer wanted, or whose Deployment is deleted: 'Delete', or 'Abandon', which \
         leaves them to nobody.",
    ).one_of(["Delete", "Abandon"]).default_value("Delete"))
    .optional("preview", Schema::boolean("Whether to say in status.preview what would be done, and do nothing."))
    .optional("paused", Schema::boolean("Whether to leave everything as it is."))
    .optional("reconcile", Schema::string("What to do about objects that others have changed: 'Observe' says it in a condition, 'Enforce' applies them again.")
        .one_of(["Observe", "Enforce"]).default_value("Observe"))
    .optional("dependsOn", names("Deployments of the same namespace that have to be ready before this one begins."))
    .optional("revisionHistoryLimit", Schema::int32("How many Manifests are kept besides the one that is deployed; 10 unless given.").pointer())
    .optional("rollBackTo", Schema::string("A Manifest of this Deployment to apply again, instead of a configuration."))
    .optional("timeoutSeconds", Schema::int32("How long an operation may wait for objects to become ready; 600 unless given.").pointer())
    .optional("refresh", Schema::string(
        "Anything. Templates that were fetched, with what they import, are used again by every change, until this \
         changes too: then they are fetched anew, and a type of a registry means its highest PATCH of then.",
    ))
    .optional("requester", requester().described("For whom everything is done: the user who last changed the spec, or last deleted this. The server writes it."))
}

/// A file of a Manifest.
fn file() -> Schema {
    Schema::object(name("ManifestFile"), "ManifestFile is a file that was sent, or fetched.")
        .optional("name", Schema::string("What it is called in types and imports."))
        .optional("path", Schema::string("Where it comes from."))
        .required("content", Schema::string("The text of the file."))
        .optional(
            "digest",
            Schema::string("The digest of the text, where the server has fetched it."),
        )
}

fn template() -> Schema {
    Schema::object(
        name("TemplateReference"),
        "TemplateReference is a configuration of one resource.",
    )
    .required("type", Schema::string("The template: an import, a URL, or one of a registry."))
    .optional("name", Schema::string("The name of the resource; without it, that of this object."))
    .optional("properties", Schema::opaque_object("What the template is given."))
}

fn requester() -> Schema {
    Schema::object(name("Requester"), "Requester is a user as the server knew it.")
        .optional("username", Schema::string("The user's name."))
        .optional("uid", Schema::string("The user's uid."))
        .optional(
            "groups",
            Schema::list(Schema::string("")).described("The groups that the user was in.").atomic(),
        )
        .optional(
            "extra",
            Schema::map(Schema::list(Schema::string("")))
                .described("What else the authenticator said."),
        )
}

fn status() -> Schema {
    let operation =
        Schema::object(name("Operation"), "Operation is what is or was last being done.")
            .optional(
                "type",
                Schema::string("What it is.")
                    .one_of(["Create", "Update", "Rollback", "Preview", "Delete"]),
            )
            .optional("generation", Schema::int64("The generation that asked for it."))
            .optional("startTime", meta::time().described("When it began."))
            .optional("endTime", meta::time().described("When it ended.").pointer())
            .optional("wave", Schema::int64("How many waves are done."))
            .optional("waves", Schema::int64("How many there are."))
            .optional("done", Schema::int64("How many resources are ready."))
            .optional("total", Schema::int64("How many there are."));
    let output = Schema::object(
        name("DeploymentOutput"),
        "An output is a value that the configuration gives a name.",
    )
    .required("name", Schema::string("Its name."))
    .optional("value", Schema::opaque("Its value."));
    let state = Schema::string("How far it is.")
        .one_of(["Pending", "Applied", "Ready", "Failed", "Obsolete", "Drifted"]);
    let resource = targeted("DeployedResource", "A resource, and the object that it is.")
        .optional("uid", Schema::string("The uid of the object."))
        .optional("wave", Schema::int64("The wave that it belongs to."))
        .optional("state", state)
        .optional("error", Schema::string("What is wrong with it, or what it waits for."));
    let action = Schema::string("What would be done.")
        .one_of(["Create", "Update", "Delete", "Abandon", "None"]);
    let preview = targeted("PreviewedResource", "What would be done about an object.")
        .optional("action", action)
        .optional("diff", Schema::string("How the object would change, as a unified diff."))
        .optional("error", Schema::string("What would go wrong."))
        .optional(
            "unknown",
            Schema::string(
                "What cannot be known yet: a value of an object that is still to be made.",
            ),
        );
    Schema::object(name("DeploymentStatus"), "DeploymentStatus is what was done, and is.")
        .optional("phase", Schema::string("How far it is, in one word."))
        .optional("observedGeneration", Schema::int64("The generation that all of this is about."))
        .optional(
            "conditions",
            Schema::list(condition()).map_by(&["type"]).described(
                "What is true of it: Expanded, Planned, Authorized, Applied, Ready, Drifted.",
            ),
        )
        .optional("manifest", Schema::string("The Manifest that is or was last applied."))
        .optional("deployed", Schema::string("The Manifest that was last applied in full."))
        .optional(
            "outputs",
            Schema::list(output).described("What the configuration says to others.").atomic(),
        )
        .optional(
            "resources",
            Schema::list(resource)
                .described("Everything that may exist because of this Deployment.")
                .atomic(),
        )
        .optional("operation", operation.described("What is or was last being done."))
        .optional(
            "preview",
            Schema::list(preview)
                .described("What would be done, where that was asked for.")
                .atomic(),
        )
}

/// A resource, and where its object is.
fn targeted(kind: &str, what: &'static str) -> Schema {
    Schema::object(name(kind), what)
        .optional("name", Schema::string("Its name in the configuration."))
        .optional("apiVersion", Schema::string("The group and version of the object."))
        .optional("kind", Schema::string("The kind of the object."))
        .optional("resource", Schema::string("The resource, as in URLs."))
        .optional("namespace", Schema::string("The namespace of the object."))
        .optional("objectName", Schema::string("The name of the object."))
}

fn condition() -> Schema {
    Schema::object(
        name("Condition"),
        "Condition is one thing that is true of an object, or is not.",
    )
    .required("type", Schema::string("Which it is."))
    .required("status", Schema::string("'True', 'False' or 'Unknown'."))
    .optional("reason", Schema::string("Why, in one word."))
    .optional("message", Schema::string("Why, for people."))
    .optional("lastTransitionTime", meta::time().described("When the status last became another."))
    .optional("observedGeneration", Schema::int64("The generation that this is about."))
}
