//! The examples in a server: stored, and processed by name with their values.

use ::tests::client::{Answer, Client, Request};
use ::tests::server::Server;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::example::{self, Run};
use crate::run::{self, Outcome};
use crate::wanted;

#[tokio::test]
async fn the_server_makes_of_every_example_what_it_wants_and_leaks_no_value() -> Result<()> {
    let server = Server::start_with(&["--log-level", "trace"])?;
    let client = server.target()?.administrator();
    let (mut differing, mut values) = (Vec::new(), Vec::new());
    for run in example::runs()? {
        let outcome = outcome(&client, &run, &mut values).await.context(run.name.clone())?;
        if let Err(difference) = wanted::check(&run, &outcome) {
            differing.push(format!("{}: {difference:#}", run.name));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));

    let metrics = client.send(&Request::get("/metrics")).await?;
    let told = server.log() + &metrics.text();
    assert!(told.contains("serving on") && told.contains("processed"), "{told}");
    assert!(values.len() > 10, "{} values", values.len());
    let shown: Vec<_> = values.iter().filter(|value| told.contains(value.as_str())).collect();
    assert!(shown.is_empty(), "log or metrics show {shown:?}");
    Ok(())
}

/// Stores the template under the run's name and processes it; collects the values that were sent and generated.
async fn outcome(client: &Client, run: &Run, values: &mut Vec<String>) -> Result<Outcome> {
    let mut template = run::template(run)?;
    template["metadata"]["name"] = json!(run.name);
    // A template from before there were API groups has to be sent to the right one all the same.
    let api = match template["apiVersion"].as_str() {
        Some("v1") => "template.openshift.io/v1".to_owned(),
        api => api.context("an apiVersion")?.to_owned(),
    };
    let collection = format!("/apis/{api}/namespaces/examples/templates");
    let stored = post(client, &collection, &template).await?;
    if let Some(refused) = refused(&template, &stored)? {
        return Ok(refused);
    }

    let given = run::values(run)?;
    values.extend(given.values().filter(|value| is_telling(value)).cloned());
    let parameters = json!({"apiVersion": api, "kind": "Parameters", "values": given});
    let path = format!("{collection}/{}/processed", run.name);
    let answer = post(client, &path, &parameters).await?;
    if let Some(refused) = refused(&template, &answer)? {
        return Ok(refused);
    }
    let processed = answer.json()?;
    for parameter in processed["parameters"].as_array().into_iter().flatten() {
        let value = parameter["value"].as_str().unwrap_or_default();
        if parameter["generate"].is_string() && is_telling(value) {
            values.push(value.to_owned());
        }
    }
    let objects = &processed["objects"];
    let list = json!({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": objects});
    Ok(Outcome::Objects(list))
}

async fn post(client: &Client, path: &str, body: &Value) -> Result<Answer> {
    client.send(&Request::post(format!("{path}?fieldValidation=Strict"), body.to_string())).await
}

/// The causes of a 422; nothing for success.
fn refused(template: &Value, answer: &Answer) -> Result<Option<Outcome>> {
    if answer.status == 201 {
        return Ok(None);
    }
    ensure!(answer.status == 422, "{} {}", answer.status, answer.text());
    let status = answer.json()?;
    let causes = status["details"]["causes"].as_array().context("causes")?.iter();
    let text = |cause: &Value, field: &str| cause[field].as_str().unwrap_or_default().to_owned();
    let told = causes.map(|cause| format!("{}: {}", text(cause, "field"), text(cause, "message")));
    Ok(Some(Outcome::Refused(told.map(|reason| run::placed(template, reason)).collect())))
}

/// Whether a text in a log is there because of this value.
fn is_telling(value: &str) -> bool {
    value.len() >= 8 && value.contains(|c: char| c.is_ascii_alphabetic())
}
