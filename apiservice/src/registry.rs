//! What is peculiar to each resource, one file for each, named as in the URL.

pub mod deploymentpreviews;
pub mod deployments;
pub mod expansions;
pub mod manifests;
pub mod processed;
pub mod processedtemplates;
pub mod registries;
pub mod registrytypes;
pub mod schema;
pub mod templates;
pub mod typeinstances;
pub mod types;

pub(crate) mod kinds;
mod layouts;
mod processing;
