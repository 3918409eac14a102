//! Field management on the way of a plain write: whose fields are they afterwards.
//!
//! The rules are [`merge::managed`]'s; here objects become the text that it compares.

use jiff::Timestamp;
use merge::managed::{self, Live, Update};

use crate::codec::Warnings;
use crate::meta::{ObjectMeta, Time};
use crate::object::{Fields, Object};
use crate::resource::{Part, Resource};

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

/// Records who set the fields of `new`, as it was sent: over `old`, or from nothing. What does not
/// belong to `part` counts as not sent.
///
/// An object whose fields cannot be told apart is kept without a record, as upstream does.
pub(crate) fn record(
    resource: &Resource,
    part: Part,
    old: Option<&Object>,
    new: &mut Object,
    manager: &str,
    now: Timestamp,
) {
    let now = Time::at(now).to_string();
    let given = new.meta.managed_fields.take();
    let metadata = serde_json::to_string(&new.meta).unwrap_or_default();
    let fields = owned_fields(&new.fields);
    let before = old.map(|old| (metadata_text(&old.meta), old.fields.iter().collect::<Vec<_>>()));
    let live = old.zip(before.as_ref()).map(|(old, (metadata, fields))| Live {
        object: managed::Object::Parts { metadata, fields },
        managed_fields: old.meta.managed_fields.as_deref().unwrap_or_default(),
    });
    let record = managed::update(&Update {
        kind: resource.managed(),
        live,
        new: managed::Object::Parts { metadata: &metadata, fields: &fields },
        given: given.as_deref(),
        manager,
        api_version: resource.api_version(),
        subresource: part.subresource(),
        reset: resource.reset_fields(part),
        also_served: &[],
        now: &now,
    });
    new.meta.managed_fields = match record {
        Ok(entries) => Some(entries),
        Err(error) => {
            tracing::debug!(%error, "the object is kept without a record of its managers");
            None
        }
    };
}

/// Puts the old times back where a write changed nothing but them, so that it is none.
pub(crate) fn settle_times(new: &mut Object, old: &Object) {
    if new.fields == old.fields
        && same_but_record(&new.meta, &old.meta)
        && let (Some(new), Some(old)) = (&mut new.meta.managed_fields, &old.meta.managed_fields)
    {
        managed::keep_times(old, new);
    }
}

fn same_but_record(new: &ObjectMeta, old: &ObjectMeta) -> bool {
    let bare = |meta: &ObjectMeta| ObjectMeta {
        managed_fields: None,
        resource_version: String::new(),
        ..meta.clone()
    };
    bare(new) == bare(old)
}

fn metadata_text(meta: &ObjectMeta) -> String {
    let bare = ObjectMeta { managed_fields: None, ..meta.clone() };
    serde_json::to_string(&bare).unwrap_or_default()
}

/// The fields that somebody can own. An empty map is nobody's: Go's structs would leave it out.
fn owned_fields(fields: &Fields) -> Vec<(&str, &str)> {
    fields.iter().filter(|(_, value)| *value != "{}").collect()
}
