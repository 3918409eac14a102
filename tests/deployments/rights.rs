//! Whoever may deploy may do no more by it than without: bob may do everything with Deployments and ConfigMaps, and
//! nothing with Secrets.

use anyhow::{Context as _, Result, ensure};
use http::Method;
use serde_json::{Value, json};
use tests::kubectl::Kubectl;

use crate::paths::Paths;
use crate::setting::{Setting, config_map, deployment, dmd, resources};

/// What nobody but the administrator may read.
const TREASURE: &str = "buried-at-sea";
/// How it could show.
const TREASURES: [&str; 2] = [TREASURE, "YnVyaWVkLWF0LXNlYQ"];

/// What bob may do: all of what he could need, but nothing about Secrets.
const ROLE: &str = r#"{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"deployer"},"rules":[
    {"apiGroups":["dm.formwork.dev"],"resources":["*"],"verbs":["*"]},
    {"apiGroups":[""],"resources":["configmaps","services"],"verbs":["*"]}]}"#;

struct Attempt {
    /// What is tried.
    what: &'static str,
    /// The Deployment that is written.
    name: &'static str,
    spec: Value,
    /// The verb of kubectl, and what it is given besides.
    how: &'static [&'static str],
}

fn secret(name: &str, data: &Value) -> Value {
    json!({ "name": name, "type": "Secret", "properties": {
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": name }, "stringData": data,
    }})
}

fn with(mut spec: Value, key: &str, value: Value) -> Value {
    spec[key] = value;
    spec
}

/// Everything that bob tries in a namespace where the administrator has the Secret `treasure`, and the Deployment
/// `theirs` with the Secret `owned` and the ConfigMap `plain`.
fn attempts() -> Vec<Attempt> {
    let made = || secret("made", &json!({ "a": "b" }));
    let one = |resource: Value| resources(&json!([resource]));
    let template = |content: &str, kind: &str| json!({ "template": { "type": kind }, "imports": [{ "path": kind, "content": content }] });
    let jinja = r#"resources: [{name: s, type: Secret, properties: {apiVersion: v1, kind: Secret, metadata: {name: made}}}]"#;
    let python = "def GenerateConfig(c):\n  return {'resources': [{'name': 's', 'type': 'ConfigMap', 'properties': {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 'made'}}}]}\n";
    let reads = |path: &str| {
        resources(&json!([
            secret("treasure", &json!({})),
            config_map("loot", &json!({ "v": path }))
        ]))
    };
    let acquired = |resource: Value| with(one(resource), "createPolicy", "Acquire".into());
    let root = json!({ "username": "admin", "groups": ["system:masters"] });
    let mut requested = one(made());
    requested["requester"] = root.clone();
    let output = json!({ "configuration": json!({
        "resources": [secret("treasure", &json!({}))],
        "outputs": [{ "name": "loot", "value": "$(ref.treasure.data.v)" }],
    }).to_string() });
    let elsewhere = json!([{ "name": "made", "type": "Secret", "properties": {
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "made", "namespace": "default" },
    }}]);
    let behind = resources(&json!([config_map("front", &json!({})), {
        "name": "made", "type": "Secret", "metadata": { "dependsOn": ["front"] },
        "properties": { "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "made" } },
    }]));
    let list = json!([{ "name": "l", "type": "List", "properties": {
        "apiVersion": "v1", "kind": "List", "metadata": { "name": "l" },
        "items": [{ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "made" } }],
    }}]);
    let lying = json!([{ "name": "made", "type": "ConfigMap", "properties": {
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "made" },
    }}]);
    let role = json!([{ "name": "r", "type": "Role", "properties": {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": { "name": "more" },
        "rules": [{ "apiGroups": [""], "resources": ["secrets"], "verbs": ["*"] }],
    }}]);
    let pod = json!([{ "name": "p", "type": "Pod", "properties": {
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p" },
        "spec": { "containers": [{ "name": "c", "image": "i", "envFrom": [{ "secretRef": { "name": "treasure" } }] }] },
    }}]);
    let (create, replace): (&[&str], &[&str]) =
        (&["create", "-f", "-"], &["apply", "--server-side", "--force-conflicts", "-f", "-"]);
    let new = |what, name, spec| Attempt { what, name, spec, how: create };
    let theirs = |what, spec| Attempt { what, name: "theirs", spec, how: replace };
    vec![
        new("make one", "b1", one(made())),
        new("make one by a template in Jinja", "b2", template(jinja, "t.jinja")),
        new(
            "make one by a template in Python that calls it a ConfigMap",
            "b3",
            template(python, "t.py"),
        ),
        new("make one that a resource says is another kind", "b4", resources(&lying)),
        new("make one in another namespace", "b5", resources(&elsewhere)),
        new(
            "make one by the target namespace",
            "b6",
            with(one(made()), "targetNamespace", "default".into()),
        ),
        new("make one after something that is allowed", "b7", behind),
        new("make one in a List", "b8", resources(&list)),
        new("name another requester", "b9", requested),
        new(
            "name another requester and acquire",
            "b10",
            with(acquired(secret("treasure", &json!({}))), "requester", root.clone()),
        ),
        new("acquire one", "b11", acquired(secret("treasure", &json!({ "v": "stolen" })))),
        new("take one over", "b12", one(secret("treasure", &json!({ "v": "stolen" })))),
        new(
            "take over one that is another Deployment's",
            "b13",
            one(secret("owned", &json!({ "v": "stolen" }))),
        ),
        new("read one by a reference", "b14", reads("$(ref.treasure.data.v)")),
        new("read all of one by a reference", "b15", reads("$(ref.treasure)")),
        new("read one into an output", "b16", output.clone()),
        new(
            "read one by acquiring and a reference",
            "b17",
            with(reads("$(ref.treasure.data.v)"), "createPolicy", "Acquire".into()),
        ),
        new(
            "read one by a preview",
            "b18",
            with(one(secret("treasure", &json!({}))), "preview", true.into()),
        ),
        new("read one by a preview of an output", "b19", with(output, "preview", true.into())),
        new(
            "read outputs of a Deployment in another namespace",
            "b20",
            resources(&json!([config_map(
                "loot",
                &json!({ "v": "$(ref.deployments/../default/x.v)" })
            )])),
        ),
        new(
            "roll back to a Manifest of another Deployment",
            "b21",
            json!({ "rollBackTo": "theirs-1" }),
        ),
        new(
            "enforce one",
            "b22",
            with(one(secret("treasure", &json!({ "v": "stolen" }))), "reconcile", "Enforce".into()),
        ),
        new("give oneself more rights", "b23", resources(&role)),
        new("mount one into a pod", "b24", resources(&pod)),
        new("make one, paused, and go on later", "b25", with(one(made()), "paused", true.into())),
        new("abandon while making", "b26", with(one(made()), "deletePolicy", "Abandon".into())),
        theirs(
            "prune one by dropping it from another's Deployment",
            one(config_map("plain", &json!({}))),
        ),
        theirs(
            "change one in another's Deployment",
            resources(&json!([
                config_map("plain", &json!({})),
                secret("owned", &json!({ "v": "stolen" }))
            ])),
        ),
        theirs(
            "add one to another's Deployment",
            resources(&json!([
                config_map("plain", &json!({})),
                secret("owned", &json!({ "v": "kept" })),
                made()
            ])),
        ),
        theirs(
            "read one of another's Deployment",
            resources(&json!([
                config_map("plain", &json!({ "v": "$(ref.owned.data.v)" })),
                secret("owned", &json!({ "v": "kept" }))
            ])),
        ),
        theirs(
            "make another's Deployment abandon it",
            with(one(config_map("plain", &json!({}))), "deletePolicy", "Abandon".into()),
        ),
        theirs("roll another's Deployment back", json!({ "rollBackTo": "theirs-1" })),
        theirs(
            "name the owner as requester of a change",
            with(one(config_map("plain", &json!({}))), "requester", root),
        ),
    ]
}

/// Everything that bob tries by Deployment Manager's own paths, which act as bob: what, how, where, and with which body.
fn attempts_by_paths() -> Vec<(&'static str, Method, &'static str, Value)> {
    let template = |name: &str, resources: Value| json!({ "name": name, "content": json!({ "resources": resources }).to_string() });
    let one = |name: &str, resource: Value| template(name, json!([resource]));
    let made = || secret("made", &json!({ "a": "b" }));
    let loot = |path: &str| config_map("loot", &json!({ "v": path }));
    let read = json!([secret("treasure", &json!({})), loot("$(ref.treasure.data.v)")]);
    let python = "def GenerateConfig(c):\n  return {'resources': [{'name': 's', 'type': 'Secret', 'properties': {'apiVersion': 'v1', 'metadata': {'name': 'made'}}}]}\n";
    let by_template = json!({
        "name": "c2", "content": r#"{"imports": [{"path": "t.py"}], "resources": [{"name": "t", "type": "t.py"}]}"#,
        "imports": [{ "name": "t.py", "content": python }],
    });
    let mut requested = one("c3", made());
    requested["requester"] = json!({ "username": "admin", "groups": ["system:masters"] });
    requested["spec"] = json!({ "requester": requested["requester"] });
    let output = json!({ "name": "c6", "content": json!({
        "resources": [secret("treasure", &json!({}))],
        "outputs": [{ "name": "loot", "value": "$(ref.treasure.data.v)" }],
    }).to_string() });
    let (post, put, get) = (|| Method::POST, || Method::PUT, || Method::GET);
    let (deployments, theirs) = ("/deployments", "/deployments/theirs");
    let plain = || config_map("plain", &json!({}));
    let changed = json!([plain(), secret("owned", &json!({ "v": "stolen" }))]);
    let told = json!([plain(), secret("owned", &json!({ "v": "kept" })), loot("$(ref.owned)")]);
    let token = json!({ "apitoken": "stolen" });
    vec![
        ("make one", post(), deployments, one("c1", made())),
        ("make one by a template", post(), deployments, by_template),
        ("make one and name another requester", post(), deployments, requested),
        ("take one over", post(), deployments, one("c4", secret("treasure", &json!({ "v": "x" })))),
        ("read one by a reference", post(), deployments, template("c5", read.clone())),
        ("read one into an output", post(), deployments, output),
        ("prune one of another's Deployment", put(), theirs, one("theirs", plain())),
        ("change one of another's Deployment", put(), theirs, template("theirs", changed)),
        ("read one of another's Deployment", put(), theirs, template("theirs", told)),
        ("see a Secret as a credential", get(), "/credentials/treasure", Value::Null),
        ("see a Secret elsewhere", get(), "/credentials/..%252F..%252Fsecrets", Value::Null),
        ("make a Secret as a credential", post(), "/credentials/made", token.clone()),
        ("change a Secret as a credential", post(), "/credentials/treasure", token),
        ("read one by an expansion", post(), "/expand", template("e", read)),
    ]
}

/// Has bob try all of that. What is refused is refused; an expansion reads nothing.
async fn try_paths(setting: &Setting, bob: &Kubectl, before: &str, theirs: &Value) -> Result<()> {
    let paths = Paths::of(setting, "bob", &[])?;
    for (what, method, path, body) in attempts_by_paths() {
        let answer = match method {
            Method::GET => paths.get(path).await,
            method => paths.send(method, path, &body).await,
        };
        let answer = answer.context(what)?;
        let (status, text) = (answer.status, answer.text());
        ensure!(status >= 400 || path == "/expand", "{what}: {status} {text}");
        let all = text + &visible(bob)?;
        ensure!(!TREASURES.iter().any(|treasure| all.contains(treasure)), "{what}: {all}");
        assert_eq!(secrets(setting)?, before, "{what}");
        setting.apply("theirs", theirs)?;
        setting.await_ready("theirs")?;
    }
    Ok(())
}

/// Bob does not write what is done, but has others believe that it is to be.
async fn try_to_mislead(setting: &Setting, bob: &Kubectl, before: &str) -> Result<()> {
    let admin = &setting.kubectl;
    // The journal says what is deleted, as the requester.
    let forged = json!({ "status": { "phase": "Pruning", "resources": [{
        "name": "owned", "apiVersion": "v1", "kind": "Secret", "resource": "secrets", "objectName": "owned",
        "namespace": admin.namespace, "state": "Obsolete",
    }]}});
    let patch = ["patch", &dmd("theirs"), "--subresource=status", "--type=merge", "-p"];
    let ended = bob.run(&[&patch[..], &[&forged.to_string()]].concat())?;
    ensure!(ended.code != Some(0) && ended.stderr.contains("only the server"), "{ended:?}");
    assert_eq!(secrets(setting)?, before, "a forged status");

    // The garbage collector deletes what goes with something that is gone, for whoever made it.
    let ghost = json!({ "metadata": { "ownerReferences": [{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "ghost", "uid": "6a3f6c2e-0000-4000-8000-000000000000",
    }]}});
    bob.ok(&["patch", &dmd("theirs"), "--type=merge", "-p", &ghost.to_string()])?;
    assert_eq!(setting.read(&dmd("theirs"), ".spec.requester.username")?, "bob");
    admin.until(
        &["get", &dmd("theirs"), "-o", "jsonpath={.metadata.deletionTimestamp}"],
        |time| !time.is_empty(),
    )?;
    setting.await_refusal("theirs", "Authorized", "Forbidden")?;
    assert_eq!(secrets(setting)?, before, "collected");

    let paths = Paths::of(setting, "bob", &[])?;
    let answer = paths.send(Method::DELETE, "/deployments/theirs", &Value::Null).await?;
    let text = answer.text();
    ensure!(answer.status == 400 && text.contains("bob may not delete secrets"), "{text}");
    assert_eq!(secrets(setting)?, before, "deleted by a path");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_deploy_but_has_no_rights_to_secrets_gets_none() -> Result<()> {
    let setting = Setting::new()?;
    let admin = &setting.kubectl;
    admin.ok_with(&["create", "-f", "-"], ROLE)?;
    admin.ok(&["create", "rolebinding", "deployer", "--role=deployer", "--user=bob"])?;
    let bob = setting.user("bob")?;
    bob.until(&["get", "configmaps"], |_| true)?;
    let literal = format!("--from-literal=v={TREASURE}");
    admin.ok(&["create", "secret", "generic", "treasure", &literal])?;
    let theirs = resources(&json!([
        config_map("plain", &json!({})),
        secret("owned", &json!({ "v": TREASURE }))
    ]));
    setting.apply("theirs", &theirs)?;
    setting.await_ready("theirs")?;
    let before = secrets(&setting)?;

    let attempts = attempts();
    assert!(attempts.len() >= 30, "{}", attempts.len());
    for attempt in &attempts {
        try_it(&setting, &bob, attempt).with_context(|| attempt.what)?;
        assert_eq!(secrets(&setting)?, before, "{}", attempt.what);
        let all = visible(&bob)?;
        let is_read = TREASURES.iter().any(|treasure| all.contains(treasure));
        ensure!(!is_read, "{}: it can be read", attempt.what);
        // The administrator has the last word about what is theirs, and the next attempt begins anew.
        setting.apply("theirs", &theirs)?;
        setting.await_ready("theirs")?;
    }

    try_paths(&setting, &bob, &before, &theirs).await?;

    // Paused, and then not.
    bob.ok(&["patch", &dmd("b25"), "--type=merge", "-p", r#"{"spec":{"paused":false}}"#])?;
    setting.await_refusal("b25", "Authorized", "Forbidden")?;
    assert_eq!(secrets(&setting)?, before, "unpaused");

    try_to_mislead(&setting, &bob, &before).await?;

    // Deleting another's Deployment does not delete what oneself may not.
    bob.ok(&["delete", &dmd("theirs"), "--wait=false"])?;
    let message = setting.await_refusal("theirs", "Authorized", "Forbidden")?;
    ensure!(message.contains("bob may not delete secrets"), "{message}");
    assert_eq!(secrets(&setting)?, before, "deleted");

    // A status is nobody's to write but the server's, whatever is sent with the object.
    let forged = json!({ "status": { "resources": [{
        "name": "x", "apiVersion": "v1", "kind": "Secret", "resource": "secrets", "objectName": "treasure",
        "namespace": setting.kubectl.namespace, "state": "Obsolete",
    }]}});
    bob.ok(&["patch", &dmd("b1"), "--type=merge", "-p", &forged.to_string()])?;
    ensure!(
        !setting.read(&dmd("b1"), ".status.resources")?.contains("treasure"),
        "a status was forged"
    );

    // Whoever may delete all of it takes the deletion over by a change of how it ends, and only so.
    let other = resources(&json!([])).to_string();
    let patch = |spec: &str| format!(r#"{{"spec":{spec}}}"#);
    let refused = admin.run(&["patch", &dmd("theirs"), "--type=merge", "-p", &patch(&other)])?;
    ensure!(refused.stderr.contains("while this is being deleted"), "{refused:?}");
    assert_eq!(secrets(&setting)?, before, "changed while it was being deleted");
    let end = patch(r#"{"timeoutSeconds":60}"#);
    admin.ok(&["patch", &dmd("theirs"), "--type=merge", "-p", &end])?;
    admin.ok(&["wait", "--for=delete", &dmd("theirs"), "--timeout=60s"])?;
    ensure!(!setting.exists("secret/owned")?, "it was deleted with its Deployment");
    Ok(())
}

#[test]
fn a_deletion_is_that_of_who_deleted_last_unless_that_is_a_controller() -> Result<()> {
    let setting = Setting::new()?;
    let admin = &setting.kubectl;
    admin.ok_with(&["create", "-f", "-"], ROLE)?;
    admin.ok(&["create", "rolebinding", "deployer", "--role=deployer", "--user=bob"])?;
    let rights =
        ["create", "role", "ends", "--verb=get,delete", "--resource=deployments.dm.formwork.dev"];
    admin.ok(&rights)?;
    admin.ok(&["create", "rolebinding", "ends", "--role=ends", "--user=alice"])?;
    let [alice, bob] = [setting.user("alice")?, setting.user("bob")?];
    let theirs = [config_map("plain", &json!({})), secret("owned", &json!({ "v": TREASURE }))];
    setting.apply("theirs", &resources(&json!(theirs)))?;
    setting.await_ready("theirs")?;
    let (before, delete) = (secrets(&setting)?, ["delete", &dmd("theirs"), "--wait=false"]);
    let requester = || setting.read(&dmd("theirs"), ".spec.requester.username");
    let waits_for = |name: &str| {
        let path = "jsonpath={.status.conditions[?(@.type==\"Authorized\")].message}";
        let why = format!("{name} may not delete secrets");
        admin.until(&["get", &dmd("theirs"), "-o", path], |found| found.contains(&why))
    };

    bob.until(&delete, |_| true)?;
    waits_for("bob")?;
    // A namespace that goes deletes what is in it again and again, for those who wanted it.
    let controller = "--as=system:serviceaccount:kube-system:namespace-controller";
    admin.ok(&[&delete[..], &[controller]].concat())?;
    assert_eq!(requester()?, "bob");
    alice.until(&delete, |_| true)?;
    waits_for("alice")?;
    assert_eq!((requester()?, secrets(&setting)?), ("alice".to_owned(), before));

    admin.ok(&["delete", &dmd("theirs"), "--timeout=60s"])?;
    ensure!(!setting.exists("secret/owned")?, "it was deleted with its Deployment");
    Ok(())
}

/// What the Secrets of both namespaces are, but for what the cluster counts.
fn secrets(setting: &Setting) -> Result<String> {
    let path = "jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.data}{\"\\n\"}{end}";
    let mut found = setting.kubectl.ok(&["get", "secrets", "-o", path])?;
    found.push_str(&setting.kubectl.ok(&["get", "secrets", "--namespace=default", "-o", path])?);
    Ok(found)
}

/// Everything that bob can read, but for what the administrator has written into `theirs`.
fn visible(bob: &Kubectl) -> Result<String> {
    let mut all = bob.ok(&["get", "configmaps", "-o", "yaml"])?;
    let list: Value = serde_json::from_str(&bob.ok(&["get", "dmd,dmm", "-o", "json"])?)?;
    for object in list["items"].as_array().into_iter().flatten() {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        if !name.starts_with("theirs") {
            all.push_str(&object.to_string());
        }
    }
    let theirs: Value = serde_json::from_str(&bob.ok(&["get", &dmd("theirs"), "-o", "json"])?)?;
    all.push_str(&theirs["status"].to_string());
    Ok(all)
}

/// Has bob write a Deployment, and waits until it is clear what comes of it.
fn try_it(setting: &Setting, bob: &Kubectl, attempt: &Attempt) -> Result<()> {
    let Attempt { name, spec, how, .. } = attempt;
    let ended = bob.run_with(how, &deployment(name, spec))?;
    if ended.code != Some(0) {
        return Ok(());
    }
    let settled = |found: &str| {
        let found: Value = serde_json::from_str(found).unwrap_or_default();
        let seen = found["status"]["observedGeneration"] == found["metadata"]["generation"];
        let phase = found["status"]["phase"].as_str().unwrap_or_default();
        seen && ["Failed", "Paused", "Deployed", "Previewed"].contains(&phase)
    };
    let found = setting.kubectl.until(&["get", &dmd(name), "-o", "json"], settled)?;
    let found: Value = serde_json::from_str(&found)?;
    let phase = found["status"]["phase"].as_str().unwrap_or_default();
    ensure!(["Failed", "Paused"].contains(&phase), "{phase}: {found}");
    assert_eq!(found["spec"]["requester"]["username"], "bob", "{found}");
    Ok(())
}
