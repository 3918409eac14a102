//! Deployments in a real cluster: from a configuration to objects, and back.

mod conflicts;
mod crashes;
mod diff;
mod dm;
mod examples;
mod fetched;
mod large;
mod listing;
mod manager;
mod many;
mod paths;
mod previews;
mod references;
mod rights;
mod setting;
