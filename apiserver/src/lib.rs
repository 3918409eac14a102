//! A generic Kubernetes API server: everything that every resource shares, and nothing that one
//! resource is about.

pub mod authn;
pub mod chain;
pub mod codec;
pub mod continuation;
pub mod field;
pub mod limits;
pub mod names;
pub mod request;
pub mod selector;
pub mod status;

pub use merge;
pub use schema;
pub use storage;
