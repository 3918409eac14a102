//! OpenAPI: what the kinds look like and which operations there are, for `kubectl explain`, validation
//! and tools that generate or check objects.
//!
//! Version 3 is one document per API version, named by its hash so that clients keep it; version 2 is
//! one for all, merged by the aggregator with everybody else's. Both are made once, when the server
//! starts, from the resources' schemas: the same that decode bodies. Only version 2 is there in protobuf, too: kubectl
//! reads it in no other form.

mod discovery;
mod operation;
mod parameter;
mod protobuf;
mod resource;
mod v2;
mod v3;

use std::collections::BTreeMap;

use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, EXPIRES, LAST_MODIFIED, LOCATION, VARY};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use crate::codec::answer;
use crate::codec::negotiate::Wish;
use crate::document::Document;
use crate::request::RequestInfo;
use crate::resource::ApiGroup;
use crate::response::{Response, ResponseBody};
use crate::status::{Error, Reason};

use self::operation::{Kind, Operation};

const JSON: &str = "application/json";
/// gnostic's messages, as they are asked for and as they are answered.
const PROTOBUF_ASKED: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/// For how long a client may keep what it named by its hash.
const KEPT: SignedDuration = SignedDuration::from_hours(365 * 24);

/// What the documents say of the server as a whole.
#[derive(Clone, Debug)]
pub struct Info {
    /// Its name.
    pub title: String,
    /// Its version.
    pub version: String,
}

impl Info {
    /// A server of that name and version.
    pub fn new(title: impl Into<String>, version: impl Into<String>) -> Self {
        Self { title: title.into(), version: version.into() }
    }
}

/// The OpenAPI documents of a server.
pub struct OpenApi {
    v2: Document,
    v2_protobuf: Document,
    /// By what follows `/openapi/v3/`, e.g. `apis/g.example/v1`.
    v3: BTreeMap<String, Document>,
    index: String,
    made: Timestamp,
}

impl OpenApi {
    /// The documents about `groups`; `now` becomes their time of change.
    pub fn new(groups: &[ApiGroup], info: &Info, now: Timestamp) -> Self {
        let info = json!({ "title": info.title, "version": info.version });
        let mut v3 = BTreeMap::new();
        let mut all = operation::Api::default();
        // Only what is ours: the aggregator takes every key for a claim.
        for group in groups {
            let mut described = discovery::group(group);
            v3.insert(
                format!("apis/{}", group.name),
                Document::new(&v3::document(&info, &described)),
            );
            all.append(&mut described);
            for version in &group.versions {
                let mut served = discovery::version(group, version);
                let path = format!("apis/{}/{}", group.name, version.name);
                v3.insert(path, Document::new(&v3::document(&info, &served)));
                all.append(&mut served);
            }
        }
        let index = index_text(&v3);
        let v2 = v2::document(&info, &all);
        Self {
            v2_protobuf: Document::of(protobuf::document(&v2)),
            v2: Document::new(&v2),
            v3,
            index,
            made: now,
        }
    }

    /// Answers a request for a document at the time `now`. `None` when the path is none of OpenAPI's.
    pub fn answer(
        &self,
        method: &Method,
        info: &RequestInfo,
        headers: &HeaderMap,
        now: Timestamp,
    ) -> Option<Response> {
        let path = info.path.strip_suffix('/').unwrap_or(&info.path);
        let key = path.strip_prefix("/openapi/")?;
        if key != "v2" && key != "v3" && !key.starts_with("v3/") {
            return None;
        }
        if !matches!(*method, Method::GET | Method::HEAD) {
            let wish = Wish::new(headers, info.query.get("pretty"));
            return Some(answer::failure(&Error::method_not_allowed(), wish));
        }
        Some(match key.strip_prefix("v3/") {
            None if key == "v2" && prefers_protobuf(headers) => {
                self.found(&self.v2_protobuf, headers, PROTOBUF)
            }
            None if key == "v2" => self.document(&self.v2, headers),
            None => self.dated(index(&self.index)),
            Some(key) => match self.v3.get(key) {
                Some(document) => {
                    let location = format!("{path}?hash={}", document.hash());
                    match info.query.get("hash").unwrap_or_default() {
                        "" => self.document(document, headers),
                        hash if hash == document.hash() => self.immutable(document, headers, now),
                        _ => moved(document, &location),
                    }
                }
                None => wordless(Reason::NotFound),
            },
        })
    }

    /// A document that the client named by its hash: under this URL it will never change.
    fn immutable(&self, document: &Document, headers: &HeaderMap, now: Timestamp) -> Response {
        let mut response = self.document(document, headers);
        if response.status() == StatusCode::OK {
            let expires = date(now.saturating_add(KEPT).unwrap_or(now));
            let immutable = HeaderValue::from_static("public, immutable");
            response.headers_mut().insert(CACHE_CONTROL, immutable);
            response.headers_mut().insert(EXPIRES, expires);
        }
        response
    }

    fn document(&self, document: &Document, headers: &HeaderMap) -> Response {
        if !accepts_json(headers) {
            let mut response = wordless(Reason::NotAcceptable);
            response.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
            return response;
        }
        self.found(document, headers, JSON)
    }

    fn found(&self, document: &Document, headers: &HeaderMap, media: &'static str) -> Response {
        let response = document.answer(headers, media);
        if response.status() == StatusCode::OK { self.dated(response) } else { response }
    }

    fn dated(&self, mut response: Response) -> Response {
        response.headers_mut().insert(LAST_MODIFIED, date(self.made));
        response
    }
}

/// Leads from a wrong hash to the right one.
fn moved(document: &Document, location: &str) -> Response {
    let mut response = document.named(ResponseBody::empty());
    *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    if let Ok(location) = HeaderValue::from_str(location) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// Where the documents are. Upstream does not say that this is JSON, and clients do not ask.
fn index(text: &str) -> Response {
    let mut response = Response::new(text.to_owned().into());
    let content_type = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

fn index_text(documents: &BTreeMap<String, Document>) -> String {
    let paths: Map<String, Value> = documents
        .iter()
        .map(|(key, document)| {
            let url = format!("/openapi/v3/{key}?hash={}", document.hash());
            (key.clone(), json!({ "serverRelativeURL": url }))
        })
        .collect();
    json!({ "paths": paths }).to_string()
}

/// Unlike with resources, half a wildcard will do.
fn accepts_json(headers: &HeaderMap) -> bool {
    accepted(headers).next().is_none() || accepted(headers).any(is_json)
}

/// Whether the client names protobuf before anything that could be JSON.
fn prefers_protobuf(headers: &HeaderMap) -> bool {
    let is_protobuf = |media: &str| matches!(media, PROTOBUF_ASKED | PROTOBUF);
    accepted(headers).find(|media| is_json(media) || is_protobuf(media)).is_some_and(is_protobuf)
}

fn is_json(media: &str) -> bool {
    matches!(media, JSON | "application/*" | "*/*" | "*")
}

/// The media types that a client accepts, in its order.
fn accepted(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let clauses = accept.split(',').filter(|_| !accept.is_empty());
    clauses.map(|clause| clause.split(';').next().unwrap_or_default().trim())
}

// === What both versions share ===

/// The operations by their paths, in the words of one version.
fn paths(
    api: &operation::Api,
    item: fn(&Operation) -> Value,
    describe: fn(&Operation) -> Value,
) -> Map<String, Value> {
    let mut paths = Map::new();
    for operation in &api.operations {
        let item = paths.entry(operation.path.clone()).or_insert_with(|| item(operation));
        item[operation.method] = describe(operation);
    }
    paths
}

/// The parameters in a path's braces, with their descriptions.
fn path_parameters(path: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let known = [
        ("name", "The name of the object."),
        ("namespace", "The namespace, a scope for names and for authorization."),
    ];
    known.into_iter().filter(|(name, _)| path.contains(&format!("{{{name}}}")))
}

/// Says which verb of which kind an operation is. kubectl finds operations by this.
fn extend(out: &mut Value, operation: &Operation) {
    if let Some((action, Kind { group, version, kind })) = operation.about {
        out["x-kubernetes-action"] = json!(action);
        out["x-kubernetes-group-version-kind"] =
            json!({ "group": group, "version": version, "kind": kind });
    }
}

/// A failure without a `Status`: whoever reads these documents does not look at one.
fn wordless(reason: Reason) -> Response {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() =
        StatusCode::from_u16(reason.code()).expect("every reason's code is between 100 and 999");
    response
}

fn date(time: Timestamp) -> HeaderValue {
    let text = time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    HeaderValue::from_str(&text).expect("a date is letters, digits and blanks")
}

#[cfg(test)]
mod tests;
