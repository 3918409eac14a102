//! The store's clock: one integer that grows with every change.

use std::fmt;

/// A point in the history of a store.
///
/// Every committed change takes the next revision, and a revision is never used twice, not even when the change that
/// took it was undone or the store was restarted. Revisions of different stores do not compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(u64);

impl Revision {
    /// Before every change. No entry and no store has it.
    pub const ZERO: Revision = Revision(0);

    /// The revision of a store that was never written to.
    ///
    /// Not 0, because clients read the resourceVersion `0` of an empty list as "any". Not 1 either: no store hands
    /// that out, so whoever comes with it has it from elsewhere (or made it up, to be told that it is too old) and
    /// must hear that its history is gone. With etcd, compaction sees to that.
    pub const INITIAL: Revision = Revision(2);

    /// The revision with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The revision of the change after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
