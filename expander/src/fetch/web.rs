//! Templates from elsewhere, each with its schema and with what that imports.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use expansion::imports::{Declared, declared};
use expansion::{Import, Imports, Wanted, printable};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use http::Uri;
use rustls::pki_types::CertificateDer;

use super::client::{Client, Form};
use super::hosts::Hosts;
use super::registries::{self, Credential, Entry, Place, Registries, Registry};
use super::registry::{self, Registered};
use super::{Fetch, FetchError, Fetching, url};

/// How many files may be fetched at once, which is Deployment Manager's limit.
const FILES: usize = 100;
/// How many bytes they may have together.
const BYTES: usize = 16 << 20;
/// How long all of it may take.
const TIME: Duration = Duration::from_secs(60);
/// How many characters of a message are shown.
const MESSAGE: usize = 500;
/// How many requests are under way at once.
const AT_ONCE: usize = 8;

/// From where templates may be fetched.
#[derive(Clone, Debug)]
pub struct Access {
    /// `HOST` or `HOST:PORT`, with `http://` before it where plain HTTP is allowed. Types in registries need `github.com`.
    pub hosts: Vec<String>,
    /// Whether a host may have an address that is private, loopback or link-local.
    pub private_addresses: bool,
    /// Where GitHub's API is.
    pub github: String,
    /// Authorities that are trusted beside those of the platform.
    pub roots: Vec<CertificateDer<'static>>,
}

impl Default for Access {
    /// From nowhere.
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            private_addresses: false,
            github: "https://api.github.com".to_owned(),
            roots: Vec::new(),
        }
    }
}

/// Why files cannot be fetched at all.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// What was given as a host is none.
    #[error("{0:?} is not a host that templates could be fetched from")]
    Host(String),
    /// TLS cannot be set up.
    #[error("TLS for fetching templates")]
    Tls(#[source] rustls::Error),
}

/// Fetches templates over HTTP, from the hosts that it was given.
pub struct Web {
    client: Client,
    /// GitHub's API, where types of registries may be fetched.
    github: Option<String>,
}

/// A [`Web`], with registries of somebody's own that are asked first.
pub struct Among<'a> {
    web: &'a Web,
    registries: &'a dyn Registries,
}

/// A file that is to be fetched.
#[derive(Clone, Debug)]
struct Item {
    /// Under which name it is imported.
    name: String,
    source: Source,
    /// The registry that a file belongs to which is not wanted by its type.
    registry: Option<Arc<Registry>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    /// A type of a registry, or a URL.
    Type(String),
    Url(Uri),
    /// A file of a registry that is nothing but files.
    File(String),
}

/// Where a file was found, and the registry that it belongs to, if that is somebody's own.
struct Found {
    at: At,
    registry: Option<Arc<Registry>>,
}

enum At {
    Url(Uri),
    File(String),
}

impl Found {
    fn credential(&self) -> Option<&Credential> {
        match &self.registry.as_ref()?.place {
            Place::GitHub(credential) => credential.as_ref(),
            Place::Files { .. } => None,
        }
    }

    /// The file beside this one that has its name and `.schema`.
    fn schema(&self) -> Option<Self> {
        let at = match &self.at {
            At::Url(url) => At::Url(url::schema(url)?),
            At::File(name) => At::File(format!("{name}.schema")),
        };
        Some(Self { at, registry: self.registry.clone() })
    }

    fn is_template(&self) -> bool {
        let path = match &self.at {
            At::Url(url) => url.path(),
            At::File(name) => name,
        };
        path.ends_with(".py") || path.ends_with(".jinja")
    }
}

impl Web {
    /// Fetches from wherever `access` allows.
    ///
    /// # Errors
    /// When that is not understood.
    pub fn new(access: Access) -> Result<Self, AccessError> {
        let Access { hosts, private_addresses, github, roots } = access;
        let listed = Hosts::parse(hosts.iter().map(String::as_str)).map_err(AccessError::Host)?;
        let api = url::absolute(&github).ok_or_else(|| AccessError::Host(github.clone()))?;
        let registries = listed.allow_host("github.com");
        let all = if registries { listed.with(&api) } else { Some(listed) };
        let all = all.ok_or_else(|| AccessError::Host(github.clone()))?;
        let client = Client::new(all, private_addresses, roots).map_err(AccessError::Tls)?;
        let github = github.strip_suffix('/').unwrap_or(&github).to_owned();
        Ok(Self { client, github: registries.then_some(github) })
    }

    /// The same, with registries that are asked first.
    pub fn among<'a>(&'a self, registries: &'a dyn Registries) -> Among<'a> {
        Among { web: self, registries }
    }

    async fn collect(
        &self,
        wanted: &[Wanted],
        registries: Option<&dyn Registries>,
    ) -> Result<Imports, FetchError> {
        let item = |Wanted { name }: &Wanted| Item {
            name: name.clone(),
            source: Source::Type(name.clone()),
            registry: None,
        };
        let mut next: Vec<Item> = wanted.iter().map(item).collect();
        let mut known: BTreeMap<String, Source> = BTreeMap::new();
        let (mut imports, bytes) = (Imports::new(), AtomicUsize::new(0));
        while !next.is_empty() {
            let mut new = Vec::new();
            for item in next {
                match known.get(&item.name) {
                    Some(source) if *source == item.source => {}
                    Some(_) => return Err(failed(&item.name, "stands for two files")),
                    None => {
                        known.insert(item.name.clone(), item.source.clone());
                        new.push(item);
                    }
                }
            }
            if known.len() > FILES {
                let first = wanted.first().map_or("", |wanted| &wanted.name);
                return Err(failed(first, format!("Number of imports exceeds maximum of {FILES}")));
            }
            let brought = stream::iter(new)
                .map(|item| self.bring(item, registries, &bytes))
                .buffered(AT_ONCE);
            let brought: Vec<(Imports, Vec<Item>)> = brought.try_collect().await?;
            next = Vec::new();
            for (files, needed) in brought {
                imports.extend(files);
                next.extend(needed);
            }
        }
        Ok(imports)
    }

    /// Fetches a file and its schema, and says what that needs.
    async fn bring(
        &self,
        item: Item,
        registries: Option<&dyn Registries>,
        bytes: &AtomicUsize,
    ) -> Result<(Imports, Vec<Item>), FetchError> {
        let Item { name, source, registry } = item;
        let wrong = |message| failed(&name, message);
        let found = match source {
            Source::Url(url) => Found { at: At::Url(url), registry },
            Source::File(file) => Found { at: At::File(file), registry },
            Source::Type(kind) => self.find(&kind, registries).await.map_err(wrong)?,
        };
        let mut imports = Imports::new();
        let path = self.shown(&found);
        let content = self.text(&found, bytes).await.map_err(wrong)?;
        let content = content
            .ok_or_else(|| wrong(format!("Received status code 404 attempting to fetch {path}")))?;
        imports.insert(name.clone(), Import { path, content: content.into() });
        let beside = found.schema().filter(|_| found.is_template());
        let Some(beside) = beside else { return Ok((imports, Vec::new())) };
        let schema_name = format!("{name}.schema");
        let wrong = |message| failed(&schema_name, message);
        let Some(schema) = self.text(&beside, bytes).await.map_err(wrong)? else {
            return Ok((imports, Vec::new()));
        };
        let needed = declared(&schema)
            .into_iter()
            .map(|import| self.needed(&found, import?))
            .collect::<Result<_, _>>()
            .map_err(wrong)?;
        let import = Import { path: self.shown(&beside), content: schema.into() };
        imports.insert(schema_name.clone(), import);
        Ok((imports, needed))
    }

    /// A file that the schema of another one imports.
    fn needed(&self, by: &Found, import: Declared) -> Result<Item, String> {
        let Declared { path, name, line } = import;
        if path.contains(['*', '[']) {
            return Err(format!("{line}: {path} is a pattern, and folders cannot be fetched"));
        }
        let name = name.unwrap_or_else(|| path.clone());
        if path.starts_with(registry::PREFIX) {
            return Ok(Item { name, source: Source::Type(path), registry: None });
        }
        let is_url = path.starts_with("https://") || path.starts_with("http://");
        let At::Url(url) = &by.at else {
            let source = if is_url { Source::Type(path) } else { Source::File(path) };
            return Ok(Item { name, source, registry: by.registry.clone() });
        };
        let joined = url::join(url, &path).filter(|joined| self.stays(url, joined));
        let joined =
            joined.ok_or_else(|| format!("{line}: {path} is no path from {}", self.shown(by)))?;
        // A credential goes nowhere but to the files of its registry.
        let own = self.registered(url).is_some() && self.registered(&joined).is_some();
        let registry = by.registry.clone().filter(|_| own);
        Ok(Item { name, source: Source::Url(joined), registry })
    }

    /// Where a type is found.
    async fn find(&self, kind: &str, registries: Option<&dyn Registries>) -> Result<Found, String> {
        let registry = match registries {
            Some(registries) => registries.of(kind).await?,
            None => None,
        };
        if let Some(registry) = registry {
            return self.find_in(kind, registry).await;
        }
        let at = if kind.starts_with(registry::PREFIX) {
            Registered::parse(kind)?.find(&self.client, self.github()?, None).await?
        } else if kind.starts_with("gs://") {
            return Err("what is in gs:// are packages of objects and no templates".to_owned());
        } else {
            url::absolute(kind).ok_or("is no URL of a file")?
        };
        Ok(Found { at: At::Url(at), registry: None })
    }

    async fn find_in(&self, kind: &str, registry: Registry) -> Result<Found, String> {
        let Registry { prefix, versioned, place } = &registry;
        let malformed = || format!("is not {prefix}/[COLLECTION/]TEMPLATE[:VERSION]");
        let rest = registries::within(kind, prefix).ok_or_else(malformed)?;
        let at = match place {
            Place::GitHub(credential) => {
                let registered = Registered::within(prefix, rest, *versioned)?;
                let credential = credential.as_ref();
                At::Url(registered.find(&self.client, self.github()?, credential).await?)
            }
            Place::Files { files, .. } => {
                let entry = Entry::parse(rest).ok_or_else(malformed)?;
                At::File(registries::file_of(files, &entry, *versioned)?.to_owned())
            }
        };
        Ok(Found { at, registry: Some(Arc::new(registry)) })
    }

    fn github(&self) -> Result<&str, String> {
        let refused = || "templates from https://github.com are not allowed here".to_owned();
        self.github.as_deref().ok_or_else(refused)
    }

    async fn text(&self, found: &Found, bytes: &AtomicUsize) -> Result<Option<String>, String> {
        let text = match (&found.at, found.registry.as_ref().map(|registry| &registry.place)) {
            (At::File(name), Some(Place::Files { files, .. })) => files.get(name).cloned(),
            (At::File(_), _) => None,
            (At::Url(url), _) => {
                let form = if self.registered(url).is_some() { Form::Raw } else { Form::File };
                let text = self.client.get(url, form, found.credential()).await;
                text.map_err(|message| format!("{message} ({})", self.shown(found)))?
            }
        };
        let more = text.as_deref().map_or(0, str::len);
        if bytes.fetch_add(more, Ordering::Relaxed) + more > BYTES {
            return Err(format!("with it, files of more than {BYTES} bytes are fetched"));
        }
        Ok(text)
    }

    /// A relative path in a registry leads to nothing but files of that repository.
    fn stays(&self, from: &Uri, to: &Uri) -> bool {
        match (self.registered(from), self.registered(to)) {
            (Some(from), Some(to)) => from.0 == to.0 && !to.1.contains(['%', '?']),
            (Some(_), None) => from.authority() != to.authority(),
            (None, _) => true,
        }
    }

    /// Repository and path of a file in a registry.
    fn registered(&self, url: &Uri) -> Option<(String, String)> {
        let api = self.github.as_deref()?;
        let text = url.to_string();
        let (repository, path) = registry::contents(&text, api)?;
        Some((repository.to_owned(), path.to_owned()))
    }

    /// Where a file is, for people: a URL without a query, since its end says what language a template is in.
    fn shown(&self, found: &Found) -> String {
        let url = match &found.at {
            At::Url(url) => url,
            At::File(name) => {
                return match found.registry.as_ref().map(|registry| &registry.place) {
                    Some(Place::Files { shown, .. }) => format!("{shown}/{name}"),
                    _ => name.clone(),
                };
            }
        };
        if let Some((repository, path)) = self.registered(url) {
            return format!("{}{repository}/{path}", registry::PREFIX);
        }
        let text = url.to_string();
        text.split_once('?').map_or_else(|| text.clone(), |(text, _)| text.to_owned())
    }

    async fn in_time(
        &self,
        wanted: &[Wanted],
        registries: Option<&dyn Registries>,
    ) -> Result<Imports, FetchError> {
        let first = wanted.first().map_or("", |wanted| &wanted.name);
        let late =
            || failed(first, format!("fetching took longer than {} seconds", TIME.as_secs()));
        let collected = tokio::time::timeout(TIME, self.collect(wanted, registries)).await;
        collected.unwrap_or_else(|_| Err(late()))
    }
}

impl Fetch for Web {
    fn fetch<'a>(&'a self, wanted: &'a [Wanted]) -> Fetching<'a> {
        Box::pin(self.in_time(wanted, None))
    }
}

impl Fetch for Among<'_> {
    fn fetch<'a>(&'a self, wanted: &'a [Wanted]) -> Fetching<'a> {
        Box::pin(self.web.in_time(wanted, Some(self.registries)))
    }
}

fn failed(name: &str, message: impl AsRef<str>) -> FetchError {
    // It may quote a schema, a header or a status line of somebody else.
    FetchError { name: name.to_owned(), message: printable(message.as_ref(), MESSAGE).into_owned() }
}

#[cfg(test)]
mod tests;
