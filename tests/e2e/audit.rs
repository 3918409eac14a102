//! The audit log of a running server: what kubectl did is there, and no value of a parameter is.

use ::tests::server::Server;
use anyhow::Result;
use serde_json::{Value, json};

use crate::kubectl::Kubectl;

/// It stands in every place where a value can: a default, a literal Secret, a value that is sent.
const VALUE: &str = "correct-horse-battery";

const POLICY: &str = "
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: RequestResponse}]
";

fn template() -> String {
    json!({
        "apiVersion": "template.openshift.io/v1", "kind": "Template",
        "metadata": { "name": "t" },
        "message": "The password is ${PASSWORD}",
        "labels": { "app": "${PASSWORD}" },
        "parameters": [{ "name": "PASSWORD", "value": VALUE }],
        "objects": [
            { "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "literal" }, "stringData": { "x": VALUE } },
            { "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "${PASSWORD}" } },
        ],
    })
    .to_string()
}

/// One whose secret is in all of its fields, and in what comes of it.
fn expansion(expression: &str) -> String {
    let content = format!("# {VALUE}\nresources: [{{name: '{expression}', type: T}}]");
    json!({
        "apiVersion": "dm.formwork.dev/v1alpha1", "kind": "Expansion",
        "spec": {
            "configuration": format!("resources: [{{name: {VALUE}, type: t.jinja}}]"),
            "env": { "x": VALUE },
            "imports": [{ "name": "t.jinja", "content": content }],
        },
    })
    .to_string()
}

#[test]
fn the_log_has_every_request_and_no_value_of_a_parameter() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (policy, log) = (folder.path().join("policy.yaml"), folder.path().join("audit.log"));
    std::fs::write(&policy, POLICY)?;
    let flags = [
        format!("--audit-policy-file={}", policy.display()),
        format!("--audit-log-path={}", log.display()),
    ];
    let server = Server::start_with(&flags.each_ref().map(String::as_str))?;
    let kubectl = Kubectl::of(&server.kubeconfig())?;
    let namespace = kubectl.namespace.clone();
    let base = format!("/apis/template.openshift.io/v1/namespaces/{namespace}");

    kubectl.ok_with(&["apply", "-f", "-"], &template())?;
    kubectl.ok(&["get", "templates", "-o", "yaml"])?;
    let patch = json!({ "parameters": [{ "name": "PASSWORD", "value": format!("{VALUE}!") }] });
    kubectl.ok(&["patch", "template", "t", "--type=merge", "-p", &patch.to_string()])?;
    let patch = json!([{ "op": "add", "path": "/parameters/0/value", "value": VALUE }]);
    kubectl.ok(&["patch", "template", "t", "--type=json", "-p", &patch.to_string()])?;
    let raw = |path: &str, body: &str| {
        kubectl.ok_with(&["create", "--raw", &format!("{base}/{path}"), "-f", "-"], body)
    };
    raw("processedtemplates", &template())?;
    let values = json!({
        "apiVersion": "template.openshift.io/v1", "kind": "Parameters", "values": { "PASSWORD": VALUE },
    });
    raw("templates/t/processed", &values.to_string())?;
    kubectl.ok(&["get", "--raw", &format!("{base}/templates/t/schema")])?;
    let path = format!("/apis/dm.formwork.dev/v1alpha1/namespaces/{namespace}/expansions");
    let expand = ["create", "--raw", path.as_str(), "-f", "-"];
    kubectl.ok_with(&expand, &expansion("{{ env.x }}"))?;
    kubectl.refused(&expand, &expansion("{{ nothing[env.x] }}"))?;
    let wrong = json!({ "kind": "Template", "parameters": [{ "name": VALUE, "required": VALUE }] });
    kubectl.refused(
        &["create", "--raw", &format!("{base}/processedtemplates"), "-f", "-"],
        &wrong.to_string(),
    )?;

    assert!(server.stop()?.success());
    let text = std::fs::read_to_string(&log)?;
    assert!(
        !text.contains(VALUE),
        "{}",
        text.lines().find(|line| line.contains(VALUE)).unwrap_or_default()
    );
    let events: Vec<Value> =
        text.lines().map(serde_json::from_str).collect::<Result<_, serde_json::Error>>()?;
    for (verb, subresource, code) in [
        ("create", Value::Null, 201),
        ("patch", Value::Null, 200),
        ("list", Value::Null, 200),
        ("create", json!("processed"), 201),
        ("get", json!("schema"), 200),
        ("create", Value::Null, 400),
        ("create", Value::Null, 422),
    ] {
        let found = events.iter().any(|event| {
            event["verb"] == verb
                && event["objectRef"]["namespace"] == *namespace
                && event["objectRef"]["subresource"] == subresource
                && event["responseStatus"]["code"] == code
                && event["user"]["username"].is_string()
        });
        assert!(found, "{verb} {subresource} {code} in {text}");
    }
    Ok(())
}
