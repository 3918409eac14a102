//! `metadata.managedFields`: who manages which field of an object.
//!
//! The model is that of structured-merge-diff: a [`FieldSet`] is a tree of path elements, written as `FieldsV1`; [`compare`] says which
//! fields two versions of an object differ in, by the schema's [`Type`]; [`update`] keeps the record over creates, updates and
//! patches. Server-side apply is not here yet, but entries that come from it are respected and everything above is what it needs.

mod compare;
mod element;
mod entry;
mod field_set;
mod fields_v1;
mod object;
mod reconcile;
mod set;
mod types;
mod update;
mod value;

pub use compare::{Comparison, compare};
pub use element::PathElement;
pub use entry::{FieldsV1, ManagedFieldsEntry, keep_times};
pub use field_set::field_set;
pub use object::{Object, ObjectError};
pub use set::FieldSet;
pub use types::Type;
pub use update::{Live, ManagedKind, Update, update};
pub use value::Value;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;
