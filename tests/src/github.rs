//! Repositories that are served on loopback as GitHub's API does: folders are listed, files come as their text or in
//! base64, the tree of all files at once, and a private repository is not there for strangers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::files::{Answer, Asked, Files};

/// Where GitHub names an object of git.
const SHA: &str = "0000000000000000000000000000000000000000";

/// A repository. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    files: Arc<Mutex<BTreeMap<String, String>>>,
    token: Option<String>,
    limits: Limits,
}

/// What keeps GitHub from answering in full.
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    /// Whether there are more files than one list of all has.
    truncated: bool,
    /// Whether no requests are left.
    exhausted: bool,
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

    /// The same, of which only a part is listed at once.
    #[must_use]
    pub fn truncated(mut self) -> Self {
        self.limits.truncated = true;
        self
    }

    /// The same, for somebody who has asked too often.
    #[must_use]
    pub fn exhausted(mut self) -> Self {
        self.limits.exhausted = true;
        self
    }

    /// All that is in it, as the tree of a commit.
    fn tree(&self) -> Value {
        let files = self.files();
        let folders =
            files.keys().flat_map(|path| path.match_indices('/').map(|(at, _)| &path[..at]));
        let mut nodes: BTreeMap<&str, Value> = BTreeMap::new();
        for path in folders {
            nodes.insert(
                path,
                json!({ "path": path, "mode": "040000", "type": "tree", "sha": SHA }),
            );
        }
        for (path, text) in files.iter() {
            nodes.insert(
                path,
                json!({
                    "path": path, "mode": "100644", "type": "blob", "sha": SHA, "size": text.len(),
                }),
            );
        }
        let nodes = Value::from_iter(nodes.into_values());
        json!({ "sha": SHA, "tree": nodes, "truncated": self.limits.truncated })
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
    let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
    let mut parts = path.strip_prefix("/repos/").unwrap_or_default().splitn(3, '/');
    let name = format!("{}/{}", parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let place = parts.next().unwrap_or_default();
    let Some(repository) = repositories.get(&name) else { return missing() };
    let token = header("authorization").and_then(|it| it.strip_prefix("Bearer "));
    match (&repository.token, token) {
        (Some(_), None) => return missing(),
        (Some(right), Some(token)) if token != right => {
            return ("401 Unauthorized", json!({ "message": "Bad credentials" }).to_string());
        }
        _ => {}
    }
    if repository.limits.exhausted {
        let why = json!({ "message": "API rate limit exceeded for 127.0.0.1." });
        return (
            "403 Forbidden\r\nx-ratelimit-limit: 60\r\nx-ratelimit-remaining: 0",
            why.to_string(),
        );
    }
    if let ("git/trees/HEAD", "recursive=1") = (place, query) {
        return ("200 OK", repository.tree().to_string());
    }
    let Some(path) = place.strip_prefix("contents") else { return missing() };
    let path = path.trim_matches('/');
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
