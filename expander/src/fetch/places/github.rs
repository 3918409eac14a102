//! Registries on GitHub: `github.com/OWNER/REPOSITORY/[COLLECTION/]TEMPLATE[:VERSION]`.
//!
//! A registry is a repository, or a folder of it, with a folder for each template, and in that one for each version, which
//! holds `TEMPLATE.py` or `TEMPLATE.jinja` and whatever goes with it. A collection is a folder at the top.

use std::collections::BTreeSet;

use http::Uri;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Import;
use crate::fetch::client::{Ask, Form};
use crate::fetch::counted::Counted;
use crate::fetch::entry::{Entry, is_name, missing, unversioned, versionless};
use crate::fetch::offered::Offered;
use crate::fetch::registries::Credential;
use crate::fetch::url::{self, Folder};
use crate::fetch::version;

/// What every type of a registry begins with.
pub(crate) const PREFIX: &str = "github.com/";

/// The suffixes of templates, in the order in which they are looked for.
const SUFFIXES: [&str; 2] = ["py", "jinja"];

/// A repository, or a folder of it.
#[derive(Clone, Debug)]
pub(crate) struct GitHub {
    /// What GitHub's API says of the repository stands below this.
    api: String,
    /// `OWNER/REPOSITORY`.
    repository: String,
    /// The folder, with a slash at its end; empty for all of the repository.
    folder: String,
    /// What a credential may be sent to: the files of the repository in GitHub's API.
    contents: Folder,
    versioned: bool,
    credential: Option<Credential>,
}

/// An entry of a folder, as GitHub lists it.
#[derive(Deserialize)]
struct Listed {
    name: String,
    #[serde(rename = "type")]
    kind: String,
}

/// All entries of a repository, as GitHub lists them.
#[derive(Deserialize)]
struct Tree {
    tree: Vec<Node>,
    /// Whether there are more.
    #[serde(default)]
    truncated: bool,
}

#[derive(Deserialize)]
struct Node {
    path: String,
    mode: String,
    #[serde(rename = "type")]
    kind: String,
}

impl GitHub {
    /// The registry with the prefix `github.com/OWNER/REPOSITORY[/FOLDER]`, in the API at `api`.
    ///
    /// # Errors
    /// When that is no prefix of one.
    pub(crate) fn open(
        api: &str,
        prefix: &str,
        versioned: bool,
        credential: Option<Credential>,
    ) -> Result<Self, String> {
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
        let api = format!("{api}/repos/{repository}");
        let contents = Folder::parse(&format!("{api}/contents")).ok_or_else(malformed)?;
        let repository = repository.to_owned();
        Ok(Self { api, repository, folder, contents, versioned, credential })
    }

    /// The repository that a type stands in which anybody may read, and what the type says behind it.
    ///
    /// # Errors
    /// What is wrong with the type.
    pub(crate) fn of_type<'a>(api: &str, name: &'a str) -> Result<(Self, Entry<'a>), String> {
        let rest = name.strip_prefix(PREFIX);
        let behind = |rest: &'a str| rest.split_once('/')?.1.split_once('/').map(|(_, it)| it);
        let rest = rest.and_then(behind).ok_or_else(malformed)?;
        let prefix = name.strip_suffix(rest).and_then(|prefix| prefix.strip_suffix('/'));
        let entry = Entry::parse(rest).ok_or_else(malformed)?;
        Ok((Self::open(api, prefix.unwrap_or_default(), true, None)?, entry))
    }

    /// The repository whose files a URL of GitHub's API leads to. It is asked as anybody.
    pub(crate) fn of_url(api: &str, url: &Uri) -> Option<Self> {
        let text = url.to_string();
        let (repository, _) =
            text.strip_prefix(api)?.strip_prefix("/repos/")?.split_once("/contents/")?;
        let (owner, name) = repository.split_once('/')?;
        Self::open(api, &format!("{PREFIX}{owner}/{name}"), true, None)
            .ok()
            .filter(|it| it.folder.is_empty())
    }

    /// Finds a template's file.
    ///
    /// # Errors
    /// When there is none, or GitHub does not say.
    pub(super) async fn find(
        &self,
        client: &Counted<'_>,
        entry: &Entry<'_>,
    ) -> Result<Uri, String> {
        let template = entry.template;
        let collection = entry.collection.map(|it| format!("{it}/")).unwrap_or_default();
        let top = format!("{}{collection}{template}", self.folder);
        let mut entries = self.list(client, &top).await?;
        let (mut place, mut which) = (top.clone(), "it".to_owned());
        if self.versioned {
            let folders = of_kind(&entries, "dir");
            let chosen = version::choose(entry.version, &folders).filter(|chosen| is_name(chosen));
            let chosen = chosen.ok_or_else(|| unversioned(entry.version))?;
            (place, which) = (format!("{top}/{chosen}"), format!("version {chosen} of it"));
            entries = self.list(client, &place).await?;
        } else if entry.version.is_some() {
            return Err(versionless());
        }
        let files = of_kind(&entries, "file");
        let file = SUFFIXES.map(|suffix| format!("{template}.{suffix}"));
        let file = file.iter().find(|file| files.contains(&file.as_str()));
        let file =
            file.ok_or_else(|| format!("{which} has neither {template}.py nor {template}.jinja"))?;
        self.contents.file(&format!("{place}/{file}")).ok_or_else(unreachable)
    }

    async fn list(&self, client: &Counted<'_>, folder: &str) -> Result<Vec<Listed>, String> {
        let url = self.contents.file(folder).ok_or_else(unreachable)?;
        self.said(client, &url, Form::Listing).await?.ok_or_else(missing)
    }

    /// What GitHub's API says at a URL; none when it has nothing to say.
    async fn said<T: DeserializeOwned>(
        &self,
        client: &Counted<'_>,
        url: &Uri,
        form: Form,
    ) -> Result<Option<T>, String> {
        let Some(text) = client.get(url, self.ask(form)).await? else { return Ok(None) };
        let said = serde_json::from_str(&text);
        said.map(Some).map_err(|_| "the registry answers with something else".to_owned())
    }

    fn ask(&self, form: Form) -> Ask<'_> {
        // A repository that is called otherwise now is answered by a redirect, to where it goes by its number.
        Ask { form, credential: self.credential.as_ref(), within: None }
    }

    /// The text of a file; none when there is none.
    pub(super) async fn text(
        &self,
        client: &Counted<'_>,
        url: &Uri,
    ) -> Result<Option<String>, String> {
        client.get(url, self.ask(Form::Raw)).await
    }

    /// What a path means in the schema of the file at `from`: a file of this repository or one of another host, and
    /// nothing else that GitHub's API has.
    pub(super) fn import(&self, from: &Uri, path: &str) -> Option<Import<Uri>> {
        let url = url::join(from, path)?;
        if self.contents.has(&url) {
            return Some(Import::Own(url));
        }
        (!self.contents.is_beside(&url)).then_some(Import::Url(url))
    }

    /// Where a file is, for people.
    pub(super) fn shown(&self, url: &Uri) -> String {
        let Self { api, repository, .. } = self;
        let text = url.to_string();
        let path = text.strip_prefix(api).and_then(|text| text.strip_prefix("/contents/"));
        path.map_or_else(|| text.clone(), |path| format!("{PREFIX}{repository}/{path}"))
    }

    /// All templates, asked for at once.
    ///
    /// # Errors
    /// When GitHub does not list all of them.
    pub(super) async fn offered(&self, client: &Counted<'_>) -> Result<BTreeSet<Offered>, String> {
        let Self { api, repository, folder, credential, .. } = self;
        let all = url::absolute(&format!("{api}/git/trees/HEAD?recursive=1"));
        let all = all.ok_or_else(unreachable)?;
        let Some(Tree { tree, truncated }) = self.said(client, &all, Form::Tree).await? else {
            let why = if credential.is_some() {
                "the credential does not open it"
            } else {
                "is not for everybody"
            };
            return Err(format!("{PREFIX}{repository} is not there, or {why}"));
        };
        if truncated {
            return Err(format!("{PREFIX}{repository} has more files than GitHub lists at once"));
        }
        let inside = || {
            tree.iter().filter_map(|node| Some((node, node.path.strip_prefix(folder.as_str())?)))
        };
        if inside().next().is_none() && !folder.is_empty() {
            return Err(format!(
                "{PREFIX}{repository} has no folder {}",
                folder.trim_end_matches('/')
            ));
        }
        let files = inside().filter(|(node, _)| node.is_file());
        Ok(files.filter_map(|(_, path)| offered(path, self.versioned)).collect())
    }
}

impl Node {
    /// Whether it is a file, and no link, as folders are listed.
    fn is_file(&self) -> bool {
        self.kind == "blob" && self.mode != "120000"
    }
}

/// What is offered by a file at this path, from the top of the registry.
fn offered(path: &str, versioned: bool) -> Option<Offered> {
    let (folder, file) = path.rsplit_once('/')?;
    let (folder, version) = match versioned {
        true => folder.rsplit_once('/').map(|(folder, version)| (folder, Some(version)))?,
        false => (folder, None),
    };
    let (collection, template) = match folder.split_once('/') {
        Some((collection, template)) => (Some(collection), template),
        None => (None, folder),
    };
    let suffix = file.strip_prefix(template)?.strip_prefix('.')?;
    let parts = [Some(template), collection, version];
    let well = SUFFIXES.contains(&suffix) && parts.into_iter().flatten().all(is_name);
    let owned = |text: Option<&str>| text.map(str::to_owned);
    well.then(|| Offered {
        collection: owned(collection),
        template: template.to_owned(),
        version: owned(version),
    })
}

fn malformed() -> String {
    "is not github.com/OWNER/REPOSITORY/[COLLECTION/]TEMPLATE[:VERSION]".to_owned()
}

fn unreachable() -> String {
    "has no URL".to_owned()
}

fn of_kind<'a>(entries: &'a [Listed], kind: &str) -> Vec<&'a str> {
    entries.iter().filter(|it| it.kind == kind).map(|it| it.name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const API: &str = "https://api.github.com";

    #[test]
    fn a_type_names_owner_repository_collection_template_and_version() {
        let (registry, entry) = GitHub::of_type(API, "github.com/o/r.x/dot.ted/t-1:v1.2").unwrap();
        assert_eq!((registry.repository.as_str(), registry.folder.as_str()), ("o/r.x", ""));
        let whole = Entry { collection: Some("dot.ted"), template: "t-1", version: Some("v1.2") };
        assert_eq!(entry, whole);
        let (_, entry) = GitHub::of_type(API, "github.com/o/r/t").unwrap();
        assert_eq!(entry, Entry { collection: None, template: "t", version: None });
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
            assert!(GitHub::of_type(API, bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_registry_is_a_repository_or_a_folder_of_it() {
        let deep = GitHub::open(API, "github.com/o/r/a/b", true, None).unwrap();
        assert_eq!((deep.repository.as_str(), deep.folder.as_str()), ("o/r", "a/b/"));
        for bad in ["github.com/o", "github.com/o/r/..", "github.com/o//r", "h/o/r", ""] {
            assert!(GitHub::open(API, bad, true, None).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_import_stays_in_its_repository_or_leaves_github() {
        let registry = GitHub::open(API, "github.com/o/r/folder", true, None).unwrap();
        let url = |text: &str| url::absolute(text).unwrap();
        let from = url("https://api.github.com/repos/o/r/contents/folder/t/v1/t.py");
        let own = |path: &str| format!("https://api.github.com/repos/o/r/contents/{path}");
        for (path, want) in [
            ("helper.py", Some(Import::Own(url(&own("folder/t/v1/helper.py"))))),
            ("../../../other.py", Some(Import::Own(url(&own("other.py"))))),
            (&own("x.py"), Some(Import::Own(url(&own("x.py"))))),
            ("https://example.com/x.py", Some(Import::Url(url("https://example.com/x.py")))),
            ("../../../../x.py", None),
            ("/user", None),
            ("/repos/o/other/contents/x.py", None),
            ("https://api.github.com/user", None),
            ("helper.py?ref=other", None),
            ("%2e%2e/x.py", None),
            (&own("../../../../user"), None),
            (&own("..\\..\\user"), None),
        ] {
            assert_eq!(registry.import(&from, path), want, "{path}");
        }
    }

    #[test]
    fn what_stands_where_a_template_would_is_offered() {
        let told = |path: &str, versioned| offered(path, versioned).map(|it| it.to_string());
        for (path, want) in [
            ("redis/v1/redis.py", Some("redis:v1")),
            ("storage/redis/v1.0.2/redis.jinja", Some("storage/redis:v1.0.2")),
            ("files.v/v1/files.v.py", Some("files.v:v1")),
            ("redis/latest/redis.py", Some("redis:latest")),
            ("redis/v1/other.py", None),
            ("redis/v1/redis.py.schema", None),
            ("redis/v1/redis.txt", None),
            ("redis/v1/deep/redis.py", None),
            ("a/storage/redis/v1/redis.py", None),
            ("redis/redis.py", None),
            ("redis.py", None),
            ("odd name/v1/odd name.py", None),
            ("redis/v1+x/redis.py", None),
        ] {
            assert_eq!(told(path, true).as_deref(), want, "{path}");
        }
        for (path, want) in [
            ("redis/redis.py", Some("redis")),
            ("storage/redis/redis.jinja", Some("storage/redis")),
            ("redis/v1/redis.py", None),
            ("redis.py", None),
        ] {
            assert_eq!(told(path, false).as_deref(), want, "{path}");
        }
    }
}
