//! Recorded behaviour of the reference: sets, comparisons, and whole sequences of requests against
//! a real field manager. The recordings are not part of this repository; without them these tests
//! say so and pass.
#![expect(clippy::disallowed_methods, reason = "tests read their recordings from files")]

mod sequences;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::compare::compare_nodes;
use super::field_set::fields_of;
use super::object::Node;
use super::reconcile::reconcile;
use super::types::{Atom, Declared, List, Map, Relationship, Type};
use super::value::{Numbers, Value};
use super::*;

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
