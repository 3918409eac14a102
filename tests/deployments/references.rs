//! References: values of live objects, circles, and outputs of other Deployments.

use anyhow::{Result, ensure};
use serde_json::json;

use crate::setting::{Setting, config_map, deployment, dmd, resources};

#[test]
fn a_circle_is_refused_at_once_and_named() -> Result<()> {
    let setting = Setting::new()?;
    let circle = resources(&json!([
        config_map("a", &json!({ "v": "$(ref.b.data.v)" })),
        config_map("b", &json!({ "v": "$(ref.c.data.v)" })),
        config_map("c", &json!({ "v": "$(ref.a.data.v)" })),
    ]));
    let refused =
        setting.kubectl.refused(&["create", "-f", "-"], &deployment("circle", &circle))?;
    ensure!(refused.contains("a -> b -> c -> a"), "{refused}");
    ensure!(!setting.exists(&dmd("circle"))?, "it was stored");
    Ok(())
}

#[test]
fn a_template_that_does_not_expand_is_refused_at_once_with_its_line() -> Result<()> {
    let setting = Setting::new()?;
    let spec = json!({
        "configuration": "resources: [{name: a, type: t.jinja}]",
        "imports": [{ "path": "t.jinja", "content": "resources:\n{{ nothing.at.all }}" }],
    });
    let refused = setting.kubectl.refused(&["create", "-f", "-"], &deployment("broken", &spec))?;
    ensure!(
        refused.contains("spec.imports[t.jinja].content") && refused.contains("t.jinja:2"),
        "{refused}"
    );
    Ok(())
}

#[test]
fn values_keep_their_types() -> Result<()> {
    let setting = Setting::new()?;
    let service = json!({ "name": "service", "type": "Service", "properties": {
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": "one" },
        "spec": { "ports": [{ "port": 8080 }] },
    }});
    let follower = json!({ "name": "follower", "type": "Service", "properties": {
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": "two" },
        "spec": { "ports": [{ "port": "$(ref.service.spec.ports[0].port)" }] },
    }});
    let told = config_map(
        "told",
        &json!({ "at": "$(ref.service.spec.clusterIP):$(ref.follower.spec.ports[0].port)" }),
    );
    // In whatever order they are written.
    setting.apply("typed", &resources(&json!([told, follower, service])))?;
    setting.await_ready("typed")?;
    assert_eq!(setting.read("service/two", ".spec.ports[0].port")?, "8080");
    let address = setting.read("service/one", ".spec.clusterIP")?;
    assert_eq!(setting.read("configmap/told", ".data.at")?, format!("{address}:8080"));
    Ok(())
}

#[test]
fn what_is_not_there_is_refused_with_its_name() -> Result<()> {
    let setting = Setting::new()?;
    let spec = resources(&json!([config_map("a", &json!({ "v": "$(ref.nobody.data.v)" }))]));
    setting.apply("unknown", &spec)?;
    let message = setting.await_refusal("unknown", "Planned", "Invalid")?;
    ensure!(message.contains("$(ref.nobody.data.v)"), "{message}");
    Ok(())
}

#[test]
fn outputs_of_another_deployment_are_waited_for() -> Result<()> {
    let setting = Setting::new()?;
    let user =
        resources(&json!([config_map("user", &json!({ "v": "$(ref.deployments/maker.v)" }))]));
    let mut user = user;
    user["dependsOn"] = json!(["maker"]);
    setting.apply("user", &user)?;
    let message = setting.await_refusal("user", "Ready", "DependencyNotReady")?;
    assert_eq!(message, "Deployment maker is not there");
    let maker = json!({ "configuration": json!({
        "resources": [config_map("made", &json!({ "v": "value" }))],
        "outputs": [{ "name": "v", "value": "$(ref.made.data.v)" }],
    }).to_string() });
    setting.apply("maker", &maker)?;
    setting.await_ready("user")?;
    assert_eq!(setting.read("configmap/user", ".data.v")?, "value");
    Ok(())
}
