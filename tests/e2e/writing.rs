//! `create`, `apply`, `replace`, `patch`, `edit`, `label`, `annotate`, `diff`, `delete`, and validation by the server.

use anyhow::Result;
use serde_json::{Value, json};

use crate::kubectl::{Kubectl, Templates as _, template};

fn revision(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap_or_default()
}

#[test]
fn a_template_is_created_once() -> Result<()> {
    let kubectl = Kubectl::new()?;
    let file = kubectl.file("t.yaml", &template("t", "app: t"))?;
    let created = kubectl.ok(&["create", "-f", &file])?;
    assert_eq!(created, "template.template.openshift.io/t created\n");
    let refused = kubectl.refused(&["create", "-f", &file], "")?;
    assert!(refused.contains("Error from server (AlreadyExists)"), "{refused}");
    assert_eq!(kubectl.get("t")?["metadata"]["labels"], json!({"app": "t"}));
    Ok(())
}

#[test]
fn json_and_generated_names_are_created_too() -> Result<()> {
    let kubectl = Kubectl::new()?;
    let body = json!({"apiVersion": "template.openshift.io/v1", "kind": "Template",
                      "metadata": {"generateName": "gen-"}, "objects": []});
    let created = kubectl.ok_with(&["create", "-f", "-", "-o", "name"], &body.to_string())?;
    let name = created.trim().rsplit('/').next().unwrap_or_default();
    assert_eq!(name.len(), "gen-".len() + 5, "{created}");
    Ok(())
}

#[test]
fn a_dry_run_stores_nothing() -> Result<()> {
    let kubectl = Kubectl::new()?;
    let arguments = ["create", "--dry-run=server", "-f", "-", "-o", "jsonpath={.metadata.uid}"];
    assert!(!kubectl.ok_with(&arguments, &template("dry", ""))?.is_empty(), "the server answered");
    kubectl.refused(&["get", "template", "dry"], "")?;
    kubectl.create("kept", "")?;
    kubectl.ok(&["delete", "template", "kept", "--dry-run=server"])?;
    kubectl.ok(&["label", "template", "kept", "a=b", "--dry-run=server"])?;
    assert!(kubectl.get("kept")?["metadata"].get("labels").is_none());
    Ok(())
}

#[test]
fn a_typo_is_refused_by_the_server() -> Result<()> {
    let kubectl = Kubectl::new()?;
    let typo = template("typo", "").replace("message:", "mesage:");
    let refused = kubectl.refused(&["create", "--validate=strict", "-f", "-"], &typo)?;
    assert!(refused.contains("Error from server (BadRequest)"), "{refused}");
    assert!(refused.contains("strict decoding error: unknown field \"mesage\""), "{refused}");
    let warned = kubectl.run_with(&["create", "--validate=warn", "-f", "-"], &typo)?;
    assert_eq!(warned.code, Some(0), "{warned:?}");
    assert!(warned.stderr.contains("Warning: unknown field \"mesage\""), "{warned:?}");
    let ignored = kubectl.run_with(
        &["create", "--validate=ignore", "-f", "-"],
        &typo.replace("name: typo", "name: typo2"),
    )?;
    assert_eq!(ignored.code, Some(0), "{ignored:?}");
    assert!(!ignored.stderr.contains("Warning"), "{ignored:?}");
    Ok(())
}

#[test]
fn what_is_invalid_is_refused_with_every_cause() -> Result<()> {
    let kubectl = Kubectl::new()?;
    let bad = template("bad", "")
        .replace("name: REPLICAS", "name: not-a-name")
        .replace("name: PASSWORD", "name: ''");
    let refused = kubectl.refused(&["create", "-f", "-"], &bad)?;
    assert!(refused.contains("is invalid"), "{refused}");
    assert!(refused.contains("parameters[1].name: Invalid value"), "{refused}");
    assert!(refused.contains("parameters[2].name: Required value"), "{refused}");
    Ok(())
}

#[test]
fn labels_and_annotations_come_and_go() -> Result<()> {
    let kubectl = Kubectl::new()?;
    kubectl.create("t", "app: t")?;
    kubectl.ok(&["label", "template", "t", "tier=web"])?;
    assert_eq!(kubectl.get("t")?["metadata"]["labels"], json!({"app": "t", "tier": "web"}));
    let refused = kubectl.refused(&["label", "template", "t", "tier=db"], "")?;
    assert!(refused.contains("overwrite"), "{refused}");
    kubectl.ok(&["label", "--overwrite", "template", "t", "tier=db", "app-"])?;
    assert_eq!(kubectl.get("t")?["metadata"]["labels"], json!({"tier": "db"}));
    kubectl.ok(&["annotate", "template", "t", "note=hello", "description-"])?;
    assert_eq!(kubectl.get("t")?["metadata"]["annotations"], json!({"note": "hello"}));
    Ok(())
}

#[test]
fn a_merge_patch_changes_what_it_names() -> Result<()> {
    let kubectl = Kubectl::new()?;
    kubectl.create("t", "app: t")?;
    let patch = r#"{"message":"new","metadata":{"labels":{"app":null,"b":"c"}}}"#;
    kubectl.ok(&["patch", "template", "t", "--type=merge", "-p", patch])?;
    let patched = kubectl.get("t")?;
    assert_eq!(patched["message"], "new");
    assert_eq!(patched["metadata"]["labels"], json!({"b": "c"}));
    assert_eq!(patched["parameters"].as_array().map(Vec::len), Some(3));
    Ok(())
}

#[test]
fn a_json_patch_is_whole_or_nothing() -> Result<()> {
    let kubectl = Kubectl::new()?;
    kubectl.create("t", "")?;
    let patch =
        |patch: &str| ["patch", "template", "t", "--type=json", "-p", patch].map(String::from);
    let run = |arguments: [String; 6]| kubectl.run(&arguments.each_ref().map(String::as_str));
    let good = run(patch(
        r#"[{"op":"test","path":"/parameters/1/value","value":"2"},{"op":"replace","path":"/parameters/1/value","value":"5"}]"#,
    ))?;
    assert_eq!(good.code, Some(0), "{good:?}");
    let bad = run(patch(
        r#"[{"op":"replace","path":"/message","value":"x"},{"op":"test","path":"/message","value":"y"}]"#,
    ))?;
    assert_ne!(bad.code, Some(0));
    let stored = kubectl.get("t")?;
    assert_eq!(stored["parameters"][1]["value"], "5");
    assert_ne!(stored["message"], "x");
    Ok(())
}

#[test]
fn an_editor_changes_an_object() -> Result<()> {
    let kubectl = Kubectl::new()?;
    kubectl.create("t", "")?;
    let editor =
        kubectl.script("editor", "#!/bin/sh\nsed -i 's/^message: .*/message: edited/' \"$1\"\n")?;
    let edited = kubectl.command(&["edit", "template", "t"]).env("KUBE_EDITOR", editor).output()?;
    assert!(edited.status.success(), "{}", String::from_utf8_lossy(&edited.stderr));
    assert_eq!(kubectl.get("t")?["message"], "edited");
    Ok(())
}

#[test]
fn replacing_what_changed_meanwhile_is_a_conflict() -> Result<()> {
    let kubectl = Kubectl::new()?;
    kubectl.create("t", "")?;
    let stale = kubectl.get("t")?;
    kubectl.ok(&["label", "template", "t", "a=b"])?;
    let refused = kubectl.refused(&["replace", "-f", "-"], &stale.to_string())?;
    assert!(refused.contains("Error from server (Conflict)"), "{refused}");
    assert!(refused.contains("the object has been modified"), "{refused}");

    let mut fresh = kubectl.get("t")?;
    fresh["message"] = json!("replaced");
    kubectl.ok_with(&["replace", "-f", "-"], &fresh.to_string())?;
    assert_eq!(kubectl.get("t")?["message"], "replaced");
    Ok(())
}

#[test]
fn replace_with_force_makes_a_new_object() -> Result<()> {
    let kubectl = Kubectl::new()?;
    kubectl.create("t", "")?;
    let before = kubectl.get("t")?;
    kubectl.ok_with(&["replace", "--force", "-f", "-"], &template("t", "new: 'yes'"))?;
    assert_ne!(kubectl.get("t")?["metadata"]["uid"], before["metadata"]["uid"]);
    Ok(())
}

#[test]
fn applying_twice_changes_nothing() -> Result<()> {
    let kubectl = Kubectl::new()?;
    let file = kubectl.file("t.yaml", &template("t", "app: t"))?;
    assert!(kubectl.ok(&["apply", "-f", &file])?.ends_with(" created\n"));
    let first = kubectl.get("t")?;
    assert!(kubectl.ok(&["apply", "-f", &file])?.ends_with(" unchanged\n"));
    assert_eq!(revision(&kubectl.get("t")?), revision(&first));

    let file = kubectl.file("t.yaml", &template("t", "app: u").replace("port: 80", "port: 81"))?;
    assert!(kubectl.ok(&["apply", "-f", &file])?.ends_with(" configured\n"));
    let changed = kubectl.get("t")?;
    assert_eq!(changed["metadata"]["labels"], json!({"app": "u"}));
    assert_eq!(changed["objects"][0]["spec"]["ports"][0]["port"], 81);
    Ok(())
}

#[test]
fn diff_says_by_its_exit_code_whether_there_is_a_difference() -> Result<()> {
    let kubectl = Kubectl::new()?;
    let file = kubectl.file("t.yaml", &template("t", "app: t"))?;
    kubectl.ok(&["apply", "-f", &file])?;
    let same = kubectl.run(&["diff", "-f", &file])?;
    assert_eq!((same.code, same.stdout.as_str()), (Some(0), ""), "{same:?}");
    let other = kubectl.file("u.yaml", &template("t", "app: other"))?;
    let differs = kubectl.run(&["diff", "-f", &other])?;
    assert_eq!(differs.code, Some(1), "{differs:?}");
    assert!(differs.stdout.contains("+    app: other"), "{}", differs.stdout);
    let new = kubectl.file("v.yaml", &template("v", ""))?;
    assert_eq!(kubectl.run(&["diff", "-f", &new])?.code, Some(1));
    Ok(())
}

#[test]
fn delete_waits_until_the_object_is_gone() -> Result<()> {
    let kubectl = Kubectl::new()?;
    kubectl.create("t", "")?;
    kubectl.ok(&["delete", "template", "t", "--wait", "--timeout=30s"])?;
    kubectl.refused(&["get", "template", "t"], "")?;
    kubectl.refused(&["delete", "template", "t"], "")?;
    kubectl.ok(&["delete", "template", "t", "--ignore-not-found"])?;
    Ok(())
}

#[test]
fn a_finalizer_holds_an_object_until_it_is_taken_away() -> Result<()> {
    let kubectl = Kubectl::new()?;
    kubectl.create("t", "")?;
    let patch = |finalizers: Value| {
        let patch = json!({"metadata": {"finalizers": finalizers}}).to_string();
        kubectl.ok(&["patch", "template", "t", "--type=merge", "-p", &patch])
    };
    patch(json!(["example.com/hold"]))?;
    kubectl.ok(&["delete", "template", "t", "--wait=false"])?;
    assert!(kubectl.get("t")?["metadata"]["deletionTimestamp"].is_string());
    patch(Value::Null)?;
    kubectl.refused(&["get", "template", "t"], "")?;
    Ok(())
}

#[test]
fn delete_takes_a_selection_or_all() -> Result<()> {
    let kubectl = Kubectl::new()?;
    for (name, labels) in [("a", "x: '1'"), ("b", "x: '1'"), ("c", "x: '2'"), ("d", "")] {
        kubectl.create(name, labels)?;
    }
    kubectl.ok(&["delete", "templates", "-l", "x=1"])?;
    assert_eq!(kubectl.ok(&["get", "templates", "-o", "name"])?.lines().count(), 2);
    kubectl.ok(&["delete", "templates", "--all"])?;
    assert_eq!(kubectl.ok(&["get", "templates", "-o", "name"])?, "");
    Ok(())
}
