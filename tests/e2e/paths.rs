//! Deployment Manager's own paths before a server that needs no cluster, and beyond this machine.

use std::fs;
use std::time::SystemTime;

use ::tests::authority::{Authority, Subject, Usage};
use ::tests::client::{Client, Request, plain};
use ::tests::process::Process;
use ::tests::server::Server;
use anyhow::{Context as _, Result, ensure};
use http::Method;
use serde_json::json;

const NAMESPACE: &str = "--dm-compat-namespace=demo";

#[tokio::test]
async fn a_server_without_a_cluster_acts_as_its_administrator() -> Result<()> {
    let server = Server::start_with(&["--dm-compat-address=127.0.0.1:0", NAMESPACE])?;
    let at = server.compat().context("the server says where these paths are")?;
    let template = json!({ "name": "d", "content": "resources: [{name: c, type: ConfigMap}]" });
    let request = Request::post("/deployments", template.to_string());
    let answer = plain::send(&at, &request).await?;
    ensure!(answer.status == 400, "there is nowhere to deploy it to: {}", answer.text());
    let shown = plain::send(&at, &Request::get("/deployments/d")).await?.json()?;
    assert_eq!(shown["state"]["status"], "Failed");
    let stored = "/apis/dm.formwork.dev/v1alpha1/namespaces/demo/deployments/d";
    let stored = server.target()?.administrator().send(&Request::get(stored)).await?.json()?;
    assert_eq!(stored["spec"]["env"], json!({ "deployment": "d", "project": "d" }));
    let answer = plain::send(&at, &Request::new(Method::DELETE, "/deployments/d")).await?;
    ensure!(answer.status == 200, "{}", answer.text());
    assert_eq!(plain::send(&at, &Request::get("/deployments")).await?.text(), "null");
    Ok(())
}

#[tokio::test]
async fn beyond_this_machine_there_are_tls_and_a_token() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let authority = Authority::new("paths")?;
    let subject =
        Subject { usage: Usage::Server, ..Subject::at(SystemTime::now(), "dm.example", None) };
    let (certificate, key) = authority.sign(&subject)?.write(folder.path(), "serving")?;
    let token = folder.path().join("token");
    fs::write(&token, "s3same\n")?;
    let flags = [
        "--dm-compat-address=127.0.0.1:0".to_owned(),
        format!("--dm-compat-tls-cert-file={}", certificate.display()),
        format!("--dm-compat-tls-key-file={}", key.display()),
        format!("--dm-compat-token-file={}", token.display()),
        NAMESPACE.to_owned(),
    ];
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let server = Server::start_with(&flags)?;
    let at = server.compat().context("the server says where these paths are")?;
    let client = || Client::new(&at, "dm.example", authority.certificate().as_bytes(), None);
    let request = Request::get("/deployments");
    let known = client()?.bearer("s3same").send(&request).await?;
    assert_eq!((known.status, &*known.text()), (200, "null"));
    assert_eq!(client()?.send(&request).await?.status, 401);
    assert_eq!(client()?.bearer("other").send(&request).await?.status, 401);
    assert_eq!(client()?.send(&Request::get("/healthz")).await?.status, 200);
    let page = request.header("origin", "https://evil.example");
    assert_eq!(client()?.bearer("s3same").send(&page).await?.status, 403);
    ensure!(plain::send(&at, &Request::get("/healthz")).await.is_err(), "it speaks in the clear");
    Ok(())
}

#[test]
fn the_network_is_not_listened_to_in_the_clear() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let data = format!("--data-dir={}", folder.path().display());
    let flags = ["--standalone", "--secure-port=0", &data, "--dm-compat-address=0.0.0.0:0"];
    let refused = Process::serve(flags, &folder.path().join("log"));
    let why = refused.err().context("it serves")?.to_string();
    ensure!(why.contains("is no loopback address"), "{why}");
    Ok(())
}
