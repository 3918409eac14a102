//! The cluster's garbage collector and Templates, as dependents and as owners.

use anyhow::Result;
use serde_json::{Value, json};

use super::dialect::{DIALECTS, Dialect, Tenant};
use crate::kubectl::Kubectl;

/// `metadata` of what belongs to the ConfigMap or the Template `owner`.
fn belonging(name: &str, api_version: &str, kind: &str, owner: &str, uid: &str) -> String {
    format!(
        "name: {name}, ownerReferences: [{{apiVersion: {api_version}, kind: {kind}, name: {owner}, uid: {uid}, \
         blockOwnerDeletion: true}}]"
    )
}

fn uid(kubectl: &Kubectl, object: &str) -> Result<String> {
    kubectl.ok(&["get", object, "-o", "jsonpath={.metadata.uid}"])
}

/// A namespace in a cluster whose collector follows both groups: it looks for new ones twice a minute.
fn followed() -> Result<Tenant> {
    let tenant = Tenant::new()?;
    await_followed(&tenant.administrator)?;
    Ok(tenant)
}

/// Waits until the collector has heard of all Templates that there are.
///
/// It has when it finds one whose owner nobody deleted, because there never was one, so that nothing but that Template's
/// own event leads to it: it hears of Templates in the order in which they were made.
fn await_followed(kubectl: &Kubectl) -> Result<()> {
    for dialect in DIALECTS {
        let metadata = belonging("lost", "v1", "ConfigMap", "nobody", "no-such-uid");
        kubectl.ok_with(&["create", "-f", "-"], &dialect.template(&metadata))?;
    }
    for dialect in DIALECTS {
        await_deleted(kubectl, &dialect.object("lost"))?;
    }
    Ok(())
}

/// A ConfigMap, and Templates of both groups that belong to it and are named as it is, which the collector knows.
fn owner_with_templates(kubectl: &Kubectl, owner: &str) -> Result<()> {
    kubectl.ok(&["create", "configmap", owner])?;
    let uid = uid(kubectl, &format!("configmap/{owner}"))?;
    for dialect in DIALECTS {
        let metadata = belonging(owner, "v1", "ConfigMap", owner, &uid);
        kubectl.ok_with(&["create", "-f", "-"], &dialect.template(&metadata))?;
    }
    await_followed(kubectl)
}

fn patch_finalizers(kubectl: &Kubectl, object: &str, finalizers: &Value) -> Result<()> {
    let patch = json!({ "metadata": { "finalizers": finalizers } }).to_string();
    kubectl.ok(&["patch", object, "--type=merge", "-p", &patch])?;
    Ok(())
}

fn await_deleted(kubectl: &Kubectl, object: &str) -> Result<()> {
    kubectl.ok(&["wait", "--for=delete", object, "--timeout=60s"])?;
    Ok(())
}

#[test]
fn templates_go_with_their_owner_in_the_background() -> Result<()> {
    let tenant = followed()?;
    let kubectl = &tenant.administrator;
    owner_with_templates(kubectl, "owner")?;
    kubectl.ok(&["delete", "configmap", "owner", "--cascade=background"])?;
    for dialect in DIALECTS {
        await_deleted(kubectl, &dialect.object("owner"))?;
    }
    Ok(())
}

#[test]
fn an_owner_waits_in_the_foreground_for_its_templates() -> Result<()> {
    let tenant = followed()?;
    let kubectl = &tenant.administrator;
    owner_with_templates(kubectl, "owner")?;
    let held: Vec<_> = DIALECTS.iter().map(|dialect| dialect.object("owner")).collect();
    for template in &held {
        patch_finalizers(kubectl, template, &json!(["example.com/hold"]))?;
    }
    kubectl.ok(&["delete", "configmap", "owner", "--cascade=foreground", "--wait=false"])?;
    for template in &held {
        let deleting = "--for=jsonpath={.metadata.deletionTimestamp}";
        kubectl.ok(&["wait", deleting, template, "--timeout=60s"])?;
        let finalizers = "jsonpath={.metadata.finalizers}";
        let waiting = kubectl.ok(&["get", "configmap", "owner", "-o", finalizers])?;
        assert_eq!(waiting, r#"["foregroundDeletion"]"#);
        patch_finalizers(kubectl, template, &Value::Null)?;
    }
    await_deleted(kubectl, "configmap/owner")?;
    for template in &held {
        kubectl.refused(&["get", template], "")?;
    }
    Ok(())
}

#[test]
fn orphans_stay_and_forget_their_owner() -> Result<()> {
    let tenant = followed()?;
    let kubectl = &tenant.administrator;
    owner_with_templates(kubectl, "owner")?;
    kubectl.ok(&["delete", "configmap", "owner", "--cascade=orphan"])?;
    for dialect in DIALECTS {
        let metadata = "jsonpath={.metadata}";
        let left = kubectl.ok(&["get", &dialect.object("owner"), "-o", metadata])?;
        let left: Value = serde_json::from_str(&left)?;
        assert!(left["ownerReferences"].is_null() && left["deletionTimestamp"].is_null(), "{left}");
    }
    Ok(())
}

#[test]
fn a_template_waits_in_the_foreground_for_what_belongs_to_it() -> Result<()> {
    let tenant = followed()?;
    for dialect in DIALECTS {
        owns(&tenant.administrator, &dialect)?;
    }
    Ok(())
}

fn owns(kubectl: &Kubectl, dialect: &Dialect) -> Result<()> {
    let owner = &dialect.object("owner");
    kubectl.ok_with(&["create", "-f", "-"], &dialect.template("name: owner"))?;
    let uid = uid(kubectl, owner)?;
    let metadata = belonging("held", dialect.api_version, "Template", "owner", &uid);
    let held = format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{{metadata}, finalizers: [example.com/hold]}}}}"
    );
    kubectl.ok_with(&["create", "-f", "-"], &held)?;
    kubectl.ok(&["delete", owner, "--cascade=foreground", "--wait=false"])?;
    let deleting = "--for=jsonpath={.metadata.deletionTimestamp}";
    kubectl.ok(&["wait", deleting, "configmap/held", "--timeout=60s"])?;
    let waiting = kubectl.ok(&["get", owner, "-o", "jsonpath={.metadata.finalizers}"])?;
    assert_eq!(waiting, r#"["foregroundDeletion"]"#);
    patch_finalizers(kubectl, "configmap/held", &Value::Null)?;
    await_deleted(kubectl, owner)
}

#[test]
fn what_belongs_to_a_template_goes_with_it_or_stays() -> Result<()> {
    let tenant = followed()?;
    let kubectl = &tenant.administrator;
    for dialect in DIALECTS {
        for (name, cascade) in [("goes", "background"), ("stays", "orphan")] {
            let owner = &dialect.object(name);
            let template = dialect.template(&format!("name: {name}"));
            kubectl.ok_with(&["create", "-f", "-"], &template)?;
            let uid = uid(kubectl, owner)?;
            let metadata = belonging(name, dialect.api_version, "Template", name, &uid);
            let owned = format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{{metadata}}}}}");
            kubectl.ok_with(&["create", "-f", "-"], &owned)?;
            kubectl.ok(&["delete", owner, &format!("--cascade={cascade}")])?;
        }
        await_deleted(kubectl, "configmap/goes")?;
        let left = ["get", "configmap", "stays", "-o", "jsonpath={.metadata.ownerReferences}"];
        assert_eq!(kubectl.ok(&left)?, "");
        kubectl.ok(&["delete", "configmap", "stays"])?;
    }
    Ok(())
}

#[test]
fn the_collector_follows_templates_without_complaint() -> Result<()> {
    let tenant = followed()?;
    let log = tenant.cluster().directory().join("log/kube-controller-manager.log");
    let said_before = std::fs::read_to_string(&log)?.len();
    for dialect in DIALECTS {
        let path = format!("/apis/{}/templates?", dialect.api_version);
        tenant.serving.audited(|event| {
            event["verb"] == "watch"
                && event["user"]["username"] == "system:kube-controller-manager"
                && event["requestURI"].as_str().is_some_and(|uri| uri.starts_with(&path))
        })?;
    }
    await_followed(&tenant.administrator)?;
    let said = std::fs::read_to_string(&log)?;
    // Other tests bring about conflicts on purpose.
    let ours = format!("namespace: {},", tenant.administrator.namespace);
    let complaints: Vec<_> = said[said_before..]
        .lines()
        .filter(|line| line.starts_with('E') || line.starts_with('W'))
        .filter(|line| line.contains("formwork.dev") || line.contains("template.openshift.io"))
        .filter(|line| !line.contains("namespace: test-") || line.contains(&ours))
        .collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
    Ok(())
}
