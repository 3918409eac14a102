//! Formwork's API groups, and the server that serves them.
//!
//! In reading order: the one table of resources ([`groups`]), what is peculiar to each
//! ([`registry`]), how a server becomes part of a cluster ([`register`]), and how one is put together
//! ([`run`]).

pub mod groups;
pub mod registry;

pub mod register;

mod compat;
mod deployments;
mod engine;

pub mod args;
mod certificates;
mod cluster;
mod foundation;
pub mod run;
mod sent;
mod signals;
mod sources;
mod standalone;
