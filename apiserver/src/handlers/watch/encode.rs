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
use crate::object::Stored;
use crate::resource::Resource;
use crate::selector::Selector;
use crate::status::Error;
use crate::table::{self, IncludeObject, Rows};

/// Turns the events of one watch into text.
pub(super) struct Encoder {
    resource: Arc<Resource>,
    transform: Transform,
    include: IncludeObject,
    selector: Selector,
    /// Whether the columns of a Table were told already.
    columns_told: bool,
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
            transform: accepted.transform,
            include: IncludeObject::parse(call.info.query.get("includeObject"))?,
            selector,
            columns_told: false,
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
                out.extend_from_slice(text.as_ref().map_err(Clone::clone)?);
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
        open(kind, out);
        match self.transform {
            Transform::Table(version) => self.write_table(version, stored, out)?,
            Transform::PartialObjectMetadata(version)
            | Transform::PartialObjectMetadataList(version) => {
                table::write_partial(stored, version.api_version(), out)?;
            }
            Transform::None | Transform::AggregatedDiscovery => {
                stored.write(self.resource.head(), out)
            }
        }
        close(out);
        Ok(())
    }

    fn write_table(
        &mut self,
        version: MetaVersion,
        stored: &Stored<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let revision = stored.revision().to_string();
        self.open_table(version, &revision, out)?;
        let strategy = self.resource.strategy().ok_or_else(Error::method_not_allowed)?;
        let rows = Rows {
            strategy,
            api_version: version.api_version(),
            head: self.resource.head(),
            include: self.include,
        };
        rows.write(stored, out)?;
        out.extend_from_slice(b"]}");
        Ok(())
    }

    /// Begins a Table; the first of a watch says what its columns are.
    fn open_table(
        &mut self,
        version: MetaVersion,
        revision: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let head = ListHead { revision, ..ListHead::default() };
        head.write("Table", version.api_version(), out)?;
        out.extend_from_slice(b",\"columnDefinitions\":");
        if std::mem::replace(&mut self.columns_told, true) {
            out.extend_from_slice(b"null");
        } else {
            let strategy = self.resource.strategy().ok_or_else(Error::method_not_allowed)?;
            serde_json::to_writer(&mut *out, &table::columns(strategy)).map_err(Error::internal)?;
        }
        out.extend_from_slice(b",\"rows\":[");
        Ok(())
    }

    /// Appends a bookmark: nothing before `revision` is still to come.
    pub(super) fn bookmark(&mut self, revision: Revision, initial: bool, out: &mut Vec<u8>) {
        let annotations =
            if initial { ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" } else { "" };
        let metadata = format!("{{\"resourceVersion\":\"{revision}\"{annotations}}}");
        open("BOOKMARK", out);
        match self.transform {
            Transform::Table(version) => {
                let opened = self.open_table(version, &revision.to_string(), out);
                debug_assert!(opened.is_ok(), "only stored resources are watched");
                out.extend_from_slice(b"{\"cells\":[],\"object\":");
                out.extend_from_slice(self.resource.head().as_bytes());
                out.extend_from_slice(metadata.as_bytes());
                out.extend_from_slice(b"}}]}");
            }
            Transform::PartialObjectMetadata(version)
            | Transform::PartialObjectMetadataList(version) => {
                let api_version = version.api_version();
                let text = format!(
                    "{{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"{api_version}\",\"metadata\":{metadata}}}"
                );
                out.extend_from_slice(text.as_bytes());
            }
            Transform::None | Transform::AggregatedDiscovery => {
                out.extend_from_slice(self.resource.head().as_bytes());
                out.extend_from_slice(metadata.as_bytes());
                out.push(b'}');
            }
        }
        close(out);
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
