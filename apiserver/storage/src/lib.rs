//! The revisioned store behind the API server.
//!
//! A store maps [`Key`]s to bytes and gives every change the next [`Revision`] of one counter, so that a state can be
//! listed as it was at a revision and its changes followed from there. What the bytes mean is not known here: objects,
//! versions, selectors and resourceVersion strings belong to the API server.
//!
//! A [`Backend`] is the database ([`memory`], [`redb`](mod@redb)); the [`Cache`] stands before it and answers every read and
//! watch of a running server from memory. [`conformance`] says what a backend must do, as tests.

pub mod revision;

pub mod key;

pub mod event;

pub mod error;

pub mod backend;

pub mod snapshot;

mod log;

pub mod memory;

pub mod redb;

pub mod cache;

pub mod compactor;

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;

pub use backend::{Backend, BoxFuture, EventStream, Expect, List};
pub use cache::{Cache, Watcher};
pub use compactor::Compactor;
pub use error::{Error, Result};
pub use event::{Batch, Change, Entry, Event};
pub use key::{InvalidKey, Key, Prefix};
pub use memory::Memory;
pub use redb::Redb;
pub use revision::Revision;
pub use snapshot::Snapshot;
