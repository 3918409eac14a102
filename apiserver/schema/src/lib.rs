//! One schema per kind: the single source of strict decoding, normalisation, defaults, OpenAPI v2 and v3, and of the types that field
//! management works with.
//!
//! A [`Schema`] is built once at start, with the words of the Kubernetes API conventions, and read by everyone else:
//! [`decode()`] turns a request body into normalised JSON text in one pass, [`openapi`] publishes the same schema, and the `merge` crate
//! tracks who owns which field of it. [`meta`] holds the definitions of `meta/v1` that every kind refers to.
//!
//! The crate does no I/O, knows no HTTP and validates nothing beyond types: names, patterns and enums belong to validation, which
//! answers 422 with every problem at once, whereas a decoder stops at the first.

mod scan;

mod decode;
mod decoded;
mod definition;
mod error;
pub mod meta;
pub mod openapi;
mod quote;
mod time;

pub use decode::{Limits, decode, normalize};
pub use decoded::{Decoded, Normalized, Stray};
pub use definition::{
    Emptiness, Field, Form, GroupVersionKind, List, ListType, Object, Presence, Schema, Text, Width,
};
pub use error::{DecodeError, SyntaxError, TypeError};
pub use quote::go_quote;
pub use time::normalize_time;

/// Reading JSON text without building a tree of it.
pub mod json {
    pub use crate::scan::{Scanner, ValueKind, compact, write_string};
}
