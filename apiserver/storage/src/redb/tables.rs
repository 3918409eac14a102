//! The layout of the file.

use std::sync::Arc;

use bytes::Bytes;
use redb::{Error, ReadableTable, Table, TableDefinition};

use crate::{Change, Entry, Event, Key, Revision};

/// The format that this code reads and writes. A change that older code would misread takes the next number.
pub(super) const FORMAT: u64 = 1;

/// Key → revision of its last change, value.
pub(super) const OBJECTS: TableDefinition<&str, Object<'static>> = TableDefinition::new("objects");

/// Revision → what happened at it. Holds all of the history that is not compacted, and perhaps some that is.
pub(super) const LOG: TableDefinition<u64, Happened<'static>> = TableDefinition::new("log");

/// Name → number; the names are below.
pub(super) const META: TableDefinition<&str, u64> = TableDefinition::new("meta");

pub(super) const META_FORMAT: &str = "format";
const META_REVISION: &str = "revision";
const META_COMPACTED: &str = "compacted";

/// Revision, value.
pub(super) type Object<'a> = (u64, &'a [u8]);

/// Key, new value (none when deleted), previous object (none when created).
pub(super) type Happened<'a> = (&'a str, Option<&'a [u8]>, Option<Object<'a>>);

/// Where the history stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    /// The newest change.
    pub(super) revision: Revision,
    /// The oldest revision that can be listed and watched from.
    pub(super) compacted: Revision,
}

impl Marks {
    /// Of a store that was never written to.
    pub(super) const FRESH: Marks =
        Marks { revision: Revision::INITIAL, compacted: Revision::INITIAL };

    /// Refuses revisions of which there is no history.
    pub(super) fn know(self, requested: Revision) -> crate::Result<()> {
        if requested > self.revision {
            return Err(crate::Error::Future { requested, current: self.revision });
        }
        if requested < self.compacted {
            return Err(crate::Error::Compacted { requested, oldest: self.compacted });
        }
        Ok(())
    }

    pub(super) fn read(meta: &impl ReadableTable<&'static str, u64>) -> Result<Self, Error> {
        let read = |name| match meta.get(name)? {
            Some(number) => Ok(Revision::new(number.value())),
            None => Err(Error::Corrupted(format!("the mark {name:?} is missing"))),
        };
        Ok(Self { revision: read(META_REVISION)?, compacted: read(META_COMPACTED)? })
    }

    pub(super) fn write(self, meta: &mut Table<&'static str, u64>) -> Result<(), Error> {
        meta.insert(META_REVISION, self.revision.get())?;
        meta.insert(META_COMPACTED, self.compacted.get())?;
        Ok(())
    }
}

/// The entry in a row of `OBJECTS`.
pub(super) fn entry(key: Key, (revision, value): Object<'_>) -> Entry {
    Entry { key, value: Bytes::copy_from_slice(value), revision: Revision::new(revision) }
}

/// The event in a row of `LOG`.
pub(super) fn event(
    revision: u64,
    (name, value, previous): Happened<'_>,
) -> Result<Arc<Event>, Error> {
    let key = key(name)?;
    let change = value.map_or(Change::Delete, |value| Change::Put(Bytes::copy_from_slice(value)));
    let previous = previous.map(|object| entry(key.clone(), object));
    Ok(Arc::new(Event::new(Revision::new(revision), key, change, previous)))
}

/// The key of a row.
pub(super) fn key(name: &str) -> Result<Key, Error> {
    Key::new(name).map_err(|error| Error::Corrupted(error.to_string()))
}
