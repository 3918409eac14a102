//! Exchanges recorded from the live server, as far as they are about processing.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::collections::BTreeMap;

use processor::Overrides;
use serde_json::Value;
use serde_json::value::RawValue;
use support::{Outcome, corpus, run, same};

/// Exchanges whose answer is the API server's own, or differs here on purpose.
const OTHERS: [&str; 24] = [
    "process-basic-004",  // dryRun=x
    "process-basic-016",  // another namespace
    "process-basic-017",  // core v1: accepted here
    "process-basic-018",  // v1beta3: the server looks at apiVersion, not the processor
    "process-basic-019",  // kind List
    "process-basic-020",  // kind ProcessedTemplate
    "process-basic-021",  // kind TemplateConfig
    "process-basic-027",  // fieldValidation=Strict
    "process-basic-029",  // YAML
    "process-basic-030",  // YAML
    "process-basic-031",  // YAML answer
    "process-basic-032",  // PartialObjectMetadata
    "process-basic-033",  // Table
    "process-basic-035",  // protobuf answer
    "process-basic-036",  // empty body
    "process-basic-037",  // pretty
    "process-basic-041",  // undefined winner, fixed here
    "process-basic-042",  // no such namespace
    "process-basic-043",  // forbidden
    "process-basic-044",  // anonymous
    "process-basic-045",  // unauthorized
    "process-basic-046",  // the answer is only a digest
    "process-basic-047",  // body too large
    "process-params-071", // a number as a value: a warning here
];

/// Panics upstream, a range of one character here.
const ONE_CHARACTER: &str = "process-params-055";

#[test]
fn processing_answers_as_the_live_server_does() {
    let Some(lines) = corpus("openshift/transcripts/api.ndjson.gz") else { return };
    let mut checked = 0;
    for line in lines.lines() {
        let exchange: Value = serde_json::from_str(line).unwrap();
        let id = exchange["id"].as_str().unwrap();
        let path = exchange["request"]["path"].as_str().unwrap_or_default();
        if !id.starts_with("process-")
            || !path.contains("/processedtemplates")
            || OTHERS.contains(&id)
        {
            continue;
        }
        let body = match exchange["request"].get("bodyText") {
            Some(text) => text.as_str().unwrap().to_owned(),
            None => sent(line),
        };
        check(id, &run(&body, &Overrides::new()), &exchange["response"]);
        checked += 1;
    }
    assert!(checked > 150, "{checked}");
    println!("{checked} exchanges");
}

/// The JSON body of an exchange as it went over the wire: its keys in order, no white space.
fn sent(line: &str) -> String {
    #[derive(serde::Deserialize)]
    struct Exchange<'l> {
        #[serde(borrow)]
        request: Request<'l>,
    }
    #[derive(serde::Deserialize)]
    struct Request<'l> {
        #[serde(borrow)]
        body: &'l RawValue,
    }
    let exchange: Exchange = serde_json::from_str(line).unwrap();
    let (mut in_string, mut escaped) = (false, false);
    let is_sent = |c: &char| {
        in_string ^= *c == '"' && !escaped;
        escaped = in_string && *c == '\\' && !escaped;
        in_string || !c.is_ascii_whitespace()
    };
    exchange.request.body.get().chars().filter(is_sent).collect()
}

fn check(id: &str, ours: &Outcome, theirs: &Value) {
    match (ours, theirs["status"].as_u64()) {
        (Outcome::Template(ours), Some(201)) => {
            let mut bound = BTreeMap::new();
            for field in ["objects", "parameters", "labels", "message"] {
                let (ours, theirs) = (&ours[field], &theirs["body"][field]);
                assert!(
                    fits(ours, theirs, &mut bound),
                    "{id} {field}\nours:   {ours}\ntheirs: {theirs}"
                );
            }
        }
        (Outcome::Invalid(errors), Some(422)) => {
            let causes = theirs["body"]["details"]["causes"].as_array().unwrap().iter();
            let theirs: Vec<_> = causes
                .map(|cause| {
                    ["field", "reason", "message"]
                        .map(|key| cause[key].as_str().unwrap().to_owned())
                })
                .collect();
            let ours: Vec<_> = errors
                .iter()
                .map(|error| [error.field.clone(), error.cause().to_owned(), error.body()])
                .collect();
            assert_eq!(ours, theirs, "{id}");
        }
        (Outcome::Unreadable(error), Some(400)) => {
            let theirs = theirs["body"]["message"].as_str().unwrap();
            assert!(theirs.ends_with(error.as_str()), "{id}: {error}");
        }
        (Outcome::Template(_), Some(500)) if id == ONE_CHARACTER => {}
        (Outcome::Invalid(_), Some(500)) => {}
        (ours, status) => panic!("{id}: {ours:?}, upstream {status:?}"),
    }
}

/// Equal, where `<gen:N>` stands for one generated value, and generated ranges are longer by one.
fn fits<'a>(ours: &'a Value, theirs: &'a Value, bound: &mut BTreeMap<&'a str, &'a str>) -> bool {
    match (ours, theirs) {
        (Value::String(ours), Value::String(theirs)) if theirs.contains("<gen:") => {
            if !theirs.starts_with('<') {
                return true;
            }
            *bound.entry(theirs).or_insert(ours) == ours
        }
        // Upstream's ranges lack their last character, so these were certain there.
        (Value::String(ours), Value::String(theirs))
            if ["00000000", "zzzzzzzz"].contains(&&**theirs) =>
        {
            ours.len() == 8
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|(ours, theirs)| fits(ours, theirs, bound))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().all(|(key, ours)| {
                    theirs.get(key).is_some_and(|theirs| fits(ours, theirs, bound))
                })
        }
        _ => same(ours, theirs),
    }
}
