//! Templates that are named by a URL: fetched with their schemas where flags allow it, refused everywhere else.

use std::process::{Command, Output};

use ::tests::files::Files;
use ::tests::github::{self, Repository};
use ::tests::kubectl::Kubectl;
use ::tests::process::program;
use ::tests::server::Server;
use anyhow::Result;
use serde_json::{Value, json};

/// A template in Python that uses a helper, which its schema imports.
const TOP: &str = "
import words

def generate_config(context):
    name = words.join(context.env['name'], context.properties['zone'])
    return {'resources': [{'name': name, 'type': 'inner.jinja'}]}
";
const TOP_SCHEMA: &str = "
imports:
- {path: ../lib/words.py, name: words.py}
- {path: inner.jinja, name: inner.jinja}
required: [zone]
properties:
  zone: {type: string}
";
const WORDS: &str = "
def join(*words):
    return '-'.join(words)
";
const INNER: &str = "
resources:
- {name: '{{ env.name }}-pod', type: Pod, properties: {size: {{ properties.size }}}}
";
const INNER_SCHEMA: &str = "properties: {size: {type: integer, default: 3}}";

fn files() -> Result<Files> {
    Files::serve(&[
        ("/t/top.py", TOP.to_owned()),
        ("/t/top.py.schema", TOP_SCHEMA.to_owned()),
        ("/lib/words.py", WORDS.to_owned()),
        ("/t/inner.jinja", INNER.to_owned()),
        ("/t/inner.jinja.schema", INNER_SCHEMA.to_owned()),
    ])
}

fn expansion(kind: &str, properties: &str) -> String {
    let configuration =
        format!("resources: [{{name: a, type: '{kind}', properties: {properties}}}]");
    json!({
        "apiVersion": "dm.formwork.dev/v1alpha1", "kind": "Expansion",
        "metadata": { "name": "fetched" },
        "spec": { "configuration": configuration },
    })
    .to_string()
}

#[test]
fn a_template_by_url_comes_with_its_schema_and_what_that_imports() -> Result<()> {
    let files = files()?;
    let flags = ["--template-allowed-hosts", &files.host(), "--template-allow-private-addresses"];
    let server = Server::start_with(&flags)?;
    let kubectl = Kubectl::of(&server.kubeconfig())?;
    let top = files.url("/t/top.py");
    let create = ["create", "-f", "-", "-o", "json"];
    let answer = kubectl.ok_with(&create, &expansion(&top, "{zone: b}"))?;
    let status = serde_json::from_str::<Value>(&answer)?["status"].clone();
    let pod = json!({ "name": "a-b-pod", "type": "Pod", "properties": { "size": 3 } });
    assert_eq!(status["config"]["resources"], json!([pod]), "{status}");
    let layout = &status["layout"]["resources"][0];
    assert_eq!(layout["type"], top, "{status}");
    assert_eq!(layout["resources"][0]["type"], "inner.jinja", "{status}");
    assert_eq!(layout["resources"][0]["properties"], json!({ "size": 3 }), "{status}");

    // Its schema holds, and its errors name it by its URL.
    let refused = kubectl.refused(&create, &expansion(&top, "{}"))?;
    for part in ["'zone' is a required property", &format!("(in config > a ({top}))")] {
        assert!(refused.contains(part), "{part} is not in {refused}");
    }
    let missing = files.url("/t/missing.py");
    let refused = kubectl.refused(&create, &expansion(&missing, "{}"))?;
    for part in ["is invalid", "Received status code 404", &missing] {
        assert!(refused.contains(part), "{part} is not in {refused}");
    }
    // What a URL leads to may change, so it is asked for again.
    let asked = |path: &str| files.asked().iter().filter(|asked| *asked == path).count();
    let before = asked("/t/top.py");
    kubectl.ok_with(&create, &expansion(&top, "{zone: b}"))?;
    assert_eq!(asked("/t/top.py"), before + 1);
    Ok(())
}

#[test]
fn nothing_is_fetched_unless_it_is_allowed() -> Result<()> {
    let files = files()?;
    let top = files.url("/t/top.py");
    let refused = |flags: &[&str], kind: &str| {
        let server = Server::start_with(flags)?;
        let kubectl = Kubectl::of(&server.kubeconfig())?;
        kubectl.refused(&["create", "-f", "-"], &expansion(kind, "{zone: b}"))
    };
    for (flags, kind, reason) in [
        (&[][..], top.as_str(), format!("templates from {} are not allowed here", files.host())),
        (
            &["--template-allowed-hosts", &files.host()],
            &top,
            "its host has a private address".to_owned(),
        ),
        (
            &[],
            "github.com/somebody/registry/template:v1",
            "templates from https://github.com are not allowed here".to_owned(),
        ),
    ] {
        let refused = refused(flags, kind)?;
        for part in ["The Expansion \"fetched\" is invalid", kind, &reason] {
            assert!(refused.contains(part), "{part} is not in {refused}");
        }
    }
    assert_eq!(files.asked(), Vec::<String>::new());
    Ok(())
}

#[test]
fn a_template_of_a_registry_comes_in_the_highest_patch_of_its_version() -> Result<()> {
    let files = github::serve([(
        "somebody/registry",
        Repository::new([
            ("web/inner/README.md", ""),
            ("web/inner/v1/inner.jinja", ""),
            ("web/inner/v1.0.2/inner.jinja", INNER),
            ("web/inner/v1.0.2/inner.jinja.schema", INNER_SCHEMA),
            ("web/inner/v1.1/inner.jinja", ""),
        ]),
    )])?;
    let server = Server::start_with(&[
        "--template-allowed-hosts=github.com",
        "--template-allow-private-addresses",
        &format!("--template-github-url={}", files.url("")),
    ])?;
    let kubectl = Kubectl::of(&server.kubeconfig())?;
    let create = ["create", "-f", "-", "-o", "json"];
    let kind = "github.com/somebody/registry/web/inner:v1";
    let answer = kubectl.ok_with(&create, &expansion(kind, "{}"))?;
    let resources =
        serde_json::from_str::<Value>(&answer)?["status"]["config"]["resources"].clone();
    let pod = json!({ "name": "a-pod", "type": "Pod", "properties": { "size": 3 } });
    assert_eq!(resources, json!([pod]));
    let refused = kubectl.refused(&create, &expansion(&kind.replace("v1", "v2"), "{}"))?;
    assert!(refused.contains("the registry has no version v2 of it"), "{refused}");
    Ok(())
}

/// The plugin alone, without a server.
fn plugin(configuration: &str, flags: &[&str]) -> Result<Output> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("config.yaml");
    std::fs::write(&file, configuration)?;
    let mut command = Command::new(program("kubectl-formwork")?);
    Ok(command.arg("expand").arg(&file).args(["-o", "json"]).args(flags).output()?)
}

#[test]
fn the_plugin_fetches_from_the_hosts_that_it_is_told() -> Result<()> {
    let files = files()?;
    let top = files.url("/t/top.py");
    let configuration = format!("resources: [{{name: a, type: '{top}', properties: {{zone: b}}}}]");
    let allowed = ["--allow-host", &files.host(), "--allow-private-addresses"];
    let output = plugin(&configuration, &allowed)?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    let pod = json!({ "name": "a-b-pod", "type": "Pod", "properties": { "size": 3 } });
    assert_eq!(answer["config"]["resources"], json!([pod]), "{answer}");
    let before = files.asked().len();
    for (flags, reason) in
        [(&allowed[..2], "its host has a private address"), (&[], "are not allowed here")]
    {
        let output = plugin(&configuration, flags)?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(reason) && said.contains(&top), "{said}");
    }
    assert_eq!(files.asked().len(), before);
    Ok(())
}
