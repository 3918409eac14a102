//! What registries have, as they are listed.

use std::cmp::Ordering;
use std::fmt;

use super::version::Version;

/// A template that a registry has, in one version.
///
/// They are in the order of their collections, names and versions: by number, those that are none first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// The collection that it stands in, if that is one.
    pub collection: Option<String>,
    /// What it is called.
    pub template: String,
    /// As it is spelled there; none where the registry has no versions.
    pub version: Option<String>,
}

impl Offered {
    /// The version as numbers. None, if it is spelled otherwise, as `latest`.
    pub fn parsed_version(&self) -> Option<Version> {
        Version::parse(self.version.as_deref()?)
    }

    fn key(&self) -> impl Ord {
        let Self { collection, template, version } = self;
        (collection, template, self.parsed_version(), version)
    }
}

impl Ord for Offered {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Offered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Offered {
    /// `[COLLECTION/]TEMPLATE[:VERSION]`: with the registry's prefix and a slash before it, this is a type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { collection, template, version } = self;
        if let Some(collection) = collection {
            write!(f, "{collection}/")?;
        }
        f.write_str(template)?;
        version.as_ref().map_or(Ok(()), |version| write!(f, ":{version}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::entry::Entry;

    #[test]
    fn versions_are_in_the_order_of_their_numbers() {
        let want = ["a", "b:latest", "b:v1", "b:v1.0", "b:v1.9", "b:v1.10", "c/a:v2", "c/a:v10"];
        let mut all: Vec<Offered> = want.iter().map(|it| offered(it)).collect();
        all.reverse();
        all.sort();
        assert_eq!(all.iter().map(ToString::to_string).collect::<Vec<_>>(), want);
        assert_eq!(all[1].parsed_version(), None);
        let ten = all[5].parsed_version().unwrap();
        assert_eq!((ten.major, ten.minor, ten.patch), (1, 10, 0));
    }

    fn offered(text: &str) -> Offered {
        let Entry { collection, template, version } = Entry::parse(text).unwrap();
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Offered {
            collection: owned(collection),
            template: template.to_owned(),
            version: owned(version),
        }
    }
}
