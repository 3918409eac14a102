//! Deployment Manager's own examples, as ours: created, looked at, updated, broken, mended, rolled back and deleted.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::setting::{Setting, dmd, example};

#[test]
fn a_guestbook_is_created_updated_rolled_back_and_deleted() -> Result<()> {
    let setting = Setting::new()?;
    setting.apply("guestbook", &example("guestbook", "config.yaml")?)?;
    setting.await_ready("guestbook")?;
    assert_eq!(setting.read("deployment.apps/frontend", ".spec.replicas")?, "3");
    // Values of live objects are where references were.
    let address = setting.read("service/redis-leader", ".spec.clusterIP")?;
    let leader = setting.read("configmap/settings", ".data.leader")?;
    assert_eq!(leader, format!("redis://{address}:6379"));
    let command = setting
        .read("deployment.apps/redis-followers", ".spec.template.spec.containers[0].command[2]")?;
    assert_eq!(command, address);
    let front = setting.read("service/frontend", ".spec.clusterIP")?;
    let outputs = setting.read(&dmd("guestbook"), ".status.outputs")?;
    let want = json!([{ "name": "frontend", "value": format!("http://{front}/") }]);
    assert_eq!(serde_json::from_str::<Value>(&outputs)?, want);

    // The layout is the tree that it came from.
    let manifest = setting.object("manifest/guestbook-1")?;
    let tree: Vec<_> = names(&manifest["layout"]["resources"]);
    let want = [
        "frontend(frontend-pods frontend-service)",
        "redis(redis-leader-pods redis-leader-service redis-followers-pods redis-followers-service)",
        "settings",
    ];
    assert_eq!(tree, want);
    assert_eq!(manifest["metadata"]["ownerReferences"][0]["name"], "guestbook");

    // Update: scaled, and renamed. What has the old name goes, and only then.
    setting.apply("guestbook", &example("guestbook", "config.later.yaml")?)?;
    setting.await_ready("guestbook")?;
    assert_eq!(setting.read("deployment.apps/pages", ".spec.replicas")?, "5");
    for gone in ["deployment.apps/frontend", "service/frontend"] {
        ensure!(!setting.exists(gone)?, "{gone} is still there");
    }
    assert_eq!(setting.read("service/redis-leader", ".spec.clusterIP")?, address, "kept");

    // An update that cannot work: what is there stays.
    let mut broken = example("guestbook", "config.yaml")?;
    let text = broken["configuration"].as_str().context("a configuration")?;
    let text =
        text.replace("name: settings\n    data:", "name: settings\n    data: [no map]\n    x:");
    broken["configuration"] = text.into();
    setting.apply("guestbook", &broken)?;
    let message = setting.await_refusal("guestbook", "Applied", "Failed")?;
    ensure!(message.contains("settings (ConfigMap "), "{message}");
    assert_eq!(setting.read(&dmd("guestbook"), ".status.phase")?, "Failed");
    ensure!(
        setting.exists("deployment.apps/pages")?,
        "nothing is deleted before all of the new is ready"
    );

    // Mended.
    setting.apply("guestbook", &example("guestbook", "config.yaml")?)?;
    setting.await_ready("guestbook")?;
    ensure!(!setting.exists("deployment.apps/pages")?, "pages is left over");
    assert_eq!(setting.read("deployment.apps/frontend", ".spec.replicas")?, "3");

    // Back to the second.
    let patch = json!({ "spec": { "rollBackTo": "guestbook-2" } }).to_string();
    setting.kubectl.ok(&["patch", &dmd("guestbook"), "--type=merge", "-p", &patch])?;
    setting.await_ready("guestbook")?;
    assert_eq!(setting.read("deployment.apps/pages", ".spec.replicas")?, "5");
    assert_eq!(setting.read(&dmd("guestbook"), ".status.operation.type")?, "Rollback");

    setting.kubectl.ok(&["delete", &dmd("guestbook"), "--timeout=90s"])?;
    let left = ["get", "deployments.apps,services,configmaps,manifests", "-o", "name"];
    assert_eq!(setting.kubectl.ok(&left)?, "configmap/kube-root-ca.crt\n");
    Ok(())
}

/// `name(children)` of each resource of a layout.
fn names(resources: &Value) -> Vec<String> {
    let name = |resource: &Value| {
        let name = resource["name"].as_str().unwrap_or_default();
        match names(&resource["resources"]).as_slice() {
            [] => name.to_owned(),
            children => format!("{name}({})", children.join(" ")),
        }
    };
    resources.as_array().into_iter().flatten().map(name).collect()
}

#[test]
fn wordpress_comes_after_its_database_and_goes_before_it() -> Result<()> {
    let setting = Setting::new()?;
    setting.apply("blog", &example("wordpress", "config.yaml")?)?;
    setting.await_ready("blog")?;
    let wave = |name: &str| {
        let path = format!(".status.resources[?(@.name==\"{name}\")].wave");
        setting.read(&dmd("blog"), &path)
    };
    assert_eq!(
        (wave("blog-db-password")?, wave("blog-db")?, wave("blog")?),
        ("0".into(), "1".into(), "2".into())
    );
    let created = |object: &str| setting.read(object, ".metadata.creationTimestamp");
    ensure!(created("deployment.apps/blog-db")? <= created("deployment.apps/blog")?);

    setting.kubectl.ok(&["delete", &dmd("blog"), "--timeout=90s"])?;
    let deleted = deletions(&setting)?;
    let at = |name: &str| {
        deleted
            .iter()
            .position(|deleted| deleted == name)
            .with_context(|| format!("{name}: {deleted:?}"))
    };
    ensure!(at("deployments/blog")? < at("deployments/blog-db")?, "{deleted:?}");
    ensure!(at("deployments/blog-db")? < at("secrets/blog-db")?, "{deleted:?}");
    ensure!(at("deployments/blog-db")? < at("persistentvolumeclaims/blog-db")?, "{deleted:?}");
    Ok(())
}

/// What was deleted in a namespace on behalf of the administrator, in order.
fn deletions(setting: &Setting) -> Result<Vec<String>> {
    let cluster = setting.serving().installation.cluster();
    let mut deleted = Vec::new();
    for event in cluster.audited()? {
        let about = &event["objectRef"];
        let ours = event["user"]["username"] == "system:serviceaccount:formwork-system:formwork"
            && event["impersonatedUser"]["username"] == "admin";
        if ours && event["verb"] == "delete" && about["namespace"] == *setting.kubectl.namespace {
            let text = |key: &str| about[key].as_str().unwrap_or_default().to_owned();
            deleted.push(format!("{}/{}", text("resource"), text("name")));
        }
    }
    Ok(deleted)
}

#[test]
fn redis_followers_are_told_where_the_leader_is() -> Result<()> {
    let setting = Setting::new()?;
    setting.apply("redis", &example("redis", "config.yaml")?)?;
    setting.await_ready("redis")?;
    let address = setting.read("service/store-leader", ".spec.clusterIP")?;
    assert_eq!(setting.read(&dmd("redis"), ".status.outputs[0].value")?, address);
    let table = setting.kubectl.ok(&["get", "dmd"])?;
    ensure!(table.contains("Deployed") && table.contains("4/4"), "{table}");
    Ok(())
}
