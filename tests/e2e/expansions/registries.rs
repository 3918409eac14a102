//! Registries of a server that stands alone: what they have, and what cannot be had without a cluster.

use ::tests::files::{Asked, Files};
use ::tests::github::{self, Repository};
use ::tests::kubectl::Kubectl;
use ::tests::server::Server;
use anyhow::{Result, ensure};
use serde_json::{Value, json};

const TYPES: &str = "/apis/dm.formwork.dev/v1alpha1/namespaces/default/registries";

/// A server that knows this GitHub.
fn server(github: &Files) -> Result<(Server, Kubectl)> {
    let server = Server::start_with(&[
        "--template-allowed-hosts=github.com",
        "--template-allow-private-addresses",
        &format!("--template-github-url={}", github.host()),
    ])?;
    let kubectl = Kubectl::of(&server.kubeconfig())?.in_namespace("default");
    Ok((server, kubectl))
}

fn create(kubectl: &Kubectl, name: &str, spec: &Value) -> Result<()> {
    let registry = json!({
        "apiVersion": "dm.formwork.dev/v1alpha1", "kind": "Registry", "metadata": { "name": name }, "spec": spec,
    });
    kubectl.ok_with(&["create", "-f", "-"], &registry.to_string())?;
    Ok(())
}

#[test]
fn what_anybody_may_read_is_told_and_what_is_kept_in_a_cluster_is_not() -> Result<()> {
    let text = "resources: [{name: made, type: ConfigMap}]";
    let files = [("deep/down/here/thing/v1/thing.jinja", text), ("thing/v1/thing.jinja", "")];
    let github = github::serve([("somebody/library", Repository::new(files))])?;
    let (_server, kubectl) = server(&github)?;
    let url = "github.com/somebody/library/deep/down/here";
    create(&kubectl, "open", &json!({ "type": "github", "url": url }))?;
    let answer = kubectl.ok(&["get", "--raw", &format!("{TYPES}/open/types")])?;
    let item = json!({ "type": format!("{url}/thing:v1"), "name": "thing", "version": "v1" });
    assert_eq!(
        serde_json::from_str::<Value>(&answer)?,
        json!({
            "kind": "RegistryTypes", "apiVersion": "dm.formwork.dev/v1alpha1",
            "metadata": { "name": "open", "namespace": "default" }, "items": [item],
        })
    );
    // An Expansion finds it there; without the Registry no type leads so deep.
    let expansion = json!({
        "apiVersion": "dm.formwork.dev/v1alpha1", "kind": "Expansion", "metadata": { "name": "e" },
        "spec": { "configuration": format!("resources: [{{name: a, type: '{url}/thing:v1'}}]") },
    });
    let answer = kubectl.ok_with(&["create", "-o", "json", "-f", "-"], &expansion.to_string())?;
    let resources = &serde_json::from_str::<Value>(&answer)?["status"]["config"]["resources"];
    assert_eq!(resources, &json!([{ "name": "made", "type": "ConfigMap" }]));

    let secret =
        json!({ "type": "github", "url": "github.com/a/b", "credentialRef": { "name": "c" } });
    let files = json!({ "type": "configMap", "url": "h/x", "configMapRef": { "name": "c" } });
    for (name, kind, spec) in [("secret", "Secret", secret), ("files", "ConfigMap", files)] {
        create(&kubectl, name, &spec)?;
        let refused = kubectl.refused(&["get", "--raw", &format!("{TYPES}/{name}/types")], "")?;
        let want =
            format!("{kind} c of its registry: this server stands alone, and has no cluster");
        ensure!(refused.contains(&want), "{refused}");
    }
    Ok(())
}

#[test]
fn a_registry_that_never_answers_is_not_waited_for_longer_than_asked() -> Result<()> {
    let silent = Files::serve_by(|_| {
        |_: &Asked| loop {
            std::thread::park();
        }
    })?;
    let (_server, kubectl) = server(&silent)?;
    create(&kubectl, "slow", &json!({ "type": "github", "url": "github.com/somebody/slow" }))?;
    let refused =
        kubectl.refused(&["get", "--raw", &format!("{TYPES}/slow/types?timeout=1s")], "")?;
    ensure!(refused.contains("(Timeout): "), "{refused}");
    Ok(())
}
