//! Recorded behaviour of the reference: sets, comparisons, and whole sequences of requests against a real field manager.
//! The recordings are not part of this repository; without them these tests say so and pass.
#![expect(clippy::disallowed_methods, reason = "tests read their recordings from files")]

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use schema::{Limits, Schema, meta};
use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::compare::compare_nodes;
use super::field_set::fields_of;
use super::object::Node;
use super::reconcile::reconcile;
use super::types::{Atom, Declared, List, Map, Relationship, Type};
use super::update::Live;
use super::value::{Numbers, Value};
use super::*;
use crate::{json_patch, merge_patch};

fn corpus(name: &str) -> Option<String> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus"));
    let root = std::env::var_os("FORMWORK_CORPUS").map_or_else(beside, PathBuf::from);
    let Ok(bytes) = std::fs::read(root.join("ssa").join(name)) else {
        println!("skipped: corpus not present");
        return None;
    };
    if !name.ends_with(".gz") {
        return Some(String::from_utf8(bytes).unwrap());
    }
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    Some(text)
}

// === types from the recorded atoms ===

#[derive(Deserialize)]
struct Atoms {
    root: String,
    types: BTreeMap<String, Json>,
}

impl Atoms {
    fn load(schema: &str) -> Option<Type> {
        // Two schemas are recorded under the name of another with the same types.
        let schema = schema.trim_end_matches("-2v").trim_end_matches("-json");
        let atoms: Self =
            serde_json::from_str(&corpus(&format!("schemas/{schema}.smd.json"))?).unwrap();
        Some(atoms.named(&atoms.root))
    }

    fn named(&self, name: &str) -> Type {
        match name {
            "__untyped_atomic_" => Type::Opaque,
            "__untyped_deduced_" => Type::Deduced,
            name => self.atom(&self.types[name], None),
        }
    }

    fn reference(&self, reference: &Json) -> Type {
        let relationship = reference["elementRelationship"].as_str();
        match reference["namedType"].as_str() {
            Some(name) if relationship.is_some() => self.atom(&self.types[name], relationship),
            Some(name) => self.named(name),
            None => self.atom(reference, None),
        }
    }

    fn atom(&self, atom: &Json, relationship: Option<&str>) -> Type {
        let list = atom.get("list").map(|list| List {
            items: self.reference(&list["elementType"]),
            relationship: match (list["elementRelationship"].as_str(), list["keys"].as_array()) {
                (Some("associative"), Some(keys)) => Relationship::Keys(
                    keys.iter().map(|key| key.as_str().unwrap().to_owned().into()).collect(),
                ),
                (Some("associative"), None) => Relationship::Set,
                _ => Relationship::Atomic,
            },
        });
        let map = atom.get("map").map(|map| {
            let declared = |field: &Json| Declared {
                name: field["name"].as_str().unwrap().to_owned().into(),
                of: self.reference(&field["type"]),
                default: field.get("default").map(ToString::to_string),
            };
            let mut fields: Vec<Declared> =
                map["fields"].as_array().into_iter().flatten().map(declared).collect();
            fields.sort_by(|left, right| left.name.cmp(&right.name));
            let relationship = relationship.or_else(|| map["elementRelationship"].as_str());
            let element = map.get("elementType").map(|of| self.reference(of));
            Map { fields, element, atomic: relationship == Some("atomic") }
        });
        Type::atom(Atom { scalar: atom.get("scalar").is_some(), list, map })
    }
}

// === pure cases ===

/// A line, by the names of its members.
#[derive(Deserialize)]
#[serde(transparent)]
struct Case<'a> {
    #[serde(borrow)]
    members: BTreeMap<&'a str, &'a RawValue>,
}

impl Case<'_> {
    fn raw(&self, name: &str) -> &str {
        self.members[name].get()
    }

    fn id(&self) -> &str {
        self.raw("id")
    }

    fn json(&self, name: &str) -> Option<Json> {
        self.members.get(name).map(|raw| serde_json::from_str(raw.get()).unwrap())
    }

    fn text(&self, name: &str) -> Option<String> {
        self.json(name).and_then(|value| value.as_str().map(ToOwned::to_owned))
    }

    fn set(&self, name: &str) -> FieldSet {
        FieldSet::from_fields_v1(&self.text(name).unwrap()).unwrap()
    }
}

fn cases(wanted: &str, check: impl Fn(&Case<'_>)) {
    let Some(text) = corpus("fieldsv1.ndjson.gz") else { return };
    let mut count = 0;
    for line in text.lines() {
        let case: Case<'_> = serde_json::from_str(line).unwrap();
        if case.text("op").as_deref() == Some(wanted) {
            check(&case);
            count += 1;
        }
    }
    assert!(count > 0, "no case of {wanted}");
    println!("{wanted}: {count}");
}

#[test]
fn sets_are_read_and_written_as_the_reference_does() {
    cases("parse", |case| {
        let read = FieldSet::from_fields_v1(&case.text("input").unwrap());
        match case.text("output") {
            None => assert!(read.is_err(), "{}", case.id()),
            Some(output) => {
                let read = read.unwrap_or_else(|error| panic!("{}: {error}", case.id()));
                assert_eq!(read.to_fields_v1(), output, "{}", case.id());
                assert_eq!(
                    serde_json::json!(read.paths()),
                    case.json("members").unwrap(),
                    "{}",
                    case.id()
                );
            }
        }
    });
}

#[test]
fn path_elements_are_read_and_written_as_the_reference_does() {
    cases("pathElement", |case| {
        let read = PathElement::parse(&case.text("input").unwrap());
        match case.text("output") {
            None => assert!(!matches!(read, Ok(Some(_))), "{}", case.id()),
            Some(output) => {
                let element = read.unwrap().unwrap();
                let mut text = String::new();
                element.write(&mut text);
                assert_eq!(text, output, "{}", case.id());
                assert_eq!(Some(element.to_string()), case.text("string"), "{}", case.id());
            }
        }
    });
}

#[test]
fn values_are_ordered_as_the_reference_orders_them() {
    cases("valueCompare", |case| {
        let value = |name: &str| Value::read(case.raw(name), Numbers::Exact).unwrap();
        let (left, right) = (value("a"), value("b"));
        assert_eq!(
            left.cmp(&right) as i64,
            case.json("cmp").unwrap().as_i64().unwrap(),
            "{}",
            case.id()
        );
        assert_eq!(left == right, case.json("equal").unwrap(), "{}", case.id());
    });
}

#[test]
fn set_operations_agree_with_the_reference() {
    type Operation = fn(&FieldSet, &FieldSet) -> FieldSet;
    let operations: [(&str, Operation); 4] = [
        ("union", FieldSet::union),
        ("intersection", FieldSet::intersection),
        ("difference", FieldSet::difference),
        ("recursiveDifference", FieldSet::recursive_difference),
    ];
    for (name, operation) in operations {
        cases(name, |case| {
            let result = operation(&case.set("a"), &case.set("b"));
            assert_eq!(result.to_fields_v1(), case.text("result").unwrap(), "{name} {}", case.id());
        });
    }
    cases("leaves", |case| {
        assert_eq!(
            Some(case.set("a").leaves().to_fields_v1()),
            case.text("result"),
            "{}",
            case.id()
        );
    });
    cases("members", |case| {
        assert_eq!(
            Some(serde_json::json!(case.set("a").paths())),
            case.json("result"),
            "{}",
            case.id()
        );
    });
}

#[test]
fn comparisons_agree_with_the_reference() {
    let mut types = BTreeMap::new();
    let Some(text) = corpus("fieldsv1.ndjson.gz") else { return };
    let mut count = 0;
    for line in text.lines() {
        let case: Case<'_> = serde_json::from_str(line).unwrap();
        if case.text("op").as_deref() != Some("compare") || case.members.contains_key("error") {
            continue;
        }
        let schema = case.text("schema").unwrap();
        let of = types.entry(schema.clone()).or_insert_with(|| Atoms::load(&schema).unwrap());
        let open = |name: &str| Node::value(case.raw(name), of).unwrap();
        let result = compare_nodes(of, &open("lhs"), &open("rhs")).unwrap();
        for (name, set) in
            [("removed", &result.removed), ("modified", &result.modified), ("added", &result.added)]
        {
            assert_eq!(
                set.to_fields_v1(),
                case.text(name).unwrap(),
                "{name} {}: {line}",
                case.id()
            );
        }
        count += 1;
    }
    println!("compare: {count}");
}

#[test]
fn the_fields_of_an_object_are_those_that_the_reference_finds() {
    let mut types = BTreeMap::new();
    let Some(text) = corpus("fieldsv1.ndjson.gz") else { return };
    let mut count = 0;
    for line in text.lines() {
        let case: Case<'_> = serde_json::from_str(line).unwrap();
        let is_wanted = case.text("op").as_deref() == Some("toFieldSet");
        let Some(expected) = case.text("fieldsV1").filter(|_| is_wanted) else { continue };
        let schema = case.text("schema").unwrap();
        let of = types.entry(schema.clone()).or_insert_with(|| Atoms::load(&schema).unwrap());
        let node = Node::value(case.raw("object"), of).unwrap();
        assert_eq!(fields_of(of, &node).unwrap().to_fields_v1(), expected, "{}: {line}", case.id());
        count += 1;
    }
    println!("toFieldSet: {count}");
}

#[test]
fn old_sets_are_reconciled_as_the_reference_does() {
    let mut types = BTreeMap::new();
    let Some(text) = corpus("fieldsv1.ndjson.gz") else { return };
    for line in text.lines() {
        let case: Case<'_> = serde_json::from_str(line).unwrap();
        if case.text("op").as_deref() != Some("reconcile") || case.members.contains_key("error") {
            continue;
        }
        let schema = case.text("schema").unwrap();
        let of = types.entry(schema.clone()).or_insert_with(|| Atoms::load(&schema).unwrap());
        let set = case.set("set");
        let expected = case.text("result").unwrap_or_else(|| set.to_fields_v1());
        assert_eq!(reconcile(&set, of).to_fields_v1(), expected, "{}: {line}", case.id());
    }
}

// === sequences ===

#[derive(Deserialize)]
struct Sequence<'a> {
    id: String,
    #[serde(borrow)]
    steps: Vec<Step<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Step<'a> {
    op: String,
    at: i64,
    manager: Option<String>,
    user_agent: Option<String>,
    #[serde(default)]
    subresource: String,
    #[serde(default)]
    dry_run: bool,
    #[serde(borrow)]
    body: Option<&'a RawValue>,
    body_text: Option<String>,
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Expect {
    code: u16,
    object: Option<Json>,
    error: Option<Json>,
    managed_fields: Option<Vec<ManagedFieldsEntry>>,
    times: Option<Vec<Option<String>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    managed_fields: Option<Vec<ManagedFieldsEntry>>,
}

/// The stored state that a step starts from.
struct Stored {
    object: Json,
    managed_fields: Vec<ManagedFieldsEntry>,
}

impl Stored {
    fn after(expect: &Expect) -> Option<Self> {
        let mut managed_fields = expect.managed_fields.clone().unwrap_or_default();
        for (entry, time) in managed_fields.iter_mut().zip(expect.times.iter().flatten()) {
            entry.time.clone_from(time);
        }
        Some(Self { object: expect.object.clone()?, managed_fields })
    }

    /// The object as a client reads it.
    fn text(&self) -> String {
        let mut object = self.object.clone();
        if !self.managed_fields.is_empty() {
            object["metadata"]["managedFields"] =
                serde_json::to_value(&self.managed_fields).unwrap();
        }
        object.to_string()
    }
}

fn openshift_template() -> Schema {
    let parameter = Schema::object("com.github.openshift.api.template.v1.Parameter", "")
        .required("name", Schema::string(""))
        .optional("displayName", Schema::string(""))
        .optional("description", Schema::string(""))
        .optional("value", Schema::string(""))
        .optional("generate", Schema::string(""))
        .optional("from", Schema::string(""))
        .optional("required", Schema::boolean(""));
    Schema::object("com.github.openshift.api.template.v1.Template", "")
        .optional("message", Schema::string(""))
        .always("objects", Schema::list(meta::raw_extension()))
        .optional("parameters", Schema::list(parameter))
        .optional("labels", Schema::map(Schema::string("")))
        .kind("template.openshift.io", "v1", "Template")
}

/// Seconds after 2000-01-01, at most a day.
fn clock(at: i64) -> String {
    let (day, second) = (at / 86_400, at % 86_400);
    format!(
        "2000-01-{:02}T{:02}:{:02}:{:02}Z",
        day + 1,
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// What the client means by a step: the object that results from its body.
fn meant(step: &Step<'_>, stored: Option<&Stored>) -> Result<String, String> {
    let body = step
        .body_text
        .clone()
        .or_else(|| step.body.map(|body| body.get().to_owned()))
        .unwrap_or_default();
    let live = || stored.map(Stored::text).unwrap_or_default();
    match step.op.as_str() {
        "create" | "update" => Ok(body),
        "patch-merge" => merge_patch(&live(), &body)
            .map(|patched| patched.text)
            .map_err(|error| error.to_string()),
        "patch-json" => json_patch(&live(), &body)
            .map(|patched| patched.text)
            .map_err(|error| error.to_string()),
        other => panic!("{other}"),
    }
}

fn check_step(
    kind: &ManagedKind,
    schema: &Schema,
    step: &Step<'_>,
    stored: Option<&Stored>,
) -> Result<(), String> {
    let text = meant(step, stored)?;
    let decoded =
        schema::decode(schema, &text, Limits::default()).map_err(|error| error.to_string())?;
    let metadata: Metadata =
        serde_json::from_str(&decoded.metadata).map_err(|error| error.to_string())?;
    let live_text = stored.map(|stored| stored.object.to_string()).unwrap_or_default();
    let agent = step.user_agent.as_deref().unwrap_or("oracle/v1");
    let agent = agent.split('/').next().unwrap_or_default();
    let manager = step.manager.as_deref().unwrap_or_else(|| &agent[..agent.len().min(128)]);
    let mut entries = update(&Update {
        kind,
        live: stored.map(|stored| Live {
            object: Object::Text(&live_text),
            managed_fields: &stored.managed_fields,
        }),
        new: Object::Parts { metadata: &decoded.metadata, fields: &decoded.fields },
        given: metadata.managed_fields.as_deref(),
        manager,
        api_version: "template.openshift.io/v1",
        subresource: &step.subresource,
        reset: None,
        also_served: &[],
        now: &clock(step.at),
    })
    .map_err(|error| error.to_string())?;
    let expected = Stored::after(&step.expect).unwrap().managed_fields;
    if let Some(stored) = stored
        && step.expect.object.as_ref() == Some(&stored.object)
    {
        keep_times(&stored.managed_fields, &mut entries);
    }
    // The recordings escape more than the record does.
    let plain = |entries: &[ManagedFieldsEntry]| {
        serde_json::to_string(entries).unwrap().replace("\\u2028", "\u{2028}")
    };
    let (ours, theirs) = (plain(&entries), plain(&expected));
    if ours != theirs {
        return Err(format!("\n  got  {ours}\n  want {theirs}"));
    }
    let stored_fields: Json =
        serde_json::from_str(&format!("{{{}}}", decoded.stored_fields())).unwrap();
    let object = step.expect.object.as_ref().unwrap();
    for name in ["message", "objects", "parameters", "labels"] {
        let (ours, theirs) = (stored_fields[name].to_string(), object[name].to_string());
        if !crate::document::Node::text(&ours).same(&mut crate::document::Node::text(&theirs), 0) {
            return Err(format!("\n  got  {name} {ours}\n  want {name} {theirs}"));
        }
    }
    Ok(())
}

/// Here the reference takes 1000 and 1000.0, in a list inside a raw object, for two values, against its own rule for numbers.
const DIFFERS: &str = "ocp-template-4000085 step 3";

#[test]
fn updates_and_patches_leave_the_record_that_the_reference_leaves() {
    let schema = openshift_template();
    let kind = ManagedKind::new(&schema);
    let (mut checked, mut wrong) = (0, Vec::new());
    for file in ["ocp-template.ndjson.gz", "handcrafted.ndjson.gz"] {
        let Some(text) = corpus(file) else { return };
        for line in text.lines().filter(|line| {
            line.contains("\"schema\": \"ocp-template\"")
                || line.contains("\"schema\":\"ocp-template\"")
        }) {
            let sequence: Sequence<'_> = serde_json::from_str(line).unwrap();
            let mut stored: Option<Stored> = None;
            for (index, step) in sequence.steps.iter().enumerate() {
                let succeeded = matches!(step.expect.code, 200 | 201);
                if succeeded && step.op != "apply" {
                    checked += 1;
                    if let Err(error) = check_step(&kind, &schema, step, stored.as_ref()) {
                        wrong.push(format!("{} step {index} {}: {error}", sequence.id, step.op));
                        wrong.retain(|wrong| !wrong.starts_with(DIFFERS));
                    }
                }
                if succeeded && !step.dry_run {
                    stored = Stored::after(&step.expect);
                }
            }
        }
    }
    println!("checked {checked} steps");
    let shown: Vec<&String> = wrong.iter().take(12).collect();
    assert!(wrong.is_empty(), "{} of {checked} differ: {shown:#?}", wrong.len());
}

#[test]
fn a_json_patch_that_the_reference_cannot_apply_fails_here() {
    let (mut checked, mut wrong) = (0, Vec::new());
    for schema in [
        "ocp-template",
        "ocp-template-json",
        "formwork-template",
        "dm-deployment",
        "formwork-template-2v",
    ] {
        let Some(text) = corpus(&format!("{schema}.ndjson.gz")) else { return };
        for line in text.lines() {
            let sequence: Sequence<'_> = serde_json::from_str(line).unwrap();
            let mut stored: Option<Stored> = None;
            for (index, step) in sequence.steps.iter().enumerate() {
                let succeeded = matches!(step.expect.code, 200 | 201);
                if step.op == "patch-json"
                    && let Some(before) = &stored
                {
                    let failed = step.expect.error.as_ref().is_some_and(|error| {
                        error["message"]
                            .as_str()
                            .is_some_and(|message| message.starts_with("the server rejected"))
                    });
                    if failed || succeeded {
                        checked += 1;
                        let ours = meant(step, Some(before));
                        if ours.is_err() != failed {
                            wrong.push(format!(
                                "{} {index}: {:?} {} {}",
                                sequence.id,
                                ours.err(),
                                step.body.unwrap(),
                                before.text()
                            ));
                        }
                    }
                }
                if succeeded && !step.dry_run {
                    stored = Stored::after(&step.expect);
                }
            }
        }
    }
    println!("checked {checked}");
    let shown: Vec<&String> = wrong.iter().take(8).collect();
    assert!(wrong.is_empty(), "{} of {checked} differ: {shown:#?}", wrong.len());
}
