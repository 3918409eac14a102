//! Changing objects: JSON patch, merge patch, and the record of who manages which field.
//!
//! Everything works on JSON text and leaves what it does not touch as it came: numbers keep their
//! digits and opaque values their key order. There is no I/O and no clock here; times are
//! arguments. Which changes are allowed is not decided here either.

mod document;
pub mod managed;
mod patch;

pub use document::same;
pub use patch::{PatchError, Patched, json_patch, merge_patch};
