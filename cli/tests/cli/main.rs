//! The built binary, as kubectl runs it: `kubectl-formwork ARGS`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

mod export;
mod golden;
mod remote;
mod rules;
mod run;
mod server;
