//! Answers that the filters give themselves, and the headers that every answer gets.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use uuid::Uuid;

use crate::request::RequestInfo;
use crate::status::{Error, Reason};

use super::{Response, ResponseBody};

/// Ties a request to the audit logs of every server it passes.
const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");

/// The id that the sender gave the request, or a new one.
pub(super) fn audit_id(headers: &HeaderMap) -> HeaderValue {
    if let Some(given) = headers.get(AUDIT_ID).filter(|id| !id.is_empty()) {
        return given.clone();
    }
    // The generator of this thread, not the kernel: an audit id is unique, not secret.
    let id = uuid::Builder::from_random_bytes(rand::random()).into_uuid();
    let mut buffer = Uuid::encode_buffer();
    HeaderValue::from_str(id.hyphenated().encode_lower(&mut buffer))
        .expect("a UUID is hexadecimal digits and hyphens")
}

/// The answer to a request that a filter does not let pass.
pub(super) fn refuse(error: &Error) -> Response {
    let mut body = serde_json::to_vec(&error.to_status()).expect("a Status is plain data");
    body.push(b'\n');
    let mut response = json(status_code(error), body);
    let headers = response.headers_mut();
    if error.reason() == Reason::Forbidden {
        headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    }
    if let Some(seconds) = error.retry_after_seconds() {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn status_code(error: &Error) -> StatusCode {
    StatusCode::from_u16(error.reason().code()).expect("every reason's code is between 100 and 999")
}

/// A panic of ours. Upstream says the same in plain text; clients read a `Status` better.
pub(super) fn panicked() -> Response {
    refuse(&Error::new(
        Reason::InternalError,
        "This request caused apiserver to panic. Look in the logs for details.",
    ))
}

/// A JSON answer.
pub(super) fn json(code: StatusCode, body: impl Into<ResponseBody>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// Adds what no answer goes without. Upstream forbids storing anything but OpenAPI, which may be
/// stored and must be asked for again; whatever an answer says itself stands.
pub(super) fn finish(response: &mut Response, info: &RequestInfo, audit_id: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(AUDIT_ID, audit_id);
    headers.entry(CACHE_CONTROL).or_insert_with(|| {
        let is_openapi = info.path.starts_with("/openapi/") || info.path == "/swagger.json";
        HeaderValue::from_static(if is_openapi { "no-cache, private" } else { "no-store" })
    });
}
