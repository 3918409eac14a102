//! Versions of templates in a registry: `v1`, `v1.2`, `v1.2.3`. Which one a reference means is decided here.
//!
//! A part that is left out is zero. A reference means the highest PATCH of its MAJOR and MINOR: bugs are mended there, and
//! nothing else changes. That is what Deployment Manager's document promised.

/// A version of a template: MAJOR, MINOR and PATCH.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// What changes when templates that use it have to.
    pub major: u64,
    /// What changes when something is added.
    pub minor: u64,
    /// What changes when a bug is mended.
    pub patch: u64,
}

impl Version {
    /// Reads a version; the `v` may be missing.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = [0; 3];
        let mut places = parts.iter_mut();
        for part in text.strip_prefix('v').unwrap_or(text).split('.') {
            // A sign would be read as well, and a number that is too large is none.
            let digits = part.bytes().all(|byte| byte.is_ascii_digit());
            *places.next()? = digits.then(|| part.parse().ok()).flatten()?;
        }
        let [major, minor, patch] = parts;
        Some(Self { major, minor, patch })
    }

    fn serves(self, wanted: Self) -> bool {
        (self.major, self.minor) == (wanted.major, wanted.minor)
    }
}

/// Which of the directories holds the version `wanted`; without one, the highest there is.
///
/// Where two spell the same version, as `v1` and `v1.0`, it is the one spelled as wanted, else the shorter one. A directory
/// that is called exactly as wanted is taken where none is a fitting version.
pub(crate) fn choose<'a>(wanted: Option<&str>, directories: &[&'a str]) -> Option<&'a str> {
    let version = wanted.and_then(Version::parse);
    let fits = |found: Version| match (wanted, version) {
        (None, _) => true,
        (Some(_), Some(wanted)) => found.serves(wanted),
        (Some(_), None) => false,
    };
    let versions = directories.iter().filter_map(|name| Some((Version::parse(name)?, *name)));
    let best = versions.filter(|(found, _)| fits(*found)).max_by_key(|&(found, name)| {
        let as_wanted = Some(name) == wanted;
        (found, as_wanted, std::cmp::Reverse((name.len(), name)))
    });
    let exact = || directories.iter().copied().find(|name| Some(*name) == wanted);
    best.map(|(_, name)| name).or_else(exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_up_to_three_parts() {
        for (text, parts) in [
            ("v1", (1, 0, 0)),
            ("1", (1, 0, 0)),
            ("v1.0", (1, 0, 0)),
            ("v0", (0, 0, 0)),
            ("v1.2.3", (1, 2, 3)),
            ("v01.002", (1, 2, 0)),
        ] {
            let version = Version::parse(text).unwrap();
            assert_eq!((version.major, version.minor, version.patch), parts, "{text}");
        }
        for text in [
            "",
            "v",
            ".",
            "1.",
            ".1",
            "1..2",
            "1.2.3.4",
            "-1",
            "+1",
            "1,1",
            "vv1",
            "v1.2-rc1",
            "latest",
            "1.x",
            "99999999999999999999",
            "v 1",
        ] {
            assert_eq!(Version::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_reference_means_the_highest_patch_of_its_minor_version() {
        let all = ["v1", "v1.0.1", "v1.0.10", "v1.1", "v1.1.0-rc", "v2", "v0.9", "examples"];
        for (wanted, chosen) in [
            ("v1", Some("v1.0.10")),
            ("1.0", Some("v1.0.10")),
            ("v1.0.1", Some("v1.0.10")),
            ("v1.0.99", Some("v1.0.10")),
            ("v1.1", Some("v1.1")),
            ("v2.0.0", Some("v2")),
            ("v0", None),
            ("v3", None),
            ("v1.2", None),
            ("examples", Some("examples")),
            ("v1.1.0-rc", Some("v1.1.0-rc")),
            ("latest", None),
            ("", None),
        ] {
            assert_eq!(choose(Some(wanted), &all), chosen, "{wanted}");
        }
        assert_eq!(choose(None, &all), Some("v2"));
        assert_eq!(choose(None, &["examples"]), None);
    }

    #[test]
    fn of_two_spellings_the_wanted_one_is_taken() {
        let all = ["v1.0.0", "v1.0", "v1", "1"];
        assert_eq!(choose(Some("v1.0"), &all), Some("v1.0"));
        assert_eq!(choose(Some("v1.0.0"), &all), Some("v1.0.0"));
        assert_eq!(choose(Some("1.0"), &all), Some("1"));
        let reversed: Vec<&str> = all.into_iter().rev().collect();
        assert_eq!(choose(Some("1.0"), &reversed), Some("1"));
    }
}
