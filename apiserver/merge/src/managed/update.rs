//! Keeping the record over creates, updates and patches: everything that is not server-side apply.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Serialize;
use thiserror::Error;

use super::compare::compare_nodes;
use super::element::PathElement;
use super::entry::{FieldsV1, ManagedFieldsEntry};
use super::object::{Node, Object, ObjectError};
use super::reconcile::reconcile;
use super::set::FieldSet;
use super::types::Type;

/// More entries than this that come from updates are folded together, oldest first.
const MAX_UPDATE_MANAGERS: usize = 10;
/// The manager under which they are.
const ANCIENT: &str = "ancient-changes";

const APPLY: &str = "Apply";
const UPDATE: &str = "Update";

/// What is tracked of a kind. Make it once per kind.
#[derive(Debug, Clone)]
pub struct ManagedKind {
    pub(crate) of: Type,
    /// What an object is before it is created: fields that are always written exist even then, so
    /// that nobody owns them unset.
    zero: Node<'static>,
}

impl ManagedKind {
    /// The tracked side of a kind's schema.
    pub fn new(schema: &schema::Schema) -> Self {
        let of = Type::of(schema);
        let zero = schema::normalize(schema, "null", schema::Limits::default())
            .ok()
            .and_then(|zero| Node::open(Object::Text(&zero.text), &of).ok().map(Node::into_owned));
        Self { zero: zero.unwrap_or(Node::Map(Vec::new())), of }
    }
}

/// A write that is not an apply.
#[derive(Debug, Clone, Copy)]
pub struct Update<'a> {
    /// The kind of the object.
    pub kind: &'a ManagedKind,
    /// The stored object; `None` in a create.
    pub live: Option<Live<'a>>,
    /// The object as the client means it: `fields` as decoded, not as stored. It may still hold
    /// `managedFields`; they are not looked at.
    pub new: Object<'a>,
    /// `metadata.managedFields` of the request; `None` if absent or null.
    pub given: Option<&'a [ManagedFieldsEntry]>,
    /// Who writes; empty counts as `unknown`.
    pub manager: &'a str,
    /// Group and version of the endpoint.
    pub api_version: &'a str,
    /// The subresource of the endpoint; empty for the object itself.
    pub subresource: &'a str,
    /// Fields that this endpoint does not let the client set, with everything below them.
    pub reset: Option<&'a FieldSet>,
    /// Other group versions that name the same fields in the same way. Entries of versions that are
    /// not served are dropped.
    pub also_served: &'a [&'a str],
    /// The current time, RFC 3339 in UTC and whole seconds.
    pub now: &'a str,
}

/// The stored object of an update.
#[derive(Debug, Clone, Copy)]
pub struct Live<'a> {
    /// Its text, as stored.
    pub object: Object<'a>,
    /// Its record.
    pub managed_fields: &'a [ManagedFieldsEntry],
}

/// The record after a write, as it is to be stored: sorted, and empty if nobody manages anything.
///
/// - Who changes or adds a field owns it alone from then on; what is removed is nobody's. The
///   writer's own entry gets the time.
/// - A client that leaves `managedFields` out, or sends what cannot be read, changes nothing about
///   them; `[{}]` and `[]` clear the record, and plain writes do not start a new one. A
///   subresource's client cannot touch them.
/// - Of more than ten entries of updates the oldest are folded into `ancient-changes`.
///
/// # Errors
/// When an object does not fit the kind or a list item cannot be told from others. Kubernetes then
/// stores the object without a record.
pub fn update(write: &Update<'_>) -> Result<Vec<ManagedFieldsEntry>, ObjectError> {
    let mut record = starting_record(write);
    if record.0.is_empty() && write.live.is_some() {
        return Ok(Vec::new());
    }
    let mut own = transfer(write, &mut record)?;
    own.remove(&UNOWNED);
    if !own.is_empty() {
        record.take_over(write, own);
    }
    record.cap();
    Ok(record.into_entries())
}

/// Takes what the write changes from everybody else, and returns what the writer therefore owns.
fn transfer(write: &Update<'_>, record: &mut Record) -> Result<FieldSet, ObjectError> {
    let of = &write.kind.of;
    let old = write.live.map(|live| Node::open(live.object, of)).transpose()?;
    let new = Node::open(write.new, of)?;
    let mut changes = compare_nodes(of, old.as_ref().unwrap_or(&write.kind.zero), &new)?;
    if let Some(reset) = write.reset {
        changes = changes.without(reset);
    }
    let changed = changes.modified.join(changes.added);
    record.0.retain(|_, managed| {
        let is_served = managed.api_version == write.api_version
            || write.also_served.contains(&managed.api_version.as_str());
        if is_served {
            managed.set = reconcile(&managed.set, of);
            managed.set.remove(&changed);
            managed.set.remove(&changes.removed);
        }
        is_served && !managed.set.is_empty()
    });
    Ok(changed)
}

/// What nobody owns: the identity of the object and what the server alone sets.
static UNOWNED: LazyLock<FieldSet> = LazyLock::new(|| {
    let field = PathElement::field;
    let mut set = FieldSet::default();
    for name in ["apiVersion", "kind", "metadata"] {
        set.insert(&[field(name)]);
    }
    for name in [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ] {
        set.insert(&[field("metadata"), field(name)]);
    }
    set
});

// === record ===

/// The record, by the text that identifies a manager.
#[derive(Default)]
struct Record(BTreeMap<String, Managed>);

struct Managed {
    id: Identifier,
    set: FieldSet,
    /// Kept beside the identifier, which in an apply has none.
    api_version: String,
    time: Option<String>,
}

/// Who an entry belongs to. Its JSON text is the key of the record and decides ties.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Identifier {
    #[serde(skip_serializing_if = "String::is_empty")]
    manager: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    operation: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    api_version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    subresource: String,
}

impl Identifier {
    fn of_update(manager: &str, api_version: &str, subresource: &str) -> Self {
        Self {
            manager: manager.into(),
            operation: UPDATE.into(),
            api_version: api_version.into(),
            subresource: subresource.into(),
        }
    }

    fn key(&self) -> String {
        serde_json::to_string(self).expect("strings are always JSON")
    }
}

/// Why a list of entries cannot be read.
#[derive(Debug, PartialEq, Eq, Error)]
enum EntryError {
    #[error("operation must be `Apply` or `Update`")]
    Operation,
    #[error("apiVersion must not be empty")]
    ApiVersion,
    #[error("missing fieldsType in managed fields entry {0}")]
    NoFieldsType(usize),
    #[error("invalid fieldsType {0:?} in managed fields entry {1}")]
    FieldsType(String, usize),
    #[error("error decoding versioned set from {0:?}: {1}")]
    Fields(String, String),
}

/// The record that a write starts from.
fn starting_record(write: &Update<'_>) -> Record {
    // What cannot be read is as good as nothing; the write itself must not fail for it.
    let live =
        || Record::decode(write.live.map_or(&[], |live| live.managed_fields)).unwrap_or_default();
    match write.given {
        _ if !write.subresource.is_empty() => live(),
        Some([]) => Record::default(),
        Some([only]) if *only == ManagedFieldsEntry::default() => Record::default(),
        Some(given) => match Record::decode(given) {
            Ok(record) if !record.0.is_empty() => record,
            _ => live(),
        },
        None => live(),
    }
}

impl Record {
    fn decode(entries: &[ManagedFieldsEntry]) -> Result<Self, EntryError> {
        let mut record = Self::default();
        for (index, entry) in entries.iter().enumerate() {
            let managed = Managed::decode(index, entry)?;
            record.0.insert(managed.id.key(), managed);
        }
        Ok(record)
    }

    /// Adds the writer's new fields to its entry.
    fn take_over(&mut self, write: &Update<'_>, own: FieldSet) {
        let manager = if write.manager.is_empty() { "unknown" } else { write.manager };
        let id = Identifier::of_update(manager, write.api_version, write.subresource);
        let key = id.key();
        let set = match self.0.get(&key) {
            Some(before) => own.union(&before.set),
            None => own,
        };
        let (api_version, time) = (write.api_version.to_owned(), Some(write.now.to_owned()));
        self.0.insert(key, Managed { id, set, api_version, time });
    }

    /// Folds the oldest updates of each version into one entry until no more than the maximum are
    /// left.
    fn cap(&mut self) {
        let mut updates: Vec<(Option<String>, String)> = self
            .0
            .iter()
            .filter(|(_, managed)| managed.id.operation == UPDATE)
            .map(|(key, managed)| (managed.time.clone(), key.clone()))
            .collect();
        updates.sort();
        let mut count = updates.len();
        let mut first_of_version: BTreeMap<String, String> = BTreeMap::new();
        for (_, key) in updates {
            if count <= MAX_UPDATE_MANAGERS {
                break;
            }
            let Some(version) = self.0.get(&key).map(|managed| managed.api_version.clone()) else {
                continue;
            };
            // One entry per version stays as it is unless there is another to be folded with.
            match first_of_version.get(&version).cloned() {
                None => {
                    first_of_version.insert(version, key);
                }
                Some(first) => {
                    self.fold(&first, &key, &version);
                    count -= 1;
                }
            }
        }
    }

    /// Folds the entry `key` into the one for ancient changes, which begins as the entry `first`.
    fn fold(&mut self, first: &str, key: &str, version: &str) {
        let id = Identifier::of_update(ANCIENT, version, "");
        let bucket = id.key();
        let Some(folded) = self.0.remove(key) else { return };
        let before = self.0.remove(&bucket).or_else(|| self.0.remove(first));
        let set = before.map_or_else(|| folded.set.clone(), |before| folded.set.union(&before.set));
        // The time of the latest change among them.
        self.0.insert(
            bucket,
            Managed { id, set, api_version: version.to_owned(), time: folded.time },
        );
    }

    fn into_entries(self) -> Vec<ManagedFieldsEntry> {
        let mut entries: Vec<ManagedFieldsEntry> =
            self.0.into_values().map(Managed::into_entry).collect();
        // Operations in the order of their names. Times of one form, in UTC, sort as text; none
        // comes first.
        entries.sort_by(|left, right| rank(left).cmp(&rank(right)));
        entries
    }
}

fn rank(entry: &ManagedFieldsEntry) -> impl Ord + '_ {
    let ManagedFieldsEntry { operation, time, manager, api_version, subresource, .. } = entry;
    (operation, time, manager, api_version, subresource)
}

impl Managed {
    fn decode(index: usize, entry: &ManagedFieldsEntry) -> Result<Self, EntryError> {
        if entry.operation != APPLY && entry.operation != UPDATE {
            return Err(EntryError::Operation);
        }
        if entry.api_version.is_empty() {
            return Err(EntryError::ApiVersion);
        }
        match entry.fields_type.as_str() {
            "FieldsV1" => {}
            "" => return Err(EntryError::NoFieldsType(index)),
            other => return Err(EntryError::FieldsType(other.to_owned(), index)),
        }
        let set = match &entry.fields_v1 {
            Some(fields) => {
                let error = |reason| EntryError::Fields(fields.text().to_owned(), reason);
                FieldSet::from_fields_v1(fields.text()).map_err(error)?
            }
            None => FieldSet::default(),
        };
        let api_version = entry.api_version.clone();
        let id = Identifier {
            manager: entry.manager.clone(),
            operation: entry.operation.clone(),
            // An applier has one entry, whatever versions it applies.
            api_version: if entry.operation == APPLY { String::new() } else { api_version.clone() },
            subresource: entry.subresource.clone(),
        };
        Ok(Self { id, set, api_version, time: entry.time.clone() })
    }

    fn into_entry(self) -> ManagedFieldsEntry {
        ManagedFieldsEntry {
            fields_v1: Some(FieldsV1::from(&self.set)),
            fields_type: "FieldsV1".to_owned(),
            manager: self.id.manager,
            operation: self.id.operation,
            api_version: self.api_version,
            time: self.time,
            subresource: self.id.subresource,
        }
    }
}
