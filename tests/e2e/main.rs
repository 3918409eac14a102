//! The server as its users meet it: through the real kubectl, under malformed input, and over crashes.

mod aggregated;
mod audit;
mod bad_input;
mod clients;
mod crash;
mod credentials;
mod door;
mod exhausted;
mod expansions;
mod identities;
mod kubectl;
mod malformed;
mod manifests;
mod minimal;
mod paths;
mod pressure;
mod reading;
mod replicas;
mod rolling;
mod rotation;
mod smuggled;
mod templates;
mod watching;
mod writing;
