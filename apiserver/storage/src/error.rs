//! Why a store refuses.

use std::sync::Arc;

use crate::{Entry, Revision};

/// The outcome of asking a store.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a store refused or could not answer.
///
/// Cheap to clone, because one failed commit is the answer to every write that took part in it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The precondition of a write did not hold. Nothing was changed.
    #[error("the stored entry is not the expected one")]
    Conflict {
        /// What is stored instead.
        current: Option<Entry>,
    },
    /// The history before `oldest` was dropped.
    #[error("revision {requested} is compacted; the oldest is {oldest}")]
    Compacted {
        /// The revision that was asked for.
        requested: Revision,
        /// The oldest that can be listed and watched from.
        oldest: Revision,
    },
    /// The store has not reached the revision yet.
    #[error("revision {requested} is newer than the store's {current}")]
    Future {
        /// The revision that was asked for.
        requested: Revision,
        /// The newest one.
        current: Revision,
    },
    /// The database takes no value of that size. Nothing was changed.
    #[error("the value is larger than the database takes")]
    TooLarge,
    /// A watcher read so slowly that what it should see next is no longer held for it.
    #[error("the watcher was too slow")]
    Slow,
    /// The store was shut down.
    #[error("the store is closed")]
    Closed,
    /// The database could not do it. A write that failed so may all the same turn out to have been made.
    #[error("cannot {doing}")]
    Unavailable {
        /// What was being done.
        doing: &'static str,
        /// What the database says.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// What is stored cannot be right.
    #[error("stored data is damaged: {0}")]
    Corrupt(Arc<str>),
}

impl Error {
    /// The database failed while `doing`.
    pub fn unavailable(
        doing: &'static str,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        Self::Unavailable { doing, source: Arc::new(source) }
    }
}
