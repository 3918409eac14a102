//! The schemas of the kinds, and what the API groups call things.

mod deployment;
mod expansion;
mod registry;
mod types;

use apiserver::resource::Definition;
use apiserver::schema::{Schema, meta};
use processor::Dialect;

pub(super) use self::deployment::{deployment, manifest, preview};
pub(super) use self::expansion::{API as DEPLOYMENT_MANAGER, expansion};
pub(crate) use self::registry::registry;
pub(super) use self::registry::registry_types;
pub(super) use self::types::{type_definition, type_instance};

/// The group, the version and the prefix of definition names of a dialect.
pub(super) fn api(dialect: Dialect) -> (&'static str, &'static str, &'static str) {
    match dialect {
        Dialect::OpenShift => {
            ("template.openshift.io", "v1", "com.github.openshift.api.template.v1")
        }
        Dialect::Proposal => ("formwork.dev", "v1alpha1", "dev.formwork.v1alpha1"),
    }
}

/// What the audit log does not show of a processed Template and of what it is made from: values, and
/// all that values have been put into. A generated password is in any of its objects.
const PROCESSED_SECRETS: &[&str] = &["parameters", "values", "objects", "message", "labels"];

/// The definition of the kind `Template` under the name of a resource.
pub(super) fn template(dialect: Dialect, plural: &'static str) -> Definition {
    let (group, version, _) = api(dialect);
    let schema = template_schema(dialect, plural == "processedtemplates");
    Definition {
        // Most files in the wild are from before OpenShift had API groups.
        aliases: match dialect {
            Dialect::OpenShift => &[("v1", "Template")],
            Dialect::Proposal => &[],
        },
        secrets: match plural {
            "processedtemplates" => PROCESSED_SECRETS,
            _ => &["parameters[].value", "objects[].data", "objects[].stringData"],
        },
        ..Definition::namespaced(group, version, "Template", plural, schema)
    }
}

/// The kind's schema. A Template that is `processed` at once keeps empty labels: with OpenShift they
/// make every object get an empty map of labels. A stored one forgets them, as Go does.
fn template_schema(dialect: Dialect, processed: bool) -> Schema {
    let (_, _, prefix) = api(dialect);
    let objects = Schema::list(meta::raw_extension()).described(
        "The objects to create, of any kind. Their strings may hold references to parameters.",
    );
    let parameters = Schema::list(parameter(dialect))
        .described("The names that the objects refer to, with their values.");
    let labels = match dialect {
        Dialect::OpenShift => "Labels for every object that results.",
        Dialect::Proposal => "Labels for every object that results, its pods and its selectors.",
    };
    let labels = Schema::map(Schema::string("")).described(labels);
    let template = Schema::object(
        format!("{prefix}.Template"),
        "A Template holds objects with references to parameters, from which processing makes objects that can be created.",
    );
    let template = match dialect {
        Dialect::OpenShift => template.optional(
            "message",
            Schema::string(
                "A message for whoever used the template. References in it are replaced, too.",
            ),
        ),
        Dialect::Proposal => template,
    };
    let template = template.always("objects", objects).optional("parameters", parameters);
    if processed {
        template.optional_or_empty("labels", labels)
    } else {
        template.optional("labels", labels)
    }
}

fn parameter(dialect: Dialect) -> Schema {
    let (_, _, prefix) = api(dialect);
    let value =
        Schema::string("The value, unless another is given. It switches the generator off.");
    let value = match dialect {
        Dialect::OpenShift => value.lenient(),
        Dialect::Proposal => value.or_scalar(),
    };
    let parameter = Schema::object(
        format!("{prefix}.Parameter"),
        "A Parameter is a name that objects refer to, and the value that takes its place.",
    )
    .required("name", Schema::string("What references say: letters, digits and underscores."))
    .optional("displayName", Schema::string("The name that people read."))
    .optional("description", Schema::string("What the value is for."))
    .optional("value", value)
    .optional(
        "generate",
        Schema::string("Makes a value where there is none. The one generator is 'expression'."),
    )
    .optional("from", Schema::string("What the generator works from, e.g. '[a-zA-Z0-9]{12}'."))
    .optional("required", Schema::boolean("Whether processing fails without a value."));
    match dialect {
        Dialect::OpenShift => parameter,
        Dialect::Proposal => typed(parameter),
    }
}

/// What the proposal's parameters have besides.
fn typed(parameter: Schema) -> Schema {
    let bound = |which: &str| Schema::int64(format!("The {which} value of an int.")).pointer();
    let named =
        |what: &'static str| Schema::string(what).one_of(["string", "int", "bool", "base64"]);
    parameter
        .optional(
            "type",
            named(
                "What the value is: 'string' (the default), 'int', 'bool', or 'base64', which is text that references give encoded.",
            ),
        )
        .optional("parameterType", named("Another name of type."))
        .optional(
            "enum",
            Schema::list(Schema::string("").or_scalar()).described("The values that are allowed."),
        )
        .optional(
            "pattern",
            Schema::string("A regular expression that is found in the value. '^' and '$' anchor it."),
        )
        .optional("minimum", bound("smallest"))
        .optional("maximum", bound("largest"))
}

/// The kind `Parameters`: the body of a POST to `templates/NAME/processed`.
pub(super) fn parameters(dialect: Dialect) -> Definition {
    let (group, version, prefix) = api(dialect);
    let values = |what: &'static str| Schema::opaque(what);
    let schema = Schema::object(
        format!("{prefix}.Parameters"),
        "Parameters are the values with which a stored Template is processed.",
    )
    .optional(
        "values",
        values("The values by parameter: a map of names to values, or a list of objects with name and value."),
    )
    .optional("parameters", values("Another name of values."))
    .optional(
        "ignoreUnknownParameters",
        Schema::boolean("Whether a value for a parameter that the Template does not have is ignored; else it is refused."),
    );
    let (kind, plural) = ("Parameters", "templates/processed");
    Definition {
        singular: "",
        secrets: PROCESSED_SECRETS,
        ..Definition::namespaced(group, version, kind, plural, schema)
    }
}

/// The kind of `templates/NAME/schema`: a JSON Schema, which has no kind of its own.
pub(super) fn form(dialect: Dialect) -> Definition {
    let (group, version, prefix) = api(dialect);
    let schema = Schema::object(
        format!("{prefix}.ParametersSchema"),
        "A JSON Schema (2020-12) of a Template's parameters, in their order, for a form.",
    )
    .optional("$schema", Schema::string("The dialect of JSON Schema."))
    .optional("title", Schema::string("The template's name."))
    .optional("type", Schema::string("Always 'object'."))
    .optional("properties", Schema::opaque("A schema for each parameter."))
    .optional(
        "required",
        Schema::list(Schema::string("")).described("Parameters that need a value."),
    )
    .optional("additionalProperties", Schema::boolean("Always false."));
    let (kind, plural) = ("ParametersSchema", "templates/schema");
    // A value that is stored with a parameter is the form's default.
    let secrets = &["properties.*.default"];
    let definition = Definition::namespaced(group, version, kind, plural, schema);
    Definition { singular: "", secrets, ..definition }
}
