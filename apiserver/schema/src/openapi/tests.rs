#![expect(clippy::disallowed_methods, reason = "tests read golden files and recordings")]

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::{definitions_v2, schemas_v3};
use crate::{Schema, meta};

/// One of everything that a schema can say.
fn sampler() -> Schema {
    let port = Schema::object("com.example.v1.Port", "A port.")
        .required("port", Schema::int32("Its number."))
        .optional(
            "protocol",
            Schema::string("Its protocol.").one_of(["TCP", "UDP"]).default_value("TCP"),
        )
        .optional("target", Schema::int_or_string("Where to."));
    let spec = Schema::object("com.example.v1.SamplerSpec", "What is wanted.")
        .optional("ports", Schema::list(port).map_by(&["port", "protocol"]).described("The ports."))
        .optional("tags", Schema::list(Schema::string("")).set())
        .optional("words", Schema::list(Schema::string("")).atomic())
        .optional("weight", Schema::number("A weight.").nullable())
        .optional("since", meta::time().described("From when on.").pointer())
        .optional("secret", meta::local_object_reference().described("A secret.").pointer())
        .optional("config", Schema::opaque_object("Anything in an object."))
        .optional("value", Schema::opaque("Anything at all."));
    Schema::object("com.example.v1.Sampler", "One of everything.")
        .required("spec", spec.described("What is wanted."))
        .by_value(
            "status",
            Schema::object("com.example.v1.SamplerStatus", "What is.")
                .optional("ready", Schema::boolean("Whether.").pointer()),
        )
        .always("objects", Schema::list(meta::raw_extension()))
        .optional("labels", Schema::map(Schema::string("")))
        .kind("example.com", "v1", "Sampler")
}

/// Compares with a file beside this one. `UPDATE_GOLDEN=1` writes it instead.
fn check_golden(name: &str, documents: &Map<String, Value>) {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/openapi")).join(name);
    let text = serde_json::to_string_pretty(documents).unwrap() + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(
        text,
        std::fs::read_to_string(&path).unwrap(),
        "{name} is out of date; UPDATE_GOLDEN=1 writes it anew"
    );
}

/// Only what this crate is asked to say about the kind itself: the definitions of meta/v1 have a
/// test of their own.
fn own(documents: Map<String, Value>) -> Map<String, Value> {
    documents.into_iter().filter(|(name, _)| name.starts_with("com.example")).collect()
}

#[test]
fn a_schema_is_published_as_the_golden_files_say() {
    let sampler = sampler();
    let list = Schema::list_of(&sampler);
    check_golden("golden.v2.json", &own(definitions_v2([&sampler, &list])));
    check_golden("golden.v3.json", &own(schemas_v3([&sampler, &list])));
}

#[test]
fn every_reference_leads_to_a_definition() {
    fn references(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                out.extend(members.get("$ref").and_then(Value::as_str).map(ToOwned::to_owned));
                members.values().for_each(|value| references(value, out));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, out)),
            _ => {}
        }
    }
    let roots = [
        sampler(),
        meta::status(),
        meta::delete_options(),
        meta::watch_event(),
        meta::api_resource_list(),
        meta::api_group_list(),
        meta::patch(),
    ];
    for documents in [definitions_v2(&roots), schemas_v3(&roots)] {
        let mut found = Vec::new();
        documents.values().for_each(|value| references(value, &mut found));
        assert!(found.len() > 20);
        for reference in found {
            let name = reference.rsplit('/').next().unwrap();
            assert!(documents.contains_key(name), "{reference}");
        }
    }
}

#[test]
fn object_meta_says_how_its_lists_and_maps_are_owned() {
    let documents = schemas_v3([&meta::object_meta()]);
    let properties = &documents["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]["properties"];
    assert_eq!(properties["finalizers"]["x-kubernetes-list-type"], "set");
    assert_eq!(properties["ownerReferences"]["x-kubernetes-list-map-keys"], json!(["uid"]));
    assert_eq!(properties["managedFields"]["x-kubernetes-list-type"], "atomic");
    assert_eq!(
        documents["io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference"]["x-kubernetes-map-type"],
        "atomic"
    );
}

// === against a recorded server ===

pub(crate) fn openshift() -> [Schema; 2] {
    let parameter = Schema::object("com.github.openshift.api.template.v1.Parameter", "")
        .required("name", Schema::string(""))
        .optional("displayName", Schema::string(""))
        .optional("description", Schema::string(""))
        .optional("value", Schema::string(""))
        .optional("generate", Schema::string(""))
        .optional("from", Schema::string(""))
        .optional("required", Schema::boolean(""));
    let template = Schema::object("com.github.openshift.api.template.v1.Template", "")
        .optional("message", Schema::string(""))
        .always("objects", Schema::list(meta::raw_extension()))
        .optional("parameters", Schema::list(parameter))
        .optional("labels", Schema::map(Schema::string("")))
        .kind("template.openshift.io", "v1", "Template")
        .also("", "v1", "Template")
        .also("", "v1", "TemplateConfig");
    let list = Schema::list_of(&template);
    [template.also("", "v1", "ProcessedTemplate"), list]
}

/// The recordings are without descriptions.
fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if !members.get("description").is_none_or(Value::is_object) {
                members.remove("description");
            }
            members.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// A reference alone in `allOf` is a reference: the description that made it necessary is gone.
fn unwrap_references(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if members.len() == 1 && members.contains_key("allOf") {
                let reference = members["allOf"][0].clone();
                *value = reference;
                return;
            }
            members.values_mut().for_each(unwrap_references);
        }
        Value::Array(items) => items.iter_mut().for_each(unwrap_references),
        _ => {}
    }
}

#[test]
fn definitions_have_the_structure_that_a_real_server_publishes() {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus"));
    let root = std::env::var_os("FORMWORK_CORPUS").map_or_else(beside, PathBuf::from);
    let Ok(text) = std::fs::read_to_string(root.join("ssa/schemas/ocp-template.openapi.json"))
    else {
        println!("skipped: corpus not present");
        return;
    };
    let recorded: Value = serde_json::from_str(&text).unwrap();
    let published = schemas_v3(&openshift());
    for (name, theirs) in recorded["components"]["schemas"].as_object().unwrap() {
        let (mut ours, mut theirs) = (published[name].clone(), theirs.clone());
        // A field may be called description, so only texts go.
        strip(&mut ours);
        unwrap_references(&mut ours);
        unwrap_references(&mut theirs);
        assert_eq!(ours, theirs, "{name}");
    }
}
