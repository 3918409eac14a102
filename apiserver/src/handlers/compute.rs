//! The objects of a computed resource, as if they were a state of the store: so that what reads the
//! one reads the other.

use storage::{Entry, List, Revision, Snapshot};

use super::Call;
use crate::limits::heavy;
use crate::names::path_segment;
use crate::object::Object;
use crate::options::{ListOptions, Match, Wanted, parse_uint};
use crate::resource::{Context, Definition};
use crate::status::Error;
use crate::store::{key, prefix};

impl Call<'_> {
    /// What follows from the store's state at a revision not older than `wanted`.
    pub(super) async fn compute(&self, wanted: Wanted) -> Result<Snapshot, Error> {
        let view = self.store.view(wanted).await?;
        let (resource, info, user) = (self.resource.clone(), self.info, self.user.clone());
        let (namespace, name) = (info.namespace.clone(), info.name.clone());
        let now = self.store.environment().now();
        let size = view.size();
        let work = move || {
            let compute = resource.compute().ok_or_else(Error::method_not_allowed)?;
            let cx = Context::of(&user, &namespace, &name, now);
            let objects = compute.list(&cx, &view, &namespace)?;
            let definition = &resource.definition;
            let entries = objects.iter().filter_map(|object| entry(definition, object)).collect();
            let list = List { entries, revision: view.revision() };
            Ok(Snapshot::of(prefix(definition, "")?, list))
        };
        heavy(size, work).await?
    }

    /// As [`Call::compute`], for a list. All of it is one page, so that nobody waits for the same
    /// computation once for every page; and only the newest state can be had.
    pub(super) async fn compute_list(&self, options: &ListOptions) -> Result<Snapshot, Error> {
        if !options.continuation.is_empty() {
            let plural = self.resource.definition.plural;
            return Err(Error::bad_request(format!(
                "invalid continue token: {plural} are listed in one piece"
            )));
        }
        let wanted = Wanted::of_list(options)?;
        let snapshot = self.compute(wanted).await?;
        match wanted {
            Wanted::At(revision)
                if options.version_match == Match::Exact && revision != snapshot.revision() =>
            {
                Err(Error::expired(super::list::TOO_OLD_LIST))
            }
            _ => Ok(snapshot),
        }
    }
}

/// An object as if it were stored. None for one that no URL can name.
fn entry(definition: &Definition, object: &Object) -> Option<Entry> {
    let meta = &object.meta;
    let addressable = path_segment(&meta.name).is_empty();
    let Some(key) = key(definition, &meta.namespace, &meta.name).filter(|_| addressable) else {
        tracing::debug!(kind = definition.kind, name = meta.name, "a computed object has no place");
        return None;
    };
    let revision = parse_uint(&meta.resource_version).unwrap_or(0);
    Some(Entry { key, value: object.to_stored().into(), revision: Revision::new(revision) })
}

#[cfg(test)]
mod tests;
