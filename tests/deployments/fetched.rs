//! Templates of registries in Deployments: which files a Manifest has, and for how long a Deployment keeps to them.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tests::files::{Asked, Files};
use tests::github::{self, Repository};

use crate::setting::{Setting, deployment, dmd, resources};

const TYPE: &str = "github.com/somebody/library/notes/note:v1";

/// A template that makes a ConfigMap, and says in it which one it is.
fn template(edition: &str) -> String {
    format!(
        "resources:\n- name: {{{{ env.deployment }}}}\n  type: ConfigMap\n  properties:\n    apiVersion: v1\n    \
         kind: ConfigMap\n    metadata: {{name: {{{{ env.deployment }}}}}}\n    \
         data: {{edition: {edition}, text: {{{{ properties.text }}}}}}\n"
    )
}

fn spec(text: &str) -> Value {
    json!({ "template": { "type": TYPE, "properties": { "text": text } } })
}

#[test]
fn a_deployment_keeps_to_the_files_that_were_fetched_until_it_wants_others() -> Result<()> {
    let schema = "properties: {text: {type: string, default: none}}";
    let library = Repository::new([
        ("notes/note/v1/note.jinja", template("first").as_str()),
        ("notes/note/v1/note.jinja.schema", schema),
    ]);
    let served = github::serve([("somebody/library", library.clone())])?;
    let setting = Setting::with(&[
        "--template-allowed-hosts=github.com",
        "--template-allow-private-addresses",
        &format!("--template-github-url={}", served.host()),
    ])?;
    let is = |edition: &str, text: &str| -> Result<()> {
        setting.await_ready("note")?;
        let data = setting.object("configmap/note")?["data"].clone();
        ensure!(data == json!({ "edition": edition, "text": text }), "{data}");
        Ok(())
    };
    setting.apply("note", &spec("one"))?;
    is("first", "one")?;
    let manifest = setting.object("manifests/note-1")?;
    let files = manifest["inputConfig"]["imports"].as_array().context("a list of files")?;
    let names: Vec<_> = files.iter().map(|file| (&file["name"], &file["path"])).collect();
    let path = "github.com/somebody/library/notes/note/v1/note.jinja".to_owned();
    let (name, beside) = (format!("{TYPE}.schema"), format!("{path}.schema"));
    assert_eq!(names, [(&json!(TYPE), &json!(path)), (&json!(name), &json!(beside))]);
    let digest = files[0]["digest"].as_str().context("a digest")?;
    ensure!(digest.starts_with("sha256:") && digest.len() == 71, "{digest}");

    // Whatever has become of the registry, a change of the properties is one of the properties.
    library.put("notes/note/v1/note.jinja", "broken: {{");
    library.put("notes/note/v1.0.1/note.jinja", &template("second"));
    library.put("notes/note/v1.0.1/note.jinja.schema", schema);
    let asked = served.asked().len();
    setting.apply("note", &spec("two"))?;
    is("first", "two")?;
    assert_eq!(served.asked().len(), asked, "nothing was asked for");
    assert_eq!(setting.object("manifests/note-2")?["inputConfig"]["imports"], json!(files));

    // Unless others are asked for.
    let mut again = spec("two");
    again["refresh"] = json!("2026-11-20");
    setting.apply("note", &again)?;
    is("second", "two")?;
    again["template"]["properties"]["text"] = json!("three");
    let asked = served.asked().len();
    setting.apply("note", &again)?;
    is("second", "three")?;
    assert_eq!(served.asked().len(), asked, "nothing was asked for");

    // Another Deployment has files of its own.
    setting.apply("other", &spec("one"))?;
    setting.await_ready("other")?;
    assert_eq!(setting.read("configmap/other", ".data.edition")?, "second");

    // Whoever calls itself another one does not get what was fetched for that: neither when it is made, where nobody
    // says which one it is, nor later, when it is expanded before it is seen to be another.
    library.put("notes/note/v1.0.1/note.jinja", "broken: {{");
    let uid = setting.read(&dmd("note"), ".metadata.uid")?;
    let manifest = setting.read(&dmd("note"), ".status.deployed")?;
    let status = json!({ "manifest": manifest, "deployed": manifest });
    let mut thief: Value = serde_json::from_str(&deployment("thief", &spec("one")))?;
    (thief["metadata"]["uid"], thief["status"]) = (json!(uid), status.clone());
    let refused = setting.kubectl.refused(&["create", "-f", "-"], &thief.to_string())?;
    ensure!(refused.contains("TemplateSyntaxError"), "{refused}");
    setting.apply("thief", &resources(&json!([])))?;
    let mut stolen = spec("one");
    // With the refresh of the other.
    (stolen["configuration"], stolen["refresh"]) = (Value::Null, again["refresh"].clone());
    let patch = json!({ "metadata": { "uid": uid }, "spec": stolen, "status": status }).to_string();
    let patch = ["patch", &dmd("thief"), "--type=merge", "-p", &patch];
    let refused = setting.kubectl.refused(&patch, "")?;
    ensure!(refused.contains("TemplateSyntaxError"), "{refused}");
    setting.kubectl.ok(&["delete", &dmd("thief"), "--timeout=60s"])?;

    // Types are known by what was fetched, on every level.
    let types = ["get", "types", "--field-selector", &format!("type={TYPE}"), "-o", "json"];
    let types: Value = serde_json::from_str(&setting.kubectl.ok(&types)?)?;
    let found = &types["items"][0];
    assert_eq!((&found["instances"], &found["template"]), (&json!(2), &json!(true)), "{types}");
    assert_eq!(found["deployments"], json!(["note", "other"]));
    assert_eq!(found["schema"], schema);
    let of_note = "--field-selector=deployment=note,type=ConfigMap";
    let instances = setting.kubectl.ok(&["get", "typeinstances", of_note, "--no-headers"])?;
    let row: Vec<_> = instances.split_whitespace().take(4).collect();
    assert_eq!(row, ["note:0.0", "ConfigMap", "note", "$.resources[0].resources[0]"]);
    Ok(())
}

/// A web server with a registry in `/lib`, for whoever has this credential.
fn web_server(credential: &'static str) -> Result<Files> {
    let index = "apiVersion: v1\nentries:\n  note: [{version: v1.0.1, urls: [files/note.jinja]}]\n";
    let text = template("web");
    Files::serve_by(|_| {
        move |asked: &Asked| {
            if asked.headers.get("authorization").is_none_or(|sent| sent != credential) {
                return ("401 Unauthorized", String::new());
            }
            match asked.path.as_str() {
                "/lib/index.yaml" => ("200 OK", index.to_owned()),
                "/lib/files/note.jinja" => ("200 OK", text.clone()),
                _ => ("404 Not Found", String::new()),
            }
        }
    })
}

#[test]
fn registries_of_the_namespace_are_asked_as_the_requester() -> Result<()> {
    let library =
        Repository::new([("note/v1/note.jinja", template("private").as_str())]).private("t0ken");
    let served = github::serve([("somebody/private", library)])?;
    let web = web_server("Basic YW5uOnBhc3N3MHJk")?;
    let setting = Setting::with(&[
        &format!("--template-allowed-hosts=github.com,{}", web.host()),
        "--template-allow-private-addresses",
        &format!("--template-github-url={}", served.host()),
    ])?;
    let create =
        |object: &Value| setting.kubectl.ok_with(&["create", "-f", "-"], &object.to_string());
    let registry = |name: &str, spec: Value| {
        let api_version = "dm.formwork.dev/v1alpha1";
        let metadata = json!({ "name": name });
        create(
            &json!({ "apiVersion": api_version, "kind": "Registry", "metadata": metadata, "spec": spec }),
        )
    };
    create(&json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "key" },
        "type": "dm.formwork.dev/registry-credential", "stringData": { "token": "t0ken" },
    }))?;
    create(&json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "user" },
        "type": "dm.formwork.dev/registry-credential",
        "stringData": { "url": web.url("/"), "username": "ann", "password": "passw0rd" },
    }))?;
    create(&json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "library" },
        "data": { "note.v1.jinja": template("local"), "note.v1.0.1.jinja": template("mended") },
    }))?;
    let url = "github.com/somebody/private";
    registry(
        "private",
        json!({ "type": "github", "url": url, "credentialRef": { "name": "key" } }),
    )?;
    let url = "templates.example/local";
    registry(
        "local",
        json!({ "type": "configMap", "url": url, "configMapRef": { "name": "library" } }),
    )?;
    let url = web.url("/lib");
    registry("web", json!({ "type": "http", "url": url, "credentialRef": { "name": "user" } }))?;
    let of_web = web.url("/lib/note:v1");
    for (name, kind, edition) in [
        ("one", "github.com/somebody/private/note:v1", "private"),
        ("two", "https://templates.example/local/note:v1", "mended"),
        ("of-web", of_web.as_str(), "web"),
    ] {
        let spec = json!({ "template": { "type": kind, "properties": { "text": "x" } } });
        setting.apply(name, &spec)?;
        setting.await_ready(name)?;
        assert_eq!(setting.read(&format!("configmap/{name}"), ".data.edition")?, edition);
        let stored = setting.kubectl.ok(&[
            "get",
            &dmd(name),
            &format!("manifests/{name}-1"),
            "-o",
            "yaml",
        ])?;
        let secrets = ["t0ken", "passw0rd", "YW5uOnBhc3N3MHJk"];
        ensure!(!secrets.iter().any(|secret| stored.contains(secret)), "{stored}");
    }
    let manifest = setting.object("manifests/of-web-1")?;
    let file = &manifest["inputConfig"]["imports"][0];
    assert_eq!(
        (&file["name"], &file["path"]),
        (&json!(of_web), &json!(web.url("/lib/files/note.jinja")))
    );
    // What no registry is of is refused, with what there is.
    let unknown = json!({
        "apiVersion": "dm.formwork.dev/v1alpha1", "kind": "Registry", "metadata": { "name": "unknown" },
        "spec": { "type": "oci", "url": "registry.example/lib" },
    });
    let refused = setting.kubectl.refused(&["create", "-f", "-"], &unknown.to_string())?;
    let why =
        r#"spec.type: Unsupported value: "oci": supported values: "configMap", "github", "http""#;
    ensure!(refused.contains(why), "{refused}");

    // Whoever may not read the Secret has nobody read it for him.
    let alice = setting.user("alice")?;
    let rights =
        ["create", "role", "deploys", "--verb=*", "--resource=deployments.dm.formwork.dev"];
    setting.kubectl.ok(&rights)?;
    setting.kubectl.ok(&["create", "rolebinding", "deploys", "--role=deploys", "--user=alice"])?;
    let spec = json!({ "template": { "type": "github.com/somebody/private/note:v1" } });
    let file = alice.file("three.json", &deployment("three", &spec))?;
    let refused = alice.until_refused(&["create", "-f", &file], "user \"alice\" may not get it")?;
    ensure!(!refused.contains("t0ken"), "{refused}");
    Ok(())
}
