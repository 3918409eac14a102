//! The revisioned store behind the API server.
//!
//! A store maps [`Key`]s to bytes and gives every change the next [`Revision`] of one counter, so that a state can be
//! listed as it was at a revision and its changes followed from there. What the bytes mean is not known here: objects,
//! versions, selectors and resourceVersion strings belong to the API server.
//!
//! A [`Backend`] is the database ([`memory`], [`redb`](mod@redb), [`etcd`]); the [`Cache`] stands before it and answers every read and
//! watch of a running server from memory. `conformance` says what a backend must do, as tests.
//!
//! ```
//! # use std::sync::Arc;
//! # use storage::{Cache, Expect, Key, Memory, Prefix, cache::Options};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cache = Cache::start(Arc::new(Memory::new()), Options::default()).await?;
//! let (snapshot, mut watcher) = cache.watch_current(&Prefix::new("/apps/")?);
//! assert!(snapshot.is_empty());
//!
//! let key = Key::new("/apps/deployments/default/web")?;
//! let created = cache.put(&key, "{}".into(), Expect::Absent).await?;
//! assert_eq!(watcher.next().await?[0].revision, created);
//!
//! let updated = cache.put(&key, "[]".into(), Expect::Revision(created)).await?;
//! let past = cache.snapshot_at(&Prefix::all(), created).await?;
//! assert_eq!(past.get(&key).map(|entry| &entry.value[..]), Some(&b"{}"[..]));
//! assert_eq!(cache.snapshot().revision(), updated);
//! # Ok(())
//! # }
//! ```

pub mod revision;

pub mod key;

pub mod event;

pub mod error;

pub mod backend;

pub mod snapshot;

mod log;

pub mod memory;

pub mod redb;

pub mod etcd;

pub mod cache;

pub mod compactor;

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;

pub use backend::{Backend, BoxFuture, EventStream, Expect, List};
pub use cache::{Cache, Watcher};
pub use compactor::Compactor;
pub use error::{Error, Result};
pub use etcd::Etcd;
pub use event::{Batch, Change, Entry, Event};
pub use key::{InvalidKey, Key, Prefix};
pub use memory::Memory;
pub use redb::Redb;
pub use revision::Revision;
pub use snapshot::Snapshot;
