//! Servers that run no templates: without the program for it, and with fewer walls than they are to have.

use std::os::unix::fs::PermissionsExt;

use ::tests::client::Request;
use ::tests::kubectl::Kubectl;
use ::tests::process::program;
use ::tests::server::Server;
use anyhow::{Context, Result};
use serde_json::json;

use super::own::{Own, PATH, one};

/// What is served all the same.
async fn check_the_rest(own: &Own) -> Result<()> {
    let plain = json!({ "spec": { "configuration": "resources: [{name: a, type: T}]" } });
    let answer = own.expand(&plain).await?;
    assert_eq!(answer.status, 201, "no template is needed: {}", answer.text());
    let template = json!({ "metadata": { "name": "t" }, "objects": [] });
    let path = "/apis/template.openshift.io/v1/namespaces/default/templates";
    let answer = own.client.send(&Request::post(path, template.to_string())).await?;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let invalid = json!({ "spec": { "configuration": "resources: 7" } });
    assert_eq!(own.expand(&invalid).await?.status, 422, "the configuration is looked at");
    Ok(())
}

async fn check_refused(own: &Own, reason: &str) -> Result<()> {
    for (name, content) in
        [("x.py", "def generate_config(context): return ''"), ("x.jinja", "resources: []")]
    {
        let body = one(name, content);
        let answer = own.expand(&body).await?;
        assert_eq!(answer.status, 503, "{}", answer.text());
        let status = answer.json()?;
        assert_eq!(status["reason"], "ServiceUnavailable", "{status}");
        let message = status["message"].as_str().unwrap_or_default();
        assert!(message.starts_with("templates are not run: "), "{message}");
        assert!(message.contains(reason), "{message}");
        // Trying again would be in vain.
        assert_eq!(answer.header("retry-after"), "", "{status}");
        let kubectl = Kubectl::of(&own.server.kubeconfig())?;
        let refused = kubectl.refused(&["create", "--raw", PATH, "-f", "-"], &body.to_string())?;
        assert!(refused.contains(reason), "{refused}");
    }
    Ok(())
}

#[tokio::test]
async fn a_server_without_an_expander_serves_everything_else() -> Result<()> {
    let built = program("formwork")?;
    // On the same disk as the original, so that there need not be a copy of it.
    let folder = tempfile::Builder::new()
        .tempdir_in(built.parent().context("a program lies in a folder")?)?;
    let alone = folder.path().join("formwork");
    std::fs::hard_link(&built, &alone)?;
    let own = Own::of(Server::start_program(&alone, &[])?)?;
    let reason = "this server has no program to run templates";
    assert_eq!(own.note().await?, format!("[i]expander refuses: {reason}"));
    check_refused(&own, reason).await?;
    check_the_rest(&own).await?;
    assert!(own.workers()?.is_empty());
    assert!(own.server.log().contains("formwork-expander"), "{}", own.server.log());
    Ok(())
}

/// As in most pods, where a process may not have namespaces of its own.
#[tokio::test]
async fn a_server_with_fewer_walls_than_demanded_runs_no_template() -> Result<()> {
    let (folder, worker) = (tempfile::tempdir()?, program("formwork-expander")?);
    let narrowed = folder.path().join("expander");
    let script = format!("#!/bin/sh\nexec '{}' \"$@\" --no-namespaces\n", worker.display());
    std::fs::write(&narrowed, script)?;
    std::fs::set_permissions(&narrowed, PermissionsExt::from_mode(0o755))?;
    let expander = format!("--expander={}", narrowed.display());

    // The default minimum does without.
    let own = Own::start(&[&expander]).await?;
    let note = own.note().await?;
    for layer in ["seccomp=on", "no-new-privs=on", "rlimits=on", "namespaces=off"] {
        assert!(note.contains(layer), "{note}");
    }
    let wall = |layer: &str| format!("formwork_expander_wall{{layer=\"{layer}\"}}");
    assert_eq!(own.metric(&wall("namespaces")).await?, 0.0);
    assert!(!own.server.log().contains("forbidden"), "an alarm about its own self-test");
    assert_eq!(own.metric(&wall("seccomp")).await?, 1.0);

    let minimum = "--expander-minimum=seccomp,no-new-privs,rlimits,namespaces";
    let own = Own::of(Server::start_with(&[&expander, minimum])?)?;
    let reason = "this machine does not offer namespaces";
    check_refused(&own, reason).await?;
    assert_eq!(own.note().await?, format!("[i]expander refuses: {reason}"));
    assert_eq!(own.metric(&wall("seccomp")).await?, 0.0, "nothing is run behind it");
    check_the_rest(&own).await
}
