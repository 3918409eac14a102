//! The template APIs as a user of kubectl names them, and the cluster in which the tests of users meet them.

use std::process::Command;
use std::sync::Arc;

use ::tests::cluster::Cluster;
use ::tests::installation::{Installation, Serving};
use ::tests::process::program;
use anyhow::{Context, Result, ensure};

use crate::kubectl::Kubectl;

/// One of the two APIs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    /// `GROUP/VERSION`.
    pub(crate) api_version: &'static str,
    /// What its templates are called where the other's are, too.
    pub(crate) resource: &'static str,
    /// How a reference to the parameter NAME is written.
    reference: &'static str,
}

/// That of OpenShift, and the proposal.
pub(crate) const DIALECTS: [Dialect; 2] = [
    Dialect {
        api_version: "template.openshift.io/v1",
        resource: "templates.template.openshift.io",
        reference: "${NAME}",
    },
    Dialect {
        api_version: "formwork.dev/v1alpha1",
        resource: "templates.formwork.dev",
        reference: "$(NAME)",
    },
];

impl Dialect {
    /// A template with one parameter and one ConfigMap; `metadata` is a flow mapping's inside, such as `name: web`.
    pub(crate) fn template(&self, metadata: &str) -> String {
        let Self { api_version, reference, .. } = self;
        format!(
            "apiVersion: {api_version}
kind: Template
metadata: {{{metadata}}}
labels: {{part-of: shop}}
parameters: [{{name: NAME, value: web}}]
objects:
- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: '{reference}'}}}}
"
        )
    }

    /// `resource/name`.
    pub(crate) fn object(&self, name: &str) -> String {
        format!("{}/{name}", self.resource)
    }

    /// Where templates, or what stands beside and below them, are in the namespace of `kubectl`.
    pub(crate) fn path(&self, kubectl: &Kubectl, resource: &str) -> String {
        format!("/apis/{}/namespaces/{}/{resource}", self.api_version, kubectl.namespace)
    }
}

/// The installation that tests share, which runs as long as this is held, and a namespace of it.
pub(crate) struct Tenant {
    pub(crate) serving: Arc<Serving>,
    /// In that namespace.
    pub(crate) administrator: Kubectl,
}

impl Tenant {
    /// A new namespace that no other test uses.
    pub(crate) fn new() -> Result<Self> {
        let serving = Installation::shared()?;
        let administrator = serving.installation.cluster().namespace()?;
        Ok(Self { serving, administrator })
    }

    pub(crate) fn cluster(&self) -> &Cluster {
        self.serving.installation.cluster()
    }

    /// `alice` or `bob`, who have no rights, in the namespace.
    pub(crate) fn user(&self, name: &str) -> Result<Kubectl> {
        Ok(self.cluster().kubectl(name)?.in_namespace(&self.administrator.namespace))
    }

    /// `alice`, with the cluster's own `role` in the namespace.
    pub(crate) fn alice(&self, role: &str) -> Result<Kubectl> {
        self.bind(role, "alice")?;
        self.user("alice")
    }

    /// Gives `user` the cluster's own `role` in the namespace, and waits until that includes what it is to.
    pub(crate) fn bind(&self, role: &str, user: &str) -> Result<()> {
        let (role_flag, user_flag) = (format!("--clusterrole={role}"), format!("--user={user}"));
        self.administrator.ok(&["create", "rolebinding", role, &role_flag, &user_flag])?;
        // A controller adds our rules to the cluster's roles when it gets to it; this is the last of them.
        let resource = DIALECTS[1].resource;
        let ask = ["auth", "can-i", "get", resource, "--subresource=schema", "--as", user];
        self.administrator.until(&ask, |_| true)?;
        Ok(())
    }

    /// What `kubectl formwork` prints for `user` in the namespace.
    pub(crate) fn plugin(&self, user: &str, arguments: &[&str]) -> Result<String> {
        let plugin = program("kubectl-formwork")?;
        let output = Command::new(self.cluster().directory().join("bin/kubectl"))
            .arg("formwork")
            .args(arguments)
            .args(["--namespace", &self.administrator.namespace])
            .arg("--kubeconfig")
            .arg(self.cluster().kubeconfig(user))
            // kubectl looks there for its plugins.
            .env("PATH", plugin.parent().context("a program lies in a folder")?)
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "kubectl formwork {arguments:?}: {said}");
        Ok(String::from_utf8(output.stdout)?)
    }
}
