//! Looks for damage in a store that nobody has open.

use std::collections::BTreeMap;
use std::path::Path;

use redb::{Error, ReadTransaction, ReadableTable, ReadableTableMetadata};

use super::open::{self, OpenError, Options};
use super::read;
use super::tables::{self, Happened, LOG, Marks, OBJECTS, Object};
use crate::{Key, Revision};

/// What a sound store holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents {
    /// How many entries.
    pub entries: u64,
    /// How many events of its history.
    pub events: u64,
    /// Its newest revision.
    pub revision: Revision,
    /// The oldest revision that can be listed and watched from.
    pub oldest: Revision,
}

/// Verifies the checksums of the whole file in `directory`, and that entries and history agree. Blocks.
///
/// A damaged file may be put back to its last sound commit by this, and is reported as damaged; copy it first.
///
/// # Errors
/// `Damaged` says what is wrong. The others as when it is opened.
pub fn check(directory: &Path) -> Result<Contents, OpenError> {
    let (disk, _) = open::open(directory, &Options::default())?;
    let sound = disk.verify().and_then(|()| contents(&disk.begin_read()?));
    sound.map_err(|error| OpenError::Damaged {
        directory: directory.into(),
        damage: error.to_string(),
    })
}

/// Whether the history, as far as it is kept, leads to the entries.
pub(super) fn contents(txn: &ReadTransaction) -> Result<Contents, Error> {
    let marks = read::marks(txn)?;
    let (objects, log) = (txn.open_table(OBJECTS)?, txn.open_table(LOG)?);
    // By key, what the history says last: the revision, and whether something is there.
    let mut last: BTreeMap<Key, (u64, bool)> = BTreeMap::new();
    for row in log.range(marks.compacted.next().get()..)? {
        let (revision, happened) = row?;
        follows(&mut last, revision.value(), happened.value())?;
    }
    for row in objects.iter()? {
        let (name, object) = row?;
        let stands = stands(marks, last.remove(&tables::key(name.value())?), object.value());
        ensure(stands, || format!("the entry {} is not the one of the history", name.value()))?;
    }
    let missing = last.iter().find(|(_, (_, there))| *there);
    ensure(missing.is_none(), || format!("an entry of the history is missing: {missing:?}"))?;
    let (entries, events) = (objects.len()?, log.len()?);
    Ok(Contents { entries, events, revision: marks.revision, oldest: marks.compacted })
}

fn follows(
    last: &mut BTreeMap<Key, (u64, bool)>,
    revision: u64,
    (name, value, previous): Happened<'_>,
) -> Result<(), Error> {
    let before = last.insert(tables::key(name)?, (revision, value.is_some()));
    let follows = match (before, previous) {
        // The first event of a key in what is left of the history.
        (None, _) => true,
        (Some((before, there)), Some((previous, _))) => there && before == previous,
        (Some((_, there)), None) => !there,
    };
    ensure(follows, || format!("the event {revision} of {name} does not follow the one before"))
}

fn stands(marks: Marks, last: Option<(u64, bool)>, (revision, _): Object<'_>) -> bool {
    match last {
        Some((last, there)) => there && last == revision,
        None => Revision::new(revision) <= marks.compacted,
    }
}

fn ensure(sound: bool, damage: impl FnOnce() -> String) -> Result<(), Error> {
    if sound { Ok(()) } else { Err(Error::Corrupted(damage())) }
}
