//! Expansions through the real kubectl: a configuration goes in with its files, and comes back expanded. And the server that does
//! it, when there is more to do than it can, when what templates run in dies, and when it is not there.

mod crowded;
mod fetched;
mod killed;
mod measured;
mod own;
mod refusing;
mod registries;
mod restricted;
mod stopped;

use ::tests::kubectl::Kubectl;
use ::tests::server::Server;
use anyhow::Result;
use serde_json::{Value, json};

/// A service and what is behind it, in Jinja, with a schema that has a default.
const JINJA: &str = "
apiVersion: dm.formwork.dev/v1alpha1
kind: Expansion
metadata: {name: shop}
spec:
  configuration: |
    imports: [{path: lib/service.jinja}]
    resources:
    - name: web
      type: service.jinja
      properties: {port: 8080}
  imports:
  - path: lib/service.jinja
    content: |
      resources:
      - name: {{ env.name }}-{{ env.deployment }}
        type: Service
        properties:
          kind: Service
          metadata: {name: {{ env.name }}, labels: {project: {{ env.project }}}}
          spec: {ports: [{port: {{ properties.port }}, protocol: {{ properties.protocol }}}]}
  - path: lib/service.jinja.schema
    content: |
      required: [port]
      properties:
        port: {type: integer}
        protocol: {type: string, default: TCP}
";

/// A template in Python that names its replicas after what it is given, with a helper.
const PYTHON: &str = "
apiVersion: dm.formwork.dev/v1alpha1
kind: Expansion
metadata: {generateName: fleet-}
spec:
  configuration: |
    resources:
    - name: fleet
      type: fleet.py
      properties: {size: 2}
  env: {deployment: blue, zone: 7}
  imports:
  - name: fleet.py
    content: |
      import naming

      def GenerateConfig(context):
          names = [naming.name(context, n) for n in range(context.properties['size'])]
          return {'resources': [{'name': name, 'type': 'Pod'} for name in names]}
  - name: naming.py
    content: |
      def name(context, n):
          return '-'.join([context.env['deployment'], context.env['zone'], str(n)])
";

fn create(kubectl: &Kubectl, expansion: &str) -> Result<Value> {
    let answer = kubectl.ok_with(&["create", "-f", "-", "-o", "yaml"], expansion)?;
    Ok(serde_saphyr::from_str(&answer)?)
}

#[test]
fn jinja_comes_back_as_resources_and_layout_with_defaults_filled_in() -> Result<()> {
    let kubectl = Kubectl::new()?;
    let expansion = create(&kubectl, JINJA)?;
    assert_eq!(expansion["metadata"]["name"], "shop");
    assert!(expansion["spec"]["configuration"].as_str().unwrap_or_default().contains("web"));
    let status = &expansion["status"];
    let service = json!({
        "name": "web-shop", "type": "Service",
        "properties": {
            "kind": "Service",
            "metadata": {"name": "web", "labels": {"project": kubectl.namespace}},
            "spec": {"ports": [{"port": 8080, "protocol": "TCP"}]},
        },
    });
    assert_eq!(status["config"]["resources"], json!([service]));
    let layout = json!([{
        "name": "web", "type": "service.jinja",
        "properties": {"port": 8080, "protocol": "TCP"},
        "resources": [{"name": "web-shop", "type": "Service"}],
    }]);
    assert_eq!(status["layout"]["resources"], layout);
    assert!(status["digest"].as_str().unwrap_or_default().starts_with("sha256:"), "{status}");
    kubectl.refused(&["get", "expansion", "shop"], "")?;
    Ok(())
}

#[test]
fn python_comes_back_as_resources_and_the_same_ones_every_time() -> Result<()> {
    let kubectl = Kubectl::new()?;
    let first = create(&kubectl, PYTHON)?;
    let names = |expansion: &Value| expansion["status"]["config"]["resources"].clone();
    let want = json!([{"name": "blue-7-0", "type": "Pod"}, {"name": "blue-7-1", "type": "Pod"}]);
    assert_eq!(names(&first), want);
    let second = create(&kubectl, PYTHON)?;
    assert_eq!(first["status"], second["status"]);
    let other = create(&kubectl, &PYTHON.replace("deployment: blue", "deployment: green"))?;
    assert_ne!(first["status"]["digest"], other["status"]["digest"]);
    Ok(())
}

#[test]
fn a_template_that_fails_names_file_line_and_place() -> Result<()> {
    let kubectl = Kubectl::new()?;
    let broken = PYTHON.replace("str(n)]", "n]");
    let refused = kubectl.refused(&["create", "-f", "-"], &broken)?;
    for part in [
        "The Expansion \"\" is invalid",
        "spec.imports[naming.py].content",
        "\"naming.py:2\"",
        "TypeError",
        "(in config > fleet (fleet.py))",
        "fleet.py:4",
    ] {
        assert!(refused.contains(part), "{part} is not in {refused}");
    }
    let broken = JINJA.replace("properties.port }}", "properties.port.number.x }}");
    let refused = kubectl.refused(&["create", "-f", "-"], &broken)?;
    for part in ["spec.imports[lib/service.jinja].content", ":7\"", "(in config > web ("] {
        assert!(refused.contains(part), "{part} is not in {refused}");
    }
    Ok(())
}

#[test]
fn all_that_a_schema_forbids_is_told_at_once() -> Result<()> {
    let kubectl = Kubectl::new()?;
    let broken = JINJA.replace("{port: 8080}", "{protocol: 7}");
    let refused = kubectl.refused(&["create", "-f", "-"], &broken)?;
    for part in ["'port' is a required property", "7 is not of type 'string'", "config > web"] {
        assert!(refused.contains(part), "{part} is not in {refused}");
    }
    let lenient = broken.replace("\nspec:\n", "\nspec:\n  validateSchemas: false\n");
    create(&kubectl, &lenient)?;
    Ok(())
}

#[test]
fn what_is_sent_wrongly_is_told_with_its_field() -> Result<()> {
    let kubectl = Kubectl::new()?;
    let path =
        format!("/apis/dm.formwork.dev/v1alpha1/namespaces/{}/expansions", kubectl.namespace);
    let body = json!({"kind": "Expansion", "spec": {"imports": [{"content": "x"}]}}).to_string();
    let refused = kubectl.refused(&["create", "--raw", &path, "-f", "-"], &body)?;
    assert!(refused.contains("spec.configuration: Required value"), "{refused}");
    assert!(refused.contains("spec.imports[0].name: Required value: or a path"), "{refused}");
    Ok(())
}

#[test]
fn explain_describes_what_goes_in_and_what_comes_out() -> Result<()> {
    let kubectl = Kubectl::new()?;
    let fields = kubectl.ok(&["explain", "expansions", "--recursive"])?;
    for field in [
        "configuration\t<string> -required-",
        "imports\t<[]ImportFile>",
        "env\t<map[string]string>",
        "validateSchemas\t<boolean>",
        "layout\t<Layout>",
        "digest\t<string>",
    ] {
        assert!(fields.contains(field), "{field} is not in {fields}");
    }
    let listed = kubectl.ok(&["api-resources", "--api-group=dm.formwork.dev", "-o", "wide"])?;
    let row: Vec<_> = listed
        .lines()
        .find(|line| line.starts_with("expansions"))
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let want = ["expansions", "dm.formwork.dev/v1alpha1", "true", "Expansion", "create"];
    assert_eq!(row, want, "{listed}");
    Ok(())
}

#[test]
fn whoever_looks_after_the_server_sees_what_templates_run_behind() -> Result<()> {
    let kubectl = Kubectl::new()?;
    // It is answered when the self-test is over.
    create(&kubectl, JINJA)?;
    let ready = kubectl.ok(&["get", "--raw", "/readyz?verbose"])?;
    let note = ready.lines().find(|line| line.starts_with("[i]expander ")).unwrap_or_default();
    for layer in ["seccomp=on", "no-new-privs=on", "rlimits=on", "landlock=", "namespaces="] {
        assert!(note.contains(layer), "{layer} is not in {ready}");
    }
    let metrics = kubectl.ok(&["get", "--raw", "/metrics"])?;
    for metric in ["formwork_expander_calls_total{", "formwork_expander_wall{layer=\"seccomp\"} 1"]
    {
        assert!(metrics.contains(metric), "{metric} is not in {metrics}");
    }
    Ok(())
}

#[test]
fn a_program_that_is_asked_for_and_not_there_is_told_at_the_start() -> Result<()> {
    let error = Server::start_with(&["--expander=/nonexistent"]).unwrap_err().to_string();
    assert!(error.contains("--expander"), "{error}");
    assert!(error.contains("/nonexistent"), "{error}");
    Ok(())
}
