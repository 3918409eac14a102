//! A generic Kubernetes API server: everything that every resource shares, and nothing that one
//! resource is about.

pub mod authn;
pub mod authz;
pub mod chain;
pub mod codec;
pub mod continuation;
pub mod field;
pub mod health;
pub mod limits;
pub mod metrics;
pub mod names;
pub mod request;
pub mod selector;
pub mod server;
pub mod status;
mod stop;
pub mod tls;
pub mod version;

pub use merge;
pub use schema;
pub use storage;
