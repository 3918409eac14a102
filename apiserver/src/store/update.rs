//! Changing a stored object under optimistic concurrency.

use storage::{Entry, Expect};

use super::{Store, WRITE_ATTEMPTS, key, storage_error, stored};
use crate::admission::{Attributes, Operation};
use crate::field;
use crate::managers;
use crate::meta::{self, ObjectMeta};
use crate::object::{Object, Stored};
use crate::options::{Wanted, parse_uint};
use crate::resource::{Context, Definition, Part, Resource, Strategy};
use crate::status::Error;

/// What an update is to make of an object.
pub struct Revised {
    /// The new object; its resourceVersion is the one that the client insists on, or the old one.
    pub object: Object,
    /// Whether a uid that differs is a broken precondition (PUT) rather than a forbidden change (PATCH).
    pub uid_is_precondition: bool,
}

impl Store {
    /// Replaces a part of an object by what `revise` makes of it.
    ///
    /// `revise` is called again with a newer object when another writer came first.
    ///
    /// # Errors
    /// 404; 409 for a stale resourceVersion; 422 with every problem; whatever `revise` answers.
    pub async fn update(
        &self,
        resource: &Resource,
        part: Part,
        cx: &Context<'_>,
        mut revise: impl FnMut(&Object) -> Result<Revised, Error>,
    ) -> Result<Object, Error> {
        let definition = &resource.definition;
        for _ in 0..WRITE_ATTEMPTS {
            let entry = self.get(definition, cx.namespace, cx.name, Wanted::Newest).await?;
            let old = Stored::new(&entry.value, entry.revision)?.to_object()?;
            let revised = revise(&old)?;
            let attributes = Attributes {
                operation: Operation::Update,
                definition,
                subresource: part.subresource(),
                cx,
                object: Some(&revised.object),
                old: Some(&old),
            };
            self.admission.admit(&attributes).await?;
            let object = settle(resource, part, cx, revised, &old)?;
            if let Some(object) = self.replace(definition, cx, object, &old, &entry).await? {
                return Ok(object);
            }
        }
        Err(Error::modified(definition.resource(), cx.name))
    }

    /// Changes a part of an object as a controller of the server's own does, in the name of `manager`.
    ///
    /// `change` is called again with a newer object when another writer came first; who wants to be
    /// refused instead sets the resourceVersion that it has seen. A change that changes nothing is
    /// no write, and one that takes the last finalizer off an object that is marked removes it.
    ///
    /// # Errors
    /// Those of [`Store::update`]; whatever `change` answers.
    pub async fn change(
        &self,
        resource: &Resource,
        part: Part,
        cx: &Context<'_>,
        manager: &str,
        mut change: impl FnMut(&mut Object) -> Result<(), Error>,
    ) -> Result<Object, Error> {
        let revise = |old: &Object| {
            let mut object = old.clone();
            change(&mut object)?;
            managers::record(resource, part, Some(old), &mut object, manager, cx.now);
            Ok(Revised { object, uid_is_precondition: true })
        };
        self.update(resource, part, cx, revise).await
    }

    /// Writes `object` over `old`. None, when another writer came first.
    async fn replace(
        &self,
        definition: &Definition,
        cx: &Context<'_>,
        mut object: Object,
        old: &Object,
        entry: &Entry,
    ) -> Result<Option<Object>, Error> {
        managers::settle_times(&mut object, old);
        object.meta.resource_version.clear();
        let value = object.to_stored();
        object.meta.resource_version.clone_from(&old.meta.resource_version);
        // A write that changes nothing takes no revision and wakes no watcher.
        if value == entry.value || cx.dry_run {
            return Ok(Some(object));
        }
        let key = key(definition, cx.namespace, cx.name)
            .ok_or_else(|| Error::not_found(definition.resource(), cx.name))?;
        let released = object.meta.is_deleting() && object.meta.finalizers.is_empty();
        let written = if released {
            self.cache().delete(&key, entry.revision).await.map(|_| None)
        } else {
            let expect = Expect::Revision(entry.revision);
            self.cache().put(&key, value.into(), expect).await.map(Some)
        };
        match written {
            Ok(Some(revision)) => {
                object.meta.resource_version = revision.to_string();
                Ok(Some(object))
            }
            // The last finalizer is gone, and with it the object, in the state that was never stored.
            Ok(None) => Ok(Some(object)),
            Err(storage::Error::Conflict { .. }) => Ok(None),
            Err(error) => Err(storage_error(error)),
        }
    }
}

/// Checks the client's presumptions, restores what it may not change, and validates.
fn settle(
    resource: &Resource,
    part: Part,
    cx: &Context<'_>,
    revised: Revised,
    old: &Object,
) -> Result<Object, Error> {
    let (definition, strategy) = (&resource.definition, stored(resource)?);
    let Revised { mut object, uid_is_precondition } = revised;
    check_uid(definition, cx, &object.meta, &old.meta, uid_is_precondition)?;
    check_revision(definition, strategy, cx, &object.meta, &old.meta)?;
    inherit(&mut object.meta, &old.meta);
    resource.restore(part, &mut object, old);
    if part == Part::Main {
        strategy.prepare_for_update(cx, &mut object, old);
        resource.count_change(&mut object, old);
    }
    let mut errors = meta::validate_update(&object.meta, &old.meta);
    errors.extend(match part {
        Part::Main => strategy.validate_update(&object, old),
        Part::Status => strategy.validate_status(&object, old),
    });
    if errors.is_empty() {
        Ok(object)
    } else {
        Err(Error::invalid(definition.subject(), cx.name, &errors))
    }
}

fn check_uid(
    definition: &Definition,
    cx: &Context<'_>,
    new: &ObjectMeta,
    old: &ObjectMeta,
    is_precondition: bool,
) -> Result<(), Error> {
    if !is_precondition || new.uid.is_empty() || new.uid == old.uid {
        return Ok(());
    }
    let why = format!(
        "Precondition failed: UID in precondition: {}, UID in object meta: {}",
        new.uid, old.uid
    );
    Err(Error::conflict(definition.resource(), cx.name, &why))
}

fn check_revision(
    definition: &Definition,
    strategy: &dyn Strategy,
    cx: &Context<'_>,
    new: &ObjectMeta,
    old: &ObjectMeta,
) -> Result<(), Error> {
    let stated = match new.resource_version.as_str() {
        "" => 0,
        text => parse_uint(text).map_err(|why| {
            let text = field::quote(text);
            Error::bad_request(format!("strconv.ParseUint: parsing {text}: {why}"))
        })?,
    };
    if stated == 0 {
        if strategy.allow_unconditional_update() {
            return Ok(());
        }
        let error = field::Error::invalid(
            "metadata.resourceVersion",
            "0",
            "must be specified for an update",
        );
        return Err(Error::invalid(definition.resource(), cx.name, &[error]));
    }
    if stated.to_string() == old.resource_version {
        Ok(())
    } else {
        Err(Error::modified(definition.resource(), cx.name))
    }
}

/// Carries over what no client changes, and what a client may leave out.
fn inherit(new: &mut ObjectMeta, old: &ObjectMeta) {
    new.generation = old.generation;
    new.creation_timestamp = old.creation_timestamp;
    if new.uid.is_empty() {
        new.uid.clone_from(&old.uid);
    }
    if new.deletion_timestamp.is_none() {
        new.deletion_timestamp = old.deletion_timestamp;
    }
    if new.deletion_grace_period_seconds.is_none() {
        new.deletion_grace_period_seconds = old.deletion_grace_period_seconds;
    }
}
