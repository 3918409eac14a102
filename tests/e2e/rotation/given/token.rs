//! The token by which the cluster knows a replica.

use std::fs;
use std::path::PathBuf;
use std::sync::PoisonError;

use ::tests::client::{Client, Request};
use ::tests::installation::Installation;
use ::tests::kubectl::Kubectl;
use ::tests::load::{Load, expect};
use anyhow::{Context, Result, bail, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::serving::Serving;
use super::{Held, write};
use crate::rotation::{TEMPLATES, until};

/// The ServiceAccount token of a pod, in a file that is replaced.
pub(super) struct Token {
    kubectl: Kubectl,
    file: PathBuf,
    /// Those that were in the file, each with the Secret that it is bound to.
    issued: Vec<(String, String)>,
    _folder: TempDir,
}

impl Token {
    /// Makes the replicas of `installation` read it from a file.
    pub(super) fn file(installation: &Installation) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("token");
        let text = fs::read_to_string(installation.kubeconfig())?;
        let mut config: Value = serde_json::from_str(&text)?;
        config["users"][0]["user"] = json!({ "tokenFile": file });
        fs::write(installation.kubeconfig(), config.to_string())?;
        let kubectl = installation.kubectl()?;
        let mut token = Self { kubectl, file, issued: Vec::new(), _folder: folder };
        token.renew()?;
        Ok(token)
    }

    pub(super) fn renew(&mut self) -> Result<()> {
        let name = format!("token-{}", self.issued.len());
        self.kubectl.ok(&["create", "secret", "generic", &name])?;
        let bound = format!("--bound-object-name={name}");
        let create = ["create", "token", "formwork", "--bound-object-kind=Secret", &bound];
        let token = self.kubectl.ok(&create)?.trim().to_owned();
        write(&self.file, &token)?;
        self.issued.push((name, token));
        Ok(())
    }

    /// The first is good for nothing any more, and what needs the cluster goes on with the second.
    pub(super) async fn ends(
        &self,
        installation: &Installation,
        serving: &Serving,
        proxy: &Held,
        load: &Load,
    ) -> Result<()> {
        let [(secret, first), (_, second)] = &self.issued[..] else {
            bail!("there are two of them");
        };
        let id = format!("\"JTI={}\"", id(second)?);
        until("the second token is used", async || {
            let log = installation.cluster().audit_log()?;
            Ok(log.lines().any(|line| line.contains(&id) && line.contains("subjectaccessreviews")))
        })
        .await?;
        let secret = format!("/api/v1/namespaces/formwork-system/secrets/{secret}");
        expect(load.client().clone(), Request::new(http::Method::DELETE, secret), 200).await?;
        until_void(load.client(), first).await?;
        // Nobody has been asked about this user before.
        let proxy = proxy.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let request = Request::get(TEMPLATES).header("x-remote-user", "newcomer");
        let answer = serving.client(&proxy)?.send(&request).await?;
        ensure!(answer.status == 403, "{}: {}", answer.status, answer.text());
        load.goes_on().await
    }
}

/// Waits until a token whose account or Secret is gone is good for nothing, asked of kube-apiserver.
pub(crate) async fn until_void(administrator: &Client, token: &str) -> Result<()> {
    let review = json!({
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenReview",
        "spec": { "token": token },
    })
    .to_string();
    until("the token is good for nothing", async || {
        let review = Request::post("/apis/authentication.k8s.io/v1/tokenreviews", review.clone());
        let answer = administrator.send(&review).await?.json()?;
        Ok(answer["status"]["authenticated"] != true)
    })
    .await
}

/// What kube-apiserver calls a token in its audit log.
fn id(token: &str) -> Result<String> {
    let claims = token.split('.').nth(1).context("a token has three parts")?;
    let claims: Value = serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(claims)?)?;
    Ok(claims["jti"].as_str().context("a token has an id")?.to_owned())
}
