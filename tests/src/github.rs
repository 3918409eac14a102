//! Repositories that are served on loopback as GitHub's contents API does: folders are listed, files come as their text
//! or in base64, and a private repository is not there for strangers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::files::{Answer, Asked, Files};

/// A repository. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    files: Arc<Mutex<BTreeMap<String, String>>>,
    token: Option<String>,
}

impl Repository {
    /// One with these files: path and text.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let repository = Self::default();
        for (path, text) in files {
            repository.put(path, text);
        }
        repository
    }

    /// Puts a file into it, or another text.
    pub fn put(&self, path: &str, text: &str) {
        self.files().insert(path.to_owned(), text.to_owned());
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, for those alone who have this token.
    #[must_use]
    pub fn private(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// What stands directly in a folder: names, and whether they are folders.
    fn list(&self, folder: &str) -> BTreeSet<(String, bool)> {
        let files = self.files();
        let inside = files.keys().filter_map(|path| match folder {
            "" => Some(path.as_str()),
            folder => path.strip_prefix(folder)?.strip_prefix('/'),
        });
        let name = |rest: &str| match rest.split_once('/') {
            None => (rest.to_owned(), false),
            Some((folder, _)) => (folder.to_owned(), true),
        };
        inside.map(name).collect()
    }
}

/// Serves repositories by `OWNER/NAME`.
///
/// # Errors
/// When there is no port.
pub fn serve<const N: usize>(repositories: [(&str, Repository); N]) -> Result<Files> {
    let all = repositories.map(|(name, repository)| (name.to_owned(), repository));
    let all: BTreeMap<String, Repository> = all.into_iter().collect();
    Files::serve_by(|_| move |asked: &Asked| answer(&all, asked))
}

fn answer(repositories: &BTreeMap<String, Repository>, asked: &Asked) -> Answer {
    let header = |name: &str| asked.headers.get(name).map(String::as_str);
    let missing =
        || ("404 Not Found", json!({ "message": "Not Found", "status": "404" }).to_string());
    if header("user-agent").is_none() {
        return ("403 Forbidden", "Request forbidden by administrative rules.".to_owned());
    }
    let path = asked.path.split('?').next().unwrap_or_default();
    let place = path.strip_prefix("/repos/").and_then(|rest| rest.split_once("/contents"));
    let Some((name, path)) = place else { return missing() };
    let path = path.trim_matches('/');
    let Some(repository) = repositories.get(name) else { return missing() };
    let token = header("authorization").and_then(|it| it.strip_prefix("Bearer "));
    match (&repository.token, token) {
        (Some(_), None) => return missing(),
        (Some(right), Some(token)) if token != right => {
            return ("401 Unauthorized", json!({ "message": "Bad credentials" }).to_string());
        }
        _ => {}
    }
    if let Some(text) = repository.files().get(path) {
        let raw = header("accept").is_some_and(|accept| accept.contains("raw"));
        return ("200 OK", if raw { text.clone() } else { file(path, text).to_string() });
    }
    let listed = repository.list(path);
    if listed.is_empty() {
        return missing();
    }
    let entry = |(name, folder): (String, bool)| {
        json!({
            "name": name, "path": format!("{path}/{name}").trim_start_matches('/'),
            "type": if folder { "dir" } else { "file" }, "size": 0,
        })
    };
    ("200 OK", Value::from_iter(listed.into_iter().map(entry)).to_string())
}

fn file(path: &str, text: &str) -> Value {
    json!({
        "type": "file", "encoding": "base64", "path": path, "size": text.len(),
        "name": path.rsplit('/').next(), "content": STANDARD.encode(text),
    })
}
