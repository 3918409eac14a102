//! Who may ask: whoever is on this machine and no web page, or whoever has the token.

use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use apiserver::status::Reason;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::HeaderMap;
use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::uri::Authority;
use subtle::ConstantTimeEq as _;

use super::answer::Fault;

/// The token that has to be shown, if any.
#[derive(Clone)]
pub(super) struct Guard(Option<Arc<str>>);

impl Guard {
    /// Asks for the token in this file, if one is given.
    ///
    /// # Errors
    /// When the file cannot be read, or no token stands in it.
    pub(super) fn new(file: Option<&Path>) -> Result<Self> {
        let Some(file) = file else { return Ok(Self(None)) };
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let token = text.trim();
        ensure!(
            !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()),
            "{}: a token is one word",
            file.display()
        );
        Ok(Self(Some(token.into())))
    }

    /// Whether these headers let a request in.
    fn judge(&self, headers: &HeaderMap, authority: Option<&str>) -> Result<(), Fault> {
        let forbidden = |why| Fault::new(Reason::Forbidden, why);
        if headers.contains_key(ORIGIN) {
            return Err(forbidden("403: this address is for programs, and not for web pages"));
        }
        if let Some(token) = &self.0 {
            // No web page knows it, whichever name leads here.
            let shown = bearer(headers).unwrap_or_default();
            let same: bool = shown.as_bytes().ct_eq(token.as_bytes()).into();
            let why = "401: this address takes the bearer token of --dm-compat-token-file";
            return if same { Ok(()) } else { Err(Fault::new(Reason::Unauthorized, why)) };
        }
        if !authority.is_none_or(is_own) {
            return Err(forbidden(
                "403: this address is for programs on this machine, and not for web pages",
            ));
        }
        Ok(())
    }
}

/// Turns away whoever may not ask. A browser on this machine asks for whichever page it shows, with the page's `Origin`,
/// or, when the page's own name was made to lead here, with that name as the `Host`.
pub(super) async fn let_in(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let host = request.headers().get(HOST).map(|host| host.to_str().unwrap_or_default());
    let host = request.uri().authority().map(Authority::as_str).or(host);
    let is_probe = guard.0.is_some() && request.uri().path() == "/healthz";
    match guard.judge(request.headers(), host) {
        Err(fault) if !is_probe => fault.into_response(),
        _ => next.run(request).await,
    }
}

/// The token of `Authorization: Bearer …`.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whether a `Host` is no name that somebody else decides about: an address, or localhost.
fn is_own(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let host = authority.host();
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_name_that_others_decide_about_is_no_host_of_ours() {
        for own in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:8080", "10.0.0.1"] {
            assert!(is_own(own), "{own}");
        }
        for other in ["", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil", "a b"] {
            assert!(!is_own(other), "{other}");
        }
    }

    #[test]
    fn who_has_the_token_may_ask_by_any_name_and_nobody_else_may() {
        let guard = Guard(Some("secret".into()));
        let judge = |shown: Option<&'static str>, host| {
            let shown = shown.map(|shown| (AUTHORIZATION, HeaderValue::from_static(shown)));
            guard.judge(&shown.into_iter().collect(), Some(host))
        };
        assert_eq!(judge(Some("Bearer secret"), "dm.example"), Ok(()));
        assert_eq!(judge(Some("bearer  secret"), "127.0.0.1"), Ok(()));
        for shown in [None, Some("Bearer secre"), Some("Bearer secrets"), Some("Basic secret")] {
            assert!(
                judge(shown, "127.0.0.1").unwrap_err().message().starts_with("401"),
                "{shown:?}"
            );
        }
    }

    #[test]
    fn a_file_without_a_token_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        for (text, good) in [("abc\n", true), ("", false), ("a b", false), ("\n", false)] {
            fs::write(&file, text).unwrap();
            assert_eq!(Guard::new(Some(&file)).is_ok(), good, "{text:?}");
        }
    }
}
