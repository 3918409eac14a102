//! A preview says what an update would do, files that were fetched included, and shows nobody what they may not read.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tests::github::{self, Repository};
use tests::kubectl::Kubectl;

use crate::setting::{Setting, deployment, dmd};

const TYPE: &str = "github.com/somebody/library/note:v1";

/// What alice may do: all that previews and updates take but reading Manifests.
const ROLE: &str = r#"{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"looks"},"rules":[
    {"apiGroups":["dm.formwork.dev"],"resources":["deployments"],"verbs":["get","patch"]},
    {"apiGroups":["dm.formwork.dev"],"resources":["deploymentpreviews"],"verbs":["create"]},
    {"apiGroups":[""],"resources":["configmaps"],"verbs":["get","create","patch"]}]}"#;

/// A template that says in its ConfigMap which one it is, as soon as there are two pages.
fn template(edition: &str) -> String {
    format!(
        "resources:\n- name: note\n  type: ConfigMap\n  properties:\n    apiVersion: v1\n    kind: ConfigMap\n    \
         metadata: {{name: note}}\n    data:\n      pages: '{{{{ properties.pages }}}}'\n\
         {{% if properties.pages > 1 %}}      edition: {edition}\n{{% endif %}}"
    )
}

fn spec(pages: u32, refresh: Option<&str>) -> Value {
    let mut spec = json!({ "template": { "type": TYPE, "properties": { "pages": pages } } });
    if let Some(refresh) = refresh {
        spec["refresh"] = refresh.into();
    }
    spec
}

/// What a user is shown of the ConfigMap, and told beside it.
fn preview(user: &Kubectl, spec: &Value) -> Result<(String, String)> {
    let mut sent: Value = serde_json::from_str(&deployment("note", spec))?;
    sent["kind"] = json!("DeploymentPreview");
    let create = ["create", "--validate=false", "-o", "json", "-f", "-"];
    let ended = user.run_with(&create, &sent.to_string())?;
    ensure!(ended.code == Some(0), "{ended:?}");
    let answer: Value = serde_json::from_str(&ended.stdout)?;
    let diff = answer["status"]["preview"][0]["diff"].as_str();
    Ok((diff.with_context(|| answer.to_string())?.to_owned(), ended.stderr))
}

#[test]
fn a_preview_uses_the_files_that_an_update_would_use_if_the_user_may_read_them() -> Result<()> {
    let library = Repository::new([("note/v1/note.jinja", template("first").as_str())]);
    let served = github::serve([("somebody/library", library.clone())])?;
    let setting = Setting::with(&[
        "--template-allowed-hosts=github.com",
        "--template-allow-private-addresses",
        &format!("--template-github-url={}", served.host()),
    ])?;
    let admin = &setting.kubectl;
    setting.apply("note", &spec(1, None))?;
    setting.await_ready("note")?;
    library.put("note/v1.0.1/note.jinja", &template("second"));

    let asked = served.asked().len();
    let (shown, told) = preview(admin, &spec(2, None))?;
    ensure!(shown.contains("+  edition: first\n") && told.is_empty(), "{shown}{told}");
    assert_eq!(served.asked().len(), asked, "nothing was asked for");
    let (shown, told) = preview(admin, &spec(2, Some("1")))?;
    ensure!(shown.contains("+  edition: second\n") && told.is_empty(), "{shown}{told}");

    // Whoever may not read the Manifest is shown nothing of what is in it.
    admin.ok_with(&["create", "-f", "-"], ROLE)?;
    admin.ok(&["create", "rolebinding", "looks", "--role=looks", "--user=alice"])?;
    let alice = setting.user("alice")?;
    alice.until(&["get", "configmap/note"], |_| true)?;
    let (shown, told) = preview(&alice, &spec(2, None))?;
    ensure!(shown.contains("+  edition: second\n") && !shown.contains("first"), "{shown}");
    let anew = |manifest: &str, user: &str| {
        format!(
            "templates were fetched anew, not taken from Manifest {manifest}: {user} may not get \
             manifests.dm.formwork.dev in namespace"
        )
    };
    ensure!(told.starts_with(&format!("Warning: {}", anew("note-1", "alice"))), "{told}");
    let (_, told) = preview(&alice, &spec(2, Some("1")))?;
    ensure!(told.is_empty(), "they would be fetched anew in any case: {told}");

    // And whoever may is.
    let role = ["create", "role", "reads", "--verb=get", "--resource=manifests.dm.formwork.dev"];
    admin.ok(&role)?;
    admin.ok(&["create", "rolebinding", "reads", "--role=reads", "--user=alice"])?;
    alice.until(&["get", "manifests/note-1"], |_| true)?;
    let (shown, told) = preview(&alice, &spec(2, None))?;
    ensure!(shown.contains("+  edition: first\n") && told.is_empty(), "{shown}{told}");

    setting.apply("note", &spec(2, None))?;
    setting.await_ready("note")?;
    assert_eq!(setting.read("configmap/note", ".data.edition")?, "first", "as it was shown");

    // An update of whoever may not has no more of it than a preview.
    admin.ok(&["create", "rolebinding", "looks-too", "--role=looks", "--user=bob"])?;
    let bob = setting.user("bob")?;
    bob.until(&["get", "configmap/note"], |_| true)?;
    let change = json!({ "spec": spec(3, None) }).to_string();
    bob.ok(&["patch", &dmd("note"), "--type=merge", "--patch", &change])?;
    setting.await_ready("note")?;
    assert_eq!(setting.read("configmap/note", ".data.edition")?, "second");
    let expanded = ".status.conditions[?(@.type==\"Expanded\")]";
    assert_eq!(setting.read(&dmd("note"), &format!("{expanded}.reason"))?, "FetchedAnew");
    let why = setting.read(&dmd("note"), &format!("{expanded}.message"))?;
    ensure!(why.starts_with(&anew("note-2", "bob")), "{why}");
    Ok(())
}
