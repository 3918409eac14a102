//! The APIServices that a running replica looks after: mended when somebody edits ours, left alone when they are
//! somebody else's, and gone when we are taken out.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::tests::cluster::{Cluster, Routing};
use ::tests::installation::{Installation, NAMESPACE, Store};
use ::tests::kubectl::Kubectl;
use ::tests::process::program;
use ::tests::replica::Replica;
use anyhow::{Context, Result, ensure};

const OPENSHIFT: &str = "apiservice/v1.template.openshift.io";
const PROPOSAL: &str = "apiservice/v1alpha1.formwork.dev";
const EXPANSION: &str = "apiservice/v1alpha1.dm.formwork.dev";

/// Somebody's own, before we came.
const FOREIGN: &str = r#"{
    "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
    "metadata": {"name": "v1.template.openshift.io"},
    "spec": {
        "group": "template.openshift.io", "version": "v1",
        "groupPriorityMinimum": 9900, "versionPriority": 15, "insecureSkipTLSVerify": true,
        "service": {"namespace": "openshift-apiserver", "name": "api", "port": 443}
    }
}"#;

/// What an APIService says, without what the aggregator and field managers add.
const SPEC: &str = "jsonpath={.spec}";

/// A cluster of its own for a test that disturbs it, and Formwork in it.
struct Disturbed {
    replica: Replica,
    installation: Installation,
    /// In no namespace.
    kubectl: Kubectl,
}

/// One test, since a control plane is dear.
#[test]
fn api_services_are_looked_after_while_they_are_ours() -> Result<()> {
    let cluster = Arc::new(Cluster::start(Routing::Off)?);
    let installation = Installation::new(cluster, Store::Embedded)?;
    let replica = installation.start(&[])?;
    installation.await_available()?;
    let kubectl = installation.kubectl()?.in_namespace("");
    let mut disturbed = Disturbed { replica, installation, kubectl };

    disturbed.mends_what_somebody_edits()?;
    disturbed.goes_with_the_rights_that_it_has()?;
    disturbed.leaves_what_leads_elsewhere_alone()?;
    disturbed.does_not_come_back_after_it_was_uninstalled()
}

impl Disturbed {
    fn mends_what_somebody_edits(&self) -> Result<()> {
        let wanted = self.spec(OPENSHIFT)?;
        let edits = [
            r#"{"spec":{"versionPriority":1}}"#,
            r#"{"spec":{"service":{"namespace":"elsewhere"}}}"#,
            r#"{"spec":{"caBundle":null,"insecureSkipTLSVerify":true}}"#,
        ];
        for edit in edits {
            self.kubectl.ok(&["patch", OPENSHIFT, "--type=merge", "-p", edit])?;
            self.kubectl.until(&["get", OPENSHIFT, "-o", SPEC], |spec| spec == wanted)?;
        }
        let label = "app.kubernetes.io/managed-by";
        self.kubectl.ok(&["label", OPENSHIFT, &format!("{label}-")])?;
        self.kubectl.ok(&["label", OPENSHIFT, "example.com/team=web"])?;
        let labels = ["get", OPENSHIFT, "-o", "jsonpath={.metadata.labels}"];
        let labels = self.kubectl.until(&labels, |labels| labels.contains(label))?;
        ensure!(labels.contains("web"), "what others add is theirs: {labels}");
        self.installation.await_available()
    }

    /// Whoever deletes what we were installed with, in whatever order, leaves no APIService that leads nowhere: the
    /// garbage collector follows the ClusterRole.
    fn goes_with_the_rights_that_it_has(&mut self) -> Result<()> {
        self.kubectl.ok(&["delete", "clusterrole/formwork"])?;
        for service in [OPENSHIFT, PROPOSAL, EXPANSION] {
            self.kubectl.ok(&["wait", "--for=delete", service, "--timeout=60s"])?;
        }
        ensure!(self.replica.stop()?.success(), "SIGTERM ends it cleanly");
        self.namespaces_come_and_go()
    }

    fn leaves_what_leads_elsewhere_alone(&mut self) -> Result<()> {
        self.kubectl.ok_with(&["create", "-f", "-"], FOREIGN)?;
        let theirs = self.spec(OPENSHIFT)?;
        let cluster = self.installation.cluster().clone();
        self.installation = Installation::new(cluster, Store::Embedded)?;
        self.replica = self.installation.start(&[])?;
        self.kubectl.ok(&["wait", "--for=create", PROPOSAL, "--timeout=60s"])?;
        let available = "--for=condition=Available";
        for service in [PROPOSAL, EXPANSION] {
            self.kubectl.ok(&["wait", available, service, "--timeout=60s"])?;
        }
        // When ours is mended, theirs has been looked at, too.
        let ours = self.spec(PROPOSAL)?;
        self.kubectl.ok(&["annotate", OPENSHIFT, "example.com/look=now"])?;
        let edit = r#"{"spec":{"versionPriority":1}}"#;
        self.kubectl.ok(&["patch", PROPOSAL, "--type=merge", "-p", edit])?;
        self.kubectl.until(&["get", PROPOSAL, "-o", SPEC], |spec| spec == ours)?;
        ensure!(self.spec(OPENSHIFT)? == theirs, "it was theirs");
        self.says(|log| log.contains("openshift-apiserver/api"))?;

        let told = self.uninstall()?;
        ensure!(told.contains("apiservice v1.template.openshift.io kept"), "{told}");
        ensure!(told.contains("apiservice v1alpha1.formwork.dev removed"), "{told}");
        ensure!(self.spec(OPENSHIFT)? == theirs, "it was theirs");
        Ok(())
    }

    fn does_not_come_back_after_it_was_uninstalled(&mut self) -> Result<()> {
        self.kubectl.ok(&["delete", OPENSHIFT])?;
        ensure!(self.replica.stop()?.success(), "SIGTERM ends it cleanly");
        self.replica.start()?;
        self.installation.await_available()?;
        let told = self.uninstall()?;
        ensure!(told.matches(" removed").count() == 3, "{told}");
        let again = self.uninstall()?;
        ensure!(again.matches(" was not there").count() == 3, "{again}");
        // What runs has seen it, says so, and does nothing about it.
        self.says_of_all("not published again before a restart")?;
        for service in [OPENSHIFT, PROPOSAL, EXPANSION] {
            let refused = self.kubectl.refused(&["get", service], "")?;
            ensure!(refused.contains("(NotFound)"), "{refused}");
        }
        self.namespaces_come_and_go()
    }

    fn spec(&self, service: &str) -> Result<String> {
        self.kubectl.ok(&["get", service, "-o", SPEC])
    }

    fn uninstall(&self) -> Result<String> {
        let output = Command::new(program("formwork")?)
            .args(["uninstall", "--namespace", NAMESPACE, "--kubeconfig"])
            .arg(self.installation.cluster().kubeconfig("admin"))
            .output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Waits until the present process has said it of every APIService.
    fn says_of_all(&self, text: &str) -> Result<()> {
        let of_all = |log: &str| {
            let present = log.rsplit("serving on").next().unwrap_or_default();
            present.matches(text).count() == 3
        };
        self.says(of_all).with_context(|| format!("{text:?} is not said of all"))
    }

    fn says(&self, wanted: impl Fn(&str) -> bool) -> Result<()> {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let log = self.replica.log();
            if wanted(&log) {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "something is not said: {log}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// No APIService that leads nowhere keeps them.
    fn namespaces_come_and_go(&self) -> Result<()> {
        self.kubectl.ok(&["create", "namespace", "passing"])?;
        self.kubectl.ok(&["delete", "namespace", "passing", "--timeout=60s"])?;
        Ok(())
    }
}
