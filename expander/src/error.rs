//! Why there is no result although no template is to blame, and the union of both.

use std::path::PathBuf;
use std::time::Duration;

use expansion::Failure;

/// Why a pool cannot be started. For whoever runs the server: it may name paths.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no worker to run.
    #[error("the program that runs templates is missing: {}", .0.display())]
    Missing(PathBuf),
    /// The operating system refuses.
    #[error("the threads that keep the workers cannot be started")]
    Threads(#[source] std::io::Error),
}

/// Why a call was not rendered; the template is not to blame. For users: it names no path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// Too many calls wait already, or this one has waited too long.
    #[error("too many templates wait to be rendered")]
    Busy {
        /// After what time it is worth trying again.
        retry_after: Duration,
    },
    /// The walls that templates run behind do not stand, so nothing is run.
    #[error("templates are not run: {0}")]
    Walls(String),
    /// No worker could finish the call.
    #[error("the expander is not available: {0}")]
    Unavailable(String),
    /// The caller's deadline passed.
    #[error("the time for this request is over")]
    Timeout,
}

/// Why an expansion came to no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// The configuration, a template or a schema is at fault.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// Templates cannot be rendered now.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The deadline passed.
    #[error("the expansion took longer than it may")]
    Timeout,
}
