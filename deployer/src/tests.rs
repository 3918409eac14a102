//! What a deployer does, as claims over whole passes in a world that is in memory.

mod drift;
mod failures;
mod faults;
mod life;
mod owners;
mod previews;
mod rights;

use crate::types::Status;

/// What went wrong, as the condition `Ready` says it.
fn complaint(status: &Status) -> String {
    let ready = status.condition("Ready").expect("there is one");
    format!("{}: {}", ready.reason, ready.message)
}

/// The names of the resources with their states.
fn states(status: &Status) -> String {
    let state =
        |resource: &crate::types::Resource| format!("{}={:?}", resource.name, resource.state);
    status.resources.iter().map(state).collect::<Vec<_>>().join(" ")
}
