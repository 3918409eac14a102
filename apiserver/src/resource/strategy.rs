//! The rules of a stored resource, which the machinery calls at their places.

use super::{Cell, Column, Context};
use crate::field;
use crate::object::Object;

/// What is peculiar to a stored resource. The machinery calls these in this order:
/// `prepare_for_create`, `validate`, `warnings`; or `prepare_for_update`, `validate_update`, `warnings`; or,
/// where only the status is written, `validate_status` alone.
pub trait Strategy: Send + Sync + 'static {
    /// Clears what a client may not set. The metadata is in order by then, and a status that has a
    /// path of its own is dropped: an object that begins with one gets it here.
    fn prepare_for_create(&self, cx: &Context<'_>, object: &mut Object) {
        let _ = (cx, object);
    }

    /// Everything that is wrong with an object's fields; it must not change anything.
    fn validate(&self, object: &Object) -> Vec<field::Error>;

    /// Restores what a client may not change.
    fn prepare_for_update(&self, cx: &Context<'_>, object: &mut Object, old: &Object) {
        let _ = (cx, object, old);
    }

    /// Everything that is wrong with an object's fields as a successor of `old`.
    fn validate_update(&self, object: &Object, old: &Object) -> Vec<field::Error> {
        let _ = old;
        self.validate(object)
    }

    /// Everything that is wrong with an object's status as a successor of `old`'s. The rest of the
    /// object is that of `old`.
    fn validate_status(&self, object: &Object, old: &Object) -> Vec<field::Error> {
        let _ = (object, old);
        Vec::new()
    }

    /// Notes on an object what its deletion is to leave there, such as who asked for it. Called every
    /// time that somebody deletes an object which finalizers keep, and it sees the mark; an object that
    /// goes at once has nobody left to read a note. What is changed here is validated no more. With the
    /// mark it counts as one generation, and on an object that was marked before as one more.
    fn prepare_for_delete(&self, cx: &Context<'_>, object: &mut Object) {
        let _ = (cx, object);
    }

    /// Whether a deletion may be held up by the garbage collector, as `propagationPolicy` asks: for
    /// it to orphan the dependents, or to delete them first. Where it may not, whatever policy is
    /// asked for means what `Background` does (upstream's `GarbageCollectionUnsupported`).
    ///
    /// Say no for a kind whose dependents the collector cannot change, as it would try for ever.
    fn waits_for_collector(&self) -> bool {
        true
    }

    /// What the user should hear although the object is accepted.
    fn warnings(&self, object: &Object) -> Vec<String> {
        let _ = object;
        Vec::new()
    }

    /// Whether a PUT may go without a resourceVersion.
    fn allow_unconditional_update(&self) -> bool {
        false
    }

    /// Whether DELETE answers with the deleted object rather than with a `Status`.
    fn returns_deleted(&self) -> bool {
        false
    }

    /// The columns between `Name` and `Age`.
    fn columns(&self) -> &'static [Column] {
        &[]
    }

    /// One cell for every one of [`Strategy::columns`].
    fn cells(&self, object: &Object) -> Vec<Cell> {
        let _ = object;
        Vec::new()
    }
}
