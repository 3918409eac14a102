//! Expansions in a real cluster: who may have something expanded, what kubectl knows of it, and that the API stays
//! there while workers die.

use std::sync::Arc;

use ::tests::cluster::{Cluster, Routing};
use ::tests::family::{children, until_gone};
use ::tests::installation::{Installation, Store};
use ::tests::kubectl::Kubectl;
use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::dialect::Tenant;

/// Without the check that kubectl makes of what it sends: see
/// [`kubectl_checks_what_is_only_created_for_nobody_but_administrators`].
const CREATE: [&str; 4] = ["create", "--validate=false", "-f", "-"];

/// A template in Python and one in Jinja, unlike those of every other `n`.
fn expansion(n: u32) -> String {
    let python = "
def generate_config(context):
    name = '%s-%d' % (context.env['deployment'], context.properties['n'])
    return {'resources': [{'name': name, 'type': 'Pod'}]}
";
    let jinja = "resources: [{name: '{{ env.project }}', type: Service}]";
    let configuration = format!(
        "resources:\n- {{name: p, type: p.py, properties: {{n: {n}}}}}\n- {{name: j, type: j.jinja}}\n"
    );
    json!({
        "apiVersion": "dm.formwork.dev/v1alpha1", "kind": "Expansion",
        "metadata": { "name": "shop" },
        "spec": {
            "configuration": configuration,
            "imports": [{ "name": "p.py", "content": python }, { "name": "j.jinja", "content": jinja }],
        },
    })
    .to_string()
}

/// The names of what came of it.
fn create(kubectl: &Kubectl, n: u32) -> Result<Vec<String>> {
    let answer = kubectl.ok_with(&[&CREATE[..], &["-o", "json"]].concat(), &expansion(n))?;
    let answer: Value = serde_json::from_str(&answer)?;
    let resources = answer["status"]["config"]["resources"].as_array().cloned();
    let name = |resource: &Value| resource["name"].as_str().map(str::to_owned);
    Ok(resources.unwrap_or_default().iter().filter_map(name).collect())
}

#[test]
fn an_editor_expands_and_a_viewer_does_not() -> Result<()> {
    let tenant = Tenant::new()?;
    let namespace = &tenant.administrator.namespace;
    let editor = tenant.alice("edit")?;
    assert_eq!(create(&editor, 7)?, ["shop-7", namespace]);
    let broken = expansion(7).replace("context.env['deployment']", "missing");
    let refused = editor.refused(&CREATE, &broken)?;
    for part in ["The Expansion \"shop\" is invalid", "NameError", "(in config > p (p.py))"] {
        assert!(refused.contains(part), "{part} is not in {refused}");
    }
    tenant.bind("view", "bob")?;
    let refused = tenant.user("bob")?.refused(&CREATE, &expansion(7))?;
    let wanted = format!(
        "expansions.dm.formwork.dev is forbidden: User \"bob\" cannot create resource \"expansions\" in API group \
         \"dm.formwork.dev\" in the namespace \"{namespace}\""
    );
    assert!(refused.contains("(Forbidden)") && refused.contains(&wanted), "{refused}");
    let refused = editor.refused(&[&CREATE[..], &["-n", "default"]].concat(), &expansion(7))?;
    assert!(refused.contains("(Forbidden)"), "another namespace: {refused}");
    Ok(())
}

/// kubectl finds out from PATCH whether the server checks fields. For a kind that has none it asks for the
/// CustomResourceDefinitions, which users may not list, and gives up; the cluster's own kinds of that sort fare the same.
#[test]
fn kubectl_checks_what_is_only_created_for_nobody_but_administrators() -> Result<()> {
    let tenant = Tenant::new()?;
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": { "resourceAttributes": { "verb": "get", "resource": "pods" } },
    })
    .to_string();
    let editor = tenant.alice("edit")?;
    for body in [&review, &expansion(7)] {
        let refused = editor.refused(&["create", "-f", "-"], body)?;
        assert!(refused.contains("failed to list CRDs"), "{refused}");
        editor.ok_with(&CREATE, body)?;
        tenant.administrator.ok_with(&["create", "-f", "-"], body)?;
    }
    Ok(())
}

#[test]
fn a_namespace_that_is_not_there_has_no_expansions() -> Result<()> {
    let tenant = Tenant::new()?;
    let elsewhere = tenant.cluster().kubectl("admin")?.in_namespace("no-such-namespace");
    let refused = elsewhere.refused(&CREATE, &expansion(7))?;
    assert!(refused.contains("namespaces \"no-such-namespace\" not found"), "{refused}");
    Ok(())
}

#[test]
fn kubectl_knows_the_resource_by_the_documents_of_the_cluster() -> Result<()> {
    let tenant = Tenant::new()?;
    let kubectl = &tenant.administrator;
    let listed = kubectl.ok(&["api-resources", "--api-group=dm.formwork.dev", "-o", "wide"])?;
    let row: Vec<_> = listed
        .lines()
        .find(|line| line.starts_with("expansions"))
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let want = ["expansions", "dm.formwork.dev/v1alpha1", "true", "Expansion", "create"];
    assert_eq!(row, want, "{listed}");
    // The aggregator asks for our documents by and by.
    let fields = kubectl.until(&["explain", "expansions", "--recursive"], |_| true)?;
    for field in
        ["configuration\t<string> -required-", "imports\t<[]ImportFile>", "digest\t<string>"]
    {
        assert!(fields.contains(field), "{field} is not in {fields}");
    }
    let ask = ["explain", "expansions", "--output=plaintext-openapiv2"];
    kubectl.until(&ask, |fields| fields.contains("spec"))?;
    let typo = expansion(7).replace("\"content\"", "\"contents\"");
    let refused = kubectl.refused(&["create", "--validate=strict", "-f", "-"], &typo)?;
    assert!(refused.contains("unknown field \"contents\""), "{refused}");
    Ok(())
}

/// In a cluster of its own, since it is disturbed.
#[test]
fn the_api_stays_available_while_workers_are_killed() -> Result<()> {
    let cluster = Arc::new(Cluster::start(Routing::Off)?);
    let installation = Installation::new(cluster, Store::Embedded)?;
    let mut replica = installation.start(&[])?;
    installation.await_available()?;
    let kubectl = installation.cluster().namespace()?;
    let server = replica.running()?.id();
    let since = |kubectl: &Kubectl| {
        let path = "jsonpath={.status.conditions[?(@.type==\"Available\")]}";
        kubectl.ok(&["get", "apiservice/v1alpha1.dm.formwork.dev", "-o", path])
    };
    create(&kubectl, 0)?;
    let available = since(&kubectl)?;
    ensure!(available.contains("\"status\":\"True\""), "{available}");
    for n in 1..=3 {
        let workers = children(server)?;
        ensure!(!workers.is_empty(), "nothing to kill");
        workers.iter().try_for_each(::tests::family::Member::kill)?;
        until_gone(&workers)?;
        // It waits for the next worker, which takes less time than a client has.
        assert_eq!(create(&kubectl, n)?[0], format!("shop-{n}"));
        let ready = kubectl.ok(&["get", "--raw", "/apis/dm.formwork.dev/v1alpha1"])?;
        ensure!(ready.contains("expansions"), "{ready}");
    }
    assert_eq!(since(&kubectl)?, available, "it was not available for some time");
    Ok(())
}
