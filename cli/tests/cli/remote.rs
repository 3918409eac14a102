//! Processing with a server: which requests are made, and how its answers are shown.

use crate::run::{Outcome, Run};
use crate::server::{Answer, Server};

const STORED: &str = r#"{"kind":"Template","apiVersion":"template.openshift.io/v1","metadata":{"name":"t","namespace":"there","uid":"u"},
    "parameters":[{"name":"A","generate":"expression","from":"[a-z]{3}"}],"objects":[{"n":12345678901234567890123}]}"#;
const PROCESSED: &str = r#"{"kind":"Template","apiVersion":"template.openshift.io/v1","metadata":{"name":"t"},
    "objects":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}]}"#;
const NOT_FOUND: &str = r#"{"kind":"Status","status":"Failure","message":"templates.template.openshift.io \"t\" not found",
    "reason":"NotFound","details":{"name":"t","group":"template.openshift.io","kind":"templates"},"code":404}"#;

const POST: &str =
    "POST /apis/template.openshift.io/v1/namespaces/here/processedtemplates?fieldValidation=Warn";

fn run(server: &Server, args: &[&str]) -> Outcome {
    Run::new(args).kubeconfig(&server.kubeconfig).go()
}

#[test]
fn a_stored_template_is_got_from_its_namespace_and_posted_to_ours() {
    let server = Server::start(&[
        ("GET /apis/template.openshift.io/v1/namespaces/there/templates/t", Answer::ok(STORED)),
        (POST, Answer::status(201, PROCESSED)),
    ]);
    let out = run(&server, &["process", "there//t", "A=1", "-l", "x=y", "-o", "name"]).quietly();
    assert_eq!(out, "pod/p\n");
    let requests = server.received();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1].line, POST);
    assert_eq!(
        requests[1].body,
        r#"{"apiVersion":"template.openshift.io/v1","kind":"Template","labels":{"x":"y"},"metadata":{"name":"t","namespace":"here","uid":"u"},"objects":[{"n":12345678901234567890123}],"parameters":[{"from":"[a-z]{3}","name":"A","value":"1"}]}"#
    );
}

#[test]
fn the_namespace_may_be_given() {
    let server = Server::start(&[(
        "GET /apis/template.openshift.io/v1/namespaces/other/templates/t",
        Answer::ok(STORED),
    )]);
    assert!(
        run(&server, &["process", "t", "-n", "other", "--parameters"])
            .quietly()
            .contains("[a-z]{3}")
    );
}

#[test]
fn a_file_of_core_v1_is_posted_as_one_of_the_group() {
    let server = Server::start(&[(POST, Answer::status(201, PROCESSED))]);
    let outcome = Run::new(&["process", "-f", "-"])
        .stdin("apiVersion: v1\nkind: Template\nmetadata: {name: t, namespace: x}\nobjects: []\n")
        .kubeconfig(&server.kubeconfig)
        .go();
    assert!(outcome.quietly().contains("\"kind\": \"List\""));
    assert_eq!(
        server.received()[0].body,
        r#"{"apiVersion":"template.openshift.io/v1","kind":"Template","metadata":{"name":"t","namespace":"here"},"objects":[]}"#
    );
}

#[test]
fn the_other_api_is_asked_for_names_that_the_first_does_not_have() {
    let proposal = r#"{"kind":"Template","apiVersion":"formwork.dev/v1alpha1","metadata":{"name":"t"},"objects":[]}"#;
    let server = Server::start(&[
        (
            "GET /apis/template.openshift.io/v1/namespaces/here/templates/t",
            Answer::status(404, NOT_FOUND),
        ),
        ("GET /apis/formwork.dev/v1alpha1/namespaces/here/templates/t", Answer::ok(proposal)),
        (
            "POST /apis/formwork.dev/v1alpha1/namespaces/here/processedtemplates?fieldValidation=Warn",
            Answer::status(201, proposal),
        ),
    ]);
    run(&server, &["process", "template/t"]).quietly();
    assert_eq!(server.received().len(), 3);
    run(&server, &["process", "templates.formwork.dev/t"]).quietly();
    assert_eq!(server.received().len(), 5);
}

#[test]
fn a_missing_template_is_told_from_a_missing_api() {
    let server = Server::start(&[(
        "GET /apis/template.openshift.io/v1/namespaces/here/templates/t",
        Answer::status(404, NOT_FOUND),
    )]);
    assert_eq!(
        run(&server, &["process", "t"]).refused(),
        "error: template \"t\" could not be found\n"
    );
    let server = Server::start(&[]);
    assert_eq!(
        run(&server, &["process", "t"]).refused(),
        "error: the server doesn't have a resource type \"templates\"\n"
    );
}

#[test]
fn of_a_refused_template_the_causes_are_shown() {
    let status = r#"{"kind":"Status","status":"Failure","message":"long","reason":"Invalid","code":422,"details":{"name":"t","causes":[
        {"reason":"FieldValueRequired","message":"Required value: template.parameters[0]: parameter A is required and must be specified","field":"template.parameters[0]"}]}}"#;
    let server = Server::start(&[
        ("GET /apis/template.openshift.io/v1/namespaces/here/templates/t", Answer::ok(STORED)),
        (POST, Answer::status(422, status)),
    ]);
    assert_eq!(
        run(&server, &["process", "t"]).refused(),
        "error: unable to process template\n  Required value: template.parameters[0]: parameter A is required and must be specified\n"
    );
}

#[test]
fn other_refusals_are_shown_as_kubectl_does() {
    let status = r#"{"kind":"Status","status":"Failure","message":"templates \"t\" is forbidden","reason":"Forbidden","details":{"name":"t"},"code":403}"#;
    let server = Server::start(&[(
        "GET /apis/template.openshift.io/v1/namespaces/here/templates/t",
        Answer::status(403, status),
    )]);
    assert_eq!(
        run(&server, &["process", "t"]).refused(),
        "Error from server (Forbidden): templates \"t\" is forbidden\n"
    );
}

#[test]
fn warnings_of_the_server_are_passed_on() {
    let server = Server::start(&[
        ("GET /apis/template.openshift.io/v1/namespaces/here/templates/t", Answer::ok(STORED)),
        (POST, Answer::status(201, PROCESSED).warning(r#"unknown field \"foo\""#)),
    ]);
    let (_, err) = run(&server, &["process", "t"]).said();
    assert_eq!(err, "Warning: unknown field \"foo\"\n");
}

#[test]
fn the_form_of_a_stored_template_is_the_servers() {
    let server = Server::start(&[
        ("GET /apis/template.openshift.io/v1/namespaces/here/templates/t", Answer::ok(STORED)),
        (
            "GET /apis/template.openshift.io/v1/namespaces/here/templates/t/schema",
            Answer::ok(r#"{"type":"object","properties":{"Z":{},"A":{}}}"#),
        ),
    ]);
    assert_eq!(
        run(&server, &["parameters", "t", "-o", "json"]).quietly(),
        "{\n    \"type\": \"object\",\n    \"properties\": {\n        \"Z\": {},\n        \"A\": {}\n    }\n}\n"
    );
}

#[test]
fn a_template_may_be_read_from_a_url() {
    let template = "apiVersion: v1\nkind: Template\nparameters: [{name: FROM_THE_WEB}]\n";
    let server = Server::start(&[("GET /dir/t.yaml?raw=1", Answer::ok(template))]);
    let url = server.url() + "/dir/t.yaml?raw=1";
    assert!(Run::new(&["parameters", &url]).go().quietly().contains("FROM_THE_WEB"));
    assert!(Run::new(&["process", "--local", "-f", &url]).go().quietly().contains("null"));
    let url = server.url() + "/none";
    assert_eq!(
        Run::new(&["parameters", &url]).go().refused(),
        format!("error: unable to read URL {url:?}, server reported 404\n")
    );
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let server = Server::start(&[]);
    let text = std::fs::read_to_string(&server.kubeconfig).unwrap();
    // Port 1 of the loopback: nobody serves there.
    std::fs::write(&server.kubeconfig, text.replace(&server.url(), "http://127.0.0.1:1")).unwrap();
    assert_eq!(
        run(&server, &["process", "t"]).refused(),
        "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n"
    );
}

#[test]
fn an_unknown_context_is_an_error() {
    let server = Server::start(&[]);
    assert!(run(&server, &["process", "t", "--context", "nope"]).refused().starts_with("error: "));
}
