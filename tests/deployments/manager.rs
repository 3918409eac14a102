//! Deployment Manager's own paths in a real cluster: what version 1.2.1 was asked and answered, and what we answer.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use serde_json::Value;
use tests::client::{Answer, Request, plain};
use tests::corpus;
use tests::exchanges::{self, Exchange};

use crate::paths::Paths;
use crate::setting::Setting;

/// Exchanges that we answer otherwise, with which code, and why. COMPATIBILITY.md has the rules.
const DIFFERENCES: &[(&str, u16, &str)] = &[
    ("create invalid json", 400, "it was 200 and nothing"),
    ("create empty content", 201, "the connection was closed without an answer"),
    ("get dempty", 200, "it was never deployed"),
    ("create empty name", 400, "a deployment is an object, which has a name"),
    ("list", 200, "as before, and names are in order"),
    ("latest manifest after update (resource states)", 200, "what is new is created"),
    ("update with different body name", 400, "nothing is replaced by what is for another"),
    ("delete", 200, "it did not fail by that"),
    ("refs: unknown name", 400, "the sentence is another one"),
    ("get dref2", 200, "as before"),
    ("partial failure", 400, "the cluster's sentence, with the name of the object"),
    ("get dfail", 200, "as before"),
    ("delete failed", 200, "as before"),
    ("registry get", 400, "no registry is there by itself"),
    ("credential create", 200, "values are not shown"),
    ("credential get", 200, "values are not shown"),
    ("type registry primitive", 400, "the connection was closed without an answer"),
];

/// Texts of the record that a real cluster would not take, or that two readers of YAML made of it, and what stands in
/// their place: Services have ports, and `n` is a key like any other.
const ADAPTED: &[(&str, &str)] = &[
    (
        r#"spec: {n: {{ properties[\"n\"] }}}"#,
        r#"spec: {ports: [{port: {{ properties[\"n\"] }}}]}"#,
    ),
    (r#""spec":{"false":2}"#, r#""spec":{"ports":[{"port":2}]}"#),
    (r#""spec":{"false":3}"#, r#""spec":{"ports":[{"port":3}]}"#),
    (r#""properties":{"false":"#, r#""properties":{"n":"#),
    // Without a kind it would be of its type.
    ("properties: {metadata: {name: nokind}}", "properties: {metadata: {name: no_kind}}"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_manager_answers_as_recorded_or_differs_by_a_rule() -> Result<()> {
    let Some(path) = corpus::find("dm/transcripts/manager-v1.2.1.txt") else { return Ok(()) };
    let setting = Setting::new()?;
    let paths = Paths::of(&setting, "admin", &[])?;
    let text = ADAPTED.iter().fold(std::fs::read_to_string(path)?, |text, (old, new)| {
        assert!(text.contains(old), "{old} is not in the record any more");
        text.replace(old, new)
    });
    let (mut compared, mut wrong, mut names) = (0, Vec::new(), BTreeMap::new());
    let mut differences: Vec<&str> = DIFFERENCES.iter().map(|(name, ..)| *name).collect();
    for recorded in exchanges::read(&text) {
        // Held elsewhere.
        if recorded.path == "/expand" {
            continue;
        }
        compared += 1;
        let recorded = renamed(recorded, &names);
        let answer = plain::send(&paths.at, &request(&recorded)?).await?;
        learn(&mut names, &recorded, &answer);
        let recorded = renamed(recorded, &names);
        let difference = DIFFERENCES.iter().find(|(name, ..)| *name == recorded.name);
        let result = match difference {
            Some((name, status, _)) => {
                differences.retain(|known| known != name);
                same_status(&answer, *status).and_then(|()| differs(&recorded, &answer))
            }
            None => is_answered_by(&recorded, &answer),
        };
        if let Err(error) = result {
            wrong.push(format!("{}: {error}\n{}", recorded.name, answer.text()));
        }
    }
    println!("{compared} exchanges, {} differ by a rule", DIFFERENCES.len());
    assert_eq!(wrong, Vec::<String>::new(), "{}", wrong.join("\n"));
    assert_eq!(differences, Vec::<&str>::new(), "these are not in the record any more");
    assert!(compared >= 50, "{compared}");
    Ok(())
}

fn request(recorded: &Exchange) -> Result<Request> {
    let request = Request::new(recorded.method.parse()?, &recorded.path);
    let media = match recorded.name.as_str() {
        "create wrong content type" => "text/plain",
        _ => "application/json",
    };
    Ok(if recorded.body.is_empty() { request } else { request.json(media, recorded.body.clone()) })
}

/// An exchange with our names of the manifests that it speaks of.
fn renamed(recorded: Exchange, names: &BTreeMap<String, String>) -> Exchange {
    let rename = |text: &str| {
        names.iter().fold(text.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours))
    };
    Exchange { path: rename(&recorded.path), answer: rename(&recorded.answer), ..recorded }
}

/// Notes what we call the manifest that an answer tells of.
fn learn(names: &mut BTreeMap<String, String>, recorded: &Exchange, answer: &Answer) {
    let name = |json: &str| {
        let value: Value = serde_json::from_str(json).unwrap_or_default();
        value["latestManifest"].as_str().filter(|name| !name.is_empty()).map(str::to_owned)
    };
    if let (Some(theirs), Some(ours)) = (name(&recorded.answer), name(&answer.text())) {
        names.insert(theirs, ours);
    }
}

fn same_status(answer: &Answer, want: u16) -> Result<()> {
    ensure!(answer.status == want, "{} for {want}", answer.status);
    Ok(())
}

/// A rule that nothing needs any more is a mistake.
fn differs(recorded: &Exchange, answer: &Answer) -> Result<()> {
    ensure!(is_answered_by(recorded, answer).is_err(), "is answered as recorded");
    Ok(())
}

/// JSON is equal but for times, and for the order of lists that had none; texts are equal.
fn is_answered_by(recorded: &Exchange, answer: &Answer) -> Result<()> {
    same_status(answer, recorded.status)?;
    let media = answer.header("content-type");
    ensure!(media.eq_ignore_ascii_case(&recorded.media), "{media} for {}", recorded.media);
    if !media.contains("json") {
        ensure!(answer.text() == recorded.answer, "not {:?}", recorded.answer);
        return Ok(());
    }
    let wanted = masked(serde_json::from_str(&recorded.answer)?);
    ensure!(masked(answer.json()?) == wanted, "not {wanted}");
    Ok(())
}

fn masked(mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        for (name, member) in members {
            if name.ends_with("At") {
                *member = "then".into();
            }
        }
    }
    if let Some(items) = value.as_array_mut().filter(|items| items.iter().all(Value::is_string)) {
        items.sort_by_key(Value::to_string);
    }
    value
}
