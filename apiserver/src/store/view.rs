//! One state of the store, for whoever reads several objects that belong together.

use storage::{Prefix, Revision, Snapshot};

use super::{Store, key, prefix};
use crate::object::{Object, Stored};
use crate::options::Wanted;
use crate::resource::Definition;
use crate::status::Error;

/// The whole store as it was at one moment. Later writes do not touch it, and a copy costs nothing.
#[derive(Clone, Debug)]
pub struct View {
    snapshot: Snapshot,
}

impl Store {
    /// The state of the store at a revision not older than `wanted`.
    ///
    /// # Errors
    /// 504 for a revision of the future.
    pub async fn view(&self, wanted: Wanted) -> Result<View, Error> {
        self.reach(wanted).await?;
        Ok(View { snapshot: self.cache.snapshot() })
    }
}

impl View {
    /// The revision of the store that this is the state of.
    pub fn revision(&self) -> Revision {
        self.snapshot.revision()
    }

    /// One object; none where there is none.
    ///
    /// # Errors
    /// 500, when what is stored is not readable.
    pub fn get(
        &self,
        definition: &Definition,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Object>, Error> {
        let key = key(definition, namespace, name);
        let entry = key.and_then(|key| self.snapshot.get(&key));
        entry.map(|entry| Stored::new(&entry.value, entry.revision)?.to_object()).transpose()
    }

    /// The objects of a resource in a namespace, or in all of them where it is empty, by namespace
    /// and name. Each is read when its turn comes.
    ///
    /// # Errors
    /// 500 for each that is not readable, and for a resource whose name cannot be part of a key.
    pub fn list<'a>(
        &'a self,
        definition: &Definition,
        namespace: &str,
    ) -> Result<impl Iterator<Item = Result<Object, Error>> + use<'a>, Error> {
        let entries = self.snapshot.list(&prefix(definition, namespace)?);
        Ok(entries.map(|entry| Stored::new(&entry.value, entry.revision)?.to_object()))
    }

    /// How many bytes there are to read.
    pub(crate) fn size(&self) -> usize {
        self.snapshot.list(&Prefix::all()).map(|entry| entry.value.len()).sum()
    }
}
