//! Formwork's API groups, and the server that serves them.
//!
//! In reading order: the one table of resources ([`groups`]), what is peculiar to each
//! ([`registry`]), and how a server is put together ([`run`]).

pub mod groups;
pub mod registry;

pub mod args;
mod cluster;
mod foundation;
pub mod run;
mod signals;
mod standalone;
