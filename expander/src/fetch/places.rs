//! The places that files come from. Each is a module that knows where a template is, with what it is asked for, what its
//! files may lead to, and what there is: here stands only which of them is meant.

mod files;
mod github;
mod open;
mod site;

use std::collections::BTreeSet;
use std::sync::Arc;

use http::Uri;

use self::files::Files;
pub(crate) use self::github::{GitHub, PREFIX};
use self::site::{Digest, Site};
use super::counted::Counted;
use super::entry::Entry;
use super::offered::Offered;
use super::registries::{Place, Registry};
use super::url;

/// A registry that can be asked.
#[derive(Clone, Debug)]
pub(crate) enum Opened {
    GitHub(Arc<GitHub>),
    Files(Arc<Files>),
    Site(Arc<Site>),
}

/// A file, wherever it is.
#[derive(Clone, Debug)]
pub(crate) enum File {
    /// In no registry.
    Open(Uri),
    GitHub(Arc<GitHub>, Uri),
    Files(Arc<Files>, String),
    /// And what it has to be, if the registry says so.
    Site(Arc<Site>, Uri, Option<Digest>),
}

/// What a path in a schema leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Import<F> {
    /// Another file of the same place.
    Own(F),
    /// A file that the place has nothing to do with.
    Url(Uri),
    /// A type, which stands in whatever registry has it.
    Type(String),
}

impl<F> Import<F> {
    fn map<G>(self, file: impl FnOnce(F) -> G) -> Import<G> {
        match self {
            Self::Own(own) => Import::Own(file(own)),
            Self::Url(url) => Import::Url(url),
            Self::Type(name) => Import::Type(name),
        }
    }
}

impl Opened {
    /// Opens a registry; `github` is GitHub's API, or why there is none.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub(crate) fn of(registry: Registry, github: Result<&str, String>) -> Result<Self, String> {
        let Registry { prefix, versioned, place, .. } = registry;
        Ok(match place {
            Place::GitHub(credential) => {
                Self::GitHub(Arc::new(GitHub::open(github?, &prefix, versioned, credential)?))
            }
            Place::Files { shown, files } => {
                Self::Files(Arc::new(Files::open(shown, files, versioned)))
            }
            Place::Http { plain, credential } => {
                Self::Site(Arc::new(Site::open(&prefix, plain, versioned, credential)?))
            }
        })
    }

    /// Finds a template's file.
    ///
    /// # Errors
    /// When there is none, or it cannot be found out.
    pub(crate) async fn find(
        &self,
        client: &Counted<'_>,
        entry: &Entry<'_>,
    ) -> Result<File, String> {
        Ok(match self {
            Self::GitHub(registry) => {
                File::GitHub(registry.clone(), registry.find(client, entry).await?)
            }
            Self::Files(registry) => {
                File::Files(registry.clone(), registry.find(entry)?.to_owned())
            }
            Self::Site(registry) => {
                let (url, digest) = registry.find(client, entry).await?;
                File::Site(registry.clone(), url, digest)
            }
        })
    }

    /// All templates, in their order.
    ///
    /// # Errors
    /// When it cannot be found out.
    pub(crate) async fn offered(
        &self,
        client: &Counted<'_>,
        collections: bool,
    ) -> Result<BTreeSet<Offered>, String> {
        match self {
            Self::GitHub(registry) => registry.offered(client).await,
            Self::Files(registry) => Ok(registry.offered(collections)),
            Self::Site(registry) => registry.offered(client).await,
        }
    }
}

impl File {
    /// The file at a URL, which belongs to no registry of anybody's. What GitHub's API has is still asked for as there.
    pub(crate) fn at(url: Uri, github: Option<&str>) -> Self {
        match github.and_then(|api| GitHub::of_url(api, &url)) {
            Some(registry) => Self::GitHub(Arc::new(registry), url),
            None => Self::Open(url),
        }
    }

    /// Its text; none when there is none.
    ///
    /// # Errors
    /// When it cannot be had.
    pub(crate) async fn text(&self, client: &Counted<'_>) -> Result<Option<String>, String> {
        match self {
            Self::Open(url) => open::text(client, url).await,
            Self::GitHub(registry, url) => registry.text(client, url).await,
            Self::Files(registry, name) => {
                let text = registry.text(name);
                client.count(text.unwrap_or_default())?;
                Ok(text.map(str::to_owned))
            }
            Self::Site(registry, url, digest) => registry.text(client, url, *digest).await,
        }
    }

    /// The file beside this one that has its name and `.schema`.
    pub(crate) fn schema(&self) -> Option<Self> {
        Some(match self {
            Self::Open(url) => Self::Open(url::schema(url)?),
            Self::GitHub(registry, url) => Self::GitHub(registry.clone(), url::schema(url)?),
            Self::Files(registry, name) => Self::Files(registry.clone(), format!("{name}.schema")),
            Self::Site(registry, url, _) => Self::Site(registry.clone(), url::schema(url)?, None),
        })
    }

    /// What a path in its schema leads to. None, if it leads where files of its place must not lead.
    pub(crate) fn import(&self, path: &str) -> Option<Import<Self>> {
        Some(match self {
            Self::Open(url) => Import::Url(url::join(url, path)?),
            Self::GitHub(registry, url) => {
                registry.import(url, path)?.map(|url| Self::GitHub(registry.clone(), url))
            }
            Self::Files(registry, _) => {
                Files::import(path).map(|name| Self::Files(registry.clone(), name))
            }
            Self::Site(registry, url, _) => {
                registry.import(url, path)?.map(|url| Self::Site(registry.clone(), url, None))
            }
        })
    }

    /// Where it is, for people. Its end says what language a template is in.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Open(url) | Self::Site(_, url, _) => open::shown(url),
            Self::GitHub(registry, url) => registry.shown(url),
            Self::Files(registry, name) => registry.shown(name),
        }
    }

    /// Its URL, if it has one.
    fn url(&self) -> Option<&Uri> {
        match self {
            Self::Open(url) | Self::GitHub(_, url) | Self::Site(_, url, _) => Some(url),
            Self::Files(..) => None,
        }
    }

    /// Whether it is a template, and may have a schema beside it.
    pub(crate) fn is_template(&self) -> bool {
        let path = match self {
            Self::Open(url) | Self::GitHub(_, url) | Self::Site(_, url, _) => url.path(),
            Self::Files(_, name) => name,
        };
        path.ends_with(".py") || path.ends_with(".jinja")
    }
}

/// The same file, however it came to be wanted: what is at one URL is the same to all who may have it.
impl PartialEq for File {
    fn eq(&self, other: &Self) -> bool {
        match (self.url(), other.url()) {
            (Some(url), Some(other)) => url == other,
            (None, None) => self.shown() == other.shown(),
            _ => false,
        }
    }
}
