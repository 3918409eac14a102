//! Runs templates that nobody trusts, and drives expansions to their end.
//!
//! Templates never run in the process that serves. [`Pool`] keeps two workers (`formwork-expander`), each of which forks
//! a jailed child for every Python call; Jinja runs in children of the same kind that are kept for many calls, because
//! its instructions can be counted but its memory cannot. What comes back is treated as hostile.
//!
//! Start at [`expand`] for what happens, and at `pool` for how.

mod cache;
mod config;
mod digest;
mod drive;
mod error;
mod fetch;
pub mod manager;
mod metrics;
mod pool;
mod printable;
mod render;
mod room;
mod walls;
mod weight;
mod worker;

pub use cache::{Cache, Cached};
pub use config::{Config, SelfTest};
pub use digest::digest;
pub use drive::expand;
pub use error::{ExpandError, PoolError, StartError};
pub use fetch::{
    Access, AccessError, Among, Credential, Fetch, FetchError, Fetching, Finding, Locked, NoFetch,
    Offered, Place, Registries, Registry, Version, Web, prefix, within,
};
pub use metrics::Register;
pub use pool::Pool;
pub use protocol::Bounds;
pub use render::{InProcess, Render, Rendering, Terms};
pub use walls::{Layer, Walls};
