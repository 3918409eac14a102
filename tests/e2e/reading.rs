//! `get` in its forms, `describe`, `explain`, `api-resources`.

use anyhow::Result;
use serde_json::Value;

use crate::kubectl::{Kubectl, Templates as _};

fn three() -> Result<Kubectl> {
    let kubectl = Kubectl::new()?;
    kubectl.create("b", "tier: web, order: '2'")?;
    kubectl.create("a", "tier: web, order: '3'")?;
    kubectl.create("c", "tier: db, order: '1'")?;
    Ok(kubectl)
}

#[test]
fn api_resources_lists_what_is_served() -> Result<()> {
    let listed = Kubectl::new()?.ok(&["api-resources"])?;
    for group in ["template.openshift.io/v1", "formwork.dev/v1alpha1"] {
        for kind in ["templates", "processedtemplates"] {
            assert!(
                listed.lines().any(|line| line.starts_with(kind) && line.contains(group)),
                "{kind} of {group} in:\n{listed}"
            );
        }
    }
    Ok(())
}

#[test]
fn api_versions_and_version_are_answered() -> Result<()> {
    let kubectl = Kubectl::new()?;
    assert!(kubectl.ok(&["api-versions"])?.contains("template.openshift.io/v1\n"));
    assert!(kubectl.ok(&["version"])?.contains("Server Version: "));
    Ok(())
}

#[test]
fn get_prints_the_columns_of_a_template() -> Result<()> {
    let kubectl = three()?;
    let table = kubectl.ok(&["get", "templates"])?;
    let header: Vec<_> = table.lines().next().unwrap_or_default().split_whitespace().collect();
    assert_eq!(header, ["NAME", "DESCRIPTION", "PARAMETERS", "OBJECTS", "AGE"]);
    let row = table.lines().nth(1).unwrap_or_default();
    assert!(row.starts_with("a ") && row.contains("A small web server"), "{row}");
    assert!(row.contains("3 (1 generated)"), "{row}");
    Ok(())
}

#[test]
fn get_wide_prints_at_least_as_much() -> Result<()> {
    let kubectl = three()?;
    let table = kubectl.ok(&["get", "templates", "-o", "wide"])?;
    assert!(table.starts_with("NAME ") && table.lines().count() == 4, "{table}");
    Ok(())
}

#[test]
fn get_yaml_can_be_read_back() -> Result<()> {
    let kubectl = three()?;
    let yaml = kubectl.ok(&["get", "template", "a", "-o", "yaml"])?;
    assert!(yaml.starts_with("apiVersion: template.openshift.io/v1\n"), "{yaml}");
    let object: Value = serde_saphyr::from_str(&yaml)?;
    assert_eq!(object["objects"][1]["spec"]["replicas"], "${{REPLICAS}}");
    Ok(())
}

#[test]
fn get_jsonpath_and_custom_columns_pick_fields() -> Result<()> {
    let kubectl = three()?;
    let name = kubectl.ok(&["get", "template", "a", "-o", "jsonpath={.parameters[*].name}"])?;
    assert_eq!(name, "NAME REPLICAS PASSWORD");
    let columns = kubectl.ok(&[
        "get",
        "templates",
        "--no-headers",
        "-o",
        "custom-columns=:.metadata.name",
    ])?;
    assert_eq!(columns, "a\nb\nc\n");
    assert_eq!(
        kubectl.ok(&["get", "templates", "-o", "name"])?,
        "template.template.openshift.io/a\ntemplate.template.openshift.io/b\ntemplate.template.openshift.io/c\n"
    );
    Ok(())
}

#[test]
fn get_selects_by_label() -> Result<()> {
    let kubectl = three()?;
    let names = |selector| kubectl.ok(&["get", "templates", "-o", "name", "-l", selector]);
    assert_eq!(names("tier=web")?.lines().count(), 2);
    assert_eq!(names("tier in (db),order!=3")?, "template.template.openshift.io/c\n");
    assert_eq!(names("!tier")?, "");
    assert_eq!(kubectl.ok(&["get", "templates", "-L", "tier"])?.matches(" db").count(), 1);
    Ok(())
}

#[test]
fn get_selects_by_field() -> Result<()> {
    let kubectl = three()?;
    let selected =
        kubectl.ok(&["get", "templates", "-o", "name", "--field-selector", "metadata.name=b"])?;
    assert_eq!(selected, "template.template.openshift.io/b\n");
    let refused = kubectl.refused(&["get", "templates", "--field-selector", "spec.nope=b"], "")?;
    assert!(
        refused.contains("field label not supported")
            || refused.contains("not a known field selector"),
        "{refused}"
    );
    Ok(())
}

#[test]
fn get_pages_through_chunks() -> Result<()> {
    let kubectl = three()?;
    let ended = kubectl.run(&["get", "templates", "-o", "name", "--chunk-size=1", "-v=8"])?;
    assert_eq!(ended.stdout.lines().count(), 3, "{}", ended.stdout);
    assert!(ended.stderr.contains("continue="), "kubectl asked for one page only");
    Ok(())
}

#[test]
fn get_sorts_by_a_field() -> Result<()> {
    let kubectl = three()?;
    let sorted =
        kubectl.ok(&["get", "templates", "--no-headers", "--sort-by={.metadata.labels.order}"])?;
    let names: Vec<_> = sorted.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["c", "b", "a"]);
    Ok(())
}

#[test]
fn get_reaches_all_namespaces() -> Result<()> {
    let kubectl = three()?;
    let table = kubectl.ok(&["get", "templates", "-A", "--no-headers"])?;
    let ours =
        table.lines().filter(|line| line.split_whitespace().next() == Some(&kubectl.namespace));
    assert_eq!(ours.count(), 3, "{table}");
    Ok(())
}

#[test]
fn what_is_not_there_is_not_found() -> Result<()> {
    let kubectl = Kubectl::new()?;
    // In any other namespace kubectl asks next whether that exists, and reports on that.
    let refused = kubectl.refused(&["get", "template", "nope", "--namespace=default"], "")?;
    assert!(refused.contains("Error from server (NotFound)"), "{refused}");
    assert!(refused.contains("templates.template.openshift.io \"nope\" not found"), "{refused}");
    let none = kubectl.run(&["get", "templates"])?;
    assert!(none.stderr.contains("No resources found"), "{none:?}");
    Ok(())
}

#[test]
fn describe_prints_an_object() -> Result<()> {
    let kubectl = three()?;
    let described = kubectl.ok(&["describe", "template", "a"])?;
    for line in ["Name:", "Namespace:", "tier=web", "Kind:", "Message:"] {
        assert!(described.contains(line), "{line} in:\n{described}");
    }
    Ok(())
}

#[test]
fn explain_prints_every_field() -> Result<()> {
    let kubectl = Kubectl::new()?;
    let explained = kubectl.ok(&["explain", "templates", "--recursive"])?;
    for field in ["parameters", "generate", "objects", "message", "labels", "metadata"] {
        assert!(explained.contains(field), "{field} in:\n{explained}");
    }
    let field = kubectl.ok(&["explain", "templates.parameters.from"])?;
    assert!(field.contains("FIELD: from <string>"), "{field}");
    let other = kubectl.ok(&[
        "explain",
        "templates",
        "--api-version=formwork.dev/v1alpha1",
        "--recursive",
    ])?;
    assert!(other.contains("formwork.dev") && other.contains("parameters"), "{other}");
    Ok(())
}

#[test]
fn the_server_says_who_may_what() -> Result<()> {
    let kubectl = three()?;
    let raw = kubectl.ok(&["get", "--raw", "/readyz?verbose"])?;
    assert!(raw.contains("readyz check passed"), "{raw}");
    Ok(())
}
