//! Continue tokens: where the next page of a list begins, and in which revision.
//!
//! A token is opaque to clients and yet readable: unpadded base64url of a JSON object, the format of
//! kube-apiserver. It is not signed. All that a forger gains is another place in the same list, as the
//! start is always taken below the prefix of the request's own collection.

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Serialize};

use crate::status::Error;

/// The place of a page within a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continuation {
    /// The revision that all pages show.
    pub revision: Revision,
    /// The first key of the page, relative to the collection's prefix, without a leading slash.
    pub start: String,
}

/// In which revision a list goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revision {
    /// In that of the pages before.
    At(u64),
    /// In the latest: the history of the pages before is gone, and the client agreed to go on.
    Latest,
}

const VERSION: &str = "meta.k8s.io/v1";

/// Bits that are left over at the end are ignored, as Go does.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Token<'a> {
    v: std::borrow::Cow<'a, str>,
    rv: i64,
    start: std::borrow::Cow<'a, str>,
}

impl Continuation {
    /// The page that begins right behind `last`, a key relative to the collection's prefix.
    pub fn after(last: &str, revision: Revision) -> Self {
        // No key lies between a key and the same with a zero byte.
        Self { revision, start: format!("{last}\0") }
    }

    /// The token.
    pub fn encode(&self) -> String {
        let rv = match self.revision {
            Revision::At(revision) => i64::try_from(revision).unwrap_or(i64::MAX),
            Revision::Latest => -1,
        };
        let token = Token { v: VERSION.into(), rv, start: format!("/{}", self.start).into() };
        let json = serde_json::to_vec(&token).expect("strings and a number are always JSON");
        BASE64.encode(json)
    }

    /// Reads a token.
    ///
    /// # Errors
    /// 400 when it is not one of ours, or points out of the collection.
    pub fn decode(token: &str) -> Result<Self, Error> {
        let invalid = |why: String| {
            Error::bad_request(format!("invalid continue token: continue key is not valid: {why}"))
        };
        let json = BASE64.decode(token).map_err(|_| {
            let at = illegal_byte(token);
            invalid(format!("illegal base64 data at input byte {at}"))
        })?;
        let token: Token<'_> = serde_json::from_slice(&json)
            .map_err(|error| invalid(not_a_value(&json).unwrap_or_else(|| error.to_string())))?;
        if token.v != VERSION {
            let version = token.v;
            return Err(invalid(format!(
                "server does not recognize this encoded version {version}"
            )));
        }
        let revision = match u64::try_from(token.rv) {
            Ok(0) => {
                let why = format!("incorrect encoded start resourceVersion (version {VERSION})");
                return Err(invalid(why));
            }
            Ok(revision) => Revision::At(revision),
            Err(_) => Revision::Latest,
        };
        if token.start.is_empty() {
            return Err(invalid(format!("encoded start key empty (version {VERSION})")));
        }
        let start = token.start.strip_prefix('/').unwrap_or(&token.start);
        let stays = |segment: &str| !matches!(segment, "" | "." | "..");
        if !start.is_empty() && !start.split('/').all(stays) {
            return Err(invalid(token.start.into_owned()));
        }
        Ok(Self { revision, start: start.to_owned() })
    }
}

/// The first byte that cannot be base64url: a stranger, or a last one that has no partner.
fn illegal_byte(token: &str) -> usize {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    token.bytes().position(|byte| !known(byte)).unwrap_or_else(|| token.len().saturating_sub(1))
}

/// Go's words for bytes that do not even begin as JSON.
fn not_a_value(json: &[u8]) -> Option<String> {
    match json.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => Some("unexpected end of JSON input".to_owned()),
        Some(b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => None,
        Some(byte) => {
            let found = char::from(*byte).escape_default();
            Some(format!("invalid character '{found}' looking for beginning of value"))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn token(json: &str) -> String {
        BASE64.encode(json)
    }

    #[test]
    fn a_token_is_the_json_that_upstream_writes() {
        let token = Continuation::after("ns/b", Revision::At(546)).encode();
        let json = String::from_utf8(BASE64.decode(&token).unwrap()).unwrap();
        assert_eq!(json, r#"{"v":"meta.k8s.io/v1","rv":546,"start":"/ns/b\u0000"}"#);
        assert!(!token.contains('='));
    }

    #[test]
    fn a_negative_revision_goes_on_in_the_latest() {
        for rv in ["-1", "-2"] {
            let token = token(&format!(r#"{{"v":"meta.k8s.io/v1","rv":{rv},"start":"a\u0000"}}"#));
            let page = Continuation { revision: Revision::Latest, start: "a\0".into() };
            assert_eq!(Continuation::decode(&token).unwrap(), page);
        }
    }

    #[test]
    fn forgeries_are_refused_in_upstreams_words() {
        let v1 = |rest: &str| token(&format!(r#"{{"v":"meta.k8s.io/v1",{rest}}}"#));
        let table = [
            ("abc!".into(), "illegal base64 data at input byte 3"),
            ("aGVsbG8=".into(), "illegal base64 data at input byte 7"),
            ("abcde".into(), "illegal base64 data at input byte 4"),
            (token("hello"), "invalid character 'h' looking for beginning of value"),
            (String::new(), "unexpected end of JSON input"),
            (
                token(r#"{"v":"meta.k8s.io/v2","rv":5,"start":"a"}"#),
                "server does not recognize this encoded version meta.k8s.io/v2",
            ),
            (
                v1(r#""rv":0,"start":"a""#),
                "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ),
            (v1(r#""rv":5"#), "encoded start key empty (version meta.k8s.io/v1)"),
            (v1(r#""rv":5,"start":"../x""#), "../x"),
            (v1(r#""rv":5,"start":"/a/../x""#), "/a/../x"),
            (v1(r#""rv":5,"start":"a//x""#), "a//x"),
            (v1(r#""rv":5,"start":"a/""#), "a/"),
        ];
        for (token, why) in table {
            let error = Continuation::decode(&token).unwrap_err();
            assert_eq!(error.reason().code(), 400);
            assert_eq!(
                error.message(),
                format!("invalid continue token: continue key is not valid: {why}")
            );
        }
    }

    proptest! {
        #[test]
        fn every_place_survives_its_token(key in "[a-z0-9.-]{1,9}(/[a-z]{1,9})?", rv in 1..u64::MAX / 2) {
            prop_assume!(key.split('/').all(|segment| segment != "." && segment != ".."));
            let page = Continuation::after(&key, Revision::At(rv));
            prop_assert_eq!(Continuation::decode(&page.encode()).unwrap(), page);
        }

        #[test]
        fn no_token_makes_the_decoder_panic(token in "\\PC{0,80}") {
            _ = Continuation::decode(&token);
        }
    }
}
