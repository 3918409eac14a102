//! YAML, as kubectl's users write it and as an API server prints it.
//!
//! The rules are those of `sigs.k8s.io/yaml`, which means YAML 1.1 for plain scalars: `yes`, `on` and `y`
//! are booleans, `0755` is 493, `1_000` is 1000, base 60 is not known. Both directions go from text to
//! text and build no tree; both take time and memory in proportion to their input, which bounds what
//! aliases and nesting can do.
//!
//! [`safe_load`] and [`safe_dump`] go by another's rules, those of PyYAML, which Deployment Manager's files were
//! written for. The former makes a caller's own values, any [`Tree`]; everywhere else, the other side is JSON text.
//!
//! What it is about is nobody's business here.
//!
//! ```
//! let read = yaml::to_json("kind: Switch\nmode: 0755\non: yes\n")?;
//! assert_eq!(read.json, r#"{"kind":"Switch","mode":493,"true":true}"#);
//!
//! let written = yaml::from_json(r#"{"kind": "Switch", "is": "on"}"#)?;
//! assert_eq!(written, "is: \"on\"\nkind: Switch\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod draft;
mod order;
mod python;
mod quote;
mod read;
mod scalar;
mod write;

pub use read::{Converted, Loaded, ReadError, Scalar, Tree, documents, safe_load, to_json};
pub use write::{WriteError, from_json, safe_dump};

/// How many lists and maps may be open at any one place of a text that is read.
const DEPTH_IN: usize = 250;
/// The same for [`safe_load`]: what it yields travels inside other JSON, whose readers end at 128.
const DEPTH_LOADED: usize = 100;
/// How much a text may say to [`safe_load`], when each of its values counts [`VALUE_LOADED`] bytes. One may be written with
/// two bytes, and takes some eighty in memory.
const LARGEST_LOADED: usize = 16 << 20;
/// About what a value has in text as people write it.
const VALUE_LOADED: usize = 24;
/// The depth of a text that is written: as deep as stored objects may be, and a list around them.
const DEPTH_OUT: usize = 1_008;
/// How many bytes anchors and aliases may copy.
const COPIED: usize = 4 << 20;
/// How long an answer may get. Indentation alone can make it a thousand times the JSON.
const WRITTEN: usize = 64 << 20;

#[cfg(test)]
mod tests;
