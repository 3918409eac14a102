//! `dm` with the Kubernetes API: which requests it makes, what it waits for, and what it prints.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::run::{Outcome, Run};
use crate::server::{Answer, Server};

const ALL: &str = "/apis/dm.formwork.dev/v1alpha1/namespaces/here/deployments";
const MANIFESTS: &str = "GET /apis/dm.formwork.dev/v1alpha1/namespaces/here/manifests?limit=500";

fn path(method: &str) -> String {
    format!("{method} {ALL}/gb")
}

fn watch(version: u32) -> String {
    format!("GET {ALL}?watch=true&fieldSelector=metadata.name%3Dgb&resourceVersion={version}")
}

/// The Deployment `gb` at a version of it.
fn deployment(version: u32, generation: u32, status: &Value) -> Value {
    json!({
        "apiVersion": "dm.formwork.dev/v1alpha1", "kind": "Deployment",
        "metadata": {"name": "gb", "uid": "u", "resourceVersion": version.to_string(), "generation": generation,
            "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"configuration": "resources: []", "rollBackTo": "gb-0", "deletePolicy": "Abandon"},
        "status": status,
    })
}

fn pending(version: u32, generation: u32) -> Value {
    deployment(version, generation, &json!({}))
}

fn applying(version: u32, generation: u32) -> Value {
    deployment(
        version,
        generation,
        &json!({
        "phase": "Applying", "observedGeneration": generation, "manifest": "gb-3",
        "operation": {"type": "Create", "startTime": "2026-01-02T00:00:00Z", "wave": 0, "waves": 1, "done": 0, "total": 1},
        "resources": [{"name": "web", "kind": "Service", "objectName": "web", "wave": 0, "state": "Applied"}]}),
    )
}

fn ready(version: u32, generation: u32) -> Value {
    let mut ready = applying(version, generation);
    ready["status"]["phase"] = json!("Deployed");
    ready["status"]["resources"][0]["state"] = json!("Ready");
    ready["status"]["conditions"] =
        json!([{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-03T00:00:00Z"}]);
    ready
}

fn failed(version: u32, generation: u32) -> Value {
    let mut failed = applying(version, generation);
    failed["status"]["phase"] = json!("Failed");
    failed["status"]["conditions"] =
        json!([{"type": "Ready", "status": "False", "message": "web: refused"}]);
    failed
}

fn ok(object: &Value) -> Answer {
    Answer::ok(&object.to_string())
}

fn event(kind: &str, object: &Value) -> String {
    format!("{}\n", json!({"type": kind, "object": object}))
}

fn conflict() -> Answer {
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "changed",
        "reason": "Conflict", "details": {"name": "gb"}, "code": 409});
    Answer::status(409, &status.to_string())
}

fn not_found() -> Answer {
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "deployments.dm.formwork.dev \"gb\" not found", "reason": "NotFound", "details": {"name": "gb"}, "code": 404});
    Answer::status(404, &status.to_string())
}

fn dm(server: &Server, args: &[&str]) -> Outcome {
    Run::dm(args).kubeconfig(&server.kubeconfig).go()
}

const PRINTED: &str = "createdAt: \"2026-01-01T00:00:00Z\"
deletedAt: \"0001-01-01T00:00:00Z\"
deployedAt: \"2026-01-03T00:00:00Z\"
latestManifest: gb-3
modifiedAt: \"2026-01-02T00:00:00Z\"
name: gb
state:
  status: Deployed

";

#[test]
fn deploying_waits_until_all_is_ready_and_tells_what_goes_on() {
    let server = Server::start(&[
        (&format!("POST {ALL}"), Answer::status(201, &pending(1, 1).to_string())),
        (&path("GET"), ok(&applying(2, 1))),
        (&watch(2), Answer::ok(&event("MODIFIED", &ready(3, 1)))),
    ]);
    let args =
        ["deploy", "storage/redis:v1", "--name", "gb", "--properties", "replicas=2,size=big"];
    let (out, err) = dm(&server, &args).said();
    assert_eq!(out, PRINTED);
    assert_eq!(
        err,
        "gb: Applying, wave 1 of 1\ngb: web (Service web): Applied\ngb: Deployed\ngb: web (Service web): Ready\n"
    );
    let sent: Value = serde_json::from_str(&server.received()[0].body).unwrap();
    assert_eq!(
        sent,
        json!({"apiVersion": "dm.formwork.dev/v1alpha1", "kind": "Deployment", "metadata": {"name": "gb"},
            "spec": {"template": {"type": "storage/redis:v1", "properties": {"replicas": 2, "size": "big"}}}})
    );
}

#[test]
fn a_configuration_is_sent_with_its_files_by_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).unwrap();
    std::fs::create_dir(folder.path().join("lib")).unwrap();
    file("gb.yaml", "imports: [{path: lib/t.jinja}]\n");
    file("lib/t.jinja", "resources: []");
    file("lib/t.jinja.schema", "info: {}");
    let server = Server::start(&[(&format!("POST {ALL}"), ok(&pending(1, 1)))]);
    let run = Run::dm(&["--wait=false", "deploy", "gb.yaml"]).folder(folder.path());
    let out = run.kubeconfig(&server.kubeconfig).go().quietly();
    assert!(out.contains("  status: Created\n"), "{out}");
    let sent: Value = serde_json::from_str(&server.received()[0].body).unwrap();
    assert_eq!(sent["metadata"]["name"], "gb");
    assert_eq!(
        sent["spec"],
        json!({"configuration": "imports: [{path: lib/t.jinja}]\n", "imports": [
            {"name": "lib/t.jinja", "path": "lib/t.jinja", "content": "resources: []"},
            {"name": "lib/t.jinja.schema", "path": "lib/t.jinja.schema", "content": "info: {}"}]})
    );
}

#[test]
fn what_fails_is_told_and_the_exit_code_is_one() {
    let server = Server::start(&[
        (&format!("POST {ALL}"), ok(&pending(1, 1))),
        (&path("GET"), ok(&failed(2, 1))),
    ]);
    let outcome = dm(&server, &["deploy", "Pod", "-name=gb"]);
    assert_eq!((outcome.code, &*outcome.out), (1, ""));
    let last = outcome.err.lines().last().unwrap();
    assert_eq!(last, "error: cannot deploy configuration named gb: web: refused");
}

#[test]
fn what_an_earlier_generation_came_to_is_not_what_is_waited_for() {
    let server = Server::start(&[
        (&path("GET"), ok(&failed(4, 1))),
        (&path("PUT"), ok(&pending(5, 2))),
        // After the update, the server has not looked at it yet.
        (&path("GET"), ok(&failed(5, 1))),
        (
            &watch(5),
            Answer::ok(&(event("MODIFIED", &failed(5, 1)) + &event("MODIFIED", &ready(6, 2)))),
        ),
    ]);
    let (out, _) = dm(&server, &["update", "Pod", "--name", "gb"]).said();
    assert!(out.contains("status: Deployed"), "{out}");
}

#[test]
fn an_update_replaces_the_configuration_alone_and_is_made_anew_after_a_conflict() {
    let server = Server::start(&[
        (&path("GET"), ok(&ready(4, 1))),
        (&path("PUT"), conflict()),
        (&path("GET"), ok(&ready(5, 1))),
        (&path("PUT"), ok(&pending(6, 2))),
    ]);
    dm(&server, &["update", "Pod", "--name", "gb", "--wait=false"]).quietly();
    let requests = server.received();
    let sent: Value = serde_json::from_str(&requests[3].body).unwrap();
    assert_eq!(requests.len(), 4);
    assert_eq!(sent["metadata"]["resourceVersion"], "5");
    assert_eq!(
        sent["spec"],
        json!({"deletePolicy": "Abandon", "template": {"type": "Pod", "properties": {}}})
    );
}

#[test]
fn an_update_is_not_made_over_that_of_somebody_else() {
    let server = Server::start(&[
        (&path("GET"), ok(&ready(4, 1))),
        (&path("PUT"), conflict()),
        (&path("GET"), ok(&ready(5, 2))),
    ]);
    assert_eq!(
        dm(&server, &["update", "Pod", "--name", "gb"]).refused(),
        "error: somebody else has changed gb at the same time\n"
    );
}

fn partial(name: &str, owner: &str) -> Value {
    json!({"metadata": {"name": name, "ownerReferences": [{"kind": "Deployment", "uid": owner}]}})
}

fn manifests() -> Answer {
    ok(&json!({"metadata": {}, "items": [
        partial("gb-1", "u"), partial("gb-10", "u"), partial("gb-3", "u"), partial("gb-2", "u"), partial("gb-old-1", "v")]}))
}

#[test]
fn a_rollback_goes_to_the_manifest_before_the_current_one() {
    let server = Server::start(&[
        (&path("GET"), ok(&ready(4, 3))),
        (MANIFESTS, manifests()),
        (&path("PUT"), ok(&pending(5, 4))),
    ]);
    dm(&server, &["rollback", "gb", "--wait=false"]).quietly();
    let sent = &server.received().last().unwrap().body.clone();
    let sent: Value = serde_json::from_str(sent).unwrap();
    assert_eq!(sent["spec"]["rollBackTo"], "gb-2");
    assert_eq!(sent["spec"]["configuration"], "resources: []");
    assert_eq!(
        dm(&server, &["rollback", "gb", "gb-old-1"]).refused(),
        "error: manifest gb-old-1 not found in deployment gb\n"
    );
}

#[test]
fn deleting_waits_until_it_is_gone_and_shows_what_it_was() {
    let mut deleting = applying(5, 4);
    deleting["metadata"]["deletionTimestamp"] = json!("2026-01-04T00:00:00Z");
    deleting["status"]["phase"] = json!("Deleting");
    let server = Server::start(&[
        (&path("GET"), ok(&ready(4, 3))),
        (&path("DELETE"), ok(&deleting)),
        (&path("GET"), ok(&deleting)),
        (&watch(5), Answer::ok(&event("DELETED", &deleting))),
    ]);
    let (out, err) = dm(&server, &["delete", "gb"]).said();
    assert_eq!(out, PRINTED.replace("latestManifest: gb-3", "latestManifest: \"\""));
    assert!(err.starts_with("gb: Deleting\n"), "{err}");
    let sent: Value = serde_json::from_str(&server.received()[1].body).unwrap();
    assert_eq!(sent["preconditions"]["uid"], "u");
}

#[test]
fn a_deployment_that_is_gone_before_anybody_looks_is_gone() {
    let server = Server::start(&[
        (&path("GET"), ok(&ready(4, 3))),
        (&path("DELETE"), Answer::ok(r#"{"kind":"Status","status":"Success","metadata":{}}"#)),
        (&path("GET"), not_found()),
    ]);
    dm(&server, &["delete", "gb"]).quietly();
}

#[test]
fn a_server_that_is_away_for_a_while_is_waited_for() {
    let server = Server::start(&[
        // It is got once before the waiting begins. There is no watch.
        (&path("GET"), ok(&applying(2, 1))),
        (&path("GET"), ok(&applying(2, 1))),
        (&path("GET"), Answer::status(503, "starting")),
        (&path("GET"), ok(&ready(3, 1))),
    ]);
    let (out, _) = dm(&server, &["wait", "gb"]).said();
    assert_eq!(out, PRINTED);
    // But one that was never there is not.
    let server = Server::start(&[(&path("GET"), Answer::status(503, "starting"))]);
    assert_eq!(dm(&server, &["wait", "gb"]).refused(), "Error from server: starting\n");
}

#[test]
fn patience_ends_and_the_server_goes_on() {
    let server = Server::start(&[(&path("GET"), ok(&applying(2, 1)))]);
    let (code, err) = {
        let outcome = dm(&server, &["wait", "gb", "--timeout", "0"]);
        (outcome.code, outcome.err)
    };
    assert_eq!(code, 1);
    assert!(err.ends_with("after 0 s; the server goes on with it\n"), "{err}");
}

#[test]
fn lists_are_those_of_the_original() {
    let none = Server::start(&[(
        &format!("GET {ALL}?limit=500"),
        Answer::ok(r#"{"metadata":{},"items":[]}"#),
    )]);
    assert_eq!(dm(&none, &["list"]).quietly(), "null\n\n");
    let server = Server::start(&[
        (
            &format!("GET {ALL}?limit=500"),
            ok(&json!({"metadata": {"continue": "a b"}, "items": [partial("gb", "")]})),
        ),
        (
            &format!("GET {ALL}?limit=500&continue=a%20b"),
            ok(&json!({"metadata": {}, "items": [partial("wp", "")]})),
        ),
        (&path("GET"), ok(&ready(4, 3))),
        (MANIFESTS, manifests()),
    ]);
    assert_eq!(dm(&server, &["list"]).quietly(), "- gb\n- wp\n\n");
    assert_eq!(dm(&server, &["get", "gb"]).quietly(), PRINTED);
    assert_eq!(dm(&server, &["manifest", "gb"]).quietly(), "- gb-1\n- gb-2\n- gb-3\n- gb-10\n\n");
}

#[test]
fn types_and_their_instances_are_those_of_the_original() {
    let base = "GET /apis/dm.formwork.dev/v1alpha1/namespaces/here";
    let instance = |name: &str, kind: &str| json!({"metadata": {"name": "x"}, "resource": name, "type": kind, "deployment": "gb", "manifest": "gb-3", "path": "$.resources[0]"});
    let kind = json!({"metadata": {"name": "t.jinja"}, "type": "t.jinja", "template": true, "instances": 1, "schema": "info: {}\n"});
    let server = Server::start(&[
        (
            &format!("{base}/types?limit=500"),
            ok(&json!({"metadata": {}, "items": [{"type": "Pod"}, kind]})),
        ),
        (
            &format!("{base}/types?limit=500&fieldSelector=type%3Dt.jinja"),
            ok(&json!({"metadata": {}, "items": [kind]})),
        ),
        (
            &format!("{base}/types?limit=500&fieldSelector=type%3DNope"),
            ok(&json!({"metadata": {}, "items": []})),
        ),
        (
            &format!("{base}/typeinstances?limit=500&fieldSelector=type%3DPod"),
            ok(&json!({"metadata": {}, "items": [instance("a", "Pod")]})),
        ),
        (&format!("{base}/typeinstances?limit=500"), ok(&json!({"metadata": {}, "items": []}))),
        (&format!("{base}/registries?limit=500"), ok(&json!({"metadata": {}, "items": []}))),
    ]);
    assert_eq!(dm(&server, &["deployed-types"]).quietly(), "- Pod\n- t.jinja\n\n");
    assert_eq!(
        dm(&server, &["deployed-instances", "Pod"]).quietly(),
        "- deployment: gb\n  manifest: gb-3\n  name: a\n  path: $.resources[0]\n  type: Pod\n\n"
    );
    assert_eq!(dm(&server, &["deployed-instances", "all"]).quietly(), "null\n\n");
    assert_eq!(dm(&server, &["describe", "t.jinja"]).quietly(), "|\n  info: {}\n\n");
    assert!(
        dm(&server, &["describe", "Nope"]).refused().starts_with("error: Nope is not deployed")
    );
}

fn registry(name: &str, url: &str) -> Value {
    json!({"metadata": {"name": name, "resourceVersion": "7"}, "spec": {"type": "github", "url": url, "format": ["versioned", "collection"]}})
}

#[test]
fn registries_and_their_templates_are_those_of_the_original() {
    let base = "GET /apis/dm.formwork.dev/v1alpha1/namespaces/here";
    let all = [registry("all", "https://github.com/o/r/"), registry("part", "github.com/o/r/part")];
    let item =
        |version: &str| json!({"type": "x", "collection": "c", "name": "t", "version": version});
    let described = json!({"type": "x", "name": "t", "schema": "info: {}"});
    let server = Server::start(&[
        (&format!("{base}/registries?limit=500"), ok(&json!({"metadata": {}, "items": all}))),
        (
            &format!("{base}/registries/all/types"),
            ok(
                &json!({"items": [item("v1"), item("v1.2.3"), item("latest"), {"type": "x", "name": "u"}]}),
            ),
        ),
        (&format!("{base}/registries/all/types?regex=%5Ea%20%2B"), ok(&json!({"items": []}))),
        (&format!("{base}/registries/part/types?type=t%3Av1"), ok(&json!({"items": [described]}))),
        ("*", ok(&json!({"metadata": {}, "items": []}))),
    ]);
    assert_eq!(
        dm(&server, &["registries"]).quietly(),
        "- format: versioned;collection\n  name: all\n  type: github\n  url: https://github.com/o/r/\n\
         - format: versioned;collection\n  name: part\n  type: github\n  url: github.com/o/r/part\n\n"
    );
    let shown = |name: &str, collection: &str, [major, minor, patch]: [u8; 3]| {
        format!(
            "- Collection: {collection}\n  Name: {name}\n  Version:\n    Major: {major}\n    Minor: {minor}\n    Patch: {patch}\n"
        )
    };
    let want =
        [shown("t", "c", [1, 0, 0]), shown("t", "c", [1, 2, 3]), shown("u", "\"\"", [0, 0, 0])];
    let templates = ["templates", "--registry", "all"];
    assert_eq!(dm(&server, &templates).quietly(), format!("{}\n", want.concat()));
    let matching = ["templates", "--registry", "all", "--regex", "^a +"];
    assert_eq!(dm(&server, &matching).quietly(), "null\n\n");
    let described = dm(&server, &["describe", "https://github.com/o/r/part/t:v1"]).quietly();
    assert_eq!(described, "'info: {}'\n\n");
}

#[test]
fn a_registry_is_created_or_replaced_from_either_file() {
    let all = "/apis/dm.formwork.dev/v1alpha1/namespaces/here/registries";
    let missing = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "no",
        "reason": "NotFound", "details": {"name": "new"}, "code": 404});
    let stored = registry("old", "github.com/o/r");
    let server = Server::start(&[
        (&format!("GET {all}/new"), Answer::status(404, &missing.to_string())),
        (&format!("POST {all}"), ok(&registry("new", "github.com/o/r"))),
        (&format!("GET {all}/old"), ok(&stored)),
        (&format!("PUT {all}/old"), ok(&stored)),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let create = |name: &str, text: &str| {
        let file = folder.path().join("registry");
        std::fs::write(&file, text).unwrap();
        let file = file.display().to_string();
        dm(&server, &["createregistry", "--registry", name, "--registryfile", &file])
    };
    let theirs = "name: new\ntype: github\nurl: github.com/o/r\nformat: versioned;collection\n";
    assert_eq!(
        create("new", theirs).quietly(),
        "format: versioned;collection\nname: new\ntype: github\nurl: github.com/o/r\n\n"
    );
    let spec = json!({"type": "configMap", "url": "h/x", "configMapRef": {"name": "c"}});
    let ours = json!({"kind": "Registry", "metadata": {"name": "old"}, "spec": spec}).to_string();
    create("old", &ours).quietly();
    let refused = create("new", &ours).refused();
    assert!(refused.contains("Registry name does not match old != new"), "{refused}");
    let received = server.received();
    let sent = |index: usize| serde_json::from_str::<Value>(&received[index].body).unwrap();
    assert_eq!(
        sent(1),
        json!({"apiVersion": "dm.formwork.dev/v1alpha1", "kind": "Registry", "metadata": {"name": "new"},
            "spec": {"type": "github", "url": "github.com/o/r", "format": ["versioned", "collection"]}})
    );
    assert_eq!((&sent(3)["spec"], &sent(3)["metadata"]), (&spec, &stored["metadata"]));
    assert_eq!(received.len(), 4, "a file of another name is not sent");
}

#[test]
fn a_manifest_is_shown_as_the_original_has_it_and_its_layout_as_a_tree() {
    let manifest = json!({"metadata": {"name": "gb-3"}, "deployment": "gb", "generation": 3,
        "inputConfig": {"name": "gb", "content": "x"}, "expandedConfig": {"resources": [{"name": "web", "type": "Service"}]},
        "layout": {"resources": [{"name": "app", "type": "t.jinja", "resources": [{"name": "web", "type": "Service"}]}]}});
    let server = Server::start(&[
        (&path("GET"), ok(&ready(4, 3))),
        ("GET /apis/dm.formwork.dev/v1alpha1/namespaces/here/manifests/gb-3", ok(&manifest)),
    ]);
    let out = dm(&server, &["manifest", "gb", "gb-3"]).quietly();
    assert_eq!(dm(&server, &["manifest", "gb/gb-3"]).quietly(), out);
    assert!(out.starts_with("deployment: gb\nexpandedConfig:\n  resources:\n  - name: web\n    state:\n      status: Created\n"), "{out}");
    assert_eq!(
        dm(&server, &["layout", "gb"]).quietly(),
        "gb  gb-3\n└── app  t.jinja\n    └── web  Service  Ready\n"
    );
    assert!(
        dm(&server, &["status", "gb"]).quietly().contains("  1     web   Service web  Ready\n")
    );
}

#[test]
fn an_expansion_is_shown_as_the_manager_answered_it() {
    let answer = json!({"status": {"digest": "d", "config": {"resources": [{"name": "a", "type": "Pod"}]}, "layout": {"resources": []}}});
    let server = Server::start(&[(
        "POST /apis/dm.formwork.dev/v1alpha1/namespaces/here/expansions",
        Answer::status(201, &answer.to_string()),
    )]);
    assert_eq!(
        dm(&server, &["expand", "Pod"]).quietly(),
        "expandedConfig:\n  resources:\n  - name: a\n    type: Pod\nlayout:\n  resources: []\n\n"
    );
    let sent: Value = serde_json::from_str(&server.received()[0].body).unwrap();
    assert_eq!(
        sent["spec"],
        json!({"configuration": "resources:\n- name: pod\n  type: Pod\n", "env": {"deployment": "pod"}})
    );
}

#[test]
fn calls_that_cannot_be_understood_say_where_help_is() {
    let refused = |args: &[&str]| Run::dm(args).go().refused();
    assert_eq!(
        refused(&["bogus"]),
        "Error: unknown command 'bogus' for 'dm'\nRun 'dm --help' for usage\n"
    );
    assert_eq!(
        refused(&["list", "--nope"]),
        "Error: flag provided but not defined: -nope\nRun 'dm --help' for usage\n"
    );
    let usage = Run::dm(&[]).go().quietly();
    assert!(usage.starts_with("Usage: dm "), "{usage}");
    for args in [&["-h"][..], &["list", "--help"]] {
        assert_eq!(Run::dm(args).go().quietly(), usage);
    }
    assert!(refused(&["list"]).starts_with("error: no server is configured (--service"));
    let needs = refused(&["--service", "http://127.0.0.1:1", "status", "gb"]);
    assert_eq!(
        needs,
        "error: this command needs the Kubernetes API; --service has no path for it\n"
    );
}

#[test]
fn a_service_is_shown_a_token_where_nobody_else_sees_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "secret\n").unwrap();
    let file = file.to_str().unwrap();
    let server = Server::start(&[("*", Answer::ok("[]"))]);
    let url = server.url() + "/base/";
    Run::dm(&["list", "--service", &url, "--token-file", file]).go().quietly();
    Run::dm(&["list", "--service", &url]).go().quietly();
    let requests = server.received();
    assert_eq!(requests[0].line, "GET /base/deployments");
    assert_eq!(
        requests.iter().map(|one| &*one.authorization).collect::<Vec<_>>(),
        ["Bearer secret", ""]
    );
    let far = ["list", "--service", "http://example.com", "--token-file", file];
    let refused = Run::dm(&far).go().refused();
    assert_eq!(refused, "error: --service http://example.com: a token is sent by https alone\n");
}

#[test]
fn a_layout_is_drawn_of_what_a_service_answers_and_slow_ones_are_given_up() {
    let manifest = json!({"deployment": "gb", "name": "m", "layout": {"resources": [{"name": "a", "type": "Pod"}]},
        "expandedConfig": {"resources": [{"name": "a", "state": {"status": "Created"}}]}});
    let server = Server::start(&[
        ("GET /deployments/gb", ok(&json!({"name": "gb", "latestManifest": "m"}))),
        ("GET /deployments/gb/manifests/m", ok(&manifest)),
    ]);
    let out = Run::dm(&["layout", "gb", "--service", &server.url()]).go().quietly();
    assert_eq!(out, "gb  m\n└── a  Pod  Created\n");
    assert_eq!(
        Run::dm(&["layout", "gb", "--service", &server.url(), "--timeout=0"]).go().quietly(),
        out
    );
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let refused = Run::dm(&["list", "--service", &url, "--timeout", "1"]).go().refused();
    assert_eq!(refused, "error: cannot list deployments: no answer within 1 s\n");
}

#[test]
fn a_credential_is_a_secret_whose_values_are_not_shown() {
    const SECRETS: &str = "/api/v1/namespaces/here/secrets";
    let kind = "dm.formwork.dev/registry-credential";
    let known = json!({"metadata": {"name": "c", "resourceVersion": "7"}, "type": kind, "data": {"username": "dQ==", "password": "cA=="}});
    let server = Server::start(&[
        (&format!("GET {SECRETS}/new"), not_found()),
        (&format!("POST {SECRETS}"), ok(&json!({}))),
        (&format!("GET {SECRETS}/c"), ok(&known)),
        (&format!("PUT {SECRETS}/c"), ok(&json!({}))),
        (
            &format!("GET {SECRETS}/other"),
            ok(&json!({"metadata": {}, "type": "Opaque", "data": {"token": "eA=="}})),
        ),
    ]);
    let token = "apitoken: \"\"\n\n";
    assert_eq!(dm(&server, &["setcredential", "new", "--apitoken", "T"]).quietly(), token);
    assert_eq!(dm(&server, &["setcredential", "c", "--apitoken", "T"]).quietly(), token);
    let sent: Vec<Value> = server
        .received()
        .iter()
        .filter(|request| !request.body.is_empty())
        .map(|request| serde_json::from_str(&request.body).unwrap())
        .collect();
    let secret = |metadata: Value| json!({"apiVersion": "v1", "kind": "Secret", "type": kind, "metadata": metadata, "stringData": {"token": "T"}});
    assert_eq!(sent[0], secret(json!({"name": "new"})));
    assert_eq!(sent[1], secret(json!({"name": "c", "resourceVersion": "7"})));
    assert_eq!(
        dm(&server, &["getcredential", "c"]).quietly(),
        "basicauth:\n  password: \"\"\n  username: \"\"\n\n"
    );
    for name in ["new", "other"] {
        let want = format!("error: cannot get credential: no such credential : {name}\n");
        assert_eq!(dm(&server, &["getcredential", name]).refused(), want);
    }
    assert!(
        dm(&server, &["setcredential", "other", "--apitoken", "T"])
            .refused()
            .contains("is no credential")
    );
}
