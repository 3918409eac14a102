//! A Deployment and its Manifests, as they are stored and as users see them.
//!
//! The schemas by which a server decodes them are elsewhere; what is read here has passed them.

mod condition;
mod manifest;
mod spec;
mod status;

pub(crate) use condition::keep_times;
pub use condition::{Condition, Truth, set_condition};
pub use manifest::{Configuration, Input, Layout, Manifest};
pub use spec::{
    CreatePolicy, DeletePolicy, ImportFile, Reconcile, Requester, Spec, TemplateReference,
};
pub use status::{Action, Kind, Operation, Output, Phase, Preview, Resource, State, Status};

/// The finalizer of every Deployment: it goes when what was deployed is gone.
pub const FINALIZER: &str = "dm.formwork.dev/deployment";

/// A Deployment as it is stored.
#[derive(Clone, Debug)]
pub struct Deployment {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Which of all that ever had this name it is.
    pub uid: String,
    /// Counts the changes of the spec.
    pub generation: i64,
    /// What a write has to presume.
    pub resource_version: String,
    /// Whether it is marked for deletion.
    pub deleting: bool,
    /// What is wanted.
    pub spec: Spec,
    /// What was done, and is.
    pub status: Status,
}

impl Deployment {
    /// Whether all that was last asked for is deployed and ready.
    pub fn is_ready(&self) -> bool {
        self.status.observed_generation == self.generation && self.status.is("Ready")
    }
}
