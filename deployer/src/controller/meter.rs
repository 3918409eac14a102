//! How much there is to do, and how long it takes.

use std::time::Duration;

/// Measures the work of a controller, as the queues of Kubernetes's own controllers are measured.
pub trait Meter: Send + Sync {
    /// So many Deployments are due and wait for a worker.
    fn waiting(&self, count: usize);

    /// A pass begins over a Deployment that was due for so long.
    fn began(&self, waited: Duration);

    /// A pass has ended that took so long. Where it failed, it is tried again later.
    fn ended(&self, worked: Duration, failed: bool);
}

/// Measures nothing.
pub(super) struct Unmeasured;

impl Meter for Unmeasured {
    fn waiting(&self, _: usize) {}

    fn began(&self, _: Duration) {}

    fn ended(&self, _: Duration, _: bool) {}
}
