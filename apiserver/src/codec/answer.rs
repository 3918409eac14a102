//! Answers: text under a status, in the encoding that the client accepts.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER, WARNING};
use http::{HeaderValue, StatusCode};

use super::negotiate::{self, Accepted, Media, Wish};
use super::{Warnings, pretty};
use crate::response::{Response, ResponseBody};
use crate::status::Error;

/// Answers JSON text in the accepted encoding.
///
/// # Errors
/// 500, when the text is not JSON after all.
pub(crate) fn answer(
    status: StatusCode,
    accepted: Accepted,
    json: Vec<u8>,
    warnings: &Warnings,
) -> Result<Response, Error> {
    let body = encode(accepted, json)?;
    let mut response = Response::new(ResponseBody::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(accepted.content_type()));
    for warning in warnings.headers() {
        headers.append(WARNING, warning);
    }
    Ok(response)
}

fn encode(accepted: Accepted, json: Vec<u8>) -> Result<Bytes, Error> {
    if accepted.media == Media::Json && !accepted.pretty {
        return Ok(json.into());
    }
    let text = String::from_utf8(json).map_err(Error::internal)?;
    match accepted.media {
        Media::Json => Ok(pretty::indent(&text).into()),
        Media::Yaml => yaml::from_json(&text).map(Bytes::from).map_err(Error::internal),
    }
}

/// Answers a failure as a `Status`.
pub(crate) fn failure(error: &Error, wish: Wish<'_>) -> Response {
    let accepted = negotiate::negotiate_status(wish);
    let json = serde_json::to_vec(&error.to_status()).unwrap_or_default();
    let status =
        StatusCode::from_u16(error.reason().code()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = encode(accepted, json).unwrap_or_default();
    let mut response = Response::new(ResponseBody::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(accepted.content_type()));
    if let Some(seconds) = error.retry_after_seconds() {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
