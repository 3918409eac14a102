//! Deployment Manager's own paths, as programs use them in a real cluster: what they do, and what they do not.
//!
//! They are served by a process of their own here, which knows the cluster by a user's kubeconfig and has no other right.

use anyhow::{Context as _, Result, ensure};
use http::Method;
use serde_json::{Value, json};
use tests::client::{Answer, Request, plain};
use tests::server::Server;

use crate::setting::{Setting, config_map, dmd};

/// The paths for a namespace of the cluster.
pub(crate) struct Paths {
    _server: Server,
    /// `host:port`.
    pub(crate) at: String,
}

impl Paths {
    /// Served as a user of the cluster, with more flags.
    pub(crate) fn of(setting: &Setting, user: &str, flags: &[&str]) -> Result<Self> {
        let kubeconfig = setting.serving().installation.cluster().kubeconfig(user);
        let kubeconfig = format!("--dm-compat-kubeconfig={}", kubeconfig.display());
        let namespace = format!("--dm-compat-namespace={}", setting.kubectl.namespace);
        let mut all = vec!["--dm-compat-address=127.0.0.1:0", &kubeconfig, &namespace];
        all.extend(flags);
        let server = Server::start_with(&all)?;
        let at = server.compat().context("the server says where these paths are")?;
        Ok(Self { _server: server, at })
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Answer> {
        plain::send(&self.at, &Request::new(Method::GET, path)).await
    }

    pub(crate) async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Answer> {
        let request = Request::new(method, path).json("application/json", body.to_string());
        plain::send(&self.at, &request).await
    }
}

/// A template of these resources.
fn template(name: &str, resources: &Value) -> Value {
    json!({ "name": name, "content": json!({ "resources": resources }).to_string() })
}

fn one(name: &str, value: &str) -> Value {
    template(name, &json!([config_map("c", &json!({ "v": value }))]))
}

/// Two resources, of which one waits for what the other never has.
fn waiting() -> Value {
    let (first, second) = (json!({}), json!({ "v": "$(ref.first.data.never)" }));
    json!([config_map("first", &first), config_map("second", &second)])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_made_by_the_api_is_changed_by_these_paths() -> Result<()> {
    let setting = Setting::new()?;
    let paths = Paths::of(&setting, "admin", &[])?;
    let configuration = one("ours", "1")["content"].clone();
    setting.apply("ours", &json!({ "configuration": configuration, "deletePolicy": "Abandon" }))?;
    setting.await_ready("ours")?;
    let answer = paths.send(Method::PUT, "/deployments/ours", &one("ours", "2")).await?;
    ensure!(answer.status == 201, "{}", answer.text());
    assert_eq!(answer.json()?["latestManifest"], "ours-2");
    assert_eq!(setting.read("configmap/c", ".data.v")?, "2");
    let spec = &setting.object(&dmd("ours"))?["spec"];
    assert_eq!(spec["deletePolicy"], "Abandon", "what these paths do not know stays");
    assert_eq!(spec["requester"]["username"], "admin", "it is done as the kubeconfig's user");
    let again = paths.send(Method::PUT, "/deployments/ours", &one("", "2")).await?;
    assert_eq!(again.json()?["latestManifest"], "ours-3", "an update is made, whatever it changes");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_name_leads_elsewhere_and_no_secret_becomes_a_credential() -> Result<()> {
    let setting = Setting::new()?;
    let paths = Paths::of(&setting, "admin", &[])?;
    for path in [
        "/deployments/..%252Fmanifests%252Fm",
        "/deployments/ours%253Fx",
        "/deployments/Ours",
        "/deployments/a/manifests/..%252F..",
        "/registries/..%252Fsecrets",
        "/credentials/..%252Fconfigmaps",
    ] {
        let answer = paths.get(path).await?;
        let text = answer.text().to_lowercase();
        let is_missing =
            text.contains("not found") || text.contains("find") || text.contains("no such");
        ensure!(answer.status == 400 && is_missing, "{path}: {text}");
    }
    setting.kubectl.ok(&["create", "secret", "generic", "own", "--from-literal=token=t"])?;
    let credential = json!({ "apitoken": "T0KEN" });
    assert_eq!(paths.get("/credentials/own").await?.status, 400);
    assert_eq!(paths.send(Method::POST, "/credentials/own", &credential).await?.status, 400);
    assert_eq!(setting.read("secret/own", ".data.token")?, "dA==");
    for token in ["T0KEN", "again"] {
        let credential = json!({ "apitoken": token });
        let set = paths.send(Method::POST, "/credentials/mine", &credential).await?;
        assert_eq!((set.status, &*set.text()), (200, r#"{"apitoken":""}"#));
    }
    assert_eq!(setting.read("secret/mine", ".data.token")?, "YWdhaW4=");
    assert_eq!(paths.get("/credentials/mine").await?.text(), r#"{"apitoken":""}"#);

    let answer = paths.send(Method::POST, "/deployments", &one("templates/a.yaml", "1")).await?;
    ensure!(
        answer.status == 400 && answer.text().contains("cannot be the name"),
        "{}",
        answer.text()
    );
    let long = json!({ "name": "long", "content": "#".repeat(1 << 20) });
    assert_eq!(paths.send(Method::POST, "/deployments", &long).await?.status, 413);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_is_answered_and_stays_until_it_is_mended() -> Result<()> {
    let setting = Setting::new()?;
    let paths = Paths::of(&setting, "admin", &[])?;
    ensure!(paths.send(Method::POST, "/deployments", &one("d", "1")).await?.status == 201);
    let wrong = template("d", &json!([config_map("c", &json!(["no", "map"]))]));
    let answer = paths.send(Method::PUT, "/deployments/d", &wrong).await?;
    let found = "Found resource errors during deployment: [";
    ensure!(answer.status == 400 && answer.text().starts_with(found), "{}", answer.text());
    let shown = paths.get("/deployments/d").await?.json()?;
    assert_eq!(shown["state"]["status"], "Failed");
    assert_eq!(shown["state"]["errors"][0], answer.text().trim_end());
    let manifest = paths.get("/deployments/d/manifests/d-2").await?.json()?;
    let state = &manifest["expandedConfig"]["resources"][0]["state"];
    ensure!(state["status"] == "Failed" && state["errors"][0].is_string(), "{manifest}");
    // What is wrong with the template itself is not even tried.
    let answer = paths
        .send(Method::PUT, "/deployments/d", &json!({ "name": "d", "content": "resources: [{}]" }))
        .await?;
    let expand = "cannot expand template named d (template expansion: expandybird response:\n";
    ensure!(answer.status == 400 && answer.text().starts_with(expand), "{}", answer.text());
    // It turned forever, and its client gave up.
    let circle = json!([
        config_map("a", &json!({ "v": "$(ref.b.data.v)" })),
        config_map("b", &json!({ "v": "$(ref.a.data.v)" })),
    ]);
    let answer = paths.send(Method::POST, "/deployments", &template("turns", &circle)).await?;
    ensure!(answer.status == 400 && answer.text().contains("a -> b -> a"), "{}", answer.text());
    ensure!(paths.send(Method::PUT, "/deployments/d", &one("d", "2")).await?.status == 201);
    let names = paths.get("/deployments/d/manifests").await?.json()?;
    assert_eq!(names, json!(["d-1", "d-2", "d-3"]));
    let answer = plain::send(&paths.at, &Request::new(Method::DELETE, "/deployments/d")).await?;
    assert_eq!((answer.status, &answer.json()?["latestManifest"]), (200, &json!("")));
    ensure!(!setting.exists("configmap/c")?, "it is answered when all is gone");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_takes_too_long_goes_on() -> Result<()> {
    let setting = Setting::new()?;
    let paths = Paths::of(&setting, "admin", &["--dm-compat-timeout=1s"])?;
    let answer = paths.send(Method::POST, "/deployments", &template("slow", &waiting())).await?;
    ensure!(answer.status == 504 && answer.text().contains("slow"), "{}", answer.text());
    let shown = paths.get("/deployments/slow").await?.json()?;
    assert_eq!(shown["state"], json!({ "status": "Created" }));
    let answer = paths.send(Method::PUT, "/deployments/slow", &one("slow", "1")).await?;
    ensure!(matches!(answer.status, 201 | 504), "{}", answer.text());
    setting.await_ready("slow")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn these_paths_may_do_what_their_user_may() -> Result<()> {
    let setting = Setting::new()?;
    let alice = Paths::of(&setting, "alice", &[])?;
    for path in ["/deployments", "/deployments/d", "/types", "/credentials/c", "/registries"] {
        let answer = alice.get(path).await?;
        ensure!(
            answer.status == 403 && answer.text().contains("\"alice\""),
            "{path}: {}",
            answer.text()
        );
    }
    assert_eq!(alice.send(Method::POST, "/deployments", &one("d", "1")).await?.status, 403);

    let admin = &setting.kubectl;
    let role = [
        "create",
        "role",
        "deployer",
        "--verb=*",
        "--resource=deployments.dm.formwork.dev,configmaps",
    ];
    admin.ok(&role)?;
    admin.ok(&["create", "rolebinding", "deployer", "--role=deployer", "--user=bob"])?;
    setting.user("bob")?.until(&["get", "configmaps"], |_| true)?;
    let bob = Paths::of(&setting, "bob", &[])?;
    ensure!(bob.send(Method::POST, "/deployments", &one("good", "1")).await?.status == 201);
    let secret = json!([{ "name": "s", "type": "Secret", "properties": {
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" },
    }}]);
    let answer = bob.send(Method::POST, "/deployments", &template("bad", &secret)).await?;
    ensure!(answer.status == 400 && answer.text().contains("secrets"), "{}", answer.text());
    let credential = json!({ "apitoken": "t" });
    assert_eq!(bob.send(Method::POST, "/credentials/s", &credential).await?.status, 403);
    ensure!(!setting.exists("secret/s")?, "a Secret was made for bob");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_registry_is_found_by_the_types_that_stand_in_it() -> Result<()> {
    let setting = Setting::new()?;
    let paths = Paths::of(&setting, "admin", &[])?;
    let whole = json!({ "name": "whole", "type": "github", "url": "github.com/o/r" });
    let part = json!({
        "name": "part", "type": "github", "url": "https://github.com/o/r/charts",
        "format": "versioned;collection", "credentialname": "c",
    });
    let web = json!({ "name": "web", "type": "http", "url": "https://charts.example/lib" });
    for registry in [&whole, &part, &part, &web] {
        let path = format!("/registries/{}", registry["name"].as_str().unwrap_or_default());
        let answer = paths.send(Method::POST, &path, registry).await?;
        ensure!(answer.status == 200, "{}", answer.text());
        assert_eq!(&answer.json()?, registry);
        assert_eq!(&paths.get(&path).await?.json()?, registry);
    }
    assert_eq!(paths.get("/registries").await?.json()?, json!([part, web, whole]));
    for (name, registry) in
        [("charts%252Ft%253Av1", "part"), ("chartsx%252Ft", "whole"), ("t", "whole")]
    {
        let answer =
            paths.get(&format!("/types/github.com%252Fo%252Fr%252F{name}/registry")).await?;
        assert_eq!(answer.json()?, registry, "{name}");
    }
    let elsewhere = paths.get("/types/github.com%252Fo%252Frr%252Ft/registry").await?;
    assert_eq!(elsewhere.status, 400);
    let wrong = json!({ "name": "gone", "type": "gcs", "url": "gs://bucket" });
    assert_eq!(paths.send(Method::POST, "/registries/gone", &wrong).await?.status, 400);
    let answer = paths.get("/registries/part/types").await?;
    let why = "Secret c of its registry: it is not there\n";
    assert_eq!((answer.status, &*answer.text()), (500, why));
    Ok(())
}
