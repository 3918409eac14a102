//! The API as a client sees it: recorded exchanges, the processing corpus and upstream's own tables, against a running server.

mod binding;
mod compare;
mod deployment_manager;
mod explain;
mod processing;
mod recording;
mod replay;
mod report;
mod rules;
mod self_check;
mod state;
mod transcripts;
mod wire;
