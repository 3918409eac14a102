//! Formwork as part of a real cluster: what a user of kubectl meets, through kube-apiserver.

use anyhow::Result;
use tests::installation::Installation;

const TEMPLATE: &str = r#"{
    "apiVersion": "template.openshift.io/v1", "kind": "Template", "metadata": {"name": "first"},
    "parameters": [{"name": "NAME", "value": "one"}],
    "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "${NAME}"}}]
}"#;

#[test]
fn templates_are_part_of_the_cluster() -> Result<()> {
    let serving = Installation::shared()?;
    let kubectl = serving.installation.cluster().namespace()?;
    let resources = kubectl.ok(&["api-resources", "--api-group=template.openshift.io"])?;
    assert!(resources.contains("templates") && resources.contains("processedtemplates"));
    kubectl.ok_with(&["create", "-f", "-"], TEMPLATE)?;
    let table = kubectl.ok(&["get", "templates.template.openshift.io"])?;
    assert!(table.contains("first"), "{table}");
    Ok(())
}
