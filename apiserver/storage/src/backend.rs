//! What is asked of a database.

use std::pin::Pin;

use bytes::Bytes;
use futures::{Stream, stream as streams};

use crate::{Batch, Entry, Key, Prefix, Result, Revision};

/// A future that borrows from its backend.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A watch of the whole store. It has no end other than an error, after which it yields nothing.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<Batch>> + Send>>;

/// What a write presumes about the key. There are no writes without a presumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing is stored there.
    Absent,
    /// Its last change was at this revision.
    Revision(Revision),
}

impl Expect {
    /// Whether what is stored is what was presumed.
    pub fn holds(self, current: Option<&Entry>) -> bool {
        match self {
            Expect::Absent => current.is_none(),
            Expect::Revision(revision) => current.is_some_and(|entry| entry.revision == revision),
        }
    }
}

/// The state of a prefix at a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// Its entries in the order of their keys.
    pub entries: Vec<Entry>,
    /// The revision that it is the state of.
    pub revision: Revision,
}

/// A database of entries with revisions and a history.
///
/// All operations are linearizable: what was acknowledged before a call began is seen by it. A write is acknowledged
/// when it would survive the loss of the machine's power (as far as the backend keeps anything at all). Writes that
/// are dropped before they answer may or may not happen.
///
/// `crate::conformance` holds every implementation to this contract.
pub trait Backend: Send + Sync + 'static {
    /// What is stored at `key`.
    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>>;

    /// What is stored under `prefix`, now or exactly as it was `at` a revision.
    ///
    /// # Errors
    /// `Compacted` or `Future` when there is no state of that revision (any more, or yet).
    fn list<'a>(&'a self, prefix: &'a Prefix, at: Option<Revision>) -> BoxFuture<'a, Result<List>>;

    /// Stores `value` and answers the revision that this took.
    ///
    /// # Errors
    /// `Conflict` when the expectation does not hold; `TooLarge` for a value that is. Every store takes a mebibyte.
    fn put<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        expect: Expect,
    ) -> BoxFuture<'a, Result<Revision>>;

    /// Removes `key`, whose last change must have been at `expect`, and answers the revision that this took.
    ///
    /// # Errors
    /// `Conflict` when it was changed since, or is not there.
    fn delete<'a>(&'a self, key: &'a Key, expect: Revision) -> BoxFuture<'a, Result<Revision>>;

    /// The revision of the newest acknowledged change, [`Revision::INITIAL`] if there was none; or a later one, where
    /// others than this store use up revisions too.
    fn revision(&self) -> BoxFuture<'_, Result<Revision>>;

    /// The same, if it is known without asking anybody: to a store that nobody else writes to.
    fn known_revision(&self) -> Option<Revision> {
        None
    }

    /// Every change after `from`: in order, each exactly once, first those of the past and then as they happen.
    ///
    /// # Errors
    /// `Compacted` or `Future` when the store does not know what followed `from`. The stream itself ends with
    /// `Compacted` if its reader is overtaken by compaction.
    fn watch(&self, from: Revision) -> BoxFuture<'_, Result<EventStream>>;

    /// Drops the history up to and including `through`; the newest state is not touched.
    ///
    /// From then on `through` is the oldest revision that can be listed and watched from. Ones already compacted are
    /// ignored, ones in the future refused.
    fn compact(&self, through: Revision) -> BoxFuture<'_, Result<()>>;

    /// Proves that the store can be read and durably written at this moment, as far as that can be told without
    /// leaving a trace.
    fn health(&self) -> BoxFuture<'_, Result<()>>;
}

/// Batches made one after the other by `step`, until it fails; its error is the last item.
pub(crate) fn stream<S, F>(
    state: S,
    step: impl Fn(S) -> F + Send + 'static,
) -> impl Stream<Item = Result<Batch>> + Send
where
    S: Send + 'static,
    F: Future<Output = Result<(Batch, S)>> + Send,
{
    streams::unfold((Some(state), step), |(state, step)| async move {
        match step(state?).await {
            Ok((batch, state)) => Some((Ok(batch), (Some(state), step))),
            Err(error) => Some((Err(error), (None, step))),
        }
    })
}
