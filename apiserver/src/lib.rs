//! A generic Kubernetes API server: everything that every resource shares, and nothing that one
//! resource is about.

pub mod server;
mod stop;
pub mod tls;

pub mod audit;
pub mod authn;
pub mod authz;
pub mod chain;
mod impersonation;
pub mod limits;
pub mod request;
pub mod response;
mod review;

pub mod admission;
pub mod api;
pub mod discovery;
mod document;
mod handlers;
pub mod openapi;
pub mod resource;
pub mod store;

pub mod continuation;
pub mod field;
mod managers;
pub mod meta;
pub mod names;
pub mod object;
pub mod options;
pub mod selector;
pub mod status;

pub mod codec;
pub mod table;

pub mod environment;
pub mod health;
pub mod metrics;
pub mod version;

#[cfg(test)]
mod sample;

pub use merge;
pub use schema;
pub use storage;
pub use yaml;
