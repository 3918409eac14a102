//! Bearer tokens: where one stands in a request, and how one is remembered.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use sha2::{Digest as _, Sha256};

/// The token of `Authorization: Bearer …`; the scheme in any case.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, rest) = value.split_once(' ')?;
    let token = rest.split(' ').next().unwrap_or_default();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Makes digests of tokens, keyed with a random number of this process: neither the time a lookup
/// takes nor a dump of memory tells anything about a token.
pub(super) struct Digests {
    key: [u8; 32],
}

/// What is kept of a token.
pub(super) type Digest = [u8; 32];

impl Digests {
    /// Digests like no other process makes them.
    pub(super) fn new() -> Self {
        Self { key: rand::random() }
    }

    /// The digest of a token. The key has a fixed length, so no other text is the same input.
    pub(super) fn of(&self, token: &str) -> Digest {
        Sha256::new().chain_update(self.key).chain_update(token).finalize().into()
    }
}
