//! `metadata.managedFields`: who manages which field of an object.
//!
//! The model is that of structured-merge-diff: a [`FieldSet`] is a tree of path elements, written
//! as `FieldsV1`; [`compare`] says which fields two versions of an object differ in, by the
//! schema's [`Type`]; [`update`] keeps the record over creates, updates and patches. Server-side
//! apply is not here yet, but entries that come from it are respected and everything above is what
//! it needs.
//!
//! ```
//! use merge::managed::{ManagedKind, Object, Update, update};
//! use schema::Schema;
//!
//! let form = Schema::object("com.example.v1.Form", "").optional("title", Schema::string(""));
//! let kind = ManagedKind::new(&form.kind("example.com", "v1", "Form"));
//! let entries = update(&Update {
//!     kind: &kind,
//!     live: None,
//!     new: Object::Parts { metadata: r#"{"name":"a"}"#, fields: &[("title", r#""A""#)] },
//!     given: None,
//!     manager: "kubectl-create",
//!     api_version: "example.com/v1",
//!     subresource: "",
//!     reset: None,
//!     also_served: &[],
//!     now: "2026-01-01T00:00:00Z",
//! })?;
//! assert_eq!(entries[0].fields_v1.as_ref().unwrap().text(), r#"{"f:title":{}}"#);
//! # Ok::<(), merge::managed::ObjectError>(())
//! ```

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
