//! Bodies that were sent to a real server, and what it made of them.
#![expect(clippy::disallowed_methods, reason = "tests read recordings")]

use std::io::Read;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::{Limits, decode};
use crate::openapi::tests::openshift;

fn exchanges() -> Option<Vec<Value>> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus"));
    let root = std::env::var_os("FORMWORK_CORPUS").map_or_else(beside, PathBuf::from);
    let Ok(bytes) = std::fs::read(root.join("openshift/transcripts/api.ndjson.gz")) else {
        println!("skipped: corpus not present");
        return None;
    };
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    Some(lines.filter(|line: &Value| line["type"] == "exchange").collect())
}

/// The body of a JSON request for one of the Template resources.
fn body(exchange: &Value) -> Option<String> {
    let request = &exchange["request"];
    let path = request["path"].as_str()?;
    let is_ours = path.contains("/templates") || path.contains("/processedtemplates");
    let is_write = request["method"] == "POST" || request["method"] == "PUT";
    if !is_ours || !is_write || request["headers"]["Content-Type"] != "application/json" {
        return None;
    }
    let text = request["bodyText"].as_str().map(ToOwned::to_owned);
    let text = text.or_else(|| request.get("body").map(Value::to_string))?;
    // A placeholder for a time that the server had answered before.
    Some(text.replace("<time>", "2020-01-01T00:00:00Z"))
}

fn is_ignored(exchange: &Value, directive: &str) -> bool {
    exchange["request"]["path"]
        .as_str()
        .is_some_and(|path| path.contains(&format!("fieldValidation={directive}")))
}

#[test]
fn bodies_are_normalised_as_the_server_stored_them() {
    let Some(exchanges) = exchanges() else { return };
    let [template, _] = openshift();
    let mut count = 0;
    for exchange in &exchanges {
        let stored = &exchange["response"]["body"];
        let is_stored =
            exchange["request"]["path"].as_str().is_some_and(|path| path.contains("/templates"));
        let (Some(body), true, "Template") =
            (body(exchange), is_stored, stored["kind"].as_str().unwrap_or(""))
        else {
            continue;
        };
        let decoded = decode(&template, &body, Limits::default())
            .unwrap_or_else(|error| panic!("{}: {error}", exchange["id"]));
        let ours: Map<String, Value> =
            // The recording itself has lost the sign of zero.
            serde_json::from_str(&format!("{{{}}}", decoded.stored_fields()).replace(":-0,", ":0,")).unwrap();
        let mut theirs = stored.as_object().unwrap().clone();
        theirs.retain(|name, _| !["apiVersion", "kind", "metadata"].contains(&name.as_str()));
        assert_eq!(ours, theirs, "{}", exchange["id"]);
        count += 1;
    }
    println!("{count} bodies");
    assert!(count > 100);
}

#[test]
fn warnings_and_errors_are_worded_as_the_server_worded_them() {
    let Some(exchanges) = exchanges() else { return };
    let [template, _] = openshift();
    let (mut warned, mut refused) = (0, 0);
    for exchange in &exchanges {
        let Some(body) = body(exchange) else { continue };
        let message = exchange["response"]["body"]["message"].as_str().unwrap_or_default();
        let decoded = decode(&template, &body, Limits::default());
        if let Some((_, reason)) = message.split_once("cannot be handled as a Template: json: ") {
            let error = match &decoded {
                Err(error) => error.to_string(),
                Ok(decoded) => panic!("{}: {:?}", exchange["id"], decoded.strays),
            };
            assert_eq!(error, format!("json: {reason}"), "{}", exchange["id"]);
            refused += 1;
        } else if let Some((_, reason)) = message.split_once("strict decoding error: ") {
            let strays: Vec<String> =
                decoded.unwrap().strays.iter().map(ToString::to_string).collect();
            assert_eq!(strays.join(", "), reason, "{}", exchange["id"]);
            refused += 1;
        } else if let Some((_, reason)) = message.split_once("json parse error: ") {
            assert!(reason.starts_with(&decoded.unwrap_err().to_string()), "{}", exchange["id"]);
            refused += 1;
        } else if let (Ok(decoded), Some(warnings)) =
            (decoded, exchange["response"]["warnings"].as_array())
            && !is_ignored(exchange, "Ignore")
        {
            for stray in &decoded.strays {
                let header = format!("299 - \"{}\"", stray.to_string().replace('"', "\\\""));
                assert!(
                    warnings.iter().any(|warning| *warning == header),
                    "{}: {header} {warnings:?}",
                    exchange["id"]
                );
                warned += 1;
            }
        }
    }
    println!("{warned} warnings, {refused} refusals");
    assert!(warned > 0 && refused > 0);
}
