//! GET of a collection: a page of it, from one snapshot.

use std::borrow::Cow;
use std::collections::BTreeMap;

use http::StatusCode;
use serde::Deserialize;
use storage::{Entry, Key, Prefix, Snapshot};

use super::{Call, ListHead};
use crate::codec::negotiate;
use crate::codec::{Accepted, Offer, Transform, Warnings};
use crate::continuation::{Continuation, Revision};
use crate::object::Stored;
use crate::options::{ListOptions, Match, Wanted};
use crate::response::Response;
use crate::selector::{NAME, NAMESPACE, Selector};
use crate::status::Error;
use crate::store::{names, prefix, storage_error};
use crate::table;

const TOO_OLD_TOKEN: &str = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";
pub(super) const TOO_OLD_LIST: &str = "The resourceVersion for the provided list is too old.";

/// Some of the objects of a collection.
pub(super) struct Page {
    pub(super) entries: Vec<Entry>,
    pub(super) revision: storage::Revision,
    pub(super) continuation: String,
    pub(super) remaining: Option<usize>,
}

impl Call<'_> {
    /// Answers a page of a collection.
    pub(super) async fn list(&self) -> Result<Response, Error> {
        let accepted =
            negotiate::negotiate(self.wish(), Offer::Collection)?.for_list(self.go_name("List"))?;
        let options = ListOptions::read(&self.info.query, false)?;
        let selector = self.selector()?;
        let page = self.page(&options, &selector).await?;
        self.answer_page(accepted, &page)
    }

    /// Answers a page as the list, the table or the metadata that is accepted.
    pub(super) fn answer_page(&self, accepted: Accepted, page: &Page) -> Result<Response, Error> {
        let revision = page.revision.to_string();
        let head = ListHead {
            revision: &revision,
            continuation: &page.continuation,
            remaining: page.remaining,
        };
        let mut out = Vec::new();
        let stored = page.entries.iter().map(|entry| Stored::new(&entry.value, entry.revision));
        match accepted.transform {
            Transform::Table(version) => {
                let stored: Vec<Stored<'_>> = stored.collect::<Result<_, _>>()?;
                self.write_table(version, &head, stored, &mut out)?;
            }
            Transform::PartialObjectMetadataList(version) => {
                head.write("PartialObjectMetadataList", version.api_version(), &mut out)?;
                write_items(stored, &mut out, |stored, out| {
                    table::write_partial(stored, version.api_version(), out)
                })?;
            }
            _ => {
                let definition = &self.resource.definition;
                let kind = format!("{}List", definition.kind);
                // In one piece, as growing a list of everything would copy it several times.
                out.reserve(page.entries.iter().map(|entry| entry.value.len() + 64).sum());
                head.write(&kind, self.resource.api_version(), &mut out)?;
                write_items(stored, &mut out, |stored, out| {
                    stored.write("{\"metadata\":", out);
                    Ok(())
                })?;
            }
        }
        self.respond(StatusCode::OK, accepted, out, &Warnings::default())
    }

    /// The selectors of the request.
    pub(super) fn selector(&self) -> Result<Selector, Error> {
        let get = |name| self.info.query.get(name).unwrap_or_default();
        let selectable = self.resource.selectable();
        Ok(Selector::parse(get("labelSelector"), get("fieldSelector"), selectable)?)
    }

    /// The part of the store that the request is about: one object, if only one can be meant.
    pub(super) fn scope(&self, selector: &Selector) -> Result<Prefix, Error> {
        let definition = &self.resource.definition;
        let named = Some(self.info.name.as_str()).filter(|_| self.info.segments == 2);
        let name = named.or_else(|| selector.fields.required_name());
        let takes_name = !definition.is_namespaced() || !self.info.namespace.is_empty();
        let key = name
            .filter(|_| takes_name)
            .and_then(|name| crate::store::key(definition, &self.info.namespace, name));
        match key {
            Some(key) => Ok(Prefix::from(&key)),
            None => prefix(definition, &self.info.namespace),
        }
    }

    /// Reads a page.
    pub(super) async fn page(
        &self,
        options: &ListOptions,
        selector: &Selector,
    ) -> Result<Page, Error> {
        let scope = self.scope(selector)?;
        let (snapshot, start) = self.snapshot(options, &scope).await?;
        // Whoever takes any state takes all of it: upstream's cache does not page.
        let any = options.resource_version == "0" && options.continuation.is_empty();
        let limit = if any || self.resource.compute().is_some() { 0 } else { options.limit };
        let start = format!("{}{start}", scope.as_str());
        let mut entries = Vec::new();
        let mut more = false;
        for entry in snapshot.list_from(&scope, &start) {
            if !matches(selector, entry)? {
                continue;
            }
            if limit > 0 && entries.len() == limit {
                more = true;
                break;
            }
            entries.push(entry.clone());
        }
        let mut page = Page {
            revision: snapshot.revision(),
            continuation: String::new(),
            remaining: None,
            entries,
        };
        if let Some(last) = page.entries.last().filter(|_| more) {
            let at = Revision::At(page.revision.get());
            let relative = last.key.as_str().strip_prefix(scope.as_str()).unwrap_or_default();
            page.continuation = Continuation::after(relative, at).encode();
            if selector.is_empty() {
                let next = format!("{}\0", last.key);
                page.remaining = Some(snapshot.list_from(&scope, &next).count());
            }
        }
        Ok(page)
    }

    /// The state that the list shows, and where in it the page starts.
    async fn snapshot(
        &self,
        options: &ListOptions,
        scope: &Prefix,
    ) -> Result<(Snapshot, String), Error> {
        if self.resource.compute().is_some() {
            return Ok((self.compute_list(options).await?, String::new()));
        }
        if !options.continuation.is_empty() {
            return self.continued(options, scope).await;
        }
        let wanted = Wanted::of_list(options)?;
        if let Wanted::At(revision) = wanted {
            // A limit without a match is from the time before there was a match, and meant this.
            let exact = options.version_match == Match::Exact
                || (options.version_match == Match::Unset && options.limit > 0);
            if exact {
                let cache = self.store.cache();
                self.store.reach(wanted).await?;
                let snapshot =
                    cache.snapshot_at(scope, revision).await.map_err(|error| match error {
                        storage::Error::Compacted { .. } => Error::expired(TOO_OLD_LIST),
                        other => storage_error(other),
                    })?;
                return Ok((snapshot, String::new()));
            }
        }
        self.store.reach(wanted).await?;
        Ok((self.store.cache().snapshot(), String::new()))
    }

    async fn continued(
        &self,
        options: &ListOptions,
        scope: &Prefix,
    ) -> Result<(Snapshot, String), Error> {
        if !matches!(options.resource_version.as_str(), "" | "0") {
            return Err(Error::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        let Continuation { revision, start } = Continuation::decode(&options.continuation)?;
        let cache = self.store.cache();
        let snapshot = match revision {
            Revision::Latest => {
                self.store.reach(Wanted::Newest).await?;
                cache.snapshot()
            }
            Revision::At(number) => {
                let revision = storage::Revision::new(number);
                self.store.reach(Wanted::At(revision)).await?;
                cache.snapshot_at(scope, revision).await.map_err(|error| match error {
                    storage::Error::Compacted { .. } => {
                        let token =
                            Continuation { revision: Revision::Latest, start: start.clone() };
                        Error::expired(TOO_OLD_TOKEN).with_continuation(token.encode())
                    }
                    other => storage_error(other),
                })?
            }
        };
        Ok((snapshot, start))
    }
}

fn write_items<'s>(
    items: impl Iterator<Item = Result<Stored<'s>, Error>>,
    out: &mut Vec<u8>,
    mut write: impl FnMut(&Stored<'s>, &mut Vec<u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    out.extend_from_slice(b",\"items\":[");
    for (index, stored) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(&stored?, out)?;
    }
    out.extend_from_slice(b"]}");
    Ok(())
}

/// Whether an object is selected. Its value is looked into only for labels and fields of its kind.
pub(super) fn matches(selector: &Selector, entry: &Entry) -> Result<bool, Error> {
    matches_value(selector, &entry.key, &entry.value, entry.revision)
}

/// As [`matches`], for the value that an event left behind.
pub(super) fn matches_value(
    selector: &Selector,
    key: &Key,
    value: &[u8],
    revision: storage::Revision,
) -> Result<bool, Error> {
    #[derive(Deserialize)]
    struct Labelled<'a> {
        #[serde(borrow, default)]
        labels: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
    }
    if selector.is_empty() {
        return Ok(true);
    }
    let (namespace, name) = names(key);
    let own = own_fields(selector, value, revision)?;
    let field = |field: &str| match field {
        NAME => Some(name),
        NAMESPACE => Some(namespace),
        _ => own.iter().find(|(path, _)| *path == field).map(|(_, value)| value.as_str()),
    };
    if !selector.fields.matches(field) {
        return Ok(false);
    }
    if selector.labels.is_empty() {
        return Ok(true);
    }
    let labelled: Labelled<'_> = Stored::new(value, revision)?.metadata()?;
    Ok(selector.labels.matches(|label| labelled.labels.get(label).map(AsRef::as_ref)))
}

/// The fields of its kind that the selector asks an object for.
fn own_fields<'s>(
    selector: &'s Selector,
    value: &[u8],
    revision: storage::Revision,
) -> Result<Vec<(&'s str, String)>, Error> {
    let paths = selector.fields.terms().map(|(path, ..)| path);
    let mut paths = paths.filter(|path| !matches!(*path, NAME | NAMESPACE)).peekable();
    if paths.peek().is_none() {
        return Ok(Vec::new());
    }
    let fields = Stored::new(value, revision)?.fields()?;
    Ok(paths.filter_map(|path| Some((path, fields.scalar(path)?))).collect())
}

#[cfg(test)]
mod tests;
