//! Events as clients see them: one JSON object to a line.
//!
//! What every plain watcher sees alike is encoded once per event and shared (see
//! [`storage::Event::memo`]); selectors, Tables and bare metadata are encoded for each watcher.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use storage::{Change, Entry, Event, Revision};

use super::super::list::{matches, matches_value};
use super::super::{Call, ListHead};
use crate::codec::negotiate::MetaVersion;
use crate::codec::{Accepted, Transform};
use crate::meta::ObjectMeta;
use crate::metrics::Sent;
use crate::object::{Fields, Object, Stored};
use crate::resource::Resource;
use crate::selector::Selector;
use crate::status::Error;
use crate::store::Store;
use crate::table::{self, IncludeObject, Rows};

/// Marks the bookmark that ends the present state.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// Turns the events of one watch into text.
pub(super) struct Encoder {
    resource: Arc<Resource>,
    store: Store,
    transform: Transform,
    include: IncludeObject,
    selector: Selector,
    /// Whether the columns of a Table were told already.
    columns_told: bool,
    pub(super) sent: Option<Sent>,
}

/// The encoding that plain watchers share.
#[derive(Default)]
struct Shared(OnceLock<Result<Bytes, Error>>);

impl Encoder {
    pub(super) fn new(
        call: &Call<'_>,
        accepted: Accepted,
        selector: Selector,
    ) -> Result<Self, Error> {
        Ok(Self {
            resource: call.resource.clone(),
            store: call.store.clone(),
            transform: accepted.transform,
            include: IncludeObject::parse(call.info.query.get("includeObject"))?,
            selector,
            columns_told: false,
            sent: call.sent.clone(),
        })
    }

    /// Appends an object of the present state, if it is selected.
    pub(super) fn initial(&mut self, entry: &Entry, out: &mut Vec<u8>) -> Result<(), Error> {
        if matches(&self.selector, entry)? {
            self.write("ADDED", &Stored::new(&entry.value, entry.revision)?, out)?;
        }
        Ok(())
    }

    /// Appends a change, as far as it touches the selection.
    pub(super) fn event(&mut self, event: &Arc<Event>, out: &mut Vec<u8>) -> Result<(), Error> {
        if self.selector.is_empty() && self.transform == Transform::None {
            let shared: Option<&Shared> = event.memo();
            if let Some(Shared(text)) = shared {
                let text = text.get_or_init(|| {
                    let mut text = Vec::new();
                    self.encode(event, &mut text).map(|()| text.into())
                });
                let text = text.as_ref().map_err(Clone::clone)?;
                out.extend_from_slice(text);
                self.count(text.len());
                return Ok(());
            }
        }
        if let Some((kind, stored)) = self.change(event)? {
            self.write(kind, &stored, out)?;
        }
        Ok(())
    }

    /// The encoding of an event that needs no memory of what was told before.
    fn encode(&self, event: &Event, out: &mut Vec<u8>) -> Result<(), Error> {
        if let Some((kind, stored)) = self.change(event)? {
            open(kind, out);
            stored.write(self.resource.head(), out);
            close(out);
        }
        Ok(())
    }

    /// What the event is to someone who sees only the selection: an object that enters it is
    /// added, one that leaves it is deleted in its last state there, with the event's revision.
    fn change<'e>(&self, event: &'e Event) -> Result<Option<(&'static str, Stored<'e>)>, Error> {
        let selected =
            |value: &[u8]| matches_value(&self.selector, &event.key, value, event.revision);
        let before = match &event.previous {
            Some(entry) if selected(&entry.value)? => Some(&entry.value),
            _ => None,
        };
        let after = match &event.change {
            Change::Put(value) if selected(value)? => Some(value),
            _ => None,
        };
        let (kind, value) = match (before, after) {
            (None, None) => return Ok(None),
            (None, Some(value)) => ("ADDED", value),
            (Some(_), Some(value)) => ("MODIFIED", value),
            (Some(value), None) => ("DELETED", value),
        };
        Ok(Some((kind, Stored::new(value, event.revision)?)))
    }

    fn write(&mut self, kind: &str, stored: &Stored<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let before = out.len();
        open(kind, out);
        match self.transform {
            Transform::Table(version) => self.write_table(version, stored, out)?,
            Transform::PartialObjectMetadata(version)
            | Transform::PartialObjectMetadataList(version) => {
                table::write_partial(stored, version.api_version(), out)?;
            }
            Transform::None | Transform::AggregatedDiscovery => {
                stored.write(self.resource.head(), out);
            }
        }
        close(out);
        self.count(out.len() - before);
        Ok(())
    }

    fn count(&self, bytes: usize) {
        if let Some(sent) = &self.sent {
            sent.event(bytes);
        }
    }

    fn write_table(
        &mut self,
        version: MetaVersion,
        stored: &Stored<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let revision = stored.revision().to_string();
        let head = ListHead { revision: &revision, ..ListHead::default() };
        head.write("Table", version.api_version(), out)?;
        // The first Table of a watch says what the columns are.
        let columns = if std::mem::replace(&mut self.columns_told, true) {
            None
        } else {
            Some(table::columns(&self.resource))
        };
        out.extend_from_slice(b",\"columnDefinitions\":");
        serde_json::to_writer(&mut *out, &columns).map_err(Error::internal)?;
        out.extend_from_slice(b",\"rows\":[");
        let rows = Rows {
            resource: &self.resource,
            api_version: version.api_version(),
            include: self.include,
            now: self.store.environment().now(),
        };
        rows.write(stored, out)?;
        out.extend_from_slice(b"]}");
        Ok(())
    }

    /// Appends a bookmark: nothing before `revision` is still to come. It looks like an object of
    /// the kind that has nothing but its metadata.
    pub(super) fn bookmark(
        &mut self,
        revision: Revision,
        initial: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let mut meta = ObjectMeta::default();
        if initial {
            meta.annotations.insert(INITIAL_EVENTS_END.to_owned(), "true".to_owned());
        }
        let fields = Fields::new(self.resource.empty_fields().to_owned());
        let value = Object { meta, fields }.to_stored();
        self.write("BOOKMARK", &Stored::new(&value, revision)?, out)
    }

    /// The event that ends a watch with a failure.
    pub(super) fn error(&self, error: &Error) -> Vec<u8> {
        let mut out = Vec::new();
        open("ERROR", &mut out);
        out.extend(serde_json::to_vec(&error.to_status()).unwrap_or_default());
        close(&mut out);
        out
    }
}

fn open(kind: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\",\"object\":");
}

fn close(out: &mut Vec<u8>) {
    out.extend_from_slice(b"}\n");
}
