//! Where things are in etcd: which of its keys are ours, and what its answers say of ours.
//!
//! Below the prefix, `registry` holds the entries and `version` says how they are laid out. Nobody else may write
//! below the prefix; everywhere else in the same etcd anybody may.

use bytes::Bytes;
use etcd_client::{KeyValue, ResponseHeader};

use crate::{Entry, Error, Key, Prefix, Result, Revision};

/// The keys of one store in etcd.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    registry: String,
    version: String,
}

impl Layout {
    /// The layout below `prefix`, which may be given with or without slashes around it.
    pub(super) fn new(prefix: &str) -> Self {
        let prefix = prefix.trim_matches('/');
        let root = if prefix.is_empty() { String::new() } else { format!("/{prefix}") };
        Self { registry: format!("{root}/registry"), version: format!("{root}/version") }
    }

    /// A key that is there from the first connection on.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Where the entry of `key` is.
    pub(super) fn key(&self, key: &Key) -> String {
        format!("{}{key}", self.registry)
    }

    /// The first key of `prefix`, and the first one behind it.
    pub(super) fn range(&self, prefix: &Prefix) -> (String, String) {
        let start = format!("{}{prefix}", self.registry);
        let end = match start.strip_suffix('/') {
            // '0' is what follows the slash.
            Some(directory) => format!("{directory}0"),
            None => format!("{start}\0"),
        };
        (start, end)
    }

    /// The entry that etcd holds under one of our keys.
    pub(super) fn entry(&self, stored: KeyValue) -> Result<Entry> {
        let (key, revision) = (self.read(stored.key())?, revision(stored.mod_revision()));
        let (_, value) = stored.into_key_value();
        Ok(Entry { key, value: Bytes::from(value), revision })
    }

    /// The entry's key that stands for `key` in etcd.
    pub(super) fn read(&self, key: &[u8]) -> Result<Key> {
        let text = std::str::from_utf8(key).ok().and_then(|key| key.strip_prefix(&self.registry));
        let key = text.and_then(|text| Key::new(text).ok());
        key.ok_or_else(|| {
            Error::Corrupt("etcd holds a key below the prefix that is none of ours".into())
        })
    }
}

/// What etcd counts from 1, and never below.
pub(super) fn revision(number: i64) -> Revision {
    Revision::new(u64::try_from(number).unwrap_or_default())
}

/// The store's revision when etcd answered.
pub(super) fn reached(header: Option<&ResponseHeader>) -> Result<Revision> {
    let header =
        header.ok_or_else(|| Error::Corrupt("an answer of etcd without a header".into()))?;
    Ok(revision(header.revision()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(prefix: &str) -> (String, String) {
        Layout::new("/formwork").range(&Prefix::new(prefix).unwrap())
    }

    fn pair(start: &str, end: &str) -> (String, String) {
        (start.to_owned(), end.to_owned())
    }

    #[test]
    fn a_directory_ends_before_what_only_begins_like_it() {
        assert_eq!(range("/"), pair("/formwork/registry/", "/formwork/registry0"));
        assert_eq!(range("/a/b/"), pair("/formwork/registry/a/b/", "/formwork/registry/a/b0"));
    }

    #[test]
    fn a_prefix_without_a_slash_is_one_key() {
        assert_eq!(range("/a/b"), pair("/formwork/registry/a/b", "/formwork/registry/a/b\0"));
    }

    #[test]
    fn slashes_around_the_prefix_make_no_difference() {
        let key = Key::new("/a").unwrap();
        for prefix in ["formwork", "/formwork", "/formwork/"] {
            assert_eq!(Layout::new(prefix).key(&key), "/formwork/registry/a");
        }
        assert_eq!(Layout::new("/").key(&key), "/registry/a");
    }

    #[test]
    fn a_key_is_read_back() {
        let (layout, key) = (Layout::new("x/y"), Key::new("/g/r//\u{e4}").unwrap());
        assert_eq!(layout.read(layout.key(&key).as_bytes()).unwrap(), key);
        assert!(layout.read(b"/x/y/version").is_err());
        assert!(layout.read(b"/x/y/registry/\xff").is_err());
    }
}
