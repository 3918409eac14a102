//! Real templates and upstream's own tables, against what OpenShift's code made of them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use processor::{Dialect, Overrides, Template, validate};
use serde_json::Value;
use support::{Outcome, assert_same_fields, corpus, run};

#[test]
fn real_templates_come_out_as_from_openshift() {
    let Some(cases) = corpus("openshift/cases.ndjson.gz") else { return };
    let (mut accepted, mut coerced) = (0, 0);
    for case in cases.lines() {
        let case: Value = serde_json::from_str(case).unwrap();
        let name = case["name"].as_str().unwrap();
        let body = case["input"].to_string();
        let Outcome::Template(ours) = run(&body, &Overrides::new()) else {
            panic!("{name}: {:?}", run(&body, &Overrides::new()));
        };
        if case["output"]["kind"] == "Status" {
            // Numbers as values: refused upstream, here read as their text, with a warning.
            let template = Template::parse(&body, Dialect::OpenShift).unwrap();
            assert!(!template.warnings().is_empty(), "{name}");
            coerced += 1;
        } else {
            assert_same_fields(&ours, &case["output"], name);
            accepted += 1;
        }
    }
    assert_eq!((accepted, coerced), (375, 15));
}

#[test]
fn upstream_tables_of_processing_hold() {
    let Some(table) = corpus("openshift/tables/process.json") else { return };
    let table: Value = serde_json::from_str(&table).unwrap();
    for case in table["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let expect = &case["expect"];
        match (run(&case["template"].to_string(), &Overrides::new()), expect["status"].as_u64()) {
            (Outcome::Template(ours), Some(201)) => {
                for field in ["objects", "labels", "message"] {
                    if let Some(theirs) = expect.get(field) {
                        assert!(support::same(&ours[field], theirs), "{name}: {}", ours[field]);
                    }
                }
            }
            (Outcome::Invalid(errors), Some(422)) => {
                let ours: Vec<_> =
                    errors.iter().map(|error| (error.field.as_str(), error.cause())).collect();
                let theirs = expect["causes"].as_array().unwrap().iter();
                let theirs: Vec<_> = theirs
                    .map(|cause| {
                        (cause["field"].as_str().unwrap(), cause["reason"].as_str().unwrap())
                    })
                    .collect();
                assert_eq!(ours, theirs, "{name}");
            }
            // Upstream panics; a number as a value is refused there.
            (Outcome::Invalid(_), Some(500)) | (Outcome::Unreadable(_), Some(400)) => {}
            (Outcome::Template(_), Some(400)) if name == "numeric parameter value" => {}
            (outcome, status) => panic!("{name}: {outcome:?}, upstream {status:?}"),
        }
    }
}

#[test]
fn upstream_tables_of_parameters_hold() {
    let Some(table) = corpus("openshift/tables/parameter-generation.json") else { return };
    let table: Value = serde_json::from_str(&table).unwrap();
    for case in table["cases"].as_array().unwrap() {
        let body = serde_json::json!({"parameters": [case["param"]]}).to_string();
        match (run(&body, &Overrides::new()), case["errType"].as_str()) {
            (Outcome::Template(ours), None) => {
                assert_eq!(ours["parameters"][0]["value"], case["expectValue"]);
            }
            (Outcome::Invalid(errors), Some(reason)) => {
                let error = errors.iter().next().unwrap();
                assert_eq!(
                    (error.cause(), error.field.as_str()),
                    (reason, "template.parameters[0]")
                );
            }
            (outcome, reason) => panic!("{case}: {outcome:?}, upstream {reason:?}"),
        }
    }
}

#[test]
fn upstream_tables_of_names_hold() {
    let Some(table) = corpus("openshift/tables/parameter-names.json") else { return };
    let table: Value = serde_json::from_str(&table).unwrap();
    for case in table["cases"].as_array().unwrap() {
        let body = serde_json::json!({"parameters": [{"name": case[0], "value": "1"}]}).to_string();
        let template = Template::parse(&body, Dialect::OpenShift).unwrap();
        assert_eq!(validate(&template).is_empty(), case[1].as_bool().unwrap(), "{case}");
    }
    let table: Value =
        serde_json::from_str(&corpus("openshift/tables/template-validation.json").unwrap())
            .unwrap();
    for case in table["process"].as_array().unwrap() {
        let body = case["t"].to_string();
        let template = Template::parse(&body, Dialect::OpenShift).unwrap();
        assert_eq!(validate(&template).is_empty(), case["ok"].as_bool().unwrap(), "{case}");
    }
}
