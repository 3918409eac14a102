//! kubectl on templates.

pub(crate) use ::tests::kubectl::Kubectl;
use anyhow::Result;
use serde_json::Value;

/// What the tests do with templates again and again.
pub(crate) trait Templates {
    /// The template as JSON.
    fn get(&self, name: &str) -> Result<Value>;

    /// Creates the template of [`template`] with this name and these labels.
    fn create(&self, name: &str, labels: &str) -> Result<()>;
}

impl Templates for Kubectl {
    fn get(&self, name: &str) -> Result<Value> {
        let resource = "templates.template.openshift.io";
        Ok(serde_json::from_str(&self.ok(&["get", resource, name, "-o", "json"])?)?)
    }

    fn create(&self, name: &str, labels: &str) -> Result<()> {
        self.ok_with(&["create", "-f", "-"], &template(name, labels))?;
        Ok(())
    }
}

/// A small template; `labels` is a flow mapping's inside, such as `app: web`.
pub(crate) fn template(name: &str, labels: &str) -> String {
    format!(
        "apiVersion: template.openshift.io/v1
kind: Template
metadata:
  name: {name}
  labels: {{{labels}}}
  annotations: {{description: A small web server}}
message: ${{NAME}} is on its way
parameters:
- name: NAME
  description: What to call it
  value: web
- name: REPLICAS
  value: \"2\"
- name: PASSWORD
  generate: expression
  from: '[a-zA-Z0-9]{{12}}'
objects:
- apiVersion: v1
  kind: Service
  metadata: {{name: '${{NAME}}'}}
  spec:
    selector: {{app: '${{NAME}}'}}
    ports: [{{port: 80}}]
- apiVersion: apps/v1
  kind: Deployment
  metadata: {{name: '${{NAME}}'}}
  spec: {{replicas: '${{{{REPLICAS}}}}'}}
"
    )
}
