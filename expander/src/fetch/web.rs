//! Templates from elsewhere, each with its schema and with what that imports.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use expansion::imports::{Declared, declared};
use expansion::{Import, Imports, Wanted, printable};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use http::Uri;
use rustls::pki_types::CertificateDer;

use super::client::{Client, Form};
use super::hosts::Hosts;
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

/// A file that is to be fetched.
#[derive(Clone, Debug)]
struct Item {
    /// Under which name it is imported.
    name: String,
    source: Source,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    Url(Uri),
    Registry(String),
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

    async fn collect(&self, wanted: &[Wanted]) -> Result<Imports, FetchError> {
        let item = |wanted: &Wanted| {
            let source = source(&wanted.name).map_err(|message| failed(&wanted.name, message))?;
            Ok(Item { name: wanted.name.clone(), source })
        };
        let mut next: Vec<Item> = wanted.iter().map(item).collect::<Result<_, _>>()?;
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
            let brought = stream::iter(new).map(|item| self.bring(item, &bytes)).buffered(AT_ONCE);
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
        bytes: &AtomicUsize,
    ) -> Result<(Imports, Vec<Item>), FetchError> {
        let Item { name, source } = item;
        let wrong = |message| failed(&name, message);
        let url = match &source {
            Source::Url(url) => url.clone(),
            Source::Registry(_) => self.find(&source).await.map_err(wrong)?,
        };
        let mut imports = Imports::new();
        let shown = self.shown(&url);
        let content = self.text(&url, bytes).await.map_err(wrong)?;
        let content = content.ok_or_else(|| {
            wrong(format!("Received status code 404 attempting to fetch {shown}"))
        })?;
        let is_template = [".py", ".jinja"].iter().any(|suffix| url.path().ends_with(suffix));
        imports.insert(name.clone(), Import { path: shown, content: content.into() });
        let beside = url::schema(&url).filter(|_| is_template);
        let Some(beside) = beside else { return Ok((imports, Vec::new())) };
        let schema_name = format!("{name}.schema");
        let wrong = |message| failed(&schema_name, message);
        let Some(schema) = self.text(&beside, bytes).await.map_err(wrong)? else {
            return Ok((imports, Vec::new()));
        };
        let needed = declared(&schema)
            .into_iter()
            .map(|import| self.needed(&url, import?))
            .collect::<Result<_, _>>()
            .map_err(wrong)?;
        let import = Import { path: self.shown(&beside), content: schema.into() };
        imports.insert(schema_name.clone(), import);
        Ok((imports, needed))
    }

    /// A file that the schema beside `url` imports.
    fn needed(&self, url: &Uri, import: Declared) -> Result<Item, String> {
        let Declared { path, name, line } = import;
        if path.contains(['*', '[']) {
            return Err(format!("{line}: {path} is a pattern, and folders cannot be fetched"));
        }
        let name = name.unwrap_or_else(|| path.clone());
        if path.starts_with(registry::PREFIX) {
            return Ok(Item { name, source: Source::Registry(path) });
        }
        let joined = url::join(url, &path).filter(|joined| self.stays(url, joined));
        let joined =
            joined.ok_or_else(|| format!("{line}: {path} is no path from {}", self.shown(url)))?;
        Ok(Item { name, source: Source::Url(joined) })
    }

    async fn find(&self, source: &Source) -> Result<Uri, String> {
        let Source::Registry(name) = source else { return Err("is in no registry".to_owned()) };
        let registered = Registered::parse(name)?;
        match &self.github {
            Some(api) => registered.find(&self.client, api).await,
            None => Err("templates from https://github.com are not allowed here".to_owned()),
        }
    }

    async fn text(&self, url: &Uri, bytes: &AtomicUsize) -> Result<Option<String>, String> {
        let form = if self.registered(url).is_some() { Form::Raw } else { Form::File };
        let text = self.client.get(url, form).await;
        let text = text.map_err(|message| format!("{message} ({})", self.shown(url)))?;
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

    /// A URL for people; one without a query, since its end says what language a template is in.
    fn shown(&self, url: &Uri) -> String {
        if let Some((repository, path)) = self.registered(url) {
            return format!("{}{repository}/{path}", registry::PREFIX);
        }
        let text = url.to_string();
        text.split_once('?').map_or_else(|| text.clone(), |(text, _)| text.to_owned())
    }
}

impl Fetch for Web {
    fn fetch<'a>(&'a self, wanted: &'a [Wanted]) -> Fetching<'a> {
        Box::pin(async move {
            let first = wanted.first().map_or("", |wanted| &wanted.name);
            let late =
                || failed(first, format!("fetching took longer than {} seconds", TIME.as_secs()));
            tokio::time::timeout(TIME, self.collect(wanted)).await.unwrap_or_else(|_| Err(late()))
        })
    }
}

/// Where a type is found.
fn source(name: &str) -> Result<Source, String> {
    if name.starts_with(registry::PREFIX) {
        return Ok(Source::Registry(name.to_owned()));
    }
    if name.starts_with("gs://") {
        return Err("what is in gs:// are packages of objects and no templates".to_owned());
    }
    url::absolute(name).map(Source::Url).ok_or_else(|| "is no URL of a file".to_owned())
}

fn failed(name: &str, message: impl AsRef<str>) -> FetchError {
    // It may quote a schema, a header or a status line of somebody else.
    FetchError { name: name.to_owned(), message: printable(message.as_ref(), MESSAGE).into_owned() }
}

#[cfg(test)]
mod tests;
