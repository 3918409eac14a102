//! Names of entries, and the parts of the key space that can be listed and watched.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// The name of an entry: `/group/resource/namespace/name`.
///
/// Keys are ordered by their bytes. A segment may be empty (a cluster-scoped object has no namespace), the last one
/// may not. Cloning is cheap.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

/// A part of the key space: everything under a directory, or one key.
///
/// `/apps/deployments/` holds every key that begins so; `/apps/deployments/web/front` holds that key alone, and not
/// `/apps/deployments/web/front-2`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix(Arc<str>);

/// A text that is neither a [`Key`] nor a [`Prefix`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    /// Keys and prefixes are absolute.
    #[error("{0:?} does not begin with a slash")]
    NotAbsolute(String),
    /// A directory is no key.
    #[error("{0:?} ends with a slash")]
    Directory(String),
}

impl Key {
    /// Reads a key. It begins with a slash and does not end with one.
    pub fn new(text: impl Into<Arc<str>>) -> Result<Self, InvalidKey> {
        let text = absolute(text.into())?;
        if text.ends_with('/') {
            return Err(InvalidKey::Directory(text.to_string()));
        }
        Ok(Self(text))
    }

    /// The key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Every prefix that holds this key, as text: its directories from `/` on, then itself.
    pub fn prefixes(&self) -> impl Iterator<Item = &str> {
        let directories = self.0.match_indices('/').map(|(slash, _)| &self.0[..=slash]);
        directories.chain(std::iter::once(&*self.0))
    }
}

impl Prefix {
    /// Reads a prefix. It begins with a slash; one that does not end with a slash holds the key of that name alone.
    pub fn new(text: impl Into<Arc<str>>) -> Result<Self, InvalidKey> {
        absolute(text.into()).map(Self)
    }

    /// The whole store.
    pub fn all() -> Self {
        Self("/".into())
    }

    /// The prefix's text: no key that it holds sorts before it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `key` lies within.
    pub fn holds(&self, key: &Key) -> bool {
        self.holds_text(&key.0)
    }

    /// Whether everything that `other` holds lies within.
    pub fn covers(&self, other: &Prefix) -> bool {
        self.holds_text(&other.0)
    }

    pub(crate) fn holds_text(&self, text: &str) -> bool {
        if self.0.ends_with('/') { text.starts_with(&*self.0) } else { *text == *self.0 }
    }
}

impl From<&Key> for Prefix {
    fn from(key: &Key) -> Self {
        Self(key.0.clone())
    }
}

fn absolute(text: Arc<str>) -> Result<Arc<str>, InvalidKey> {
    if text.starts_with('/') { Ok(text) } else { Err(InvalidKey::NotAbsolute(text.to_string())) }
}

// `str` orders and hashes as the key does, so that maps are searched without building a key.
impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Prefix {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_absolute_and_no_directory() {
        assert_eq!(Key::new("a/b"), Err(InvalidKey::NotAbsolute("a/b".into())));
        assert_eq!(Key::new("/a/b/"), Err(InvalidKey::Directory("/a/b/".into())));
        assert_eq!(Key::new("/g/r//n").unwrap().as_str(), "/g/r//n");
    }

    #[test]
    fn a_directory_holds_what_lies_under_it() {
        let prefix = Prefix::new("/g/r/ns/").unwrap();
        assert!(prefix.holds(&Key::new("/g/r/ns/a").unwrap()));
        assert!(!prefix.holds(&Key::new("/g/r/ns2/a").unwrap()));
        assert!(Prefix::all().covers(&prefix));
        assert!(!prefix.covers(&Prefix::all()));
    }

    #[test]
    fn a_prefix_without_a_slash_holds_one_key() {
        let prefix = Prefix::new("/g/r/ns/a").unwrap();
        assert!(prefix.holds(&Key::new("/g/r/ns/a").unwrap()));
        assert!(!prefix.holds(&Key::new("/g/r/ns/ab").unwrap()));
    }

    #[test]
    fn the_prefixes_of_a_key_are_its_directories_and_itself() {
        let key = Key::new("/g/r//n").unwrap();
        assert_eq!(key.prefixes().collect::<Vec<_>>(), ["/", "/g/", "/g/r/", "/g/r//", "/g/r//n"]);
    }
}
