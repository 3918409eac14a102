//! The two patch formats that need no schema: RFC 6902 (JSON patch) and RFC 7386 (merge patch).
//!
//! Neither is taken from a crate: patches are applied to text of which only the touched containers
//! are opened, so that numbers and key order elsewhere survive, negative indices count from the end
//! as Kubernetes allows, and size and depth are bounded on the way.

mod json;
mod merge;

use schema::{DecodeError, SyntaxError};
use thiserror::Error;

pub use json::json_patch;
pub use merge::merge_patch;

/// Operations of one JSON patch.
const MAX_OPERATIONS: usize = 10_000;
/// Bytes that the copy operations of one JSON patch may add.
const MAX_COPIED: usize = 3 * 1024 * 1024;
/// Nesting of documents and patches, as the decoder's default.
const MAX_DEPTH: usize = 1_000;

/// A patched document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patched {
    /// The document as JSON text, not decoded yet.
    pub text: String,
    /// What the patch has that `fieldValidation` decides about, as warning texts. Those of the
    /// document come from decoding it.
    pub strays: Vec<String>,
}

/// Why a patch was not applied.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatchError {
    /// The patch is not JSON or has the wrong shape. 400.
    #[error("error decoding patch: {0}")]
    Decode(DecodeError),
    /// A merge patch that is `null`. 400.
    #[error("Invalid JSON Patch")]
    Null,
    /// A JSON patch with more operations than allowed. 413.
    #[error("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {0}")]
    TooManyOperations(usize),
    /// An operation cannot be done, or a test failed. 422, for which Kubernetes gives clients no
    /// more than a fixed sentence.
    #[error("operation {index}: {reason}")]
    Operation {
        /// Position in the patch.
        index: usize,
        /// What is wrong, for people.
        reason: String,
    },
    /// The document that was to be patched is not JSON: a fault of ours. 500.
    #[error("the stored document is not JSON: {0}")]
    Document(SyntaxError),
}
