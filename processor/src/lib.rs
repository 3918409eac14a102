//! Templates in, objects out: a pure function.
//!
//! [`Template::parse`] reads a body once and keeps its objects as spans of text;
//! [`Values::resolve`] settles the parameters; [`process`] rewrites the objects in one pass over
//! their text. No tree is built on the way. There is no clock, file, socket or randomness in here:
//! the same input gives the same bytes, and randomness is an argument ([`Random`]).
//!
//! Not here: HTTP, YAML, storing, and what becomes of the objects.

mod dialect;
mod error;
pub mod form;
mod generator;
mod group;
mod json;
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
pub use template::{Oddity, Parameter, Stray, Template};
pub use values::{Overrides, Values, validate};
