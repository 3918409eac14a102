//! `dm diff`: what it prints, and with which exit codes it ends.

use serde_json::{Value, json};

use crate::run::{Outcome, Run};
use crate::server::{Answer, Server};

const HERE: &str = "/apis/dm.formwork.dev/v1alpha1/namespaces/here";

/// What `dm diff` comes to where the server previews this for a Deployment that is not there.
fn diff(status: &Value) -> (Outcome, Value) {
    let missing = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound",
        "message": "deployments.dm.formwork.dev \"gb\" not found", "details": {"name": "gb"}, "code": 404});
    let answer = json!({"kind": "DeploymentPreview", "metadata": {"name": "gb"}, "status": status});
    let server = Server::start(&[
        (&format!("GET {HERE}/deployments/gb"), Answer::status(404, &missing.to_string())),
        (&format!("POST {HERE}/deploymentpreviews"), Answer::status(201, &answer.to_string())),
    ]);
    let args = ["diff", "Pod", "--name", "gb"];
    let outcome = Run::dm(&args).kubeconfig(&server.kubeconfig).go();
    let sent = server.received().last().map(|received| received.body.clone()).unwrap_or_default();
    (outcome, serde_json::from_str(&sent).unwrap())
}

fn previewed(action: &str, more: &Value) -> Value {
    let mut preview = json!({"name": "web", "kind": "Service", "namespace": "here", "objectName": "w", "action": action});
    preview.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let conditions = [json!({"type": "Ready", "status": "False", "reason": "Preview"})];
    json!({"conditions": conditions, "preview": [preview]})
}

#[test]
fn the_exit_code_says_whether_anything_would_change_as_that_of_kubectl_diff_does() {
    let none = json!({});
    for (status, code, out, err) in [
        (previewed("None", &none), 0, "", ""),
        (
            previewed("Update", &json!({"diff": "-a\n+b\n"})),
            1,
            "# Update Service here/w (web)\n-a\n+b\n",
            "",
        ),
        (previewed("Delete", &none), 1, "# Delete Service here/w (web)\n", ""),
        (
            previewed("Create", &json!({"unknown": "waits for x", "diff": "+b\n"})),
            1,
            "# Create Service here/w (web)\n# waits for x\n+b\n",
            "",
        ),
        (
            previewed("Update", &json!({"error": "no\nno", "diff": "+b\n"})),
            2,
            "# Update Service here/w (web)\n# no\n# no\n+b\n",
            "error: this would fail at web\n",
        ),
        (
            json!({"conditions": [{"type": "Authorized", "status": "False", "reason": "Forbidden", "message": "bob may not"}]}),
            2,
            "",
            "error: Forbidden: bob may not\n",
        ),
    ] {
        let (outcome, sent) = diff(&status);
        assert_eq!((outcome.code, &*outcome.out, &*outcome.err), (code, out, err), "{status}");
        assert_eq!(sent["spec"], json!({"template": {"type": "Pod", "properties": {}}}));
    }
}

#[test]
fn whatever_else_is_wrong_is_no_difference() {
    for args in [
        &["diff"][..],
        &["diff", "--bogus", "Pod"],
        &["--service", "http://127.0.0.1:9", "diff", "Pod"],
        &["diff", "Pod"],
    ] {
        let outcome = Run::dm(args).go();
        assert_eq!((outcome.code, &*outcome.out), (2, ""), "{args:?}: {}", outcome.err);
    }
    // A deployment may be called that.
    assert_eq!(Run::dm(&["get", "diff"]).go().code, 1);
}
