//! One schema per kind: the single source of strict decoding, normalisation, defaults, OpenAPI v2
//! and v3, and of the types that field management works with.
//!
//! A [`Schema`] is built once at start, with the words of the Kubernetes API conventions, and read
//! by everyone else: [`decode()`] turns a request body into normalised JSON text in one pass,
//! [`openapi`] publishes the same schema, and the `merge` crate tracks who owns which field of it.
//! [`meta`] holds the definitions of `meta/v1` that every kind refers to.
//!
//! The crate does no I/O, knows no HTTP and validates nothing beyond types: names, patterns and
//! enums belong to validation, which answers 422 with every problem at once, whereas a decoder
//! stops at the first.
//!
//! ```
//! use schema::{Limits, Schema, decode};
//!
//! let form = Schema::object("com.example.v1.Form", "A form that somebody fills in.")
//!     .optional("title", Schema::string("What stands above it."))
//!     .required("fields", Schema::list(Schema::string("The name of a field.")).set())
//!     .kind("example.com", "v1", "Form");
//!
//! let body = r#"{"kind": "Form", "fields": ["a"], "colour": "red", "title": ""}"#;
//! let decoded = decode(&form, body, Limits::default())?;
//! assert_eq!(decoded.fields, r#""fields":["a"]"#);
//! assert_eq!(decoded.strays[0].to_string(), r#"unknown field "colour""#);
//! # Ok::<(), schema::DecodeError>(())
//! ```

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
pub use decoded::{Decoded, Member, Normalized, Stray};
pub use definition::{
    Field, Form, GroupVersionKind, List, ListType, Object, Presence, Scalars, Schema, Text, Width,
};
pub use error::{DecodeError, SyntaxError, TypeError};
pub use quote::go_quote;
pub use time::normalize_time;

/// Reading JSON text without building a tree of it.
pub mod json {
    pub use crate::scan::{Scanner, ValueKind, compact, write_escaped, write_string};
}
