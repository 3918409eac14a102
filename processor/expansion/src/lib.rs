//! Deployment Manager's expansion as a pure function: a configuration, templates and schemas go in, a flat list of
//! resources and the layout they came from come out.
//!
//! The recursion lives here and nothing else does. [`Expansion::step`] says what it lacks: files to import, or templates
//! to render; whoever drives it answers with [`Expansion::import`] and [`Expansion::answer`] and asks again. So there is
//! no process, socket, file, clock or randomness in here, and the same answers give the same bytes.
//!
//! Start at `expand`.

mod call;
mod circle;
#[cfg(any(test, fuzzing))]
pub mod claims;
mod configuration;
mod error;
mod expand;
mod expanded;
mod graph;
pub mod imports;
pub mod jinja;
mod layout;
mod limits;
mod links;
mod meaning;
mod origins;
mod outputs;
pub mod references;
mod schema;
mod scope;
mod tree;
mod value;
mod waves;

pub use call::{Call, Fault, Frame, Import, Imports, Language, Outcome, Rendered, Text};
pub use error::{Cause, Failure, Original, Place, Problem, Warning, printable};
pub use expand::{Expansion, Input, Options, Step, Wanted};
pub use expanded::{Expanded, Output};
pub use limits::Limits;
pub use links::{LayoutLinks, Link, Links, Target};
pub use value::{Map, Value};
pub use waves::waves;
