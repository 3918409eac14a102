//! The schema of the kind `Registry`.

use apiserver::resource::Definition;
use apiserver::schema::Schema;

use super::expansion::API;
use crate::registry::registries::spec::{FORMATS, TYPES};

fn name(kind: &str) -> String {
    format!("dev.formwork.dm.v1alpha1.{kind}")
}

/// The definition of the kind.
pub(crate) fn registry() -> Definition {
    let schema = Schema::object(
        name("Registry"),
        "A Registry is where the configurations of its namespace find templates: types that begin with its URL stand in it.",
    )
    .required("spec", spec().described("Where it is, and how it is laid out."));
    let (group, version) = API;
    let definition = Definition::namespaced(group, version, "Registry", "registries", schema);
    Definition { singular: "registry", short_names: &["dmr"], ..definition }
}

/// The definition of the kind `RegistryTypes`, which `registries/NAME/types` answers.
pub(in crate::registry) fn registry_types() -> Definition {
    let item = Schema::object(name("RegistryType"), "A RegistryType is a template of a Registry, in one version.")
        .always("type", Schema::string("The type, as configurations and templates write it."))
        .optional("collection", Schema::string("The collection that it stands in, if it stands in one."))
        .always("name", Schema::string("Its name."))
        .optional("version", Schema::string("Its version, as it is spelled there; absent where the Registry has none."))
        .optional("urls", Schema::list(Schema::string("")).described(
            "Where its files are, the template and its schema. Only of a type that was asked for by its name.",
        ))
        .optional("schema", Schema::string(
            "The text of its schema, if it has one. Only of a type that was asked for by its name.",
        ));
    let schema = Schema::object(
        name("RegistryTypes"),
        "RegistryTypes are the templates that a Registry has. It is asked whenever somebody wants to know.",
    )
    .always("items", Schema::list(item).described("The templates, by collection, name and version."));
    let (group, version) = API;
    let definition =
        Definition::namespaced(group, version, "RegistryTypes", "registries/types", schema);
    Definition { singular: "", ..definition }
}

fn spec() -> Schema {
    let credential = Schema::object(
        name("CredentialReference"),
        "CredentialReference names a Secret of the namespace.",
    )
    .required(
        "name",
        Schema::string(
            "The name of the Secret, whose type is 'dm.formwork.dev/registry-credential'. If it has a 'url', it is only \
             for registries there or below, and a web server gets no other.",
        ),
    )
    .optional(
        "key",
        Schema::string(
            "The key of a token in it; without it 'token', or else 'username' and 'password'.",
        ),
    );
    let config_map = Schema::object(
        name("ConfigMapReference"),
        "ConfigMapReference names a ConfigMap of the namespace.",
    )
    .required("name", Schema::string("The name of the ConfigMap."));
    Schema::object(name("RegistrySpec"), "RegistrySpec is where a Registry is, and how it is laid out.")
        .required("type", Schema::string(
            "'github': a repository, with a folder for each template and in that one for each version. 'configMap': a ConfigMap \
             with a key for each file: '[COLLECTION.]TEMPLATE.VERSION.py' or '.jinja', beside it the same with '.schema', and \
             what schemas import under the path that they say. 'http': a folder on a web server with an 'index.yaml' that lists \
             templates under 'entries', each version with 'version', 'urls' and, if it is to be held to it, 'digest'.",
        ).one_of(TYPES))
        .required("url", Schema::string(
            "What types begin with that stand in it; a scheme does not count. For 'github' it is \
             github.com/OWNER/REPOSITORY[/FOLDER]; for 'http' it is where the index is, with https unless it begins with \
             'http://'. Of several Registries it is the one with the longest URL.",
        ))
        .optional("format", Schema::list(Schema::string("").one_of(FORMATS)).described(
            "How it is laid out: 'versioned' or 'unversioned'; 'collection' or 'onelevel'; 'template'. Versions and \
             collections are there unless it is said.",
        ))
        .optional("credentialRef", credential.described(
            "With what a repository or a web server is asked. It is read as the user for whom something is deployed, or who \
             expands or lists, and who has to be allowed to.",
        ))
        .optional("configMapRef", config_map.described(
            "The ConfigMap of a Registry of that type. It is read as the user for whom something is deployed, or who expands \
             or lists.",
        ))
}
