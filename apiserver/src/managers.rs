//! Field management on the way of a plain write: whose fields are they afterwards.
//!
//! The rules are [`merge::managed`]'s; here objects become the text that it compares.

use jiff::Timestamp;

use crate::codec::Warnings;
use crate::meta::ObjectMeta;
use crate::object::Object;
use crate::resource::Definition;

/// Drops owner references that stand twice, with a warning.
pub(crate) fn dedup_owners(meta: &mut ObjectMeta, warnings: &mut Warnings) {
    let repeated = meta.dedup_owner_references();
    if !repeated.is_empty() {
        let uids = repeated.join(", ");
        warnings.add(format!(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {uids}"
        ));
    }
}

/// Placeholder.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ManagedFieldsEntry(serde_json::Value);

pub(crate) fn after_create(
    _: &Definition,
    _: &Object,
    _: &str,
    _: Timestamp,
) -> Option<Vec<ManagedFieldsEntry>> {
    None
}
pub(crate) fn after_update(
    _: &Definition,
    _: &Object,
    _: &Object,
    _: &str,
    _: Timestamp,
) -> Option<Vec<ManagedFieldsEntry>> {
    None
}
