//! Answers as Deployment Manager wrote them: JSON, or a line of text for whatever went wrong.

use std::fmt;

use apiserver::status::{Error, Reason};
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde::Serialize;

/// What errors are written in.
const PLAIN: &str = "text/plain; charset=utf-8";
/// What the manager answers in.
pub(super) const JSON: &str = "application/json; charset=UTF-8";

/// The code that the API has for it.
pub(super) fn code(reason: Reason) -> StatusCode {
    StatusCode::from_u16(reason.code()).expect("reasons have codes of HTTP")
}

pub(super) fn text(code: StatusCode, body: String) -> Response {
    answer(code, PLAIN, body)
}

pub(super) fn answer(code: StatusCode, media: &'static str, body: String) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

/// A value in JSON.
pub(super) fn json(code: StatusCode, value: &impl Serialize) -> Response {
    let body = serde_json::to_string(value).expect("what is answered is JSON");
    answer(code, JSON, body)
}

/// A list in JSON; Go writes one without members as null.
pub(super) fn list<T: Serialize>(items: &[T]) -> Response {
    json(StatusCode::OK, &Some(items).filter(|items| !items.is_empty()))
}

/// Go's answer where there is nothing, whatever the method was.
pub(super) fn nowhere() -> Response {
    text(code(Reason::NotFound), "404 page not found\n".to_owned())
}

/// Go's answer to a slash too many at the end of a path.
pub(super) fn moved(to: &str) -> Response {
    let escaped = to.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let escaped = escaped.replace('"', "&#34;").replace('\'', "&#39;");
    let body = format!("<a href=\"{escaped}\">Moved Permanently</a>.\n\n");
    let mut response = answer(StatusCode::MOVED_PERMANENTLY, "text/html; charset=utf-8", body);
    if let Ok(location) = HeaderValue::try_from(to) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// Why something was not done, in a line or more of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    reason: Reason,
    message: String,
    /// After how many seconds another attempt may do better.
    retry_after: Option<u32>,
}

impl Fault {
    pub(super) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), retry_after: None }
    }

    /// What Deployment Manager answered to nearly everything.
    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(Reason::BadRequest, message)
    }

    /// The text.
    #[cfg(test)]
    pub(super) fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = text(code(self.reason), format!("{}\n", self.message));
        if self.reason == Reason::Unauthorized {
            let bearer = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, bearer);
        }
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// What no template is to blame for, which Deployment Manager had no words for.
impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let retry_after = error.retry_after_seconds();
        Self { retry_after, ..Self::new(error.reason(), error.to_string()) }
    }
}

impl From<kube::Error> for Fault {
    fn from(error: kube::Error) -> Self {
        let kube::Error::Api(status) = error else {
            return Self::new(Reason::ServiceUnavailable, format!("the Kubernetes API: {error}"));
        };
        let message = status.message.clone();
        match status.code {
            400 | 404 | 409 | 422 => Self::bad(message),
            // Who asks here was not asked; it is this listener that is not known there.
            401 => Self::new(
                Reason::ServiceUnavailable,
                "the Kubernetes API does not accept the credential of --dm-compat-kubeconfig",
            ),
            403 => Self::new(Reason::Forbidden, message),
            413 => Self::new(Reason::RequestEntityTooLarge, message),
            429 => Self::new(Reason::TooManyRequests, message),
            504 => Self::new(Reason::Timeout, message),
            _ => Self::new(Reason::ServiceUnavailable, format!("the Kubernetes API: {message}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_a_page_is_text() {
        let response = moved("/deployments/<a>&\"");
        assert_eq!(response.status(), StatusCode::MOVED_PERMANENTLY);
        assert_eq!(response.headers()[LOCATION], "/deployments/<a>&\"");
    }
}
