//! Registries that somebody has set up: which types stand in them, where they are, and with what they are asked.
//!
//! Who may use one, and where credentials are kept, is for whoever hands them over.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;

use super::version;

/// A registry, ready to be asked.
#[derive(Clone, Debug)]
pub struct Registry {
    /// What its types begin with, before a slash: no scheme, and no slash at the end.
    pub prefix: String,
    /// Whether its templates have versions.
    pub versioned: bool,
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
    let name = name.split_once("://").map_or(name, |(_, rest)| rest);
    name.strip_prefix(prefix)?.strip_prefix('/')
}

/// A template of a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub(crate) collection: Option<&'a str>,
    pub(crate) template: &'a str,
    pub(crate) version: Option<&'a str>,
}

impl<'a> Entry<'a> {
    /// Reads what stands behind a prefix.
    pub(crate) fn parse(rest: &'a str) -> Option<Self> {
        let (path, version) = rest.split_once(':').map_or((rest, None), |(a, b)| (a, Some(b)));
        let (collection, template) = match path.split_once('/') {
            Some((collection, template)) => (Some(collection), template),
            None => (None, path),
        };
        let parts = [Some(template), collection, version];
        let well = parts.into_iter().flatten().all(is_name);
        well.then_some(Self { collection, template, version })
    }
}

/// One part of a type. It becomes part of a URL, so that only what means itself there is a name.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !name.is_empty() && name.bytes().all(plain) && !name.bytes().all(|byte| byte == b'.')
}

/// What is said where no version fits.
pub(crate) fn unversioned(version: Option<&str>) -> String {
    match version {
        Some(version) => format!("the registry has no version {version} of it"),
        None => "the registry has no version of it".to_owned(),
    }
}

/// The file among these that a template is.
pub(crate) fn file_of<'a>(
    files: &'a BTreeMap<String, String>,
    entry: &Entry<'_>,
    versioned: bool,
) -> Result<&'a str, String> {
    let Entry { collection, template, version } = *entry;
    let before = collection.map(|it| format!("{it}.{template}"));
    let before = before.as_deref().unwrap_or(template);
    let suffixes = [".py", ".jinja"];
    if !versioned {
        if version.is_some() {
            return Err("its registry has no versions".to_owned());
        }
        let names = suffixes.map(|suffix| format!("{before}{suffix}"));
        let found = names.iter().find_map(|name| files.get_key_value(name));
        return found
            .map(|(name, _)| name.as_str())
            .ok_or_else(|| "the registry does not have it".to_owned());
    }
    let version_in = |name: &'a String| {
        let rest = name.strip_prefix(before)?.strip_prefix('.')?;
        let version = suffixes.iter().find_map(|suffix| rest.strip_suffix(suffix))?;
        Some((version, name))
    };
    let versions: Vec<(&str, &String)> = files.keys().filter_map(version_in).collect();
    let spelled: Vec<&str> = versions.iter().map(|(version, _)| *version).collect();
    let chosen = version::choose(version, &spelled).ok_or_else(|| match spelled.as_slice() {
        [] => "the registry does not have it".to_owned(),
        _ => unversioned(version),
    })?;
    // Python goes before Jinja, as on GitHub.
    let mut of_it = versions.iter().filter(|(version, _)| *version == chosen);
    let found = of_it.clone().find(|(_, name)| name.ends_with(".py")).or_else(|| of_it.next());
    found.map(|(_, name)| name.as_str()).ok_or_else(|| unversioned(version))
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
    fn files_stand_for_templates_and_versions_by_their_names() {
        let names = [
            "redis.v1.jinja",
            "redis.v1.0.2.jinja",
            "redis.v1.0.2.jinja.schema",
            "redis.v1.1.py",
            "redis.v1.1.jinja",
            "storage.redis.v2.py",
            "my.app.v3.py",
            "redis.latest.jinja",
            "plain.py",
        ];
        let files = names.map(|name| (name.to_owned(), String::new())).into();
        let found = |rest: &str| file_of(&files, &Entry::parse(rest).unwrap(), true);
        for (rest, want) in [
            ("redis:v1", Ok("redis.v1.0.2.jinja")),
            ("redis:1.1", Ok("redis.v1.1.py")),
            ("redis:latest", Ok("redis.latest.jinja")),
            ("redis", Ok("redis.v1.1.py")),
            ("redis:v2", Err("the registry has no version v2 of it".to_owned())),
            ("storage/redis:v2", Ok("storage.redis.v2.py")),
            ("my.app:v3", Ok("my.app.v3.py")),
            ("none:v1", Err("the registry does not have it".to_owned())),
            ("plain", Err("the registry does not have it".to_owned())),
        ] {
            assert_eq!(found(rest), want, "{rest}");
        }
        let plain = |rest: &str| file_of(&files, &Entry::parse(rest).unwrap(), false);
        assert_eq!(plain("plain"), Ok("plain.py"));
        assert_eq!(plain("plain:v1"), Err("its registry has no versions".to_owned()));
        assert_eq!(plain("redis"), Err("the registry does not have it".to_owned()));
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
