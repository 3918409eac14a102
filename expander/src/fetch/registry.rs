//! Templates in a registry on GitHub: `github.com/OWNER/REPOSITORY/[COLLECTION/]TEMPLATE[:VERSION]`.
//!
//! A registry is a repository with a folder for each template, and in that one for each version, which holds
//! `TEMPLATE.py` or `TEMPLATE.jinja` and whatever goes with it. A collection is a folder at the top.

use http::Uri;
use serde::Deserialize;

use super::client::{Client, Form};
use super::{url, version};

/// What every type of a registry begins with.
pub(crate) const PREFIX: &str = "github.com/";

/// A type that stands in a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Registered<'a> {
    owner: &'a str,
    repository: &'a str,
    collection: Option<&'a str>,
    template: &'a str,
    version: Option<&'a str>,
}

/// An entry of a folder, as GitHub lists it.
#[derive(Deserialize)]
struct Entry {
    name: String,
    #[serde(rename = "type")]
    kind: String,
}

impl<'a> Registered<'a> {
    /// Reads a type.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(name: &'a str) -> Result<Self, String> {
        let malformed =
            || "is not github.com/OWNER/REPOSITORY/[COLLECTION/]TEMPLATE[:VERSION]".to_owned();
        let rest = name.strip_prefix(PREFIX).ok_or_else(malformed)?;
        let (path, version) = match rest.split_once(':') {
            Some((path, version)) => (path, Some(version)),
            None => (rest, None),
        };
        let parts: Vec<&str> = path.split('/').collect();
        let (owner, repository, collection, template) = match parts.as_slice() {
            [owner, repository, template] => (*owner, *repository, None, *template),
            [owner, repository, collection, template] => {
                (*owner, *repository, Some(*collection), *template)
            }
            _ => return Err(malformed()),
        };
        let whole = [Some(owner), Some(repository), collection, Some(template), version];
        if !whole.into_iter().flatten().all(is_name) {
            return Err(malformed());
        }
        Ok(Self { owner, repository, collection, template, version })
    }

    /// Finds the template's file.
    ///
    /// # Errors
    /// When there is none, or GitHub does not say.
    pub(crate) async fn find(&self, client: &Client, api: &str) -> Result<Uri, String> {
        let Self { owner, repository, collection, template, .. } = self;
        let folder = collection.map(|collection| format!("{collection}/")).unwrap_or_default();
        let top = format!("{api}/repos/{owner}/{repository}/contents/{folder}{template}");
        let versions = list(client, &top).await?;
        let of_kind = |entries: &[Entry], kind: &str| -> Vec<String> {
            entries
                .iter()
                .filter(|entry| entry.kind == kind)
                .map(|entry| entry.name.clone())
                .collect()
        };
        let folders = of_kind(&versions, "dir");
        let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
        let chosen = version::choose(self.version, &folders).filter(|chosen| is_name(chosen));
        let chosen = chosen.ok_or_else(|| match self.version {
            Some(version) => format!("the registry has no version {version} of it"),
            None => "the registry has no version of it".to_owned(),
        })?;
        let files = of_kind(&list(client, &format!("{top}/{chosen}")).await?, "file");
        let file = ["py", "jinja"].map(|suffix| format!("{template}.{suffix}"));
        let file = file.iter().find(|file| files.contains(file));
        let file = file.ok_or_else(|| {
            format!("version {chosen} of it has neither {template}.py nor {template}.jinja")
        })?;
        url::absolute(&format!("{top}/{chosen}/{file}")).ok_or_else(|| "has no URL".to_owned())
    }
}

/// The folder of the registry's repository in GitHub's API that a file there must stay in.
pub(crate) fn contents<'a>(url: &'a str, api: &str) -> Option<(&'a str, &'a str)> {
    let rest = url.strip_prefix(api)?.strip_prefix("/repos/")?;
    let (repository, path) = rest.split_once("/contents/")?;
    Some((repository, path))
}

/// One part of a type. It becomes part of a URL, so that only what means itself there is a name.
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !name.is_empty() && name.bytes().all(plain) && !name.bytes().all(|byte| byte == b'.')
}

async fn list(client: &Client, folder: &str) -> Result<Vec<Entry>, String> {
    let url = url::absolute(folder).ok_or_else(|| "has no URL".to_owned())?;
    let text = client.get(&url, Form::Listing).await?;
    let text = text.ok_or_else(|| "the registry does not have it".to_owned())?;
    serde_json::from_str(&text).map_err(|_| "the registry answers with something else".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_names_owner_repository_collection_template_and_version() {
        let parsed = Registered::parse("github.com/o/r.x/dot.ted/t-1:v1.2").unwrap();
        let whole = Registered {
            owner: "o",
            repository: "r.x",
            collection: Some("dot.ted"),
            template: "t-1",
            version: Some("v1.2"),
        };
        assert_eq!(parsed, whole);
        let parsed = Registered::parse("github.com/o/r/t").unwrap();
        assert_eq!((parsed.collection, parsed.template, parsed.version), (None, "t", None));
        for bad in [
            "github.com/o/r",
            "github.com/o/r/a/b/t:v1",
            "github.com/o/r/t:",
            "github.com/o/r/t:v1:v2",
            "github.com/o//t:v1",
            "github.com/../r/t:v1",
            "github.com/o/r/t:..",
            "github.com/o/r/t?x:v1",
            "github.com/o/r/t%2e:v1",
            "https://github.com/o/r/t:v1",
        ] {
            assert!(Registered::parse(bad).is_err(), "{bad}");
        }
    }
}
