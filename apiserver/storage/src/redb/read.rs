//! Reads, each from one transaction's view of the file.

use std::collections::BTreeMap;

use redb::{Error, ReadTransaction};

use super::tables::{self, LOG, META, Marks, OBJECTS};
use crate::{Batch, Entry, Key, List, Prefix, Result as Outcome, Revision};

/// How many events a watch hands over at once, and at how many bytes it stops sooner.
pub(super) const PAGE: (usize, usize) = (512, 4 << 20);

pub(super) fn marks(txn: &ReadTransaction) -> Result<Marks, Error> {
    Marks::read(&txn.open_table(META)?)
}

pub(super) fn get(txn: &ReadTransaction, key: &Key) -> Result<Option<Entry>, Error> {
    let objects = txn.open_table(OBJECTS)?;
    let object = objects.get(key.as_str())?;
    Ok(object.map(|object| tables::entry(key.clone(), object.value())))
}

pub(super) fn list(
    txn: &ReadTransaction,
    prefix: &Prefix,
    at: Option<Revision>,
) -> Result<Outcome<List>, Error> {
    let marks = marks(txn)?;
    let at = at.unwrap_or(marks.revision);
    if let Err(refused) = marks.know(at) {
        return Ok(Err(refused));
    }
    let mut entries = current(txn, prefix)?;
    if at < marks.revision {
        rewind(txn, prefix, at, &mut entries)?;
    }
    Ok(Ok(List { entries: entries.into_values().collect(), revision: at }))
}

/// The next events after `cursor`; with none left, the batch says how far the log reaches.
pub(super) fn page(txn: &ReadTransaction, cursor: Revision) -> Result<Outcome<Batch>, Error> {
    let marks = marks(txn)?;
    if let Err(refused) = marks.know(cursor) {
        return Ok(Err(refused));
    }
    let (mut events, mut weight) = (Vec::new(), 0);
    for row in txn.open_table(LOG)?.range(cursor.next().get()..)? {
        let (revision, happened) = row?;
        let event = tables::event(revision.value(), happened.value())?;
        weight += event.weight();
        events.push(event);
        if events.len() == PAGE.0 || weight >= PAGE.1 {
            break;
        }
    }
    let revision = events.last().map_or(marks.revision, |event| event.revision);
    Ok(Ok(Batch { events, revision }))
}

fn current(txn: &ReadTransaction, prefix: &Prefix) -> Result<BTreeMap<Key, Entry>, Error> {
    let mut entries = BTreeMap::new();
    for row in txn.open_table(OBJECTS)?.range(prefix.as_str()..)? {
        let (name, object) = row?;
        if !prefix.holds_text(name.value()) {
            break;
        }
        let key = tables::key(name.value())?;
        entries.insert(key.clone(), tables::entry(key, object.value()));
    }
    Ok(entries)
}

/// Goes back from the newest state: the oldest change of a key after `at` knows what the key held at it.
fn rewind(
    txn: &ReadTransaction,
    prefix: &Prefix,
    at: Revision,
    entries: &mut BTreeMap<Key, Entry>,
) -> Result<(), Error> {
    let mut settled = std::collections::HashSet::new();
    for row in txn.open_table(LOG)?.range(at.next().get()..)? {
        let (_, happened) = row?;
        let (name, _, previous) = happened.value();
        if !prefix.holds_text(name) || settled.contains(name) {
            continue;
        }
        let key = tables::key(name)?;
        match previous {
            Some(object) => entries.insert(key.clone(), tables::entry(key.clone(), object)),
            None => entries.remove(&key),
        };
        settled.insert(key);
    }
    Ok(())
}
