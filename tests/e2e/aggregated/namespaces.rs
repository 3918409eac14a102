//! Namespaces of a real cluster with Templates in them: what may be created where, and that each of them can be deleted.

use anyhow::Result;
use serde_json::Value;

use super::dialect::{DIALECTS, Tenant};
use crate::kubectl::Kubectl;

fn create(kubectl: &Kubectl, templates: &[String]) -> Result<()> {
    kubectl.ok_with(&["create", "-f", "-"], &templates.join("---\n"))?;
    Ok(())
}

#[test]
fn nothing_is_created_where_there_is_no_namespace() -> Result<()> {
    let tenant = Tenant::new()?;
    let nowhere = tenant.cluster().kubectl("admin")?.in_namespace("nowhere");
    for dialect in DIALECTS {
        let template = dialect.template("name: t");
        for create in [&["create", "-f", "-"][..], &["create", "--dry-run=server", "-f", "-"]] {
            let refused = nowhere.refused(create, &template)?;
            assert!(refused.contains("(NotFound)"), "{refused}");
            assert!(refused.contains("namespaces \"nowhere\" not found"), "{refused}");
        }
    }
    Ok(())
}

#[test]
fn a_namespace_that_goes_waits_for_finalizers_and_takes_nothing_new() -> Result<()> {
    let tenant = Tenant::new()?;
    let kubectl = &tenant.administrator;
    let namespace = &format!("namespace/{}", kubectl.namespace);
    for dialect in DIALECTS {
        create(kubectl, &[dialect.template("name: held, finalizers: [example.com/hold]")])?;
    }
    kubectl.ok(&["delete", namespace, "--wait=false"])?;
    let remaining = "--for=condition=NamespaceFinalizersRemaining";
    kubectl.ok(&["wait", remaining, namespace, "--timeout=60s"])?;
    let conditions = kubectl.ok(&["get", namespace, "-o", "jsonpath={.status.conditions}"])?;
    assert!(conditions.contains("example.com/hold in 2 resource instances"), "{conditions}");
    for dialect in DIALECTS {
        assert!(
            conditions.contains(&format!("{} has 1 resource", dialect.resource)),
            "{conditions}"
        );
        let path = dialect.path(kubectl, "templates");
        let new: Value = serde_saphyr::from_str(&dialect.template("name: new"))?;
        let ended =
            kubectl.run_with(&["create", "--raw", &path, "-f", "-", "-v=8"], &new.to_string())?;
        assert_ne!(ended.code, Some(0));
        for part in ["(Forbidden)", "is being terminated", "NamespaceTerminating"] {
            assert!(ended.stderr.contains(part), "{part} in {}", ended.stderr);
        }
        let patch = r#"{"metadata":{"finalizers":null}}"#;
        kubectl.ok(&["patch", &dialect.object("held"), "--type=merge", "-p", patch])?;
    }
    kubectl.ok(&["wait", "--for=delete", namespace, "--timeout=60s"])?;
    Ok(())
}

#[test]
fn a_namespace_of_a_thousand_templates_is_deleted() -> Result<()> {
    let tenant = Tenant::new()?;
    let kubectl = &tenant.administrator;
    for dialect in DIALECTS {
        let all: Vec<_> = (0..500).map(|n| dialect.template(&format!("name: t-{n}"))).collect();
        create(kubectl, &all)?;
    }
    kubectl.ok(&["delete", "namespace", &kubectl.namespace, "--timeout=120s"])?;
    for dialect in DIALECTS {
        let left = kubectl.ok(&["get", dialect.resource, "-o", "name"])?;
        assert_eq!(left, "");
    }
    Ok(())
}
