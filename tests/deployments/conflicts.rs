//! Objects that several want: other Deployments, or whoever made them before.

use anyhow::{Result, ensure};
use serde_json::json;

use crate::setting::{Setting, config_map, deployment, dmd, resources};

#[test]
fn two_deployments_that_want_one_object_conflict_until_one_gives_it_up() -> Result<()> {
    let setting = Setting::new()?;
    let claim = |value: &str| resources(&json!([config_map("both", &json!({ "of": value }))]));
    setting.apply("first", &claim("first"))?;
    setting.await_ready("first")?;
    setting.apply("second", &claim("second"))?;
    let message = setting.await_refusal("second", "Applied", "Failed")?;
    let owner = format!("belongs to Deployment {}/first", setting.kubectl.namespace);
    ensure!(message.contains(&owner), "{message}");
    assert_eq!(setting.read("configmap/both", ".data.of")?, "first");

    // Abandoned by the first, acquired by the second.
    let abandon = json!({ "spec": { "deletePolicy": "Abandon" } }).to_string();
    setting.kubectl.ok(&["patch", &dmd("first"), "--type=merge", "-p", &abandon])?;
    setting.kubectl.ok(&["delete", &dmd("first"), "--timeout=60s"])?;
    ensure!(setting.exists("configmap/both")?, "it was not abandoned but deleted");
    setting.await_ready("second")?;
    assert_eq!(setting.read("configmap/both", ".data.of")?, "second");
    setting.kubectl.ok(&["delete", &dmd("second"), "--timeout=60s"])?;
    ensure!(!setting.exists("configmap/both")?, "it was left over");
    Ok(())
}

#[test]
fn what_is_replaced_from_a_file_leaves_nothing_behind_when_it_is_deleted() -> Result<()> {
    let setting = Setting::new()?;
    let spec = |value: &str| resources(&json!([config_map("gone", &json!({ "v": value }))]));
    setting.apply("replaced", &spec("1"))?;
    setting.await_ready("replaced")?;
    let file = deployment("replaced", &spec("2"));
    setting.kubectl.ok_with(&["replace", "-f", "-"], &file)?;
    setting.await_ready("replaced")?;
    assert_eq!(setting.read("configmap/gone", ".data.v")?, "2");
    setting.kubectl.ok(&["delete", &dmd("replaced"), "--timeout=60s"])?;
    ensure!(!setting.exists("configmap/gone")?, "it was left over");
    Ok(())
}

#[test]
fn what_has_to_be_there_is_not_created() -> Result<()> {
    let setting = Setting::new()?;
    let mut spec = resources(&json!([config_map("there", &json!({ "added": "1" }))]));
    spec["createPolicy"] = "Acquire".into();
    setting.apply("taker", &spec)?;
    let message = setting.await_refusal("taker", "Applied", "Failed")?;
    ensure!(message.contains("is not there"), "{message}");
    setting.kubectl.ok(&["create", "configmap", "there", "--from-literal=mine=2"])?;
    setting.await_ready("taker")?;
    assert_eq!(setting.read("configmap/there", ".data")?, r#"{"added":"1","mine":"2"}"#);
    Ok(())
}

#[test]
fn what_others_change_is_seen_and_put_right_where_that_is_asked_for() -> Result<()> {
    let setting = Setting::new()?;
    let spec = resources(&json!([config_map("kept", &json!({ "v": "1" }))]));
    setting.apply("keeper", &spec)?;
    setting.await_ready("keeper")?;
    setting.kubectl.ok(&[
        "patch",
        "configmap/kept",
        "--type=merge",
        "-p",
        r#"{"data":{"v":"2"}}"#,
    ])?;
    setting.kubectl.ok(&["wait", "--for=condition=Drifted", &dmd("keeper"), "--timeout=60s"])?;
    let why = setting.read(&dmd("keeper"), ".status.conditions[?(@.type==\"Drifted\")].message")?;
    ensure!(why.contains("data.v"), "{why}");
    assert_eq!(setting.read("configmap/kept", ".data.v")?, "2", "it was only observed");

    let mut enforced = spec;
    enforced["reconcile"] = "Enforce".into();
    setting.apply("keeper", &enforced)?;
    setting.await_ready("keeper")?;
    assert_eq!(setting.read("configmap/kept", ".data.v")?, "1");
    setting.kubectl.ok(&["delete", "configmap/kept"])?;
    setting.kubectl.ok(&["wait", "--for=create", "configmap/kept", "--timeout=60s"])?;
    Ok(())
}

#[test]
fn a_preview_says_what_would_be_done_and_does_nothing() -> Result<()> {
    let setting = Setting::new()?;
    let spec = |value: &str, more: &str| {
        resources(&json!([config_map("a", &json!({ "v": value })), config_map(more, &json!({}))]))
    };
    setting.apply("shown", &spec("1", "old"))?;
    setting.await_ready("shown")?;
    let mut preview = spec("2", "new");
    preview["preview"] = true.into();
    setting.apply("shown", &preview)?;
    let phase =
        ["wait", "--for=jsonpath={.status.phase}=Previewed", &dmd("shown"), "--timeout=60s"];
    setting.kubectl.ok(&phase)?;
    let actions = setting.read(&dmd("shown"), ".status.preview[*]['objectName','action']")?;
    assert_eq!(actions, "a new old Update Create Delete");
    let diff = setting.read(&dmd("shown"), ".status.preview[0].diff")?;
    ensure!(diff.contains("-  v: \"1\"") && diff.contains("+  v: \"2\""), "{diff}");
    assert_eq!(setting.read("configmap/a", ".data.v")?, "1");
    ensure!(
        !setting.exists("configmap/new")? && setting.exists("configmap/old")?,
        "it did something"
    );
    preview["preview"] = false.into();
    setting.apply("shown", &preview)?;
    setting.await_ready("shown")?;
    ensure!(
        setting.exists("configmap/new")? && !setting.exists("configmap/old")?,
        "it did nothing"
    );
    Ok(())
}

#[test]
fn what_would_be_done_is_answered_without_a_change_of_what_is_wanted() -> Result<()> {
    let setting = Setting::new()?;
    let spec = |value: &str| resources(&json!([config_map("a", &json!({ "v": value }))]));
    setting.apply("asked", &spec("1"))?;
    setting.await_ready("asked")?;
    let asked = json!({
        "apiVersion": "dm.formwork.dev/v1alpha1", "kind": "DeploymentPreview",
        "metadata": { "name": "asked" }, "spec": spec("2"),
    });
    let answer =
        setting.kubectl.ok_with(&["create", "-o", "json", "-f", "-"], &asked.to_string())?;
    let answer: serde_json::Value = serde_json::from_str(&answer)?;
    assert_eq!(answer["status"]["preview"][0]["action"], "Update");
    let generation = setting.read(&dmd("asked"), ".metadata.generation")?;
    assert_eq!((generation.as_str(), &*setting.read("configmap/a", ".data.v")?), ("1", "1"));
    // Who may not read the Deployment is not told what it has.
    let bob = setting.user("bob")?;
    setting.kubectl.ok(&[
        "create",
        "role",
        "asker",
        "--verb=create",
        "--resource=deploymentpreviews.dm.formwork.dev",
    ])?;
    setting.kubectl.ok(&["create", "rolebinding", "asker", "--role=asker", "--user=bob"])?;
    let path = format!(
        "/apis/dm.formwork.dev/v1alpha1/namespaces/{}/deploymentpreviews",
        setting.kubectl.namespace
    );
    let file = setting.kubectl.file("asked.json", &asked.to_string())?;
    bob.until_refused(&["create", "--raw", &path, "-f", &file], "bob may not get deployments")?;
    Ok(())
}

#[test]
fn a_namespace_goes_with_its_deployments() -> Result<()> {
    let setting = Setting::new()?;
    setting.apply("any", &resources(&json!([config_map("a", &json!({}))])))?;
    setting.await_ready("any")?;
    let namespace = format!("namespace/{}", setting.kubectl.namespace);
    setting.kubectl.ok(&["delete", &namespace, "--timeout=90s"])?;
    Ok(())
}
