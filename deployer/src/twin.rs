//! The world of a deployer in memory, for tests: a cluster, a store and whoever expands, and a
//! [`World`] that makes passes over them with a clock of its own.
//!
//! They behave as the real ones do where a deployer can tell the difference, and nowhere else.

mod cluster;
mod expand;
mod fuse;
mod merge;
mod records;
mod world;

pub(crate) use cluster::{TwinCluster, target};
pub(crate) use expand::{TwinExpand, expanded};
pub(crate) use fuse::{AFTER, Fault, Faulty, Fuse};
pub(crate) use records::TwinRecords;
pub(crate) use world::{ALICE, BOB, World, requester, spec};
