//! Real templates and upstream's own tables, against what OpenShift's code made of them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use processor::{Dialect, Overrides, Random, Template, Values, process, validate};
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

/// Go's `math/rand` with upstream's test seed, replayed from its recorded draws.
struct Recorded(std::vec::IntoIter<u64>);

impl Random for Recorded {
    fn below(&mut self, bound: u32) -> u32 {
        let mut draw = || u32::try_from(self.0.next().unwrap() >> 32).unwrap();
        if bound.is_power_of_two() {
            return draw() & (bound - 1);
        }
        let last = (1 << 31) - 1 - (1_u32 << 31) % bound;
        std::iter::repeat_with(draw).find(|&value| value <= last).unwrap() % bound
    }
}

#[test]
fn upstream_tables_of_expressions_hold() {
    let Some(table) = corpus("openshift/tables/generator.json") else { return };
    let table: Value = serde_json::from_str(&table).unwrap();
    let draws: Vec<u64> = table["int63"]
        .as_array()
        .unwrap()
        .iter()
        .map(|draw| draw.as_str().unwrap().parse().unwrap())
        .collect();
    let generate = |from: &Value| {
        let body = serde_json::json!({"parameters": [{"name": "A", "generate": "expression", "from": from}]});
        let body = body.to_string();
        let template = Template::parse(&body, Dialect::OpenShift).unwrap();
        let mut random = Recorded(draws.clone().into_iter());
        let values = Values::resolve(&template, &Overrides::new(), &mut random);
        values.map_err(|errors| errors.iter().next().unwrap().detail.clone()).map(|values| {
            let mut out = Vec::new();
            process(&template, &values).unwrap().write_template(&mut out);
            let template: Value = serde_json::from_slice(&out).unwrap();
            template["parameters"][0]["value"].as_str().unwrap_or_default().to_owned()
        })
    };
    for case in table["ok"].as_array().unwrap() {
        let (from, want) = (case["from"].as_str().unwrap(), case["expect"].as_str().unwrap());
        let value = generate(&case["from"]).unwrap();
        // Ranges have one character more here, so the same draws pick others.
        assert!(
            value == want || from.contains('-') && value.len() == want.len(),
            "{from}: {value}"
        );
    }
    for case in table["error"].as_array().unwrap() {
        assert_eq!(generate(&case["from"]), Err(case["message"].as_str().unwrap().to_owned()));
    }
    for case in table["derived_quirks"].as_array().unwrap() {
        let value = generate(&case["from"]);
        match case["error"].as_str() {
            Some(error) if error.starts_with("PANIC") => assert_eq!(value, Ok("a".to_owned())),
            Some(error) => assert_eq!(value, Err(error.to_owned())),
            None if case["literal"] == true => {
                assert_eq!(value.as_deref().ok(), case["from"].as_str());
            }
            None => assert!(value.is_ok(), "{case}"),
        }
    }
}
