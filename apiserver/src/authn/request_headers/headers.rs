//! The headers in which a proxy names a user, as `--requestheader-*` configure them.

use http::{HeaderMap, HeaderName, HeaderValue};

use super::User;
use crate::request::unescape;

/// Names of headers, and prefixes of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityHeaders {
    username: Vec<HeaderName>,
    group: Vec<HeaderName>,
    /// In lower case, as header names are.
    extra_prefixes: Vec<String>,
    uid: Vec<HeaderName>,
}

/// A configured name that no header can have.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} cannot be the name of a header")]
pub struct BadHeaderName(String);

/// A header of a proxy that is not UTF-8. Where it is about identity, nothing may be left out.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the header {0} is not UTF-8")]
pub(super) struct NotText(HeaderName);

/// The names that upstream knows without being told. There is none for the uid: servers before
/// 1.32 let a client's own `X-Remote-Uid` pass.
impl Default for IdentityHeaders {
    fn default() -> Self {
        Self {
            username: vec![HeaderName::from_static("x-remote-user")],
            group: vec![HeaderName::from_static("x-remote-group")],
            extra_prefixes: vec!["x-remote-extra-".to_owned()],
            uid: Vec::new(),
        }
    }
}

impl IdentityHeaders {
    /// Takes names as they are configured, in any case.
    ///
    /// # Errors
    /// When one is empty or cannot be the name of a header. An empty prefix would make every header
    /// part of the user.
    pub fn new(
        username: &[String],
        group: &[String],
        extra_prefixes: &[String],
        uid: &[String],
    ) -> Result<Self, BadHeaderName> {
        let prefixes = names(extra_prefixes)?;
        Ok(Self {
            username: names(username)?,
            group: names(group)?,
            extra_prefixes: prefixes.iter().map(|prefix| prefix.as_str().to_owned()).collect(),
            uid: names(uid)?,
        })
    }

    /// The user that `headers` name; `None` when they name nobody.
    pub(super) fn user(&self, headers: &HeaderMap) -> Result<Option<User>, NotText> {
        let name = first(headers, &self.username)?;
        if name.is_empty() {
            return Ok(None);
        }
        let mut groups = Vec::new();
        for header in &self.group {
            for value in headers.get_all(header).iter().filter(|value| !value.is_empty()) {
                groups.push(text(header, value)?);
            }
        }
        let mut user = User::authenticated(name, groups);
        user.uid = first(headers, &self.uid)?;
        for prefix in &self.extra_prefixes {
            for (header, value) in headers {
                if let Some(key) = header.as_str().strip_prefix(prefix.as_str()) {
                    let values = user.extra.entry(extra_key(key)).or_default();
                    values.push(text(header, value)?);
                }
            }
        }
        Ok(Some(user))
    }

    /// Takes these headers away.
    pub(super) fn strip(&self, headers: &mut HeaderMap) {
        for header in self.username.iter().chain(&self.group).chain(&self.uid) {
            headers.remove(header);
        }
        let is_extra = |header: &HeaderName| {
            self.extra_prefixes.iter().any(|prefix| header.as_str().starts_with(prefix.as_str()))
        };
        let extra: Vec<_> = headers.keys().filter(|header| is_extra(header)).cloned().collect();
        for header in extra {
            headers.remove(header);
        }
    }
}

fn names(configured: &[String]) -> Result<Vec<HeaderName>, BadHeaderName> {
    let name = |text: &String| text.trim().parse().map_err(|_| BadHeaderName(text.clone()));
    configured.iter().map(name).collect()
}

/// The first value of the first header that has one.
fn first(headers: &HeaderMap, names: &[HeaderName]) -> Result<String, NotText> {
    let found = names.iter().find_map(|name| {
        headers.get(name).filter(|value| !value.is_empty()).map(|value| (name, value))
    });
    found.map_or_else(|| Ok(String::new()), |(name, value)| text(name, value))
}

/// Go sends a name as its UTF-8, which `HeaderValue::to_str` would refuse.
fn text(name: &HeaderName, value: &HeaderValue) -> Result<String, NotText> {
    let text = std::str::from_utf8(value.as_bytes()).map_err(|_| NotText(name.clone()))?;
    Ok(text.to_owned())
}

/// Keys may hold what a header's name may not, and are percent-encoded then. What cannot be decoded
/// is kept as it is, as upstream.
pub(crate) fn extra_key(encoded: &str) -> String {
    unescape(encoded, false).unwrap_or_else(|| encoded.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            let name: HeaderName = name.parse().unwrap();
            headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        headers
    }

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_first_name_that_is_not_empty_counts_and_every_group() {
        let configured = IdentityHeaders::new(
            &list(&["X-Remote-User", " X-Forwarded-User "]),
            &list(&["X-Remote-Group", "X-Forwarded-Group"]),
            &list(&["X-Remote-Extra-"]),
            &list(&["X-Remote-Uid"]),
        );
        let headers = headers(&[
            ("x-forwarded-group", "third"),
            ("X-Remote-User", ""),
            ("x-forwarded-user", "jürgen"),
            ("x-forwarded-user", "somebody else"),
            ("x-remote-group", "first,with comma"),
            ("x-remote-group", ""),
            ("x-remote-group", "second"),
            ("x-remote-uid", "42"),
        ]);
        let user = configured.unwrap().user(&headers).unwrap().unwrap();
        assert_eq!((user.name.as_str(), user.uid.as_str()), ("jürgen", "42"));
        assert_eq!(user.groups, ["first,with comma", "second", "third", "system:authenticated"]);
    }

    #[test]
    fn keys_of_extra_are_decoded_and_their_values_kept_together() {
        let headers = headers(&[
            ("X-Remote-User", "a"),
            ("X-Remote-Extra-Authentication.kubernetes.io%2fcredential-Id", "JTI=1"),
            ("X-Remote-Extra-authentication.kubernetes.io%2Fcredential-id", "JTI=2"),
            ("x-remote-extra-broken%zz", "kept"),
            ("x-remote-extra-plus+plus", "kept"),
            ("x-remote-extra-", "no key"),
            ("x-remote-uid", "not configured"),
        ]);
        let user = IdentityHeaders::default().user(&headers).unwrap().unwrap();
        let extra: Vec<_> = user.extra.iter().map(|(key, values)| (key.as_str(), values)).collect();
        assert_eq!(
            extra,
            [
                ("", &list(&["no key"])),
                ("authentication.kubernetes.io/credential-id", &list(&["JTI=1", "JTI=2"])),
                ("broken%zz", &list(&["kept"])),
                ("plus+plus", &list(&["kept"])),
            ]
        );
        assert_eq!(user.uid, "");
    }

    #[test]
    fn without_a_name_there_is_no_user() {
        let check = |lines: &[(&str, &str)]| {
            assert_eq!(IdentityHeaders::default().user(&headers(lines)), Ok(None), "{lines:?}");
        };
        check(&[]);
        check(&[("x-remote-group", "system:masters")]);
        check(&[("x-remote-user", ""), ("x-remote-group", "system:masters")]);
        // The first value counts, even when it is empty.
        check(&[("x-remote-user", ""), ("x-remote-user", "admin")]);
    }

    #[test]
    fn what_is_no_text_is_never_left_out_quietly() {
        for name in ["x-remote-user", "x-remote-group", "x-remote-extra-a"] {
            let mut headers = headers(&[("x-remote-user", "a")]);
            headers.insert(
                name.parse::<HeaderName>().unwrap(),
                HeaderValue::from_bytes(b"\xff").unwrap(),
            );
            assert!(IdentityHeaders::default().user(&headers).is_err(), "{name}");
        }
    }

    #[test]
    fn six_hundred_groups_are_taken() {
        let mut headers = headers(&[("x-remote-user", "a")]);
        for index in 0..600 {
            let group: HeaderValue = format!("group-{index}").parse().unwrap();
            headers.append("x-remote-group", group);
        }
        let user = IdentityHeaders::default().user(&headers).unwrap().unwrap();
        assert_eq!(user.groups.len(), 601);
    }

    #[test]
    fn configured_headers_are_stripped_and_no_others() {
        let configured = IdentityHeaders::new(
            &list(&["X-Who"]),
            &list(&["X-Which"]),
            &list(&["X-What-"]),
            &list(&["X-Id"]),
        );
        let mut headers = headers(&[
            ("x-who", "a"),
            ("x-which", "b"),
            ("x-which", "c"),
            ("X-What-Else", "d"),
            ("x-id", "e"),
            ("x-whose", "kept"),
        ]);
        configured.unwrap().strip(&mut headers);
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["x-whose"]);
    }

    #[test]
    fn an_empty_name_or_prefix_is_refused() {
        for bad in ["", "  ", "two words", "x:y"] {
            let bad = list(&[bad]);
            assert!(IdentityHeaders::new(&bad, &[], &[], &[]).is_err());
            assert!(IdentityHeaders::new(&[], &[], &bad, &[]).is_err());
        }
    }
}
