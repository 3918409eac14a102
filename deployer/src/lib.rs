//! Deployments: from a configuration of Deployment Manager to a running, owned, updatable set of
//! objects.
//!
//! What is wanted is expanded (`resolve`), settled once (`plan`), reviewed in full (`authorize`), and
//! only then changed (`apply`, `prune`), in waves that wait for each other (`observe`); in the end all
//! of it is deleted again (`remove`). Everything is done as the user who asked for it. A pass over a
//! Deployment may end anywhere: what it needs to go on stands in the status.
//!
//! It knows no API server: its own objects are [`Records`], the cluster is a [`Cluster`], and whoever
//! expands is an [`Expand`]. Start at [`Deployer::pass`] for what happens, and at [`Controller`] for
//! when.

mod apply;
mod authorize;
mod begin;
mod carry;
mod changes;
mod cluster;
mod controller;
mod dependencies;
mod deployer;
mod difference;
mod follow;
mod history;
mod late;
mod pass;
mod plan;
mod preview;
mod prune;
mod readiness;
mod records;
mod remove;
mod resolve;
mod scratch;
#[cfg(test)]
mod tests;
mod time;
mod together;
#[cfg(test)]
mod twin;
pub mod types;
mod values;
mod watch;

pub use authorize::{Authorized, may_read};
pub use begin::FETCHED_ANEW;
pub use changes::own;
pub use cluster::{
    Access, Applied, Apply, Cluster, ClusterError, Collection, Following, Kind, Kube, Mapping,
    Target, Verb,
};
pub use controller::{Changed, Controller, Meter};
pub use deployer::{Deployer, PreviewError, Seen};
pub use pass::Next;
pub use plan::{Of, Plan, PlanError, Planned, PlannedOutput, Reference};
pub use records::{RecordError, Records};
pub use resolve::{Expand, Refusal, Resolved};
