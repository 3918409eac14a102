//! Between bytes and text: which media type a request and its answer have, YAML, and warnings.
//!
//! Inside the server everything is JSON text; only here does another encoding exist.

pub(crate) mod answer;
pub(crate) mod body;
pub(crate) mod gzip;
pub mod negotiate;
mod pretty;
mod warning;

pub use negotiate::{Accepted, Media, Offer, Transform};
pub use warning::Warnings;
