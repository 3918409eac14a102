//! Answers that the filters give themselves, and the headers that every answer gets.

use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use uuid::Uuid;

use crate::codec;
use crate::codec::negotiate::Wish;
use crate::request::RequestInfo;
use crate::status::{Error, Reason};

use crate::response::{Response, ResponseBody};

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

/// The answer to a request that a filter does not let pass, in the encoding that was wished for
/// where that is still known.
pub(super) fn refuse(error: &Error, wish: Wish<'_>) -> Response {
    let mut response = codec::answer::failure(error, wish);
    if error.reason() == Reason::Forbidden {
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    }
    response
}

/// The code that a failure is answered with.
pub(super) fn code(error: &Error) -> StatusCode {
    StatusCode::from_u16(error.reason().code()).expect("reasons have codes of HTTP")
}

/// A panic of ours. Upstream says the same in plain text; clients read a `Status` better.
pub(super) fn panicked() -> Response {
    let message = "This request caused apiserver to panic. Look in the logs for details.";
    refuse(&Error::new(Reason::InternalError, message), Wish::default())
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

/// Makes the answer to a HEAD of that to a GET. Where HTTP/1.1 just leaves the body out, HTTP/2 would
/// send it and the client call that a protocol error.
pub(super) fn drop_body(response: &mut Response) {
    let body = std::mem::take(response.body_mut());
    if let Some(size) = http_body::Body::size_hint(&body).exact() {
        response.headers_mut().entry(CONTENT_LENGTH).or_insert_with(|| size.into());
    }
}
