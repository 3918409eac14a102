//! Deleting an object: at once, or by marking it for those who hold it by a finalizer.

use storage::Expect;

use super::{Store, WRITE_ATTEMPTS, key, storage_error, stored};
use crate::admission::{Attributes, Operation};
use crate::meta::{FINALIZER_FOREGROUND, FINALIZER_ORPHAN, ObjectMeta, Time};
use crate::object::{Object, Stored};
use crate::options::Wanted;
use crate::resource::{Context, Definition, Resource};
use crate::status::Error;

/// What must be true of an object for it to be deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// Its uid.
    pub uid: Option<String>,
    /// Its resourceVersion.
    pub resource_version: Option<String>,
}

/// What becomes of the objects that this one owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Propagation {
    /// What the finalizers say that the object has already; without any, they go afterwards.
    #[default]
    Unset,
    /// They stay, without an owner.
    Orphan,
    /// They go afterwards.
    Background,
    /// They go first.
    Foreground,
}

/// The outcome of a deletion.
#[derive(Debug)]
pub struct Deleted {
    /// The object as it was removed, or as it stays until its finalizers are done.
    pub object: Object,
    /// Whether it is gone.
    pub gone: bool,
}

impl Store {
    /// Deletes an object.
    ///
    /// # Errors
    /// 404; 409 for a precondition that does not hold.
    pub async fn delete(
        &self,
        resource: &Resource,
        cx: &Context<'_>,
        preconditions: &Preconditions,
        propagation: Propagation,
    ) -> Result<Deleted, Error> {
        let definition = &resource.definition;
        let strategy = stored(resource)?;
        let propagation = match resource.waits_for_collector() {
            true => propagation,
            false => Propagation::Background,
        };
        for _ in 0..WRITE_ATTEMPTS {
            let entry = self.get(definition, cx.namespace, cx.name, Wanted::Newest).await?;
            let mut object = Stored::new(&entry.value, entry.revision)?.to_object()?;
            preconditions.check(definition, cx.name, &object.meta)?;
            let attributes = Attributes {
                operation: Operation::Delete,
                definition,
                subresource: "",
                cx,
                object: None,
                old: Some(&object),
            };
            self.admission.admit(&attributes).await?;
            let finalizers = finalizers_after(&object.meta, propagation);
            let gone = finalizers.is_empty();
            if !gone {
                let old = object.clone();
                mark(&mut object.meta, finalizers, Time::at(cx.now));
                strategy.prepare_for_delete(cx, &mut object);
                // A first mark has counted, whatever else is noted with it.
                if old.meta.is_deleting() {
                    resource.count_change(&mut object, &old);
                }
            }
            if cx.dry_run {
                return Ok(Deleted { object, gone });
            }
            let key = key(definition, cx.namespace, cx.name)
                .ok_or_else(|| Error::not_found(definition.resource(), cx.name))?;
            let written = if gone {
                self.cache().delete(&key, entry.revision).await
            } else {
                let value = object.to_stored();
                if value == entry.value {
                    return Ok(Deleted { object, gone });
                }
                self.cache().put(&key, value.into(), Expect::Revision(entry.revision)).await
            };
            match written {
                Ok(revision) => {
                    object.meta.resource_version = revision.to_string();
                    return Ok(Deleted { object, gone });
                }
                Err(storage::Error::Conflict { .. }) => {}
                Err(error) => return Err(storage_error(error)),
            }
        }
        Err(Error::modified(definition.resource(), cx.name))
    }
}

impl Preconditions {
    fn check(&self, definition: &Definition, name: &str, meta: &ObjectMeta) -> Result<(), Error> {
        let facts = [
            ("UID", &self.uid, &meta.uid, "deleted and then recreated"),
            ("ResourceVersion", &self.resource_version, &meta.resource_version, "modified"),
        ];
        for (what, stated, actual, how) in facts {
            if let Some(stated) = stated.as_ref().filter(|stated| *stated != actual) {
                let why = format!(
                    "the {what} in the precondition ({stated}) does not match the {what} in record ({actual}). The object might have been {how}"
                );
                return Err(Error::conflict(definition.subject(), name, &why));
            }
        }
        Ok(())
    }
}

/// The finalizers that a deletion leaves: those of others, and the garbage collector's as asked for.
fn finalizers_after(meta: &ObjectMeta, propagation: Propagation) -> Vec<String> {
    let has = |finalizer: &str| meta.finalizers.iter().any(|present| present == finalizer);
    let (orphan, foreground) = match propagation {
        Propagation::Unset => (has(FINALIZER_ORPHAN), has(FINALIZER_FOREGROUND)),
        Propagation::Orphan => (true, false),
        Propagation::Background => (false, false),
        Propagation::Foreground => (false, true),
    };
    if orphan == has(FINALIZER_ORPHAN) && foreground == has(FINALIZER_FOREGROUND) {
        return meta.finalizers.clone();
    }
    let others = meta
        .finalizers
        .iter()
        .filter(|finalizer| !matches!(finalizer.as_str(), FINALIZER_ORPHAN | FINALIZER_FOREGROUND))
        .cloned();
    let asked = [(orphan, FINALIZER_ORPHAN), (foreground, FINALIZER_FOREGROUND)];
    let asked = asked.iter().filter(|(wanted, _)| *wanted).map(|(_, name)| (*name).to_owned());
    others.chain(asked).collect()
}

/// Notes that the object is to go, unless that is no news.
fn mark(meta: &mut ObjectMeta, finalizers: Vec<String>, now: Time) {
    meta.finalizers = finalizers;
    if meta.is_deleting() {
        return;
    }
    meta.deletion_timestamp = Some(now);
    meta.deletion_grace_period_seconds = Some(0);
    if meta.generation > 0 {
        meta.generation += 1;
    }
}

#[cfg(test)]
mod tests;
