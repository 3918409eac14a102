//! `ObjectMeta`: the part of an object that the machinery understands.
//!
//! It is the only part of a request's body that becomes a typed value; everything else stays text
//! (see [`crate::object`]).

mod validation;

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use jiff::tz::Offset;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use merge::managed::ManagedFieldsEntry;
pub use validation::{validate_create, validate_update};

/// The finalizer that asks the garbage collector to orphan the dependents.
pub const FINALIZER_ORPHAN: &str = "orphan";
/// The finalizer that asks the garbage collector to delete the dependents first.
pub const FINALIZER_FOREGROUND: &str = "foregroundDeletion";

/// A point in time with a precision of a second, as meta/v1 `Time`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(Timestamp);

impl Time {
    /// The second in which `now` lies.
    pub fn at(now: Timestamp) -> Self {
        let seconds = now.as_second();
        Self(Timestamp::from_second(seconds).unwrap_or(now))
    }

    /// Seconds since 1970.
    pub fn as_second(self) -> i64 {
        self.0.as_second()
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Every object has a time and every record of its managers another: no format string.
        let time = Offset::UTC.to_datetime(self.0);
        let Ok(year) = u32::try_from(time.year()) else {
            return write!(f, "{}", time.strftime("%Y-%m-%dT%H:%M:%SZ"));
        };
        let mut text = *b"0000-00-00T00:00:00Z";
        let two = |number: i8| u32::from(number.unsigned_abs());
        put_digits(&mut text[..4], year);
        put_digits(&mut text[5..7], two(time.month()));
        put_digits(&mut text[8..10], two(time.day()));
        put_digits(&mut text[11..13], two(time.hour()));
        put_digits(&mut text[14..16], two(time.minute()));
        put_digits(&mut text[17..19], two(time.second()));
        f.write_str(str::from_utf8(&text).expect("digits are text"))
    }
}

/// Fills `place` with the last digits of a number.
fn put_digits(place: &mut [u8], mut number: u32) {
    for digit in place.iter_mut().rev() {
        *digit = b"0123456789"[(number % 10) as usize];
        number /= 10;
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map(Self::at).map_err(|_| {
            de::Error::custom(format_args!(
                "parsing time {text:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {text:?}"
            ))
        })
    }
}

/// Names an object that this one belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    /// The owner's group and version.
    pub api_version: String,
    /// The owner's kind.
    pub kind: String,
    /// The owner's name.
    pub name: String,
    /// The owner's uid: a recreated owner of the same name is another one.
    pub uid: String,
    /// Whether the owner is the managing controller; at most one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// Whether a foreground deletion of the owner waits for this object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
}

/// The metadata of an object, fields in the order of meta/v1.
///
/// `resource_version` is never stored: it is the revision of the store at which the object was last
/// written, and is put in when the object is read (see [`crate::object::Stored`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMeta {
    /// Unique among the objects of one resource in one namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The beginning of a name that the server completes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub generate_name: String,
    /// The namespace; empty for cluster-scoped objects.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Long dead, and yet echoed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub self_link: String,
    /// Unique over all objects and all times.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The revision of the last write, as decimal digits.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// Counts the changes of the desired state; 0 where the kind does not count.
    #[serde(skip_serializing_if = "is_zero")]
    pub generation: i64,
    /// When the object was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Time>,
    /// When the object's deletion was asked for, while finalizers hold it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<Time>,
    /// How long a graceful deletion takes, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_grace_period_seconds: Option<i64>,
    /// What selectors select by.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "null_is_empty")]
    pub labels: BTreeMap<String, String>,
    /// What tools note on the object; 256 KiB in all.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "null_is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// What this object belongs to.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_is_empty")]
    pub owner_references: Vec<OwnerReference>,
    /// Who must have done something before the object goes.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_is_empty")]
    pub finalizers: Vec<String>,
    /// Which manager set which field. `None` differs from empty only in a request: an empty list
    /// asks to forget the managers, an absent one does not know of them.
    #[serde(skip_serializing_if = "nobody")]
    pub managed_fields: Option<Vec<ManagedFieldsEntry>>,
}

impl ObjectMeta {
    /// Clears what only the server may set, as apimachinery's `WipeObjectMetaSystemFields`.
    pub fn wipe_system_fields(&mut self) {
        self.uid.clear();
        self.self_link.clear();
        self.creation_timestamp = None;
        self.deletion_timestamp = None;
        self.deletion_grace_period_seconds = None;
    }

    /// Whether the object waits for its finalizers.
    pub fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// Drops owner references that stand twice. The uids of those, for a warning.
    pub fn dedup_owner_references(&mut self) -> Vec<String> {
        let mut kept: Vec<OwnerReference> = Vec::with_capacity(self.owner_references.len());
        let mut dropped = Vec::new();
        for reference in std::mem::take(&mut self.owner_references) {
            if kept.contains(&reference) {
                if !dropped.contains(&reference.uid) {
                    dropped.push(reference.uid);
                }
            } else {
                kept.push(reference);
            }
        }
        self.owner_references = kept;
        dropped
    }
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}

// serde hands over a reference to the field, whatever clippy would prefer.
#[allow(clippy::ref_option)]
fn nobody(managers: &Option<Vec<ManagedFieldsEntry>>) -> bool {
    managers.as_ref().is_none_or(Vec::is_empty)
}

fn null_is_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_any_offset_and_written_in_utc_seconds() {
        let time: Time = serde_json::from_str("\"2026-11-20T01:02:03.9+01:00\"").unwrap();
        assert_eq!(time.to_string(), "2026-11-20T00:02:03Z");
        let time: Time = serde_json::from_str("\"0987-06-05T13:45:59Z\"").unwrap();
        assert_eq!(time.to_string(), "0987-06-05T13:45:59Z");
    }

    #[test]
    fn a_repeated_owner_is_dropped_and_named() {
        let owner = OwnerReference { uid: "u".into(), ..OwnerReference::default() };
        let mut meta =
            ObjectMeta { owner_references: vec![owner.clone(), owner], ..ObjectMeta::default() };
        assert_eq!(meta.dedup_owner_references(), ["u"]);
        assert_eq!(meta.owner_references.len(), 1);
    }

    #[test]
    fn empty_metadata_is_an_empty_object() {
        assert_eq!(serde_json::to_string(&ObjectMeta::default()).unwrap(), "{}");
    }
}
