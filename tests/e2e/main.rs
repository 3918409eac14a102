//! The server as its users meet it: through the real kubectl, under malformed input, and over crashes.

mod absence;
mod aggregated;
mod audit;
mod bad_input;
mod clients;
mod collection;
mod commands;
mod crash;
mod dialect;
mod exhausted;
mod identities;
mod kubectl;
mod malformed;
mod manifests;
mod minimal;
mod namespaces;
mod reading;
mod replicas;
mod templates;
mod users;
mod watching;
mod writing;
