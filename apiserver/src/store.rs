//! The life of stored objects, for every resource alike: Go's generic registry store.
//!
//! What a handler asks for is done here in the fixed order of the Kubernetes machinery, with the
//! resource's [`Strategy`] called at its places. A conflict with another writer is resolved by
//! reading again, as long as the client did not insist on a revision.

mod delete;
mod follow;
mod update;
mod view;

use std::sync::Arc;
use std::time::Duration;

use storage::{Cache, Entry, Expect, Key, Prefix};
use tokio::time::Instant;

use crate::admission::{Admission, Attributes, Operation};
use crate::environment::Environment;
use crate::meta::{self, Time};
use crate::names as syntax;
use crate::object::{Object, Stored};
use crate::options::Wanted;
use crate::resource::{Context, Definition, Resource, Strategy};
use crate::status::Error;

pub use delete::{Deleted, Preconditions, Propagation};
pub use follow::{Follower, ObjectKey};
pub use update::Revised;
pub use view::View;

/// How often another name is generated when one is taken.
const NAME_ATTEMPTS: usize = 8;
/// How often a write is tried that collides with others.
const WRITE_ATTEMPTS: usize = 32;
/// How long a read waits for a revision that is not there yet.
const FRESHNESS: Duration = Duration::from_secs(3);

/// The store of all resources.
#[derive(Clone)]
pub struct Store {
    cache: Arc<Cache>,
    environment: Arc<dyn Environment>,
    admission: Admission,
}

impl Store {
    /// A store before `cache`, into which everything is admitted.
    pub fn new(cache: Arc<Cache>, environment: Arc<dyn Environment>) -> Self {
        Self { cache, environment, admission: Admission::default() }
    }

    /// The same, with writes subject to `admission`.
    #[must_use]
    pub fn guarded_by(mut self, admission: Admission) -> Self {
        self.admission = admission;
        self
    }

    /// What lists and watches read from.
    pub fn cache(&self) -> &Arc<Cache> {
        &self.cache
    }

    /// Where the time comes from.
    pub fn environment(&self) -> &dyn Environment {
        self.environment.as_ref()
    }

    /// Asks admission about an object that is to be created, or answered without being stored.
    ///
    /// # Errors
    /// Why it may not be.
    pub async fn admit_create(
        &self,
        definition: &Definition,
        subresource: &str,
        cx: &Context<'_>,
        object: &Object,
    ) -> Result<(), Error> {
        let operation = Operation::Create;
        let object = Some(object);
        let attributes = Attributes { operation, definition, subresource, cx, object, old: None };
        self.admission.admit(&attributes).await
    }

    /// Reads one object at a revision not older than `wanted`.
    ///
    /// # Errors
    /// 404; 504 for a revision of the future.
    pub async fn get(
        &self,
        definition: &Definition,
        namespace: &str,
        name: &str,
        wanted: Wanted,
    ) -> Result<Entry, Error> {
        self.reach(wanted).await?;
        self.read(definition, namespace, name)
    }

    /// Waits until the cache has seen the revision that is wanted.
    ///
    /// # Errors
    /// 504 for a revision of the future.
    pub async fn reach(&self, wanted: Wanted) -> Result<(), Error> {
        match wanted {
            Wanted::Any => Ok(()),
            Wanted::Newest => self.cache.fresh(deadline()).await.map_err(storage_error),
            Wanted::At(revision) => {
                self.cache.wait_until(revision, deadline()).await.map_err(storage_error)
            }
        }
    }

    /// What the cache holds of one object.
    fn read(&self, definition: &Definition, namespace: &str, name: &str) -> Result<Entry, Error> {
        let missing = || Error::not_found(definition.resource(), name);
        let key = key(definition, namespace, name).ok_or_else(missing)?;
        self.cache.snapshot().get(&key).cloned().ok_or_else(missing)
    }

    /// Creates an object: system fields, name, the strategy's preparation, all validation, the write.
    ///
    /// # Errors
    /// 422 with every problem; 409 when the name is taken.
    pub async fn create(
        &self,
        resource: &Resource,
        cx: &Context<'_>,
        mut object: Object,
    ) -> Result<Object, Error> {
        let definition = &resource.definition;
        let strategy = stored(resource)?;
        if !matches!(object.meta.resource_version.as_str(), "" | "0")
            && object.meta.resource_version.bytes().all(|byte| byte.is_ascii_digit())
        {
            return Err(Error::bad_request(
                "resourceVersion should not be set on objects to be created",
            ));
        }
        object.meta.resource_version.clear();
        object.meta.creation_timestamp = Some(Time::at(cx.now));
        object.meta.uid = self.environment.uid();
        let generated = object.meta.name.is_empty() && !object.meta.generate_name.is_empty();
        resource.begin_status(&mut object);
        strategy.prepare_for_create(cx, &mut object);
        for _ in 0..NAME_ATTEMPTS {
            if generated {
                let suffix = self.environment.name_suffix(syntax::GENERATED_SUFFIX);
                object.meta.name = syntax::generate(&object.meta.generate_name, &suffix);
            }
            let mut errors = meta::validate_create(&object.meta, definition.is_namespaced());
            errors.extend(strategy.validate(&object));
            if !errors.is_empty() {
                return Err(Error::invalid(definition.subject(), &object.meta.name, &errors));
            }
            match self.insert(definition, cx, &mut object).await? {
                Inserted::Yes => return Ok(object),
                Inserted::Taken(_) if generated => {}
                Inserted::Taken(by) => return Err(taken(definition, &object.meta.name, by)),
            }
        }
        Err(Error::names_exhausted(definition.resource(), &object.meta.name))
    }

    async fn insert(
        &self,
        definition: &Definition,
        cx: &Context<'_>,
        object: &mut Object,
    ) -> Result<Inserted, Error> {
        let key = key(definition, &object.meta.namespace, &object.meta.name)
            .ok_or_else(|| Error::internal("a valid name is no key"))?;
        if cx.dry_run {
            self.reach(Wanted::Newest).await?;
            return Ok(match self.cache.snapshot().get(&key) {
                Some(holder) => Inserted::Taken(Some(holder.clone())),
                None => Inserted::Yes,
            });
        }
        match self.cache.put(&key, object.to_stored().into(), Expect::Absent).await {
            Ok(revision) => {
                object.meta.resource_version = revision.to_string();
                Ok(Inserted::Yes)
            }
            Err(storage::Error::Conflict { current }) => Ok(Inserted::Taken(current)),
            Err(error) => Err(storage_error(error)),
        }
    }
}

fn deadline() -> Instant {
    Instant::now() + FRESHNESS
}

enum Inserted {
    Yes,
    /// By whom, if that is known.
    Taken(Option<Entry>),
}

/// 409 for a name that is taken, in the words that tell a client whether to wait.
fn taken(definition: &Definition, name: &str, by: Option<Entry>) -> Error {
    let deleting = by.is_some_and(|entry| {
        let holder =
            Stored::new(&entry.value, entry.revision).and_then(|stored| stored.to_object());
        holder.is_ok_and(|object| object.meta.is_deleting())
    });
    if deleting {
        Error::still_deleting(definition.resource(), name)
    } else {
        Error::already_exists(definition.resource(), name)
    }
}

/// The rules of a resource that is stored.
fn stored(resource: &Resource) -> Result<&dyn Strategy, Error> {
    resource.strategy().ok_or_else(Error::method_not_allowed)
}

/// The key of an object; none if its names cannot be one.
pub(crate) fn key(definition: &Definition, namespace: &str, name: &str) -> Option<Key> {
    if name.is_empty() || name.contains('/') || namespace.contains('/') {
        return None;
    }
    Key::new(format!("{}{namespace}/{name}", definition.key_prefix())).ok()
}

/// The namespace and the name in the key of an object.
pub(crate) fn names(key: &Key) -> (&str, &str) {
    let mut segments = key.as_str().rsplit('/');
    let name = segments.next().unwrap_or_default();
    (segments.next().unwrap_or_default(), name)
}

/// The keys of all objects of a resource, or of those in one namespace.
pub(crate) fn prefix(definition: &Definition, namespace: &str) -> Result<Prefix, Error> {
    let prefix = match namespace {
        "" if definition.is_namespaced() => definition.key_prefix(),
        _ => format!("{}{namespace}/", definition.key_prefix()),
    };
    Prefix::new(prefix).map_err(Error::internal)
}

/// What a failure of the store means to a client.
pub(crate) fn storage_error(error: storage::Error) -> Error {
    match error {
        storage::Error::Future { requested, current } => {
            Error::revision_too_large(requested.get(), current.get())
        }
        storage::Error::Compacted { requested, oldest } => {
            Error::expired(format!("too old resource version: {requested} ({oldest})"))
        }
        storage::Error::Conflict { .. } => Error::internal("an unexpected conflict in the store"),
        storage::Error::Closed => Error::shutting_down(),
        storage::Error::Slow => Error::expired("the watch was too slow"),
        storage::Error::TooLarge => Error::too_large_to_store(),
        storage::Error::Unavailable { .. } => Error::storage_unavailable(error),
        storage::Error::Corrupt(_) => Error::internal(error),
    }
}
