//! Deployments, which are Deployments of ours. Whoever changes one is answered when that is done.

use std::pin::pin;
use std::time::Duration;

use apiserver::environment::{Environment as _, System};
use apiserver::status::Reason;
use axum::response::Response;
use futures::StreamExt as _;
use http::StatusCode;
use kube::api::DynamicObject;
use serde_json::{Value, json};

use super::actor::{Actor, Kind, named};
use super::answer::{self, Fault};
use super::library::Library;
use super::operation::{Deployed, Standing};
use super::template::{Failed, ImportFile, Template};
use crate::engine::Engine;

/// The names of all.
pub(super) async fn list(actor: &Actor) -> Result<Response, Fault> {
    let all = actor.list_metadata(Kind::Deployment).await?;
    let names: Vec<_> = all.into_iter().filter_map(|metadata| metadata.name).collect();
    Ok(answer::list(&names))
}

/// One, as it is.
pub(super) async fn read(actor: &Actor, name: &str) -> Result<Response, Fault> {
    Ok(answer::json(StatusCode::OK, &existing(actor, name).await?.shown()))
}

/// Deploys a template under its name, and answers when that is done.
pub(super) async fn create(
    actor: &Actor,
    engine: &Engine,
    template: &Template,
) -> Result<Response, Fault> {
    let name = named("deployment", &template.name)?;
    let spec = json!({ "spec": wanted(template) });
    match actor.create(Kind::Deployment, name, spec).await {
        Ok(created) => settle(actor, created).await,
        Err(error) => Err(refused(actor, engine, template, error).await),
    }
}

/// Deploys a template in the place of what was deployed, and answers when that is done.
pub(super) async fn update(
    actor: &Actor,
    engine: &Engine,
    name: &str,
    template: Template,
) -> Result<Response, Fault> {
    let old = existing(actor, name).await?;
    let template = match template.name.is_empty() {
        true => Template { name: name.to_owned(), ..template },
        false => template,
    };
    if template.name != name {
        let why = format!("Deployment name does not match {} != {name}", template.name);
        return Err(Fault::bad(why));
    }
    let mut spec = wanted(&template);
    // In a merge patch null takes away what was there.
    for member in ["template", "rollBackTo"] {
        spec[member] = Value::Null;
    }
    if template.imports.is_empty() {
        spec["imports"] = Value::Null;
    }
    // Every update fetched its templates anew and made a manifest, even of what had not changed; so who tries again what
    // failed is answered by a new attempt.
    spec["refresh"] = System.now().to_string().into();
    let patch = json!({ "metadata": { "uid": old.uid }, "spec": spec });
    match actor.patch(Kind::Deployment, name, &patch).await {
        Ok(updated) => settle(actor, updated).await,
        Err(error) => Err(unexpandable(actor, engine, &template, error).await),
    }
}

/// Deletes one with all that it deployed, and answers as it was when that is done.
pub(super) async fn delete(actor: &Actor, name: &str) -> Result<Response, Fault> {
    let old = existing(actor, name).await?;
    actor.delete(Kind::Deployment, name, &old.uid).await?;
    let gone = async {
        let mut changes = pin!(actor.follow(Kind::Deployment, name));
        while let Some(change) = changes.next().await {
            let Some(object) = change? else { break };
            let deployed = Deployed::try_from(object)?;
            if deployed.uid != old.uid {
                break;
            }
            if let Standing::Failed(why) = deployed.standing() {
                return Err(Fault::bad(why));
            }
        }
        Ok(answer::json(StatusCode::OK, &old.shown().without_manifest()))
    };
    let late = || still(name, "deleted", actor.patience);
    tokio::time::timeout(actor.patience, gone).await.unwrap_or_else(|_| Err(late()))
}

/// The Deployment of that name.
///
/// # Errors
/// What Deployment Manager said where there is none.
pub(super) async fn existing(actor: &Actor, name: &str) -> Result<Deployed, Fault> {
    match actor.get(Kind::Deployment, name).await? {
        Some(object) => object.try_into(),
        None => Err(missing(name)),
    }
}

fn missing(name: &str) -> Fault {
    Fault::bad(format!("deployment {name} not found"))
}

/// The part of a spec that a template is. Its templates see the same environment as they did.
fn wanted(template: &Template) -> Value {
    let Template { name, content, imports } = template;
    // An empty text would be none at all.
    let configuration = if content.is_empty() { "\n" } else { content.as_str() };
    let mut spec = json!({
        "configuration": configuration,
        "env": { "deployment": name, "project": name },
    });
    if !imports.is_empty() {
        spec["imports"] = imports.iter().map(import).collect();
    }
    spec
}

fn import(file: &ImportFile) -> Value {
    let mut import = json!({ "content": file.content });
    for (member, text) in [("name", &file.name), ("path", &file.path)] {
        if !text.is_empty() {
            import[member] = text.as_str().into();
        }
    }
    import
}

/// Waits until what was asked for is deployed.
async fn settle(actor: &Actor, asked: DynamicObject) -> Result<Response, Fault> {
    let asked = Deployed::try_from(asked)?;
    let settled = async {
        let mut changes = pin!(actor.follow(Kind::Deployment, &asked.name));
        while let Some(change) = changes.next().await {
            let Some(object) = change? else { break };
            let deployed = Deployed::try_from(object)?;
            if deployed.uid != asked.uid {
                break;
            }
            // A watch may begin with what was there before.
            if deployed.generation < asked.generation {
                continue;
            }
            match deployed.standing() {
                Standing::Underway => {}
                Standing::Done => return Ok(answer::json(StatusCode::CREATED, &deployed.shown())),
                Standing::Failed(why) => return Err(Fault::bad(why)),
            }
        }
        Err(missing(&asked.name))
    };
    let late = || still(&asked.name, "deployed", actor.patience);
    tokio::time::timeout(actor.patience, settled).await.unwrap_or_else(|_| Err(late()))
}

fn still(name: &str, how: &str, patience: Duration) -> Fault {
    let seconds = patience.as_secs();
    let why =
        format!("deployment {name} is not {how} after {seconds} s, and is still being worked on");
    Fault::new(Reason::Timeout, why)
}

/// What is answered to a template that was not taken as a new deployment.
async fn refused(actor: &Actor, engine: &Engine, template: &Template, error: kube::Error) -> Fault {
    let name = &template.name;
    let exists = match &error {
        kube::Error::Api(status) if status.code == 409 => true,
        // What is wrong with it was found before it was found to be there.
        kube::Error::Api(status) if status.code == 422 => {
            actor.get(Kind::Deployment, name).await.is_ok_and(|found| found.is_some())
        }
        _ => false,
    };
    if exists {
        return Fault::bad(format!("Deployment {name} already exists"));
    }
    unexpandable(actor, engine, template, error).await
}

/// What is wrong with a template, as Deployment Manager put it, if it cannot be expanded.
async fn unexpandable(
    actor: &Actor,
    engine: &Engine,
    template: &Template,
    error: kube::Error,
) -> Fault {
    if matches!(&error, kube::Error::Api(status) if status.code == 422) {
        match template.expand(engine, Some(&Library::new(actor))).await {
            Ok(_) => {}
            Err(Failed::Template(why)) => return template.unexpandable(&why),
            Err(Failed::Request(error)) => return error.into(),
        }
    }
    error.into()
}
