//! Templates from elsewhere, each with its schema and with what that imports.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use expansion::imports::{Declared, declared};
use expansion::{Import, Imports, Wanted, printable};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use rustls::pki_types::CertificateDer;

use super::client::Client;
use super::counted::Counted;
use super::entry::Entry;
use super::hosts::Hosts;
use super::offered::Offered;
use super::places::{self, File, GitHub, Opened, PREFIX};
use super::registries::{self, Registries, Registry};
use super::{Fetch, FetchError, Fetching, url};

/// How many files may be fetched at once, which is Deployment Manager's limit.
const FILES: usize = 100;
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
struct Item {
    /// Under which name it is imported.
    name: String,
    source: Source,
}

#[derive(Clone, PartialEq)]
enum Source {
    /// A type of a registry, or a URL.
    Type(String),
    File(File),
}

/// One collection of files: what is known while it goes on.
struct Collecting<'a> {
    web: &'a Web,
    client: Counted<'a>,
    registries: Option<&'a dyn Registries>,
    /// Registries that were asked, by prefix: what one has said once counts for all of it.
    opened: Mutex<BTreeMap<String, Opened>>,
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

    /// All templates of a registry, in the order of their collections, names and versions.
    ///
    /// # Errors
    /// One sentence: when the registry cannot be asked, does not list all it has, or takes longer than a minute.
    pub async fn offered(&self, registry: &Registry) -> Result<Vec<Offered>, String> {
        let asking = Collecting::new(self, None);
        let collections = registry.collections;
        let all = async {
            let opened = asking.open(registry.clone())?;
            opened.offered(&asking.client, collections).await
        };
        let all = in_time(all).await.flatten().map_err(sentence)?;
        Ok(all.into_iter().filter(|it| collections || it.collection.is_none()).collect())
    }

    /// Where the files of one template are, for people: the template's and, if there is one, its schema's. `rest` is what a
    /// type says behind the registry's prefix, `[COLLECTION/]TEMPLATE[:VERSION]`.
    ///
    /// # Errors
    /// One sentence: when there is no such template, or as [`Web::offered`].
    pub async fn located(&self, registry: &Registry, rest: &str) -> Result<Vec<String>, String> {
        let asking = Collecting::new(self, None);
        let all = async {
            let file = asking.find_in(rest, registry.clone()).await?;
            let mut all = vec![file.shown()];
            if let Some(schema) = file.schema()
                && asking.text(&schema).await?.is_some()
            {
                all.push(schema.shown());
            }
            Ok(all)
        };
        in_time(all).await.flatten().map_err(sentence)
    }

    fn github(&self) -> Result<&str, String> {
        let refused = || "templates from https://github.com are not allowed here".to_owned();
        self.github.as_deref().ok_or_else(refused)
    }

    async fn fetched(
        &self,
        wanted: &[Wanted],
        registries: Option<&dyn Registries>,
    ) -> Result<Imports, FetchError> {
        let first = wanted.first().map_or("", |wanted| &wanted.name);
        let collected = in_time(Collecting::new(self, registries).collect(wanted)).await;
        collected.unwrap_or_else(|late| Err(failed(first, late)))
    }
}

impl<'a> Collecting<'a> {
    fn new(web: &'a Web, registries: Option<&'a dyn Registries>) -> Self {
        let client = Counted::new(&web.client);
        Self { web, client, registries, opened: Mutex::default() }
    }

    async fn collect(&self, wanted: &[Wanted]) -> Result<Imports, FetchError> {
        let item = |Wanted { name }: &Wanted| Item {
            name: name.clone(),
            source: Source::Type(name.clone()),
        };
        let mut next: Vec<Item> = wanted.iter().map(item).collect();
        let mut known: BTreeMap<String, Source> = BTreeMap::new();
        let mut imports = Imports::new();
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
            let brought = stream::iter(new).map(|item| self.bring(item)).buffered(AT_ONCE);
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
    async fn bring(&self, item: Item) -> Result<(Imports, Vec<Item>), FetchError> {
        let Item { name, source } = item;
        let wrong = |message| failed(&name, message);
        let file = match source {
            Source::File(file) => file,
            Source::Type(kind) => self.find(&kind).await.map_err(wrong)?,
        };
        let mut imports = Imports::new();
        let path = file.shown();
        let content = self.text(&file).await.map_err(wrong)?;
        let content = content
            .ok_or_else(|| wrong(format!("Received status code 404 attempting to fetch {path}")))?;
        imports.insert(name.clone(), Import { path, content: content.into() });
        let beside = file.schema().filter(|_| file.is_template());
        let Some(beside) = beside else { return Ok((imports, Vec::new())) };
        let schema_name = format!("{name}.schema");
        let wrong = |message| failed(&schema_name, message);
        let Some(schema) = self.text(&beside).await.map_err(wrong)? else {
            return Ok((imports, Vec::new()));
        };
        let needed = declared(&schema)
            .into_iter()
            .map(|import| self.needed(&file, import?))
            .collect::<Result<_, _>>()
            .map_err(wrong)?;
        let import = Import { path: beside.shown(), content: schema.into() };
        imports.insert(schema_name.clone(), import);
        Ok((imports, needed))
    }

    /// A file that the schema of another one imports.
    fn needed(&self, by: &File, import: Declared) -> Result<Item, String> {
        let Declared { path, name, line } = import;
        if path.contains(['*', '[']) {
            return Err(format!("{line}: {path} is a pattern, and folders cannot be fetched"));
        }
        let name = name.unwrap_or_else(|| path.clone());
        if path.starts_with(PREFIX) {
            return Ok(Item { name, source: Source::Type(path) });
        }
        let leads = by.import(&path);
        let leads =
            leads.ok_or_else(|| format!("{line}: {path} is no path from {}", by.shown()))?;
        let source = match leads {
            places::Import::Own(file) => Source::File(file),
            places::Import::Url(url) => Source::File(File::at(url, self.web.github.as_deref())),
            places::Import::Type(kind) => Source::Type(kind),
        };
        Ok(Item { name, source })
    }

    /// Where a type is found.
    async fn find(&self, kind: &str) -> Result<File, String> {
        let registry = match self.registries {
            Some(registries) => registries.of(kind).await?,
            None => None,
        };
        if let Some(registry) = registry {
            let rest = registries::within(kind, &registry.prefix).unwrap_or_default();
            return self.find_in(rest, registry).await;
        }
        if kind.starts_with(PREFIX) {
            let (registry, entry) = GitHub::of_type(self.web.github()?, kind)?;
            return Opened::GitHub(Arc::new(registry)).find(&self.client, &entry).await;
        }
        if kind.starts_with("gs://") {
            return Err("what is in gs:// are packages of objects and no templates".to_owned());
        }
        let url = url::absolute(kind).ok_or("is no URL of a file")?;
        Ok(File::at(url, self.web.github.as_deref()))
    }

    async fn find_in(&self, rest: &str, registry: Registry) -> Result<File, String> {
        let prefix = &registry.prefix;
        let malformed = || format!("is not {prefix}/[COLLECTION/]TEMPLATE[:VERSION]");
        let entry = Entry::parse(rest).ok_or_else(malformed)?;
        if entry.collection.is_some() && !registry.collections {
            return Err("its registry has no collections".to_owned());
        }
        self.open(registry)?.find(&self.client, &entry).await
    }

    fn open(&self, registry: Registry) -> Result<Opened, String> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = opened.get(&registry.prefix) {
            return Ok(before.clone());
        }
        let prefix = registry.prefix.clone();
        let new = Opened::of(registry, self.web.github())?;
        opened.insert(prefix, new.clone());
        Ok(new)
    }

    async fn text(&self, file: &File) -> Result<Option<String>, String> {
        let text = file.text(&self.client).await;
        text.map_err(|message| format!("{message} ({})", file.shown()))
    }
}

/// What comes of work that may not take long, or that it did.
async fn in_time<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let late = |_| format!("fetching took longer than {} seconds", TIME.as_secs());
    tokio::time::timeout(TIME, work).await.map_err(late)
}

impl Fetch for Web {
    fn fetch<'a>(&'a self, wanted: &'a [Wanted]) -> Fetching<'a> {
        Box::pin(self.fetched(wanted, None))
    }
}

impl Fetch for Among<'_> {
    fn fetch<'a>(&'a self, wanted: &'a [Wanted]) -> Fetching<'a> {
        Box::pin(self.web.fetched(wanted, Some(self.registries)))
    }
}

fn failed(name: &str, message: impl AsRef<str>) -> FetchError {
    FetchError { name: name.to_owned(), message: sentence(message) }
}

/// A message that may quote a schema, a header or a status line of somebody else.
fn sentence(message: impl AsRef<str>) -> String {
    printable(message.as_ref(), MESSAGE).into_owned()
}

#[cfg(test)]
mod tests;
