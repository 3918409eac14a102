//! Registries that are nothing but files which somebody has at hand, such as those of a ConfigMap.
//!
//! A template's file is called `[COLLECTION.]TEMPLATE.VERSION.SUFFIX`, or where there are no versions
//! `[COLLECTION.]TEMPLATE.SUFFIX`; what schemas import is called as it is imported.

use std::collections::{BTreeMap, BTreeSet};

use super::Import;
use crate::fetch::entry::{Entry, is_name, missing, unversioned, versionless};
use crate::fetch::offered::Offered;
use crate::fetch::version::{self, Version};

/// What templates end with, in the order in which they are looked for.
const SUFFIXES: [&str; 2] = [".py", ".jinja"];

/// Files by their names.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    /// What stands before their names where they are shown.
    shown: String,
    files: BTreeMap<String, String>,
    versioned: bool,
}

impl Files {
    /// A registry of these files.
    pub(super) fn open(shown: String, files: BTreeMap<String, String>, versioned: bool) -> Self {
        Self { shown, files, versioned }
    }

    /// The name of a template's file.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn find(&self, entry: &Entry<'_>) -> Result<&str, String> {
        let Entry { collection, template, version } = *entry;
        let before = collection.map(|it| format!("{it}.{template}"));
        let before = before.as_deref().unwrap_or(template);
        if !self.versioned {
            if version.is_some() {
                return Err(versionless());
            }
            let names = SUFFIXES.map(|suffix| format!("{before}{suffix}"));
            let found = names.iter().find_map(|name| self.files.get_key_value(name));
            return found.map(|(name, _)| name.as_str()).ok_or_else(missing);
        }
        let names = self.files.keys().map(String::as_str);
        let versions = names.filter_map(|name| Some((version_of(name, before)?, name)));
        let versions: Vec<(&str, &str)> = versions.collect();
        let spelled: Vec<&str> = versions.iter().map(|(version, _)| *version).collect();
        let chosen =
            version::choose(version, &spelled).ok_or_else(|| match spelled.as_slice() {
                [] => missing(),
                _ => unversioned(version),
            })?;
        // Python goes before Jinja, as on GitHub.
        let mut of_it = versions.iter().filter(|(version, _)| *version == chosen);
        let found = of_it.clone().find(|(_, name)| name.ends_with(".py")).or_else(|| of_it.next());
        found.map(|(_, name)| *name).ok_or_else(|| unversioned(version))
    }

    /// The text of a file; none when there is none.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(String::as_str)
    }

    /// What a path means in a schema: the file of that name, or whatever a URL does.
    pub(super) fn import(path: &str) -> Import<String> {
        let path = path.to_owned();
        let is_url = path.starts_with("https://") || path.starts_with("http://");
        if is_url { Import::Type(path) } else { Import::Own(path) }
    }

    /// Where a file is, for people.
    pub(super) fn shown(&self, name: &str) -> String {
        format!("{}/{name}", self.shown)
    }

    /// All templates. A dot in a name may be part of it or stand behind a collection; both spellings are found, and where
    /// there are `collections`, what stands before the first dot is taken for one.
    pub(super) fn offered(&self, collections: bool) -> BTreeSet<Offered> {
        self.files.keys().filter_map(|name| offered(name, self.versioned, collections)).collect()
    }
}

/// The version in a file's name, `before` being what stands before it.
fn version_of<'a>(name: &'a str, before: &str) -> Option<&'a str> {
    without_suffix(name.strip_prefix(before)?.strip_prefix('.')?)
}

fn without_suffix(name: &str) -> Option<&str> {
    SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix))
}

/// What is offered by a file of this name.
fn offered(name: &str, versioned: bool, collections: bool) -> Option<Offered> {
    let name = without_suffix(name)?;
    let (name, version) = match versioned {
        true => split(name).map(|(name, version)| (name, Some(version)))?,
        false => (name, None),
    };
    let pair = name.split_once('.').filter(|(a, b)| collections && is_name(a) && is_name(b));
    let (collection, template) = pair.map_or((None, name), |(a, b)| (Some(a), b));
    let well = is_name(template) && version.is_none_or(is_name);
    let owned = |text: Option<&str>| text.map(str::to_owned);
    well.then(|| Offered {
        collection: owned(collection),
        template: template.to_owned(),
        version: owned(version),
    })
}

/// What stands before a version, and the version: the longest tail that is one, else one that begins as one does, as
/// `v1.0-rc`, else what stands behind the last dot.
fn split(name: &str) -> Option<(&str, &str)> {
    let splits = || name.match_indices('.').map(|(at, _)| (&name[..at], &name[at + 1..]));
    let begins = |version: &str| {
        version.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let is_version = |(_, version): &(&str, &str)| Version::parse(version).is_some();
    let found = splits().find(is_version).or_else(|| splits().find(|(_, version)| begins(version)));
    found.or_else(|| splits().next_back())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn registry(names: &[&str], versioned: bool) -> Files {
        let files = names.iter().map(|name| ((*name).to_owned(), String::new())).collect();
        Files::open("configmaps/files".to_owned(), files, versioned)
    }

    fn found<'a>(registry: &'a Files, rest: &str) -> Result<&'a str, String> {
        registry.find(&Entry::parse(rest).unwrap())
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
        let files = registry(&names, true);
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
            assert_eq!(found(&files, rest), want, "{rest}");
        }
        let plain = registry(&names, false);
        assert_eq!(found(&plain, "plain"), Ok("plain.py"));
        assert_eq!(found(&plain, "plain:v1"), Err("its registry has no versions".to_owned()));
        assert_eq!(found(&plain, "redis"), Err("the registry does not have it".to_owned()));
    }

    #[test]
    fn what_is_offered_is_read_from_the_names() {
        for (name, in_collections, alone) in [
            ("redis.v1.jinja", "redis:v1", "redis:v1"),
            ("redis.v1.0.2.py", "redis:v1.0.2", "redis:v1.0.2"),
            ("storage.redis.v2.py", "storage/redis:v2", "storage.redis:v2"),
            ("storage.my.app.1.2.py", "storage/my.app:1.2", "storage.my.app:1.2"),
            ("redis.v1.0-rc.py", "redis:v1.0-rc", "redis:v1.0-rc"),
            ("redis.latest.py", "redis:latest", "redis:latest"),
            ("a.1.2.3.4.py", "a/1:2.3.4", "a.1:2.3.4"),
            ("redis.v1.jinja.schema", "", ""),
            ("helper.py", "", ""),
            ("README.md", "", ""),
        ] {
            for (collections, want) in [(true, in_collections), (false, alone)] {
                let all = registry(&[name], true).offered(collections);
                let all: Vec<_> = all.iter().map(ToString::to_string).collect();
                assert_eq!(all.join(" "), want, "{name}");
            }
        }
        let plain = registry(&["helper.py", "lib.helper.jinja", "both.py", "both.jinja"], false);
        let all: Vec<_> = plain.offered(true).iter().map(ToString::to_string).collect();
        assert_eq!(all, ["both", "helper", "lib/helper"]);
    }

    proptest! {
        #[test]
        fn whatever_is_offered_is_found(
            names in proptest::collection::btree_set(r"[a-b.v]{0,4}(\.v?[0-2](\.[0-2]){0,3})?(-rc)?\.(py|jinja|py\.schema)", 1..8),
            versioned: bool,
            collections: bool,
        ) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let registry = registry(&names, versioned);
            for offered in registry.offered(collections) {
                let rest = offered.to_string();
                let entry = Entry::parse(&rest).expect("it is a type");
                prop_assert_eq!(entry.collection, offered.collection.as_deref());
                prop_assert!(collections || entry.collection.is_none());
                let file = registry.find(&entry);
                prop_assert!(file.is_ok(), "{rest}: {file:?}");
                // What is found is that version or a later PATCH of it.
                let Some(version) = offered.parsed_version() else { continue };
                let before = rest.replacen('/', ".", 1);
                let before = before.split(':').next().unwrap_or_default();
                let found = version_of(file.unwrap_or_default(), before).and_then(Version::parse);
                prop_assert!(found.is_some_and(|found| found >= version), "{rest}: {found:?}");
            }
        }
    }
}
