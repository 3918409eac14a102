//! The commands that change something, and `expand`, which sends the same.

use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use http::Method;
use serde_json::{Map, Value, json};

use super::reading::{deployment, names_of};
use super::{API_VERSION, Api};
use crate::client::Refused;
use crate::dm::deployment::Deployment;
use crate::dm::input::{Given, Input};
use crate::dm::{print, shapes, watching};
use crate::expand::remote::{self, Import};

/// How often a change is tried while the server writes to the same object.
const TRIES: u32 = 20;

pub(super) async fn expand(api: &Api, given: &Given) -> anyhow::Result<()> {
    let name = given.object_name();
    let mut spec = match &given.input {
        // An Expansion takes configurations only.
        Input::Type { kind, properties } => {
            json!({"configuration": Input::of_type(&name, kind, properties)})
        }
        input => wanted(input)?,
    };
    spec["env"] = json!({"deployment": name});
    let sent = json!({"apiVersion": API_VERSION, "kind": "Expansion", "spec": spec});
    let answer = api.client.expand(sent.to_string()).await.map_err(remote::refused)?;
    let answer = expansion::Value::from_json(&answer).context("the server's answer")?;
    let status = answer.get("status").context("the server's answer")?;
    let mut shape = expansion::Map::new();
    for (ours, original) in [("config", "expandedConfig"), ("layout", "layout")] {
        let part = status.get(ours).cloned().unwrap_or_default();
        shape.insert(original.to_owned(), part);
    }
    print(&expansion::Value::Map(shape).to_json())
}

pub(super) async fn deploy(
    api: &Api,
    given: &Given,
    patience: Option<Duration>,
) -> anyhow::Result<()> {
    let name = given.object_name();
    let sent = json!({
        "apiVersion": API_VERSION,
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": wanted(&given.input)?,
    });
    let path = api.path("deployments");
    let created = api.send(Method::POST, &path, Some(&sent)).await.map_err(remote::refused)?;
    let action = format!("deploy configuration named {name}");
    ended(api, &created, &action, patience).await
}

pub(super) async fn update(
    api: &Api,
    given: &Given,
    patience: Option<Duration>,
) -> anyhow::Result<()> {
    let name = given.object_name();
    let wanted = wanted(&given.input)?;
    let updated = changed(api, &name, |spec| replace(spec, &wanted));
    let updated = updated.await?;
    ended(api, &updated, &format!("update deployment named {name}"), patience).await
}

pub(super) async fn rollback(
    api: &Api,
    name: &str,
    manifest: Option<String>,
    patience: Option<Duration>,
) -> anyhow::Result<()> {
    let deployment = deployment(api, name).await?;
    let manifests = names_of(api, &deployment).await?;
    let manifest = match manifest {
        Some(manifest) if manifests.contains(&manifest) => manifest,
        Some(manifest) => bail!("manifest {manifest} not found in deployment {name}"),
        None => before(&manifests, &deployment)
            .ok_or_else(|| anyhow!("{name} has no manifest before the current one"))?,
    };
    let updated = changed(api, name, |spec| {
        spec.insert("rollBackTo".to_owned(), Value::from(manifest.clone()));
    });
    let action = format!("roll back deployment named {name} to {manifest}");
    ended(api, &updated.await?, &action, patience).await
}

/// The manifest to go back to: if the current one was not applied in full, that which last was, else that before it.
/// A rollback makes a manifest like an earlier one, and before it comes what came before that: so one may go back further.
fn before(manifests: &[String], deployment: &Deployment) -> Option<String> {
    let Deployment { spec, status, .. } = deployment;
    if !status.deployed.is_empty() && status.deployed != status.manifest {
        return Some(status.deployed.clone());
    }
    let current = match manifests.contains(&spec.roll_back_to) {
        true => &spec.roll_back_to,
        false => &status.manifest,
    };
    let place = manifests.iter().position(|name| name == current)?;
    manifests[..place].last().cloned()
}

pub(super) async fn delete(
    api: &Api,
    name: &str,
    patience: Option<Duration>,
) -> anyhow::Result<()> {
    let before = deployment(api, name).await?;
    let path = api.path_of("deployments", name);
    // Not another one that has got the name in the meantime.
    let options = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": before.metadata.uid},
    });
    let answer = api.send(Method::DELETE, &path, Some(&options)).await?;
    // What is gone at once is answered with a Status, which has no generation.
    let generation = answer["metadata"]["generation"].as_i64().unwrap_or_default();
    if let Some(patience) = patience {
        let uid = &before.metadata.uid;
        watching::until_gone(api, name, (uid, generation), patience)
            .await
            .with_context(|| format!("cannot delete deployment named {name}"))?;
    }
    print(&shapes::deployment(&before, ""))
}

pub(super) async fn wait(api: &Api, name: &str, patience: Duration) -> anyhow::Result<()> {
    let generation = deployment(api, name).await?.metadata.generation;
    let ready = watching::until_done(api, name, generation, patience).await?;
    print(&shapes::deployment(&ready, &ready.status.manifest))
}

/// Waits for what was written, unless nobody waits, and prints the deployment.
async fn ended(
    api: &Api,
    written: &Value,
    action: &str,
    patience: Option<Duration>,
) -> anyhow::Result<()> {
    let mut deployment = Deployment::of(written).context("the server's answer")?;
    if let Some(patience) = patience {
        let (name, generation) = (deployment.metadata.name, deployment.metadata.generation);
        deployment = watching::until_done(api, &name, generation, patience)
            .await
            .with_context(|| format!("cannot {action}"))?;
    }
    print(&shapes::deployment(&deployment, &deployment.status.manifest))
}

/// What a spec says of the input.
fn wanted(input: &Input) -> anyhow::Result<Value> {
    Ok(match input {
        Input::Type { kind, properties } => {
            let properties: Value =
                serde_json::from_str(&expansion::Value::Map(properties.clone()).to_json())?;
            json!({"template": {"type": kind, "properties": properties}})
        }
        Input::Configuration { text, collected } => {
            let imports: Vec<Import> = collected.files.iter().map(Import::from).collect();
            json!({"configuration": text, "imports": imports})
        }
    })
}

/// Puts what is asked for into a spec, and leaves the rest of it.
pub(super) fn ask_for(spec: &mut Map<String, Value>, input: &Input) -> anyhow::Result<()> {
    replace(spec, &wanted(input)?);
    Ok(())
}

fn replace(spec: &mut Map<String, Value>, wanted: &Value) {
    for key in ["configuration", "template", "imports", "rollBackTo"] {
        spec.remove(key);
    }
    let wanted = wanted.as_object().into_iter().flatten();
    spec.extend(wanted.map(|(key, value)| (key.clone(), value.clone())));
}

/// Changes the spec of a deployment. The server writes to the object while it works on it, and then the change is made
/// anew; but it is not made over what somebody else has asked for in the meantime.
async fn changed(
    api: &Api,
    name: &str,
    change: impl Fn(&mut Map<String, Value>),
) -> anyhow::Result<Value> {
    let path = api.path_of("deployments", name);
    let mut first = None;
    for _ in 0..TRIES {
        let mut object: Value = api.read(&api.get("deployments", name).await?)?;
        let of = Deployment::of(&object).context("the server's answer")?.metadata;
        let found = (of.uid, of.generation);
        if *first.get_or_insert_with(|| found.clone()) != found {
            bail!("somebody else has changed {name} at the same time");
        }
        let spec = object["spec"].as_object_mut().context("a deployment without a spec")?;
        change(spec);
        match api.send(Method::PUT, &path, Some(&object)).await {
            Err(Refused::Status(status)) if status.code == 409 && status.reason == "Conflict" => {}
            answer => return answer.map_err(remote::refused),
        }
    }
    bail!("{name} changes faster than it can be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollback_goes_to_what_worked_before_and_then_further_back() {
        let manifests = ["d-1", "d-3", "d-4", "d-5"].map(str::to_owned);
        for (current, deployed, rolled_back_to, want) in [
            ("d-4", "d-4", "", Some("d-3")),
            ("d-3", "d-3", "", Some("d-1")),
            ("d-1", "d-1", "", None),
            ("", "", "", None),
            // The first one failed.
            ("d-1", "", "", None),
            // Two updates failed.
            ("d-5", "d-3", "", Some("d-3")),
            // It is rolled back already, and the manifest of that is like the one it went to.
            ("d-5", "d-5", "d-3", Some("d-1")),
            // That one is no longer kept.
            ("d-5", "d-5", "d-2", Some("d-4")),
        ] {
            let deployment = json!({"spec": {"rollBackTo": rolled_back_to},
                "status": {"manifest": current, "deployed": deployed}});
            let deployment = Deployment::of(&deployment).unwrap();
            assert_eq!(before(&manifests, &deployment).as_deref(), want, "{current} {deployed}");
        }
    }
}
