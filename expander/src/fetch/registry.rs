//! Templates in a registry on GitHub: `github.com/OWNER/REPOSITORY/[COLLECTION/]TEMPLATE[:VERSION]`.
//!
//! A registry is a repository with a folder for each template, and in that one for each version, which holds
//! `TEMPLATE.py` or `TEMPLATE.jinja` and whatever goes with it. A collection is a folder at the top.

use http::Uri;
use serde::Deserialize;

use super::client::{Client, Form};
use super::registries::{Credential, Entry, is_name, unversioned};
use super::{url, version};

/// What every type of a registry begins with.
pub(crate) const PREFIX: &str = "github.com/";

/// A template in a repository, or in a folder of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Registered<'a> {
    /// `OWNER/REPOSITORY`.
    repository: &'a str,
    /// The folder, with a slash at its end; empty for all of the repository.
    folder: String,
    entry: Entry<'a>,
    versioned: bool,
}

/// An entry of a folder, as GitHub lists it.
#[derive(Deserialize)]
struct Listed {
    name: String,
    #[serde(rename = "type")]
    kind: String,
}

impl<'a> Registered<'a> {
    /// Reads a type of a repository that anybody may read.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(name: &'a str) -> Result<Self, String> {
        let rest = name.strip_prefix(PREFIX);
        let behind = |rest: &'a str| rest.split_once('/')?.1.split_once('/').map(|(_, it)| it);
        let entry = rest.and_then(behind).ok_or_else(malformed)?;
        let prefix = name.strip_suffix(entry).and_then(|prefix| prefix.strip_suffix('/'));
        Self::within(prefix.unwrap_or_default(), entry, true)
    }

    /// Reads what stands behind the prefix of a registry, `github.com/OWNER/REPOSITORY[/FOLDER]`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn within(prefix: &'a str, rest: &'a str, versioned: bool) -> Result<Self, String> {
        let place = prefix.strip_prefix(PREFIX).ok_or_else(malformed)?;
        if !place.split('/').all(is_name) {
            return Err(malformed());
        }
        let slashes: Vec<_> = place.match_indices('/').map(|(at, _)| at).collect();
        let (repository, folder) = match slashes.as_slice() {
            [] => return Err(malformed()),
            [_] => (place, String::new()),
            [_, second, ..] => (&place[..*second], format!("{}/", &place[second + 1..])),
        };
        let entry = Entry::parse(rest).ok_or_else(malformed)?;
        Ok(Self { repository, folder, entry, versioned })
    }

    /// Finds the template's file.
    ///
    /// # Errors
    /// When there is none, or GitHub does not say.
    pub(crate) async fn find(
        &self,
        client: &Client,
        api: &str,
        credential: Option<&Credential>,
    ) -> Result<Uri, String> {
        let Self { repository, folder, entry, .. } = self;
        let template = entry.template;
        let collection = entry.collection.map(|it| format!("{it}/")).unwrap_or_default();
        let top = format!("{api}/repos/{repository}/contents/{folder}{collection}{template}");
        let mut entries = list(client, &top, credential).await?;
        let (mut place, mut which) = (top.clone(), "it".to_owned());
        if self.versioned {
            let folders = of_kind(&entries, "dir");
            let chosen = version::choose(entry.version, &folders).filter(|chosen| is_name(chosen));
            let chosen = chosen.ok_or_else(|| unversioned(entry.version))?;
            (place, which) = (format!("{top}/{chosen}"), format!("version {chosen} of it"));
            entries = list(client, &place, credential).await?;
        } else if entry.version.is_some() {
            return Err("its registry has no versions".to_owned());
        }
        let files = of_kind(&entries, "file");
        let file = ["py", "jinja"].map(|suffix| format!("{template}.{suffix}"));
        let file = file.iter().find(|file| files.contains(&file.as_str()));
        let file =
            file.ok_or_else(|| format!("{which} has neither {template}.py nor {template}.jinja"))?;
        url::absolute(&format!("{place}/{file}")).ok_or_else(|| "has no URL".to_owned())
    }
}

fn malformed() -> String {
    "is not github.com/OWNER/REPOSITORY/[COLLECTION/]TEMPLATE[:VERSION]".to_owned()
}

fn of_kind<'a>(entries: &'a [Listed], kind: &str) -> Vec<&'a str> {
    entries.iter().filter(|it| it.kind == kind).map(|it| it.name.as_str()).collect()
}

/// The folder of the registry's repository in GitHub's API that a file there must stay in.
pub(crate) fn contents<'a>(url: &'a str, api: &str) -> Option<(&'a str, &'a str)> {
    let rest = url.strip_prefix(api)?.strip_prefix("/repos/")?;
    let (repository, path) = rest.split_once("/contents/")?;
    Some((repository, path))
}

async fn list(
    client: &Client,
    folder: &str,
    credential: Option<&Credential>,
) -> Result<Vec<Listed>, String> {
    let url = url::absolute(folder).ok_or_else(|| "has no URL".to_owned())?;
    let text = client.get(&url, Form::Listing, credential).await?;
    let text = text.ok_or_else(|| "the registry does not have it".to_owned())?;
    serde_json::from_str(&text).map_err(|_| "the registry answers with something else".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_names_owner_repository_collection_template_and_version() {
        let parsed = Registered::parse("github.com/o/r.x/dot.ted/t-1:v1.2").unwrap();
        let entry = |collection, template, version| Entry { collection, template, version };
        let whole = Registered {
            repository: "o/r.x",
            folder: String::new(),
            entry: entry(Some("dot.ted"), "t-1", Some("v1.2")),
            versioned: true,
        };
        assert_eq!(parsed, whole);
        let parsed = Registered::parse("github.com/o/r/t").unwrap();
        assert_eq!(parsed.entry, entry(None, "t", None));
        let deep = Registered::within("github.com/o/r/a/b", "c/t:v1", true).unwrap();
        assert_eq!((deep.repository, deep.folder.as_str()), ("o/r", "a/b/"));
        assert_eq!(deep.entry, entry(Some("c"), "t", Some("v1")));
        for bad in ["github.com/o", "github.com/o/r/..", "github.com/o//r", "h/o/r", ""] {
            assert!(Registered::within(bad, "t:v1", true).is_err(), "{bad}");
        }
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
