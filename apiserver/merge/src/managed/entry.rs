//! The entries of `metadata.managedFields` as they are stored and sent.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One manager's fields.
///
/// An entry that a client has sent can hold anything in these strings; [`update`](super::update)
/// finds out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ManagedFieldsEntry {
    /// Who.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub manager: String,
    /// `Apply` or `Update`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub operation: String,
    /// Group and version in which the fields are named.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// RFC 3339 in UTC and whole seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Always `FieldsV1`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub fields_type: String,
    /// The fields.
    #[serde(rename = "fieldsV1", skip_serializing_if = "Option::is_none")]
    pub fields_v1: Option<FieldsV1>,
    /// The subresource through which they were set.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subresource: String,
}

/// A set of fields as JSON text; see [`FieldSet::from_fields_v1`](super::FieldSet::from_fields_v1).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FieldsV1(Box<RawValue>);

impl FieldsV1 {
    /// The JSON text.
    pub fn text(&self) -> &str {
        self.0.get()
    }
}

impl From<&super::FieldSet> for FieldsV1 {
    fn from(set: &super::FieldSet) -> Self {
        Self(RawValue::from_string(set.to_fields_v1()).expect("a set is written as JSON"))
    }
}

impl PartialEq for FieldsV1 {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for FieldsV1 {}

/// Puts the old times back where nothing but times has changed. Only for a write that changes
/// nothing else of the object either: such a write is then none.
pub fn keep_times(old: &[ManagedFieldsEntry], new: &mut [ManagedFieldsEntry]) {
    let timeless = |entry: &ManagedFieldsEntry| ManagedFieldsEntry { time: None, ..entry.clone() };
    let same = old.len() == new.len()
        && old.iter().zip(new.iter()).all(|(old, new)| timeless(old) == timeless(new));
    if same {
        for (old, new) in old.iter().zip(new) {
            new.time.clone_from(&old.time);
        }
    }
}
