//! `dm diff`: what an update would do, in words, and by the exit codes of `kubectl diff`.

use anyhow::{Result, ensure};
use tests::kubectl::{Ended, Kubectl};

use crate::dm::dm;
use crate::setting::Setting;

/// What is deployed.
const BEFORE: &str = "resources:
- {name: settings, type: ConfigMap, properties: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {color: red, size: m}}}
- {name: old, type: ConfigMap, properties: {apiVersion: v1, kind: ConfigMap, metadata: {name: old}, data: {a: b}}}
- {name: same, type: ConfigMap, properties: {apiVersion: v1, kind: ConfigMap, metadata: {name: same}, data: {a: b}}}
";

/// A change, an addition, and what is no longer there.
const AFTER: &str = "resources:
- {name: settings, type: ConfigMap, properties: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {color: blue, size: m}}}
- {name: new, type: ConfigMap, properties: {apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {c: d}}}
- {name: same, type: ConfigMap, properties: {apiVersion: v1, kind: ConfigMap, metadata: {name: same}, data: {a: b}}}
";

/// What is shown of the one to the other.
const GOLDEN: &str = "# Update ConfigMap NAMESPACE/settings (settings)
@@ -1,6 +1,6 @@
 apiVersion: v1
 data:
-  color: red
+  color: blue
   size: m
 kind: ConfigMap
 metadata:
# Create ConfigMap NAMESPACE/new (new)
@@ -0,0 +1,12 @@
+apiVersion: v1
+data:
+  c: d
+kind: ConfigMap
+metadata:
+  annotations:
+    dm.formwork.dev/deployment: NAMESPACE/app
+    dm.formwork.dev/resource: new
+  labels:
+    dm.formwork.dev/deployment-uid: UID
+  name: new
+  namespace: NAMESPACE
# Delete ConfigMap NAMESPACE/old (old)
";

fn diff(dm: &Kubectl, configuration: &str) -> Result<Ended> {
    dm.run_with(&["diff", "--stdin", "--name", "app", "app.yaml"], configuration)
}

#[test]
fn a_diff_is_as_the_golden_text_and_ends_as_kubectl_diff_does() -> Result<()> {
    let setting = Setting::new()?;
    let dm = dm(&setting)?;
    let of = |ended: &Ended| (ended.code, ended.stdout.clone(), ended.stderr.clone());
    let new = diff(&dm, BEFORE)?;
    assert_eq!(new.code, Some(1), "{new:?}");
    assert_eq!(new.stdout.matches("# Create ConfigMap ").count(), 3, "{new:?}");
    dm.ok_with(&["deploy", "--stdin", "--name", "app", "app.yaml"], BEFORE)?;
    assert_eq!(of(&diff(&dm, BEFORE)?), (Some(0), String::new(), String::new()));

    let changed = diff(&dm, AFTER)?;
    let uid = setting.read("dmd/app", ".metadata.uid")?;
    let shown =
        changed.stdout.replace(&uid, "UID").replace(&setting.kubectl.namespace, "NAMESPACE");
    assert_eq!(shown, GOLDEN);
    assert_eq!((changed.code, &*changed.stderr), (Some(1), ""));
    assert_eq!(setting.read("configmap/settings", ".data.color")?, "red", "nothing was done");
    ensure!(setting.exists("configmap/old")? && !setting.exists("configmap/new")?);

    // What cannot be is no difference.
    let refused = diff(&dm, &AFTER.replace("{color: blue, size: m}", "{color: [blue]}"))?;
    assert_eq!((refused.code, &*refused.stderr), (Some(2), "error: this would fail at settings\n"));
    ensure!(refused.stdout.contains("# Update ConfigMap "), "{refused:?}");
    let refused = diff(&dm, "resources: [{name: a}]")?;
    ensure!(refused.code == Some(2) && refused.stdout.is_empty(), "{refused:?}");
    ensure!(refused.stderr.contains("Resource does not have type defined"), "{refused:?}");
    let elsewhere =
        ["--service", "http://127.0.0.1:9", "diff", "--stdin", "--name=app", "app.yaml"];
    let refused = dm.run_with(&elsewhere, AFTER)?;
    ensure!(
        refused.code == Some(2) && refused.stderr.contains("needs the Kubernetes API"),
        "{refused:?}"
    );
    dm.ok(&["delete", "app", "--timeout=60"])?;
    Ok(())
}
