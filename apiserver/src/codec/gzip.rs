//! Compression of large answers, for clients that ask for it.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, VARY};
use http::{HeaderMap, HeaderValue};

use crate::limits::heavy;
use crate::response::{Response, ResponseBody};
use crate::status::Error;

/// Smaller answers are sent as they are: upstream's `defaultGzipThresholdBytes`.
const THRESHOLD: u64 = 128 * 1024;

/// Compresses an answer that is large enough and whole. A watch, which has no size, never is.
///
/// # Errors
/// 500, when the body cannot be read, which a body in memory always can.
pub(crate) async fn compress(request: &HeaderMap, response: Response) -> Result<Response, Error> {
    let size = http_body::Body::size_hint(response.body()).exact();
    if size.is_none_or(|size| size <= THRESHOLD) || !accepts_gzip(request) {
        return Ok(response);
    }
    let (mut parts, body) = response.into_parts();
    let plain = axum::body::to_bytes(body, usize::MAX).await.map_err(Error::internal)?;
    let compressed = heavy(plain.len(), move || {
        let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::fast());
        encoder.write_all(&plain)?;
        encoder.finish()
    });
    let compressed = compressed.await?.map_err(Error::internal)?;
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    Ok(Response::from_parts(parts, ResponseBody::from(compressed)))
}

/// Whether gzip is listed, by name and not with weight 0.
fn accepts_gzip(request: &HeaderMap) -> bool {
    request.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok()).any(|value| {
        value.split(',').any(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            let refused = |weight: &str| matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000");
            parts.next() == Some("gzip") && !parts.any(refused)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn encoding(accept: &str, size: usize) -> Option<HeaderValue> {
        let mut request = HeaderMap::new();
        request.insert(ACCEPT_ENCODING, accept.parse().unwrap());
        let response = Response::new(ResponseBody::from(vec![b'x'; size]));
        let response = compress(&request, response).await.unwrap();
        response.headers().get(CONTENT_ENCODING).cloned()
    }

    #[tokio::test]
    async fn only_large_answers_are_compressed_and_only_when_asked_for() {
        assert!(encoding("gzip, deflate", 200_000).await.is_some());
        assert!(encoding("gzip", 1000).await.is_none());
        assert!(encoding("gzip;q=0", 200_000).await.is_none());
        assert!(encoding("identity", 200_000).await.is_none());
    }
}
