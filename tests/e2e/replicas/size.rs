//! What etcd does not take, though it is within the limit of a body.

use ::tests::client::Request;
use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::pair::{Pair, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_etcd_does_not_take_is_413_and_nothing_is_stored() -> Result<()> {
    let pair = Pair::turn().await?;
    let (routes, collection) = (pair.routes()?, pair.collection()?);
    for route in &routes {
        // More than etcd's 1.5 MiB, less than our 3 MiB.
        let large = template("large", 2 << 20);
        let refused = route.client.send(&Request::post(&collection, large)).await?;
        ensure!(refused.status == 413, "by the {}: {}", route.name, refused.text());
        let status = refused.json()?;
        ensure!(status["reason"] == "RequestEntityTooLarge", "{status}");
        let message = status["message"].as_str().unwrap_or_default();
        ensure!(message.contains("the object is larger than what the store takes"), "{status}");

        let path = format!("{collection}/{}", route.name);
        let missing = route.client.send(&Request::get(format!("{collection}/large"))).await?;
        ensure!(missing.status == 404, "{}", missing.text());
        let small = template(route.name, 1 << 20);
        let made = route.client.send(&Request::post(&collection, small)).await?;
        ensure!(made.status == 201, "by the {}: {}", route.name, made.text());
        let found = route.client.send(&Request::get(path)).await?;
        ensure!(found.status == 200, "by the {}: {}", route.name, found.text());
    }
    for route in &routes[1..] {
        until(&route.client, "/readyz", 200).await?;
    }
    Ok(())
}

fn template(name: &str, size: usize) -> String {
    let mut template: Value = json!({
        "apiVersion": "template.openshift.io/v1",
        "kind": "Template",
        "metadata": { "name": name },
        "objects": [],
    });
    template["message"] = "m".repeat(size).into();
    template.to_string()
}
