//! Templates in, objects out: a pure function.
//!
//! [`Template::parse`] reads a body once and keeps its objects as spans of text;
//! [`Values::resolve`] settles the parameters; [`process()`] rewrites the objects and copies what
//! no reference touches. No tree is built on the way. There is no clock, file, socket or randomness
//! in here: the same input gives the same bytes, and randomness is an argument ([`Random`]).
//!
//! ```
//! use processor::{Dialect, Overrides, Random, Template, Values, process};
//!
//! struct Zero;
//! impl Random for Zero {
//!     fn below(&mut self, _bound: u32) -> u32 {
//!         0
//!     }
//! }
//!
//! let body = r#"{"kind": "Template", "objects": [{"kind": "K", "name": "${NAME}"}],
//!                "parameters": [{"name": "NAME", "value": "default"}]}"#;
//! let template = Template::parse(body, Dialect::OpenShift)?;
//! let overrides = Overrides::from_iter([("NAME", "mine")]);
//! let values = Values::resolve(&template, &overrides, &mut Zero)?;
//! let processed = process(&template, &values)?;
//! let objects: Vec<&str> = processed.objects().map(|object| object.as_str()).collect();
//! assert_eq!(objects, [r#"{"kind": "K", "name": "mine","apiVersion":""}"#]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The other dialect is the Kubernetes proposal's, strict and typed. There is no need to validate
//! first: [`Values::resolve`] and [`process()`] say everything that is wrong, all at once.
//!
//! ```
//! # use processor::{Dialect, Overrides, Random, Template, Values, process};
//! # struct Zero;
//! # impl Random for Zero {
//! #     fn below(&mut self, _bound: u32) -> u32 {
//! #         0
//! #     }
//! # }
//! let body = r#"{"objects": [{"apiVersion": "v1", "kind": "K", "count": "$((COUNT))", "to": "$(NOWHERE)"}],
//!                "parameters": [{"name": "COUNT", "type": "int", "maximum": 5}]}"#;
//! let template = Template::parse(body, Dialect::Proposal)?;
//! let overrides = Overrides::from_iter([("COUNT", "6")]);
//! let errors = Values::resolve(&template, &overrides, &mut Zero).err().unwrap();
//! let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
//! assert_eq!(errors, [
//!     "values[COUNT]: Invalid value: \"6\": must be at most 5",
//!     "objects[0].to: Not found: \"$(NOWHERE)\": the template has no such parameter",
//! ]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Not here: HTTP, YAML, storing, and what becomes of the objects.

mod constraint;
mod dialect;
mod error;
pub mod form;
mod generator;
mod group;
mod json;
mod label;
pub mod pattern;
mod process;
mod reference;
mod rewrite;
mod template;
mod values;

pub use dialect::Dialect;
pub use error::{Errors, FieldError, ParseError, Reason};
pub use generator::Random;
pub use json::{Json, MAX_DEPTH};
pub use process::{MAX_PROCESSED, Processed, process};
pub use template::{Constraints, Oddity, Parameter, Stray, Template};
pub use values::{Overrides, Values, validate};
