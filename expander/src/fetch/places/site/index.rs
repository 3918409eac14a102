//! The index of a registry, after Helm's: what it says that nobody here knows is left alone.

use std::collections::BTreeMap;
use std::fmt;

use expansion::Value;
use sha2::{Digest as _, Sha256};

/// The version of the layout.
const API_VERSION: &str = "v1";

/// Templates by `[COLLECTION/]TEMPLATE`.
#[derive(Debug, Default)]
pub(super) struct Index(BTreeMap<String, Vec<Listed>>);

/// A version of a template.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Listed {
    /// Absent where there are no versions.
    pub(super) version: Option<String>,
    /// Where its file is, relative to the index.
    pub(super) url: String,
    /// What its file has to be.
    pub(super) digest: Option<Digest>,
}

/// The SHA-256 of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digest([u8; 32]);

impl Index {
    /// Reads the text of an index.
    ///
    /// # Errors
    /// What is wrong, with the line where it is no YAML and the field otherwise.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let unreadable = |error: yaml::ReadError| match error.line() {
            Some(line) => format!("{line}: {}", error.message()),
            None => error.message().to_owned(),
        };
        let value = yaml::safe_load::<Value>(text).map_err(unreadable)?.value;
        if value.get("apiVersion").and_then(Value::as_str) != Some(API_VERSION) {
            return Err(format!("apiVersion: must be {API_VERSION}"));
        }
        let entries = match value.get("entries") {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(entries) => entries.as_map().ok_or("entries: must be a map")?,
        };
        let all = entries.iter().map(|(name, versions)| {
            let field = format!("entries[{name:?}]");
            let versions = versions.as_list().ok_or_else(|| format!("{field}: must be a list"))?;
            let versions = versions.iter().enumerate();
            let listed = versions.map(|(at, it)| Listed::read(it, &format!("{field}[{at}]")));
            Ok((name.clone(), listed.collect::<Result<Vec<_>, String>>()?))
        });
        all.collect::<Result<_, String>>().map(Self)
    }

    /// The versions of a template.
    pub(super) fn get(&self, name: &str) -> Option<&[Listed]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// All templates.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &[Listed])> {
        self.0.iter().map(|(name, all)| (name.as_str(), all.as_slice()))
    }
}

impl Listed {
    fn read(value: &Value, field: &str) -> Result<Self, String> {
        let text = |name: &str| match value.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            // 1.10 would be the number 1.1.
            Some(_) => Err(format!("{field}.{name}: must be text, in quotes")),
        };
        if value.as_map().is_none() {
            return Err(format!("{field}: must be a map"));
        }
        let urls = value.get("urls").and_then(Value::as_list).and_then(<[Value]>::first);
        let url = urls.and_then(Value::as_str);
        let url = url.ok_or_else(|| format!("{field}.urls: must be a list with a text"))?;
        let digest = text("digest")?.map(|text| {
            let wrong = || format!("{field}.digest: must be sha256: and 64 hexadecimal digits");
            Digest::parse(text).ok_or_else(wrong)
        });
        let version = text("version")?.map(str::to_owned);
        Ok(Self { version, url: url.to_owned(), digest: digest.transpose()? })
    }
}

impl Digest {
    /// The digest of a text.
    pub(super) fn of(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// Reads `sha256:` and the digits; Helm leaves out the first.
    fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sha256:").unwrap_or(text);
        if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_says_versions_files_and_digests_and_may_say_more() {
        let digest = Digest::of("abc");
        let text = format!(
            "apiVersion: v1\ngenerated: 2026-11-22T00:00:00Z\nentries:\n  storage/redis:\n  - version: v1.0.2\n    \
             urls: [storage/redis.py, other.py]\n    digest: {digest}\n    keywords: [x]\n  - {{version: '1.10', urls: [r.py]}}\n  \
             plain:\n  - urls: [plain.py]\n"
        );
        let index = Index::read(&text).unwrap();
        let names: Vec<_> = index.iter().map(|(name, all)| (name, all.len())).collect();
        assert_eq!(names, [("plain", 1), ("storage/redis", 2)]);
        let first = Listed {
            version: Some("v1.0.2".to_owned()),
            url: "storage/redis.py".to_owned(),
            digest: Some(digest),
        };
        assert_eq!(index.get("storage/redis").unwrap()[0], first);
        assert_eq!(index.get("plain").unwrap()[0].version, None);
        assert_eq!(
            digest.to_string(),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert!(Index::read("apiVersion: v1\n").unwrap().iter().next().is_none());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let of = |listed: &str| format!("apiVersion: v1\nentries: {{a/b: [{listed}]}}");
        for (text, want) in [
            ("apiVersion: v1\nentries: {\n  a: b: c\n", "3: "),
            ("apiVersion: v2", "apiVersion: must be v1"),
            ("entries: {}", "apiVersion: must be v1"),
            ("- a", "apiVersion: must be v1"),
            ("", "apiVersion: must be v1"),
            ("apiVersion: v1\nentries: [a]", "entries: must be a map"),
            ("apiVersion: v1\nentries: {a: b}", "entries[\"a\"]: must be a list"),
            (&of("x"), "entries[\"a/b\"][0]: must be a map"),
            (
                &of("{version: 1.10, urls: [x.py]}"),
                "entries[\"a/b\"][0].version: must be text, in quotes",
            ),
            (&of("{version: v1}"), "entries[\"a/b\"][0].urls: must be a list with a text"),
            (&of("{version: v1, urls: []}"), "entries[\"a/b\"][0].urls: must be"),
            (&of("{version: v1, urls: [1]}"), "entries[\"a/b\"][0].urls: must be"),
            (
                &of("{version: v1, urls: [x.py], digest: 'md5:00'}"),
                "entries[\"a/b\"][0].digest: must be sha256:",
            ),
        ] {
            let told = Index::read(text).unwrap_err();
            assert!(told.starts_with(want), "{text}: {told}");
        }
    }
}
