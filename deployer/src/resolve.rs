//! From what is wanted to the resources it expands to.

use std::sync::Arc;

use expansion::Expanded;
use futures::future::BoxFuture;

use crate::types::{Deployment, Input};

/// What a spec expands to.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The configuration, and every file that was needed, whoever had it.
    pub input: Input,
    /// What came of it.
    pub expanded: Arc<Expanded>,
    /// The digest of all that was expanded.
    pub digest: String,
    /// Why files were fetched anew although the last Manifest keeps them.
    pub anew: Option<String>,
}

/// Why a spec does not expand.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .problems.join("\n"))]
pub struct Refusal {
    /// Everything that is wrong, each with the field that it is wrong with.
    pub problems: Vec<String>,
    /// Whether another try may succeed although nothing was changed.
    pub passes: bool,
}

/// Whoever expands.
pub trait Expand: Send + Sync + 'static {
    /// Expands what a Deployment wants.
    fn expand<'a>(&'a self, deployment: &'a Deployment)
    -> BoxFuture<'a, Result<Resolved, Refusal>>;
}
