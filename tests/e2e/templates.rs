//! Templates processed through `create --raw`: by a body, and by the subresource of a stored one.

use anyhow::Result;
use serde_json::{Value, json};

use crate::kubectl::{Kubectl, Templates as _, template};

fn as_json(yaml: &str) -> Result<Value> {
    Ok(serde_saphyr::from_str(yaml)?)
}

#[test]
fn a_posted_template_comes_back_processed() -> Result<()> {
    let kubectl = Kubectl::new()?;
    let body = as_json(&template("t", ""))?.to_string();
    let path = format!(
        "/apis/template.openshift.io/v1/namespaces/{}/processedtemplates",
        kubectl.namespace
    );
    let answer = kubectl.ok_with(&["create", "--raw", &path, "-f", "-"], &body)?;
    let processed: Value = serde_json::from_str(&answer)?;
    assert_eq!(processed["objects"][0]["metadata"]["name"], "web");
    assert_eq!(processed["objects"][1]["spec"]["replicas"], 2);
    assert_eq!(processed["message"], "web is on its way");
    assert_eq!(processed["parameters"][2]["value"].as_str().map(str::len), Some(12));
    kubectl.refused(&["get", "template", "t"], "")?;
    Ok(())
}

#[test]
fn a_stored_template_is_processed_with_values_given_as_a_map_or_a_list() -> Result<()> {
    let kubectl = Kubectl::new()?;
    kubectl.create("t", "")?;
    for group in ["template.openshift.io/v1"] {
        let path = format!("/apis/{group}/namespaces/{}/templates/t/processed", kubectl.namespace);
        for values in [json!({"NAME": "shop"}), json!([{"name": "NAME", "value": "shop"}])] {
            let body = json!({"apiVersion": group, "kind": "Parameters", "values": values});
            let answer =
                kubectl.ok_with(&["create", "--raw", &path, "-f", "-"], &body.to_string())?;
            let processed: Value = serde_json::from_str(&answer)?;
            assert_eq!(processed["objects"][0]["metadata"]["name"], "shop", "{answer}");
        }
    }
    Ok(())
}

#[test]
fn the_schema_of_a_stored_template_describes_its_parameters() -> Result<()> {
    let kubectl = Kubectl::new()?;
    kubectl.create("t", "")?;
    let path = format!(
        "/apis/template.openshift.io/v1/namespaces/{}/templates/t/schema",
        kubectl.namespace
    );
    let schema: Value = serde_json::from_str(&kubectl.ok(&["get", "--raw", &path])?)?;
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["properties"]["NAME"]["description"], "What to call it");
    assert_eq!(schema["properties"]["REPLICAS"]["default"], "2");
    Ok(())
}

#[test]
fn a_template_of_the_proposal_is_stored_and_processed() -> Result<()> {
    let kubectl = Kubectl::new()?;
    let body = json!({
        "apiVersion": "formwork.dev/v1alpha1", "kind": "Template", "metadata": {"name": "p"},
        "parameters": [{"name": "NAME", "value": "web"},
                       {"name": "COUNT", "type": "int", "value": "3"}],
        "objects": [{"apiVersion": "apps/v1", "kind": "Deployment",
                     "metadata": {"name": "$(NAME)"}, "spec": {"replicas": "$((COUNT))"}}],
    });
    kubectl.ok_with(&["create", "-f", "-"], &body.to_string())?;
    let path = format!(
        "/apis/formwork.dev/v1alpha1/namespaces/{}/templates/p/processed",
        kubectl.namespace
    );
    let parameters = json!({"apiVersion": "formwork.dev/v1alpha1", "kind": "Parameters",
                            "values": {"NAME": "shop"}});
    let answer =
        kubectl.ok_with(&["create", "--raw", &path, "-f", "-"], &parameters.to_string())?;
    let processed: Value = serde_json::from_str(&answer)?;
    assert_eq!(processed["objects"][0]["metadata"]["name"], "shop", "{answer}");
    assert_eq!(processed["objects"][0]["spec"]["replicas"], 3, "{answer}");
    Ok(())
}
