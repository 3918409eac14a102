//! The built binaries, as they are called: `kubectl-formwork ARGS` by kubectl, and `dm ARGS`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

mod diff;
mod dm;
mod export;
mod golden;
mod remote;
mod rules;
mod run;
mod server;
mod transcripts;
