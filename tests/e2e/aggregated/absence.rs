//! What becomes of a cluster without us: while we are away, and after we were taken out of it.

use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use ::tests::cluster::{Cluster, Routing};
use ::tests::installation::{Installation, NAMESPACE, Store};
use ::tests::kubectl::Kubectl;
use ::tests::process::program;
use ::tests::replica::Replica;
use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::dialect::DIALECTS;

const API_SERVICES: [&str; 3] = [
    "apiservice/v1.template.openshift.io",
    "apiservice/v1alpha1.formwork.dev",
    "apiservice/v1alpha1.dm.formwork.dev",
];

/// A cluster of its own for a test that disturbs it, and Formwork in it.
struct Disturbed {
    replica: Replica,
    installation: Installation,
    /// In no namespace.
    kubectl: Kubectl,
}

/// One test, since a control plane is dear.
#[test]
fn the_cluster_outlives_our_absence_and_our_end() -> Result<()> {
    let cluster = Arc::new(Cluster::start(Routing::Off)?);
    let before = openapi(&cluster.kubectl("admin")?)?;
    let installation = Installation::new(cluster, Store::Embedded)?;
    let replica = installation.start(&[])?;
    installation.await_available()?;
    let kubectl = installation.kubectl()?.in_namespace("");
    let mut disturbed = Disturbed { replica, installation, kubectl };

    disturbed.adds_to_the_document_of_the_cluster_and_changes_nothing(&before)?;
    disturbed.holds_namespaces_up_only_while_away()?;
    disturbed.is_taken_out_without_a_trace(&before)
}

fn openapi(kubectl: &Kubectl) -> Result<Value> {
    Ok(serde_json::from_str(&kubectl.ok(&["get", "--raw", "/openapi/v2"])?)?)
}

impl Disturbed {
    /// Every tool that applies anything reads this document.
    fn adds_to_the_document_of_the_cluster_and_changes_nothing(
        &self,
        before: &Value,
    ) -> Result<()> {
        let ours = DIALECTS.map(|dialect| format!("/apis/{}/templates", dialect.api_version));
        self.kubectl.until(&["get", "--raw", "/openapi/v2"], |document| {
            ours.iter().all(|path| document.contains(&format!("{path:?}")))
        })?;
        let after = openapi(&self.kubectl)?;
        for part in ["paths", "definitions"] {
            let entries =
                before[part].as_object().context("a document has paths and definitions")?;
            ensure!(!entries.is_empty());
            for (name, entry) in entries {
                ensure!(after[part].get(name) == Some(entry), "{part} {name} changed");
            }
        }
        let of_templates = |name: &str| {
            let name = format!("com.github.openshift.api.template.v1.{name}");
            after["definitions"].get(&name).is_some()
        };
        ensure!(of_templates("Template") && of_templates("TemplateList"));
        Ok(())
    }

    /// kube-controller-manager tries again less and less often, at last once a minute, so that what was held up goes
    /// within our return and as long again as we were away, or a minute.
    fn holds_namespaces_up_only_while_away(&mut self) -> Result<()> {
        let namespaces = self.namespaces(&["with-templates", "with-more", "without"])?;
        for namespace in ["with-templates", "with-more"] {
            self.create_templates(namespace)?;
        }
        self.replica.kill()?;
        for service in API_SERVICES {
            // The aggregator looks at once at one that changes, else twice a minute.
            self.kubectl.ok(&["annotate", service, "example.com/look=now"])?;
            let unavailable = "--for=condition=Available=False";
            self.kubectl.ok(&["wait", unavailable, service, "--timeout=60s"])?;
        }
        self.kubectl.ok(&strs(&["delete", "--wait=false"], &namespaces))?;
        let failing = "--for=condition=NamespaceDeletionDiscoveryFailure";
        self.kubectl.ok(&strs(&["wait", failing, "--timeout=60s"], &namespaces))?;

        self.goes_on_elsewhere()?;

        let returning = Instant::now();
        self.replica.start()?;
        self.installation.await_available()?;
        let returned = returning.elapsed();
        self.kubectl.ok(&strs(&["wait", "--for=delete", "--timeout=90s"], &namespaces))?;
        println!("back after {returned:?}, namespaces gone after {:?}", returning.elapsed());
        for dialect in DIALECTS {
            let left = self.kubectl.ok(&["get", dialect.resource, "-A", "-o", "name"])?;
            ensure!(left.is_empty(), "templates outlive their namespaces: {left}");
        }
        Ok(())
    }

    /// Discovery and garbage collection of everybody else, while we are away.
    fn goes_on_elsewhere(&self) -> Result<()> {
        let resources = self.kubectl.run(&["api-resources"])?;
        ensure!(resources.stdout.contains("deployments "), "{resources:?}");
        let path = format!("/apis/{}/templates", DIALECTS[0].api_version);
        let refused = self.kubectl.refused(&["get", "--raw", &path], "")?;
        ensure!(refused.contains("(ServiceUnavailable)"), "{refused}");

        let kubectl = self.installation.kubectl()?;
        kubectl.ok(&["create", "configmap", "owner"])?;
        let uid = kubectl.ok(&["get", "configmap", "owner", "-o", "jsonpath={.metadata.uid}"])?;
        let owner = format!("{{apiVersion: v1, kind: ConfigMap, name: owner, uid: {uid}}}");
        let metadata = format!("{{name: owned, ownerReferences: [{owner}]}}");
        let owned = format!("{{apiVersion: v1, kind: ConfigMap, metadata: {metadata}}}");
        kubectl.ok_with(&["create", "-f", "-"], &owned)?;
        kubectl.ok(&["delete", "configmap", "owner"])?;
        kubectl.ok(&["wait", "--for=delete", "configmap/owned", "--timeout=60s"])?;
        Ok(())
    }

    fn is_taken_out_without_a_trace(&mut self, before: &Value) -> Result<()> {
        let namespaces = self.namespaces(&["left-behind"])?;
        self.create_templates("left-behind")?;
        let output = Command::new(program("formwork")?)
            .args(["uninstall", "--namespace", NAMESPACE, "--kubeconfig"])
            .arg(self.installation.cluster().kubeconfig("admin"))
            .output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for service in API_SERVICES {
            let refused = self.kubectl.refused(&["get", service], "")?;
            ensure!(refused.contains("(NotFound)"), "{refused}");
        }
        ensure!(self.replica.stop()?.success(), "SIGTERM ends it cleanly");
        self.kubectl.ok(&strs(&["delete", "--timeout=60s"], &namespaces))?;
        let ours = "template.openshift.io";
        self.kubectl
            .until(&["get", "--raw", "/openapi/v2"], |document| !document.contains(ours))?;
        ensure!(openapi(&self.kubectl)? == *before, "something of ours stays in the document");
        Ok(())
    }

    /// Creates them, and names them as kubectl does.
    fn namespaces(&self, names: &[&str]) -> Result<Vec<String>> {
        for name in names {
            self.kubectl.ok(&["create", "namespace", name])?;
        }
        Ok(names.iter().map(|name| format!("namespace/{name}")).collect())
    }

    fn create_templates(&self, namespace: &str) -> Result<()> {
        for dialect in DIALECTS {
            let template = dialect.template(&format!("name: t, namespace: {namespace}"));
            self.kubectl.ok_with(&["create", "-f", "-"], &template)?;
        }
        Ok(())
    }
}

fn strs<'a>(command: &[&'a str], objects: &'a [String]) -> Vec<&'a str> {
    command.iter().copied().chain(objects.iter().map(String::as_str)).collect()
}
