//! Documents that are made once, when the server starts, and answered from memory: discovery and
//! OpenAPI. Their hash is their name in caches.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::Serialize;
use sha2::{Digest as _, Sha512};

use crate::response::{Response, ResponseBody};

/// A text and its hash.
pub(crate) struct Document {
    body: Bytes,
    hash: String,
}

impl Document {
    /// The JSON of a value.
    pub(crate) fn new(value: &impl Serialize) -> Self {
        Self::of(serde_json::to_vec(value).expect("keys are strings and numbers are finite"))
    }

    /// These bytes.
    pub(crate) fn of(body: Vec<u8>) -> Self {
        let hash = Sha512::digest(&body).iter().map(|byte| format!("{byte:02X}")).collect();
        Self { body: body.into(), hash }
    }

    /// SHA-512 of the text in upper-case hexadecimal digits.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }

    /// The text, or 304 when the client has it. The answer depends on `Accept`, and says so.
    pub(crate) fn answer(&self, headers: &HeaderMap, content_type: &'static str) -> Response {
        let known = headers.get_all(IF_NONE_MATCH).iter().any(|value| self.is_named(value));
        let body = if known { ResponseBody::empty() } else { self.body.clone().into() };
        let mut response = self.named(body);
        if known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            let content_type = HeaderValue::from_static(content_type);
            response.headers_mut().insert(CONTENT_TYPE, content_type);
        }
        response
    }

    /// An answer about this document, with its tag.
    pub(crate) fn named(&self, body: ResponseBody) -> Response {
        let tag = HeaderValue::from_str(&format!("\"{}\"", self.hash))
            .expect("hexadecimal digits in quotes can stand in a header");
        let mut response = Response::new(body);
        response.headers_mut().insert(ETAG, tag);
        response.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
        response
    }

    fn is_named(&self, value: &HeaderValue) -> bool {
        let Ok(value) = value.to_str() else { return false };
        value.split(',').map(str::trim).any(|tag| {
            // Weak tags compare like strong ones here (RFC 9110 §13.1.2).
            let tag = tag.strip_prefix("W/").unwrap_or(tag);
            tag == "*" || tag.trim_matches('"') == self.hash
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_has_the_document_does_not_get_it_again() {
        let document = Document::new(&1);
        let answer = |tag: Option<&str>| {
            let mut headers = HeaderMap::new();
            if let Some(tag) = tag {
                headers.insert(IF_NONE_MATCH, tag.parse().unwrap());
            }
            document.answer(&headers, "application/json")
        };
        let fresh = answer(None);
        assert_eq!(fresh.status(), 200);
        let tag = fresh.headers()[ETAG].to_str().unwrap().to_owned();
        assert_eq!(tag.len(), 130);
        for known in [tag.as_str(), &format!("W/{tag}"), &format!("\"x\", {tag}"), "*"] {
            let answer = answer(Some(known));
            assert_eq!(answer.status(), 304);
            assert_eq!(answer.headers()[ETAG], tag);
            assert!(!answer.headers().contains_key(CONTENT_TYPE));
        }
        assert_eq!(answer(Some("\"x\"")).status(), 200);
    }
}
