//! Registries that somebody has set up: which types stand in them, where they are, and with what they are asked.
//!
//! Who may use one, and where credentials are kept, is for whoever hands them over.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;

/// A registry, ready to be asked.
#[derive(Clone, Debug)]
pub struct Registry {
    /// What its types begin with, before a slash: no scheme, and no slash at the end.
    pub prefix: String,
    /// Whether its templates have versions.
    pub versioned: bool,
    /// Whether they may stand in collections.
    pub collections: bool,
    /// Where its templates are.
    pub place: Place,
}

/// Where the templates of a registry are.
#[derive(Clone, Debug)]
pub enum Place {
    /// In a repository on GitHub, `github.com/OWNER/REPOSITORY`, or in a folder of it: that is the prefix.
    GitHub(Option<Credential>),
    /// These files, which whoever says this has read. A file is called `[COLLECTION.]TEMPLATE.VERSION.SUFFIX`, or where
    /// there are no versions `[COLLECTION.]TEMPLATE.SUFFIX`; and what schemas import is called as it is imported.
    Files {
        /// What stands before their names where they are shown.
        shown: String,
        /// The files by name.
        files: BTreeMap<String, String>,
    },
    /// In a folder on a web server, with an index, `index.yaml`, that says where in it: that is the prefix.
    Http {
        /// Whether it is asked in the clear, without TLS.
        plain: bool,
        /// With what it is asked.
        credential: Option<Credential>,
    },
}

/// With what a registry is asked. Nothing shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential(HeaderValue);

/// A future in a box.
pub type Finding<'a> = Pin<Box<dyn Future<Output = Result<Option<Registry>, String>> + Send + 'a>>;

/// Whoever knows registries.
pub trait Registries: Send + Sync {
    /// The one that a type stands in; none, if it is nobody's. An error is one sentence for the user.
    fn of<'a>(&'a self, name: &'a str) -> Finding<'a>;
}

impl Credential {
    /// A token. None, if it has characters that no token has.
    pub fn token(token: &str) -> Option<Self> {
        Self::header(&format!("Bearer {token}"))
    }

    /// A user and a password.
    pub fn basic(user: &str, password: &str) -> Option<Self> {
        Self::header(&format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))))
    }

    fn header(text: &str) -> Option<Self> {
        let mut value = HeaderValue::from_str(text).ok()?;
        value.set_sensitive(true);
        Some(Self(value))
    }

    /// The value of `Authorization`.
    pub(crate) fn value(&self) -> &HeaderValue {
        &self.0
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential")
    }
}

/// What is left of a type behind the prefix of the registry that it stands in, `[COLLECTION/]TEMPLATE[:VERSION]`.
pub fn within<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    schemeless(name).strip_prefix(prefix)?.strip_prefix('/')
}

/// What types begin with that stand in a registry with this URL: no scheme, and no slash at the end.
pub fn prefix(url: &str) -> &str {
    schemeless(url).trim_end_matches('/')
}

fn schemeless(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_within_a_registry_whatever_its_scheme() {
        let prefix = "h.example/lib";
        assert_eq!(within("https://h.example/lib/c/t:v1", prefix), Some("c/t:v1"));
        assert_eq!(within("h.example/lib/t", prefix), Some("t"));
        for other in ["h.example/library/t", "h.example/lib", "https://x/h.example/lib/t"] {
            assert_eq!(within(other, prefix), None, "{other}");
        }
    }

    #[test]
    fn nothing_shows_a_credential_and_what_is_none_is_not_sent() {
        let token = Credential::token("s3cret").unwrap();
        assert_eq!(format!("{token:?}"), "Credential");
        assert_eq!(token.value(), "Bearer s3cret");
        assert!(token.value().is_sensitive());
        assert_eq!(Credential::basic("u", "p").unwrap().value(), "Basic dTpw");
        assert_eq!(Credential::token("a\nb: c"), None);
    }
}
