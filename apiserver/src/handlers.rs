//! The verbs, each written once for every resource: decode, ask the store, encode.

mod audited;
mod compute;
mod create;
mod delete;
mod deletecollection;
mod get;
mod list;
mod patch;
mod subresource;
mod update;
mod watch;

use std::fmt;
use std::sync::Arc;

use http::{HeaderMap, StatusCode};

use crate::audit::Record;
use crate::authn::User;
use crate::codec::negotiate::{self, MetaVersion, Wish};
use crate::codec::{Accepted, Offer, Transform, Warnings};
use crate::limits::Body;
use crate::metrics::Sent;
use crate::object::{Object, Stored};
use crate::options::WriteOptions;
use crate::request::{RequestInfo, Verb};
use crate::resource::{Context, FieldValidation, Kinds, Part, Resource, Scope};
use crate::response::Response;
use crate::status::Error;
use crate::store::Store;
use crate::table::{self, IncludeObject, Rows};

pub(crate) use self::audited::secrets;

/// A request to a resource, on its way through a verb.
pub(crate) struct Call<'a> {
    pub(crate) store: &'a Store,
    pub(crate) kinds: &'a Kinds,
    pub(crate) resource: &'a Arc<Resource>,
    pub(crate) info: &'a RequestInfo,
    pub(crate) user: &'a User,
    pub(crate) headers: &'a HeaderMap,
    /// Notes what comes and goes, if anybody wants to know.
    pub(crate) audit: Option<&'a Record>,
    /// Counts what a watch sends, if anybody counts.
    pub(crate) sent: Option<Sent>,
}

impl<'a> Call<'a> {
    /// Answers the request: which verb it is, and that verb.
    ///
    /// # Errors
    /// 404 for a path and 405 for a method that the resource does not have; those of the verb.
    pub(crate) async fn answer(&self, body: Body) -> Result<Response, Error> {
        self.check_path()?;
        if !self.info.subresource.is_empty() {
            return self.subresource(body).await;
        }
        if !self.resource.allows(self.info.verb.as_str()) {
            return Err(match self.info.verb {
                // A client who watches has just listed, and wonders.
                Verb::Watch if self.resource.allows("list") => {
                    Error::method_not_supported(self.resource.definition.resource(), "watch")
                }
                _ => Error::method_not_allowed(),
            });
        }
        let named = self.info.segments == 2;
        match (&self.info.verb, named) {
            (Verb::Create, false) if self.takes_writes() => self.create(body).await,
            (Verb::Get, true) => self.get().await,
            (Verb::List, false) => self.list().await,
            (Verb::Watch, _) => self.watch().await,
            (Verb::Update, true) => self.update(Part::Main, body).await,
            (Verb::Patch, true) => self.patch(Part::Main, body).await,
            (Verb::Delete, true) => self.delete(body).await,
            (Verb::DeleteCollection, false) if self.takes_writes() => {
                self.deletecollection(body).await
            }
            _ => Err(Error::method_not_allowed()),
        }
    }

    /// 404 for a path that the resource does not have.
    fn check_path(&self) -> Result<(), Error> {
        let in_namespace = !self.info.namespace.is_empty();
        let has_names = self.resource.allows("get");
        let fits = match self.resource.definition.scope {
            Scope::Cluster => !in_namespace,
            // All namespaces together can be listed and watched, where anything can.
            Scope::Namespaced => in_namespace || (has_names && self.info.segments < 2),
        };
        let fits = fits && (has_names || self.info.segments < 2) && self.info.segments <= 3;
        if fits { Ok(()) } else { Err(Error::no_route()) }
    }

    /// Whether the path names the place where objects are created: a namespace, or the cluster.
    fn takes_writes(&self) -> bool {
        !self.resource.definition.is_namespaced() || !self.info.namespace.is_empty()
    }

    fn wish(&self) -> Wish<'a> {
        Wish::new(self.headers, self.info.query.get("pretty"))
    }

    /// The form of an answer that is one object of the resource.
    fn accepted(&self) -> Result<Accepted, Error> {
        let offer = if self.resource.allows("get") { Offer::Object } else { Offer::Metadata };
        negotiate::negotiate(self.wish(), offer)?.for_object(self.go_name(""))
    }

    /// How upstream names the type in a message, e.g. `*template.TemplateList`.
    fn go_name(&self, suffix: &str) -> impl fmt::Display {
        let definition = &self.resource.definition;
        fmt::from_fn(move |out| {
            let package = definition.group.split('.').next().unwrap_or_default();
            write!(out, "*{package}.{}{suffix}", definition.kind)
        })
    }

    fn write_options(&self, kind: &str) -> Result<WriteOptions, Error> {
        WriteOptions::read(kind, &self.info.query, self.headers)
    }

    fn context(&self, dry_run: bool, field_validation: FieldValidation) -> Context<'_> {
        Context {
            user: self.user,
            namespace: &self.info.namespace,
            name: &self.info.name,
            dry_run,
            field_validation,
            now: self.store.environment().now(),
        }
    }

    /// Fills in the request's namespace, or refuses another.
    fn settle_namespace(&self, object: &mut Object) -> Result<(), Error> {
        let namespace = &mut object.meta.namespace;
        if namespace.is_empty() && self.resource.definition.is_namespaced() {
            namespace.clone_from(&self.info.namespace);
        }
        if self.resource.definition.is_namespaced() && *namespace != self.info.namespace {
            return Err(Error::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        Ok(())
    }

    /// 400 for a body about another object than the URL.
    fn check_name(&self, object: &Object) -> Result<(), Error> {
        let (body, url) = (&object.meta.name, &self.info.name);
        if body.is_empty() {
            return Err(Error::bad_request(format!(
                "the name of the object ({url} based on URL) was undeterminable: name must be provided"
            )));
        }
        if body != url {
            return Err(Error::bad_request(format!(
                "the name of the object ({body}) does not match the name on the URL ({url})"
            )));
        }
        Ok(())
    }

    /// Answers one object that is not stored, or was just written.
    fn answer_object(
        &self,
        status: StatusCode,
        accepted: Accepted,
        object: &Object,
        warnings: &Warnings,
    ) -> Result<Response, Error> {
        match accepted.transform {
            Transform::None => {
                self.respond(status, accepted, object.to_bytes(self.resource.head()), warnings)
            }
            _ => {
                let revision = crate::options::parse_uint(&object.meta.resource_version);
                let revision = storage::Revision::new(revision.unwrap_or(0));
                let value = object.to_stored();
                let stored = Stored::new(&value, revision)?;
                self.answer_stored(status, accepted, &stored, warnings)
            }
        }
    }

    /// Answers one stored object.
    fn answer_stored(
        &self,
        status: StatusCode,
        accepted: Accepted,
        stored: &Stored<'_>,
        warnings: &Warnings,
    ) -> Result<Response, Error> {
        let mut out = Vec::new();
        match accepted.transform {
            Transform::Table(version) => {
                // What was never stored has no revision.
                let revision = match stored.revision() {
                    storage::Revision::ZERO => String::new(),
                    revision => revision.to_string(),
                };
                let list = ListHead { revision: &revision, ..ListHead::default() };
                self.write_table(version, &list, [*stored], &mut out)?;
            }
            Transform::PartialObjectMetadata(version) => {
                table::write_partial(stored, version.api_version(), &mut out)?;
            }
            _ => stored.write(self.resource.head(), &mut out),
        }
        self.respond(status, accepted, out, warnings)
    }

    /// Appends a Table with a row for each object.
    fn write_table<'s>(
        &self,
        version: MetaVersion,
        head: &ListHead<'_>,
        objects: impl IntoIterator<Item = Stored<'s>>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let rows = self.rows(version)?;
        head.write("Table", version.api_version(), out)?;
        out.extend_from_slice(b",\"columnDefinitions\":");
        serde_json::to_writer(&mut *out, &table::columns(rows.resource))
            .map_err(Error::internal)?;
        out.extend_from_slice(b",\"rows\":[");
        for (index, stored) in objects.into_iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            rows.write(&stored, out)?;
        }
        out.extend_from_slice(b"]}");
        Ok(())
    }

    /// What makes rows of this request's objects.
    fn rows(&self, version: MetaVersion) -> Result<Rows<'_>, Error> {
        let include = IncludeObject::parse(self.info.query.get("includeObject"))?;
        let now = self.store.environment().now();
        let resource = self.resource.as_ref();
        Ok(Rows { resource, api_version: version.api_version(), include, now })
    }
}

/// The metadata of a list.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub(crate) struct ListHead<'a> {
    #[serde(rename = "resourceVersion", skip_serializing_if = "str::is_empty")]
    revision: &'a str,
    #[serde(rename = "continue", skip_serializing_if = "str::is_empty")]
    continuation: &'a str,
    #[serde(rename = "remainingItemCount", skip_serializing_if = "Option::is_none")]
    remaining: Option<usize>,
}

impl ListHead<'_> {
    /// Appends the beginning of a list, up to the end of its metadata.
    fn write(&self, kind: &str, api_version: &str, out: &mut Vec<u8>) -> Result<(), Error> {
        let head = format!("{{\"kind\":\"{kind}\",\"apiVersion\":\"{api_version}\",\"metadata\":");
        out.extend_from_slice(head.as_bytes());
        serde_json::to_writer(out, self).map_err(Error::internal)
    }
}
