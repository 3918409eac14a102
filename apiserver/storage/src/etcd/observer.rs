//! Who is told of every request to etcd, so that it can be counted and timed.

use std::time::Duration;

/// One request that etcd answered, or failed to.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What was asked: `get`, `list`, `create`, `update`, `delete`, `revision`, `compact` or `watch`.
    pub operation: &'static str,
    /// The text of the key or prefix that it was about; empty if it was about the store as such.
    pub key: &'a str,
    /// How long it took.
    pub took: Duration,
    /// Whether it failed. A write whose expectation did not hold has not.
    pub failed: bool,
}

/// Told of every request to etcd, repeated ones included.
pub trait Observer: Send + Sync + 'static {
    /// A request has ended.
    fn observe(&self, request: Request<'_>);
}

/// Nobody.
pub(super) struct Unobserved;

impl Observer for Unobserved {
    fn observe(&self, _: Request<'_>) {}
}
