//! Resources whose objects nobody stores: they are made of others when somebody asks.

use super::{Cell, Column, Context};
use crate::object::Object;
use crate::status::Error;
use crate::store::View;

/// What is peculiar to a computed resource. Clients get and list its objects, with selectors and as
/// Tables. They do not watch them: what nobody writes has no history.
pub trait Compute: Send + Sync + 'static {
    /// All objects that follow from a state of the store: of one namespace, or of all of them where
    /// `namespace` is empty. It may be called on a thread for long work.
    ///
    /// Names need not be names of Kubernetes, but they stand in URLs: an object whose name is no
    /// segment of a path is left out, and so are all but one of those with the same name. The order
    /// does not matter. An object that has a resourceVersion keeps it.
    ///
    /// # Errors
    /// Whatever keeps the objects from being made.
    fn list(&self, cx: &Context<'_>, view: &View, namespace: &str) -> Result<Vec<Object>, Error>;

    /// The columns between `Name` and `Age`.
    fn columns(&self) -> &'static [Column] {
        &[]
    }

    /// One cell for every one of [`Compute::columns`].
    fn cells(&self, object: &Object) -> Vec<Cell> {
        let _ = object;
        Vec::new()
    }
}
