//! Exporting a namespace: discovery, pages, what is left out, and that the template works.

use std::fs;

use serde_json::Value;

use crate::run::{Outcome, Run};
use crate::server::{Answer, Server};

const CORE: &str = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{},"versions":[{"version":"v1","resources":[
    {"resource":"configmaps","responseKind":{"kind":"ConfigMap"},"scope":"Namespaced","singularResource":"configmap","verbs":["create","list"],"shortNames":["cm"]},
    {"resource":"events","responseKind":{"kind":"Event"},"scope":"Namespaced","singularResource":"event","verbs":["create","list"]},
    {"resource":"nodes","responseKind":{"kind":"Node"},"scope":"Cluster","singularResource":"node","verbs":["create","list"]},
    {"resource":"secrets","responseKind":{"kind":"Secret"},"scope":"Namespaced","singularResource":"secret","verbs":["create","list"]},
    {"resource":"services","responseKind":{"kind":"Service"},"scope":"Namespaced","singularResource":"service","verbs":["create","list"],"shortNames":["svc"]}]}]}]}"#;
const GROUPS: &str = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[
    {"resource":"deployments","responseKind":{"kind":"Deployment"},"scope":"Namespaced","singularResource":"deployment","verbs":["create","list"],"shortNames":["deploy"]}]}]}]}"#;
const CONFIG_MAPS: &str = r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"continue":"a b"},"items":[
    {"metadata":{"name":"kube-root-ca.crt","uid":"1"}},
    {"metadata":{"name":"settings","uid":"2","namespace":"here","resourceVersion":"7"},"data":{"shell":"echo ${HOME}","on":"yes"}}]}"#;
const MORE_CONFIG_MAPS: &str =
    r#"{"metadata":{},"items":[{"metadata":{"name":"more","uid":"3"}}]}"#;
const SERVICES: &str = r#"{"metadata":{},"items":[{"metadata":{"name":"web","uid":"4"},"spec":{"clusterIP":"10.0.0.7","clusterIPs":["10.0.0.7"],"ports":[{"port":80}]},"status":{"loadBalancer":{}}}]}"#;
const FORBIDDEN: &str = r#"{"kind":"Status","status":"Failure","message":"secrets is forbidden","reason":"Forbidden","code":403}"#;

fn server() -> Server {
    let list = |plural: &str| format!("GET /api/v1/namespaces/here/{plural}?limit=500");
    Server::start(&[
        ("GET /api", Answer::ok(CORE)),
        ("GET /apis", Answer::ok(GROUPS)),
        (&list("configmaps"), Answer::ok(CONFIG_MAPS)),
        (&(list("configmaps") + "&continue=a%20b"), Answer::ok(MORE_CONFIG_MAPS)),
        (&list("services"), Answer::ok(SERVICES).warning("old kind")),
        (&(list("services") + "&labelSelector=app%3Dweb"), Answer::ok(SERVICES)),
        (&list("secrets"), Answer::status(403, FORBIDDEN)),
        (
            "GET /apis/apps/v1/namespaces/here/deployments?limit=500",
            Answer::ok(r#"{"items":null}"#),
        ),
    ])
}

fn run(server: &Server, args: &[&str]) -> Outcome {
    Run::new(&[&["export"], args].concat()).kubeconfig(&server.kubeconfig).go()
}

#[test]
fn everything_that_can_be_made_again_is_exported() {
    let server = server();
    let (out, err) = run(&server, &["all", "--name", "mine"]).said();
    assert_eq!(
        err,
        "Warning: no secrets are exported: secrets is forbidden\nleft out 1: every namespace has it\n"
    );
    assert_eq!(
        out,
        "apiVersion: template.openshift.io/v1
kind: Template
metadata:
  name: mine
objects:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: more
- apiVersion: v1
  data:
    \"on\": \"yes\"
    shell: echo ${HOME}
  kind: ConfigMap
  metadata:
    name: settings
- apiVersion: v1
  kind: Service
  metadata:
    name: web
  spec:
    ports:
    - port: 80
"
    );
}

#[test]
fn an_export_can_be_processed_and_gives_the_objects_back() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = run(&server(), &["cm,svc", "-o", "json"]).said();
    fs::write(folder.path().join("t.json"), &out).unwrap();
    let processed =
        Run::new(&["process", "--local", "t.json"]).folder(folder.path()).go().quietly();
    let exported: Value = serde_json::from_str(&out).unwrap();
    let processed: Value = serde_json::from_str(&processed).unwrap();
    assert_eq!(exported["objects"], processed["items"]);
}

#[test]
fn kinds_and_a_selector_narrow_it_down() {
    let server = server();
    let out = run(&server, &["svc,services", "-l", "app=web", "--dialect", "proposal"]).quietly();
    assert!(out.starts_with("apiVersion: formwork.dev/v1alpha1\n"), "{out}");
    let lists =
        server.received().iter().filter(|request| request.line.contains("services")).count();
    assert_eq!(lists, 1);
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let server = server();
    assert_eq!(
        run(&server, &["widgets"]).refused(),
        "error: the server doesn't have a resource type \"widgets\"\n"
    );
    assert!(run(&server, &["nodes"]).refused().contains("nodes are not in a namespace"));
    assert_eq!(
        run(&server, &["secrets"]).refused(),
        "Error from server (Forbidden): secrets is forbidden\n"
    );
    assert_eq!(
        run(&server, &["deploy"]).refused(),
        "error: nothing to export in namespace \"here\"\n"
    );
}

#[test]
fn servers_without_aggregated_discovery_are_asked_group_by_group() {
    let core = r#"{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[
        {"name":"services","singularName":"service","namespaced":true,"kind":"Service","verbs":["create","list"],"shortNames":["svc"]},
        {"name":"services/status","singularName":"","namespaced":true,"kind":"Service","verbs":["get"]}]}"#;
    let groups = r#"{"kind":"APIGroupList","apiVersion":"v1","groups":[
        {"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}},
        {"name":"down","versions":[{"groupVersion":"down/v1","version":"v1"}]}]}"#;
    let apps = r#"{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[
        {"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment","verbs":["create","list"]}]}"#;
    let server = Server::start(&[
        ("GET /api", Answer::ok(r#"{"kind":"APIVersions","versions":["v1"]}"#)),
        ("GET /api/v1", Answer::ok(core)),
        ("GET /apis", Answer::ok(groups)),
        ("GET /apis/apps/v1", Answer::ok(apps)),
        ("GET /apis/down/v1", Answer::status(503, "service unavailable")),
        ("GET /api/v1/namespaces/here/services?limit=500", Answer::ok(SERVICES)),
        ("GET /apis/apps/v1/namespaces/here/deployments?limit=500", Answer::ok(r#"{"items":[]}"#)),
    ]);
    let (out, err) = run(&server, &["svc,deployment.apps"]).said();
    assert!(out.contains("kind: Service\n"), "{out}");
    assert_eq!(err, "Warning: couldn't get resource list for down/v1: service unavailable\n");
}

#[test]
fn a_server_without_a_core_group_has_the_others() {
    let server = Server::start(&[
        ("GET /apis", Answer::ok(GROUPS)),
        (
            "GET /apis/apps/v1/namespaces/here/deployments?limit=500",
            Answer::ok(r#"{"items":[{"metadata":{"name":"d"}}]}"#),
        ),
    ]);
    assert!(run(&server, &["all"]).quietly().contains("kind: Deployment\n"));
}
