//! The same by `dm`, the command of Deployment Manager.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use tests::kubectl::Kubectl;
use tests::process::program;

use crate::paths::Paths;
use crate::setting::{Setting, dmd};

/// `dm` as the administrator, in the namespace of the test.
pub(crate) fn dm(setting: &Setting) -> Result<Kubectl> {
    let cluster = setting.serving().installation.cluster();
    let dm = cluster.kubectl("admin")?.program(program("dm")?);
    Ok(dm.in_namespace(&setting.kubectl.namespace))
}

fn guestbook() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/guestbook")
}

/// A file of the guestbook, as an argument.
fn file(name: &str) -> String {
    guestbook().join(name).display().to_string()
}

/// A guestbook that cannot be applied, in a folder of its own.
fn broken(folder: &Path) -> Result<String> {
    for entry in fs::read_dir(guestbook())? {
        let entry = entry?;
        fs::copy(entry.path(), folder.join(entry.file_name()))?;
    }
    let path = folder.join("config.yaml");
    let text = fs::read_to_string(&path)?;
    fs::write(&path, text.replace("    data:\n", "    data: [no map]\n    x:\n"))?;
    Ok(path.display().to_string())
}

#[test]
fn a_guestbook_is_deployed_looked_at_updated_rolled_back_and_deleted() -> Result<()> {
    let setting = Setting::new()?;
    let dm = dm(&setting)?;
    assert_eq!(dm.ok(&["list"])?, "null\n\n");
    let deployed = dm.run(&["--name", "gb", "deploy", &file("config.yaml"), "--timeout=120"])?;
    assert_eq!(deployed.code, Some(0), "{}", deployed.stderr);
    ensure!(deployed.stdout.contains("latestManifest: gb-1\n"), "{}", deployed.stdout);
    ensure!(deployed.stdout.contains("state:\n  status: Deployed\n\n"), "{}", deployed.stdout);
    let ready = "gb: frontend-service (Service ";
    ensure!(deployed.stderr.contains(ready), "{}", deployed.stderr);
    assert_eq!(dm.ok(&["list"])?, "- gb\n\n");
    assert_eq!(dm.ok(&["get", "gb"])?, deployed.stdout);
    look(&dm)?;
    change(&setting, &dm)?;

    let gone = dm.ok(&["delete", "gb", "--timeout=120"])?;
    ensure!(gone.contains("latestManifest: \"\"\n") && gone.contains("name: gb\n"), "{gone}");
    let left = ["get", "deployments.apps,services,configmaps,manifests,dmd", "-o", "name"];
    assert_eq!(setting.kubectl.ok(&left)?, "configmap/kube-root-ca.crt\n");
    let refused = dm.refused(&["delete", "gb"], "")?;
    ensure!(refused.starts_with("Error from server (NotFound): "), "{refused}");
    Ok(())
}

/// What is deployed, by every command that shows it.
fn look(dm: &Kubectl) -> Result<()> {
    let tree = [
        "gb  gb-1",
        "├── frontend  replicatedservice.py",
        "│   ├── frontend-pods  Deployment  Ready",
        "│   └── frontend-service  Service  Ready",
        "├── redis  redis.jinja",
        "│   ├── redis-leader-pods  Deployment  Ready",
        "│   ├── redis-leader-service  Service  Ready",
        "│   ├── redis-followers-pods  Deployment  Ready",
        "│   └── redis-followers-service  Service  Ready",
        "└── settings  ConfigMap  Ready",
        "",
    ];
    assert_eq!(dm.ok(&["layout", "gb"])?, tree.join("\n"));
    let types = dm.ok(&["deployed-types"])?;
    let mut types: Vec<&str> = types.lines().filter(|line| !line.is_empty()).collect();
    types.sort_unstable();
    let want =
        ["- ConfigMap", "- Deployment", "- Service", "- redis.jinja", "- replicatedservice.py"];
    assert_eq!(types, want);
    assert_eq!(
        dm.ok(&["deployed-instances", "ConfigMap"])?,
        "- deployment: gb\n  manifest: gb-1\n  name: settings\n  path: $.resources[2]\n  type: ConfigMap\n\n"
    );
    ensure!(dm.ok(&["describe", "redis.jinja"])?.contains("followers:"));
    assert_eq!(dm.ok(&["manifest", "gb"])?, "- gb-1\n\n");
    let manifest = dm.ok(&["manifest", "gb", "gb-1"])?;
    ensure!(
        manifest.starts_with(
            "deployment: gb\nexpandedConfig:\n  resources:\n  - name: frontend-pods\n"
        )
    );
    for part in
        ["\ninputConfig:\n", "\nlayout:\n", "\nname: gb-1\n", "    state:\n      status: Created\n"]
    {
        ensure!(manifest.contains(part), "no {part:?} in {manifest}");
    }
    let status = dm.ok(&["status", "gb"])?;
    ensure!(status.contains("Phase:      Deployed\n") && status.contains("http://"), "{status}");
    Ok(())
}

/// An update, one that cannot work, and the way back.
fn change(setting: &Setting, dm: &Kubectl) -> Result<()> {
    dm.ok(&["update", "--name=gb", &file("config.later.yaml"), "--timeout=120"])?;
    assert_eq!(setting.read("deployment.apps/pages", ".spec.replicas")?, "5");
    ensure!(!setting.exists("deployment.apps/frontend")?, "frontend is still there");

    let folder = tempfile::tempdir()?;
    let broken = broken(folder.path())?;
    let refused = dm.refused(&["update", "-name", "gb", &broken, "--timeout=120"], "")?;
    ensure!(refused.contains("error: cannot update deployment named gb: "), "{refused}");
    ensure!(refused.contains("settings (ConfigMap "), "{refused}");
    ensure!(dm.ok(&["get", "gb"])?.contains("  status: Failed\n"));

    // That one failed; before it came the second.
    dm.ok(&["rollback", "gb", "--timeout=120"])?;
    assert_eq!(setting.read(&dmd("gb"), ".spec.rollBackTo")?, "gb-2");
    ensure!(dm.ok(&["layout", "gb"])?.starts_with("gb  gb-4\n├── pages  replicatedservice.py\n"));
    dm.ok(&["rollback", "gb", "--timeout=120"])?;
    assert_eq!(setting.read(&dmd("gb"), ".spec.rollBackTo")?, "gb-1");
    assert_eq!(setting.read("deployment.apps/frontend", ".spec.replicas")?, "3");
    dm.ok(&["wait", "gb", "--timeout=60"])?;
    Ok(())
}

#[test]
fn the_other_examples_are_deployed_drawn_and_deleted() -> Result<()> {
    let setting = Setting::new()?;
    let dm = dm(&setting)?;
    for (name, instances) in [("wordpress", "blog-db"), ("redis", "store-leader")] {
        let config = guestbook().join("..").join(name).join("config.yaml").display().to_string();
        dm.ok(&["deploy", &config, "--name", name, "--timeout=120"])?;
        let tree = dm.ok(&["layout", name])?;
        ensure!(tree.starts_with(&format!("{name}  {name}-1\n└── ")), "{tree}");
        ensure!(tree.lines().skip(2).all(|line| line.ends_with("  Ready")), "{tree}");
        let found = dm.ok(&["deployed-instances", "Deployment"])?;
        ensure!(found.contains(&format!("  name: {instances}")), "{found}");
        dm.ok(&["delete", name, "--timeout=120"])?;
    }
    let left = ["get", "deployments.apps,services,secrets,manifests,dmd", "-o", "name"];
    assert_eq!(setting.kubectl.ok(&left)?, "");
    Ok(())
}

#[test]
fn what_is_not_ready_in_time_or_cannot_be_expanded_is_told() -> Result<()> {
    let setting = Setting::new()?;
    let dm = dm(&setting)?;
    let never = "resources: [{name: p, type: Pod, properties: {apiVersion: v1, kind: Pod, metadata: {name: p}, \
                 spec: {containers: [{name: c, image: broken}]}}}]";
    let refused = dm.refused(&["--stdin", "deploy", "never.yaml", "--timeout", "10"], never)?;
    ensure!(
        refused.contains("never is not ready after 10 s; the server goes on with it"),
        "{refused}"
    );
    ensure!(refused.contains("never: p (Pod "), "{refused}");
    // The configuration is expanded all the same, and nothing of it is made.
    let expanded = dm.ok_with(&["expand", "never.yaml", "-stdin"], never)?;
    ensure!(expanded.starts_with("expandedConfig:\n  resources:\n  - name: p\n"), "{expanded}");
    let refused = dm.refused(&["--stdin", "deploy", "other.yaml"], "resources: [{name: a}]")?;
    ensure!(refused.contains("Resource does not have type defined"), "{refused}");
    dm.ok(&["delete", "never", "--timeout=60"])?;
    ensure!(!setting.exists("pod/p")?);
    Ok(())
}

#[test]
fn the_same_is_done_by_requests_of_the_original() -> Result<()> {
    let setting = Setting::new()?;
    let paths = Paths::of(&setting, "admin", &[])?;
    let dm = Kubectl::with(vec![
        "--service".into(),
        format!("http://{}", paths.at).into(),
        "--timeout=120".into(),
    ])?;
    let dm = dm.program(program("dm")?).in_namespace("");
    assert_eq!(dm.ok(&["list"])?, "null\n\n");
    let deployed = dm.ok(&["deploy", &file("config.yaml"), "--name", "gb"])?;
    ensure!(deployed.contains("name: gb\nstate:\n  status: Deployed\n"), "{deployed}");
    assert_eq!(dm.ok(&["list"])?, "- gb\n\n");
    assert_eq!(dm.ok(&["get", "gb"])?, deployed);
    let tree = dm.ok(&["layout", "gb"])?;
    ensure!(tree.contains("├── frontend  replicatedservice.py\n"), "{tree}");
    ensure!(tree.ends_with("└── settings  ConfigMap  Created\n"), "{tree}");
    ensure!(dm.ok(&["deployed-types"])?.contains("- redis.jinja\n"));
    let instances = dm.ok(&["deployed-instances", "ConfigMap"])?;
    ensure!(instances.starts_with("- deployment: gb\n  manifest: "), "{instances}");
    ensure!(
        instances.ends_with("\n  name: settings\n  path: $.resources[2]\n  type: ConfigMap\n\n")
    );
    ensure!(dm.ok(&["describe", "redis.jinja"])?.contains("followers:"));
    dm.ok(&["update", &file("config.later.yaml"), "--name", "gb"])?;
    assert_eq!(setting.read("deployment.apps/pages", ".spec.replicas")?, "5");
    let manifests = dm.ok(&["manifest", "gb"])?;
    assert_eq!(manifests.lines().filter(|line| !line.is_empty()).count(), 2, "{manifests}");
    let refused = dm.refused(&["deploy", &file("config.yaml"), "--name=gb"], "")?;
    ensure!(
        refused.starts_with("error: cannot deploy configuration named gb: status code: 400 "),
        "{refused}"
    );

    // A credential that one way sets, the other finds.
    dm.ok(&["setcredential", "c1", "--apitoken", "very-secret"])?;
    let near = self::dm(&setting)?;
    let shown = dm.ok(&["getcredential", "c1"])?;
    assert_eq!(shown, "apitoken: \"\"\n\n");
    assert_eq!(near.ok(&["getcredential", "c1"])?, shown);
    assert_eq!(
        near.ok(&["setcredential", "c1", "--username=u"])?,
        dm.ok(&["getcredential", "c1"])?
    );
    for (way, name) in [(&dm, "far"), (&near, "near")] {
        way.ok(&["setcredential", name, "--url=h.example/lib", "--apitoken=t"])?;
        let url = setting.read(&format!("secret/{name}"), ".data.url")?;
        assert_eq!(url, "aC5leGFtcGxlL2xpYg==", "{name}");
    }
    assert_eq!(near.ok(&["get", "gb"])?, dm.ok(&["get", "gb"])?);

    let gone = dm.ok(&["delete", "gb"])?;
    ensure!(gone.contains("name: gb\n"), "{gone}");
    ensure!(!setting.exists("deployment.apps/pages")?);
    Ok(())
}
