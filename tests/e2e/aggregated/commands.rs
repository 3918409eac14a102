//! kubectl's commands on templates of a real cluster, as a user with the role `edit` in one namespace.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::dialect::{DIALECTS, Dialect, Tenant};
use crate::kubectl::Kubectl;
use crate::watching::Watching;

fn stored(kubectl: &Kubectl, object: &str) -> Result<Value> {
    Ok(serde_json::from_str(&kubectl.ok(&["get", object, "-o", "json"])?)?)
}

/// Runs `test` for both dialects as an editor of a namespace of its own.
fn as_editor(test: impl Fn(&Kubectl, &Dialect) -> Result<()>) -> Result<()> {
    let tenant = Tenant::new()?;
    let editor = tenant.alice("edit")?;
    for dialect in DIALECTS {
        test(&editor, &dialect).context(dialect.api_version)?;
    }
    Ok(())
}

#[test]
fn an_editor_creates_changes_and_deletes_a_template() -> Result<()> {
    as_editor(|kubectl, dialect| {
        let t = &dialect.object("t");
        let file = kubectl.file("t.yaml", &dialect.template("name: t, labels: {app: t}"))?;
        kubectl.ok(&["create", "--validate=strict", "-f", &file])?;
        let refused = kubectl.refused(&["create", "-f", &file], "")?;
        assert!(refused.contains("(AlreadyExists)"), "{refused}");

        let stale = stored(kubectl, t)?;
        kubectl.ok(&["label", t, "tier=web"])?;
        kubectl.ok(&["annotate", t, "note=hello"])?;
        kubectl.ok(&["patch", t, "--type=merge", "-p", r#"{"labels":{"part-of":"merged"}}"#])?;
        let replace = r#"[{"op":"test","path":"/labels/part-of","value":"merged"},{"op":"replace","path":"/labels/part-of","value":"patched"}]"#;
        kubectl.ok(&["patch", t, "--type=json", "-p", replace])?;
        let refused = kubectl.refused(&["patch", t, "--type=json", "-p", replace], "")?;
        assert!(refused.contains("(Invalid)") || refused.contains("invalid"), "{refused}");
        let refused = kubectl.refused(&["patch", t, "--type=strategic", "-p", "{}"], "")?;
        assert!(refused.contains("strategic-merge-patch+json is not supported"), "{refused}");
        let refused = kubectl.refused(&["replace", "-f", "-"], &stale.to_string())?;
        assert!(refused.contains("(Conflict)"), "{refused}");

        let mut fresh = stored(kubectl, t)?;
        assert_eq!(fresh["labels"]["part-of"], "patched");
        assert_eq!(fresh["metadata"]["labels"], json!({ "app": "t", "tier": "web" }));
        assert_eq!(fresh["metadata"]["annotations"], json!({ "note": "hello" }));
        fresh["labels"]["part-of"] = json!("replaced");
        kubectl.ok_with(&["replace", "-f", "-"], &fresh.to_string())?;

        let script = "#!/bin/sh\nsed -i 's/part-of: replaced$/part-of: edited/' \"$1\"\n";
        let editor = kubectl.script("editor", script)?;
        let edited = kubectl.command(&["edit", t]).env("KUBE_EDITOR", editor).output()?;
        assert!(edited.status.success(), "{}", String::from_utf8_lossy(&edited.stderr));
        assert_eq!(stored(kubectl, t)?["labels"]["part-of"], "edited");

        let described = kubectl.ok(&["describe", t])?;
        for line in ["Name:         t\n", "tier=web", "edited", "Events:"] {
            assert!(described.contains(line), "{line} in:\n{described}");
        }
        kubectl.ok(&["delete", t, "--timeout=30s"])?;
        let refused = kubectl.refused(&["get", t], "")?;
        assert!(refused.contains("(NotFound)"), "{refused}");
        Ok(())
    })
}

#[test]
fn applying_again_changes_nothing_and_diff_knows() -> Result<()> {
    as_editor(|kubectl, dialect| {
        let t = &dialect.object("t");
        let file = kubectl.file("t.yaml", &dialect.template("name: t"))?;
        assert_eq!(kubectl.run(&["diff", "-f", &file])?.code, Some(1), "it is not there yet");
        assert!(kubectl.ok(&["apply", "-f", &file])?.ends_with(" created\n"));
        let first = stored(kubectl, t)?;
        assert!(kubectl.ok(&["apply", "-f", &file])?.ends_with(" unchanged\n"));
        assert_eq!(stored(kubectl, t)?, first);
        let same = kubectl.run(&["diff", "-f", &file])?;
        assert_eq!((same.code, same.stdout.as_str()), (Some(0), ""), "{same:?}");

        let other = dialect.template("name: t, labels: {app: other}");
        let file = kubectl.file("t.yaml", &other.replace("part-of: shop", "part-of: store"))?;
        let differs = kubectl.run(&["diff", "-f", &file])?;
        assert_eq!(differs.code, Some(1), "{differs:?}");
        assert!(differs.stdout.contains("+    app: other"), "{}", differs.stdout);
        assert!(kubectl.ok(&["apply", "-f", &file])?.ends_with(" configured\n"));
        assert_eq!(stored(kubectl, t)?["metadata"]["labels"], json!({ "app": "other" }));
        kubectl.ok(&["delete", "-f", &file])?;
        Ok(())
    })
}

#[test]
fn a_typo_is_refused_by_the_server() -> Result<()> {
    as_editor(|kubectl, dialect| {
        let typo = dialect.template("name: typo").replace("labels: {part", "lables: {part");
        let refused = kubectl.refused(&["create", "--validate=strict", "-f", "-"], &typo)?;
        assert!(refused.contains("strict decoding error: unknown field \"lables\""), "{refused}");
        let warned = kubectl.run_with(&["create", "--validate=warn", "-f", "-"], &typo)?;
        assert_eq!(warned.code, Some(0), "{warned:?}");
        assert!(warned.stderr.contains("Warning: unknown field \"lables\""), "{warned:?}");
        Ok(())
    })
}

#[test]
fn lists_are_selected_sorted_and_paged() -> Result<()> {
    let tenant = Tenant::new()?;
    let kubectl = tenant.alice("edit")?;
    for dialect in DIALECTS {
        let templates: Vec<_> = [("b", "web", 2), ("a", "web", 3), ("c", "db", 1)]
            .map(|(name, tier, order)| {
                let labels = format!("labels: {{tier: {tier}, order: '{order}'}}");
                dialect.template(&format!("name: {name}, {labels}"))
            })
            .into();
        kubectl.ok_with(&["create", "-f", "-"], &templates.join("---\n"))?;
        let names = |flags: &[&str]| -> Result<String> {
            let columns = "-o=custom-columns=:.metadata.name";
            let all = [&["get", dialect.resource, columns, "--no-headers"], flags].concat();
            Ok(kubectl.ok(&all)?.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        assert_eq!(names(&[])?, "a b c");
        assert_eq!(names(&["-l", "tier=web"])?, "a b");
        assert_eq!(names(&["-l", "tier in (db),order!=3"])?, "c");
        assert_eq!(names(&["--field-selector", "metadata.name=b"])?, "b");
        assert_eq!(names(&["--sort-by={.metadata.labels.order}"])?, "c b a");
        let paged = ["get", dialect.resource, "--chunk-size=1", "-v=8"];
        let paged = kubectl.run(&paged)?;
        assert_eq!(paged.stdout.lines().count(), 4, "{}", paged.stdout);
        assert!(paged.stderr.contains("continue="), "kubectl asked for one page only");
        let wide = kubectl.ok(&["get", dialect.resource, "-o", "wide"])?;
        let header: Vec<_> = wide.lines().next().unwrap_or_default().split_whitespace().collect();
        assert_eq!(header, ["NAME", "DESCRIPTION", "PARAMETERS", "OBJECTS", "AGE"]);

        let everywhere = ["get", dialect.resource, "-A", "--no-headers"];
        let table = tenant.administrator.ok(&everywhere)?;
        let here = |line: &&str| line.split_whitespace().next() == Some(&kubectl.namespace);
        assert_eq!(table.lines().filter(here).count(), 3, "{table}");
        kubectl.ok(&["delete", dialect.resource, "-l", "tier=web"])?;
        assert_eq!(names(&[])?, "c");
        kubectl.ok(&["delete", dialect.resource, "--all"])?;
        assert_eq!(names(&[])?, "");
    }
    Ok(())
}

#[test]
fn a_watch_shows_every_change_and_wait_sees_it() -> Result<()> {
    as_editor(|kubectl, dialect| {
        let t = &dialect.object("t");
        kubectl.ok_with(&["create", "-f", "-"], &dialect.template("name: t"))?;
        let watching =
            Watching::start(kubectl, &["get", dialect.resource, "-w", "--output-watch-events"])?;
        watching.expect(&["ADDED", "t "])?;
        let waiting = kubectl
            .command(&["wait", t, "--for=jsonpath={.metadata.labels.done}=1", "--timeout=30s"])
            .stdout(std::process::Stdio::null())
            .spawn()?;
        kubectl.ok(&["label", t, "done=1"])?;
        watching.expect(&["MODIFIED", "t "])?;
        assert!(waiting.wait_with_output()?.status.success());
        let waiting = kubectl
            .command(&["wait", t, "--for=delete", "--timeout=30s"])
            .stdout(std::process::Stdio::null())
            .spawn()?;
        kubectl.ok(&["delete", t])?;
        watching.expect(&["DELETED", "t "])?;
        assert!(waiting.wait_with_output()?.status.success());
        Ok(())
    })
}

#[test]
fn an_editor_processes_what_is_sent_and_what_is_stored() -> Result<()> {
    let tenant = Tenant::new()?;
    let kubectl = tenant.alice("edit")?;
    for dialect in DIALECTS {
        let yaml = dialect.template("name: t");
        kubectl.ok_with(&["create", "-f", "-"], &yaml)?;
        let template: Value = serde_saphyr::from_str(&yaml)?;
        let post = |resource: &str, body: &Value| -> Result<Value> {
            let path = dialect.path(&kubectl, resource);
            let answer =
                kubectl.ok_with(&["create", "--raw", &path, "-f", "-"], &body.to_string())?;
            Ok(serde_json::from_str(&answer)?)
        };
        let sent = post("processedtemplates", &template)?;
        assert_eq!(sent["objects"][0]["metadata"]["name"], "web", "{sent}");
        let values = json!({
            "apiVersion": dialect.api_version, "kind": "Parameters", "values": { "NAME": "shop" },
        });
        let kept = post("templates/t/processed", &values)?;
        assert_eq!(kept["objects"][0]["metadata"]["name"], "shop", "{kept}");
        let path = dialect.path(&kubectl, "templates/t/schema");
        let schema: Value = serde_json::from_str(&kubectl.ok(&["get", "--raw", &path])?)?;
        assert_eq!(schema["properties"]["NAME"]["default"], "web", "{schema}");

        let plugin = tenant.plugin("alice", &["process", &dialect.object("t"), "NAME=plug"])?;
        let list: Value = serde_json::from_str(&plugin)?;
        assert_eq!(list["items"][0]["metadata"]["name"], "plug", "{list}");
    }
    Ok(())
}
