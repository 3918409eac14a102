//! The Registries of a namespace, as somebody may use them.
//!
//! Only Secrets of one type may be sent to a registry, and to a web server only one that names it: whoever writes a
//! Registry cannot have any other sent there by those who may read it.
//!
//! What a Registry refers to, a Secret or a ConfigMap, is read as whoever uses it. Errors name objects and never what is
//! in them.

mod requested;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use apiserver::options::Wanted;
use apiserver::status::Error;
use apiserver::store::Store;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use deployer::Cluster;
use deployer::types::Requester;
use expander::manager::{CREDENTIAL, PASSWORD, TOKEN, URL, USERNAME};
use expander::{Credential, Finding, Place, Registries, Registry, within};
use futures::future::BoxFuture;
use serde_json::Value;

use self::requested::Requested;
use crate::registry::kinds;
use crate::registry::registries::spec::{Reference, Spec};

/// The Registries of all namespaces, and the cluster that has what they refer to.
#[derive(Clone)]
pub(crate) struct Sources {
    store: Store,
    cluster: Arc<dyn Cluster>,
}

/// Registries, and whoever reads what they refer to.
pub(crate) struct Known<R> {
    all: Vec<Spec>,
    reader: R,
}

/// Reads objects of a namespace as somebody.
pub(crate) trait Reader: Send + Sync {
    /// An object; none, if it is not there.
    fn read<'a>(
        &'a self,
        kind: Kind,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Value>, Unread>>;
}

/// What a Registry may refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Secret,
    ConfigMap,
}

impl Kind {
    /// The resource, as in URLs.
    pub(crate) fn resource(self) -> &'static str {
        match self {
            Self::Secret => "secrets",
            Self::ConfigMap => "configmaps",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Secret => "Secret",
            Self::ConfigMap => "ConfigMap",
        })
    }
}

/// Why something cannot be read or used, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// Whoever wants it may not have it.
    Forbidden(String),
    /// It is not there, or not what it has to be, or it cannot be read now.
    Unusable(String),
}

impl Unread {
    fn map(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Forbidden(why) => Self::Forbidden(change(why)),
            Self::Unusable(why) => Self::Unusable(change(why)),
        }
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Forbidden(why) | Self::Unusable(why)) = self;
        f.write_str(why)
    }
}

impl Sources {
    /// Those that stand in `store`, with what they refer to in `cluster`.
    pub(crate) fn new(store: &Store, cluster: Arc<dyn Cluster>) -> Self {
        Self { store: store.clone(), cluster }
    }

    /// The cluster.
    pub(crate) fn cluster(&self) -> Arc<dyn Cluster> {
        self.cluster.clone()
    }

    /// The Registries of a namespace, as `requester` may use them. None, if it has none.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) async fn of<'a>(
        &'a self,
        namespace: &'a str,
        requester: &'a Requester,
    ) -> Result<Option<Known<Requested<'a>>>, Error> {
        let view = self.store.view(Wanted::Newest).await?;
        let definition = kinds::registry();
        let all = view.list(&definition, namespace)?;
        let all = all.map(|object| Spec::of(&object?).map_err(Error::internal));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        if all.is_empty() {
            return Ok(None);
        }
        Ok(Some(Known::new(all, Requested::new(&*self.cluster, namespace, requester))))
    }

    /// One Registry of a namespace, as `requester` may use it.
    pub(crate) fn one<'a>(
        &'a self,
        spec: Spec,
        namespace: &'a str,
        requester: &'a Requester,
    ) -> Known<Requested<'a>> {
        Known::new(vec![spec], Requested::new(&*self.cluster, namespace, requester))
    }
}

impl<R: Reader> Known<R> {
    /// These Registries.
    pub(crate) fn new(all: Vec<Spec>, reader: R) -> Self {
        Self { all, reader }
    }

    /// A Registry, with what it refers to.
    ///
    /// # Errors
    /// Why that cannot be had.
    pub(crate) async fn ready(&self, spec: &Spec) -> Result<Registry, Unread> {
        let place = match (&spec.config_map_ref, spec.kind.as_str()) {
            (Some(reference), _) => self.files(reference).await?,
            (None, "http") => {
                let (plain, credential) = (spec.is_plain(), self.credential(spec).await?);
                Place::Http { plain, credential }
            }
            (None, _) => Place::GitHub(self.credential(spec).await?),
        };
        Ok(Registry {
            prefix: spec.prefix().to_owned(),
            versioned: spec.is_versioned(),
            collections: spec.has_collections(),
            place,
        })
    }

    async fn files(&self, reference: &Reference) -> Result<Place, Unread> {
        let object = self.read(Kind::ConfigMap, &reference.name).await?;
        let text =
            |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
        let files: BTreeMap<_, _> =
            object["data"].as_object().into_iter().flatten().filter_map(text).collect();
        Ok(Place::Files { shown: format!("configmaps/{}", reference.name), files })
    }

    async fn credential(&self, spec: &Spec) -> Result<Option<Credential>, Unread> {
        let Some(reference) = &spec.credential_ref else { return Ok(None) };
        let object = self.read(Kind::Secret, &reference.name).await?;
        let name = &reference.name;
        if object["type"] != CREDENTIAL {
            let why = format!("Secret {name} of its registry is not of type {CREDENTIAL}");
            return Err(Unread::Unusable(why));
        }
        let value = |key: &str| {
            let bytes = STANDARD.decode(object["data"][key].as_str()?).ok()?;
            Some(String::from_utf8(bytes).ok()?.trim_end().to_owned())
        };
        match value(URL) {
            Some(url) if spec.is_for(&url) => {}
            Some(_) => {
                return Err(Unread::Unusable(format!(
                    "Secret {name} of its registry is for another url"
                )));
            }
            None if spec.kind == "http" => {
                let why = format!(
                    "Secret {name} of its registry has no url, which says where it may be sent"
                );
                return Err(Unread::Unusable(why));
            }
            None => {}
        }
        let credential = match reference.key.as_deref() {
            Some(key) => value(key).and_then(|token| Credential::token(&token)),
            None => match (value(TOKEN), value(USERNAME), value(PASSWORD)) {
                (Some(token), _, _) => Credential::token(&token),
                (None, Some(user), Some(password)) => Credential::basic(&user, &password),
                _ => None,
            },
        };
        let none =
            || Unread::Unusable(format!("Secret {name} of its registry holds no credential"));
        credential.map(Some).ok_or_else(none)
    }

    async fn read(&self, kind: Kind, name: &str) -> Result<Value, Unread> {
        let unread = |why: String| format!("{kind} {name} of its registry: {why}");
        let found = self.reader.read(kind, name).await.map_err(|error| error.map(unread))?;
        found.ok_or_else(|| Unread::Unusable(unread("it is not there".to_owned())))
    }
}

impl<R: Reader> Registries for Known<R> {
    fn of<'a>(&'a self, name: &'a str) -> Finding<'a> {
        Box::pin(async move {
            let fits = self.all.iter().filter(|spec| within(name, spec.prefix()).is_some());
            let Some(spec) = fits.max_by_key(|spec| spec.prefix().len()) else { return Ok(None) };
            self.ready(spec).await.map(Some).map_err(|why| why.to_string())
        })
    }
}

#[cfg(test)]
mod tests;
