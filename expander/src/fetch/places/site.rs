//! Registries on any web server: a folder with an index, `index.yaml`, and files wherever in it the index says.
//!
//! A credential goes to what is in that folder and nowhere else. In the clear it goes only where the host is allowed with
//! `http://`, since nothing else is asked in the clear at all.

mod index;

use std::collections::BTreeSet;

use http::Uri;
use tokio::sync::OnceCell;

pub(crate) use self::index::Digest;
use self::index::{Index, Listed};
use super::Import;
use crate::fetch::client::{Ask, Form};
use crate::fetch::counted::Counted;
use crate::fetch::entry::{Entry, is_name, missing, unversioned, versionless};
use crate::fetch::offered::Offered;
use crate::fetch::registries::Credential;
use crate::fetch::url::{self, Folder};
use crate::fetch::version;

/// The name of the index.
const INDEX: &str = "index.yaml";

/// A folder on a web server.
#[derive(Debug)]
pub(crate) struct Site {
    /// What a credential may be sent to.
    top: Folder,
    /// Where the index is.
    url: Uri,
    versioned: bool,
    credential: Option<Credential>,
    /// Read when something is first asked of it.
    index: OnceCell<Index>,
}

impl Site {
    /// The registry with this prefix; `plain` if it is reached in the clear.
    ///
    /// # Errors
    /// When that is no prefix of a URL.
    pub(super) fn open(
        prefix: &str,
        plain: bool,
        versioned: bool,
        credential: Option<Credential>,
    ) -> Result<Self, String> {
        let scheme = if plain { "http" } else { "https" };
        let top = Folder::parse(&format!("{scheme}://{prefix}"));
        let found = top.and_then(|top| Some((top.file(INDEX)?, top)));
        let (url, top) = found.ok_or_else(|| format!("its registry has no URL: {prefix}"))?;
        Ok(Self { top, url, versioned, credential, index: OnceCell::new() })
    }

    /// Finds a template's file.
    ///
    /// # Errors
    /// When there is none, or the index does not say where.
    pub(super) async fn find(
        &self,
        client: &Counted<'_>,
        entry: &Entry<'_>,
    ) -> Result<(Uri, Option<Digest>), String> {
        let name = match entry.collection {
            Some(collection) => format!("{collection}/{}", entry.template),
            None => entry.template.to_owned(),
        };
        let index = self.index(client).await?;
        let all = index.get(&name).ok_or_else(missing)?;
        let Listed { url, digest, .. } = self.chosen(entry, all)?;
        let wrong = |why: &str| format!("{} says of it {url}, which {why}", self.url);
        let found = url::join(&self.url, url).filter(|found| self.top.has(found));
        let found = found.ok_or_else(|| wrong("leads out of the registry"))?;
        if ![".py", ".jinja"].iter().any(|suffix| found.path().ends_with(suffix)) {
            return Err(wrong("is neither .py nor .jinja"));
        }
        Ok((found, *digest))
    }

    fn chosen<'a>(&self, entry: &Entry<'_>, all: &'a [Listed]) -> Result<&'a Listed, String> {
        if !self.versioned {
            let found = all.iter().find(|listed| listed.version.is_none());
            return match entry.version {
                Some(_) => Err(versionless()),
                None => found.ok_or_else(missing),
            };
        }
        let spelled: Vec<&str> = all.iter().filter_map(|it| it.version.as_deref()).collect();
        let chosen = version::choose(entry.version, &spelled);
        let found =
            all.iter().find(|listed| chosen.is_some() && listed.version.as_deref() == chosen);
        found.ok_or_else(|| unversioned(entry.version))
    }

    async fn index(&self, client: &Counted<'_>) -> Result<&Index, String> {
        self.index.get_or_try_init(|| self.read(client)).await
    }

    async fn read(&self, client: &Counted<'_>) -> Result<Index, String> {
        let url = &self.url;
        let text = client.get(url, self.ask()).await.map_err(|why| format!("{why} ({url})"))?;
        let text = text.ok_or_else(|| format!("the registry has no {INDEX} ({url})"))?;
        Index::read(&text).map_err(|why| format!("{url}: {why}"))
    }

    fn ask(&self) -> Ask<'_> {
        let (credential, within) = (self.credential.as_ref(), Some(&self.top));
        Ask { form: Form::File, credential, within }
    }

    /// The text of a file; none when there is none.
    ///
    /// # Errors
    /// When it cannot be had, or is not what the index says it is.
    pub(super) async fn text(
        &self,
        client: &Counted<'_>,
        url: &Uri,
        digest: Option<Digest>,
    ) -> Result<Option<String>, String> {
        let text = client.get(url, self.ask()).await?;
        let found = text.as_deref().map(Digest::of);
        match (digest, found) {
            (Some(want), Some(found)) if found != want => {
                Err(format!("its digest is {found}, and the registry says {want}"))
            }
            _ => Ok(text),
        }
    }

    /// What a path means in the schema of the file at `from`: a file of this registry, or wherever a whole URL leads.
    pub(super) fn import(&self, from: &Uri, path: &str) -> Option<Import<Uri>> {
        let url = url::join(from, path)?;
        if self.top.has(&url) {
            return Some(Import::Own(url));
        }
        url::absolute(path).map(|_| Import::Url(url))
    }

    /// All templates in the index whose names can stand in types.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) async fn offered(&self, client: &Counted<'_>) -> Result<BTreeSet<Offered>, String> {
        let of = |(name, all): (&str, &[Listed])| {
            let Entry { collection, template, .. } =
                Entry::parse(name).filter(|entry| entry.version.is_none())?;
            let versions = all.iter().map(|listed| listed.version.clone());
            let fits = |version: &Option<String>| match version {
                Some(version) => self.versioned && is_name(version),
                None => !self.versioned,
            };
            let offered = |version| Offered {
                collection: collection.map(str::to_owned),
                template: template.to_owned(),
                version,
            };
            Some(versions.filter(fits).map(offered).collect::<Vec<_>>())
        };
        Ok(self.index(client).await?.iter().filter_map(of).flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_stays_in_its_registry_or_is_a_whole_url() {
        let site = Site::open("h.example/lib", false, true, None).unwrap();
        let url = |text: &str| url::absolute(text).unwrap();
        let from = url("https://h.example/lib/t/v1/t.py");
        for (path, want) in [
            ("../x.py", Some(Import::Own(url("https://h.example/lib/t/x.py")))),
            ("/lib/x.py", Some(Import::Own(url("https://h.example/lib/x.py")))),
            ("https://h.example/lib/x.py", Some(Import::Own(url("https://h.example/lib/x.py")))),
            ("https://other/x.py", Some(Import::Url(url("https://other/x.py")))),
            ("https://h.example/x.py", Some(Import::Url(url("https://h.example/x.py")))),
            ("http://h.example/lib/x.py", Some(Import::Url(url("http://h.example/lib/x.py")))),
            ("../../../x.py", None),
            ("/x.py", None),
            ("x.py?y=z", None),
            ("%2e%2e/%2e%2e/x.py", None),
            ("", None),
        ] {
            assert_eq!(site.import(&from, path), want, "{path}");
        }
        let outside = url("https://h.example/lib/../x.py");
        let want = Some(Import::Url(outside.clone()));
        assert_eq!(site.import(&from, &outside.to_string()), want, "without the credential");
    }

    #[test]
    fn a_prefix_is_a_host_and_a_path() {
        for bad in ["", "h.example/a?b", "u@h.example/lib", "h.example/a#b"] {
            assert!(Site::open(bad, false, true, None).is_err(), "{bad}");
        }
        let whole = Site::open("h.example", true, true, None).unwrap();
        assert_eq!(whole.url.to_string(), "http://h.example/index.yaml");
    }
}
