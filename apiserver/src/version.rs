//! What runs here: the body of `/version`.

use serde::Serialize;

/// `version.Info` of apimachinery. Clients compare `major` and `minor`, people read the rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    /// The major version, e.g. `1`.
    pub major: String,
    /// The minor version, e.g. `33`.
    pub minor: String,
    /// The major version whose behaviour is shown: always `major`.
    pub emulation_major: String,
    /// The oldest major version that stored objects and peers may have: always `major`.
    pub min_compatibility_major: String,
    /// The whole version, e.g. `v1.33.0`.
    pub git_version: String,
    /// The commit it was built from.
    pub git_commit: String,
    /// `clean` or `dirty`.
    pub git_tree_state: String,
    /// When it was built, RFC 3339.
    pub build_date: String,
    /// The compiler's language version; the name is upstream's and stays for its readers.
    #[serde(rename = "goVersion")]
    pub language_version: String,
    /// The compiler.
    pub compiler: String,
    /// Operating system and architecture, e.g. `linux/amd64`.
    pub platform: String,
}

impl Version {
    /// A version such as `v1.2.3`, with the platform filled in and the commit left empty.
    pub fn new(version: &str) -> Self {
        let mut numbers = version.trim_start_matches('v').split('.');
        let mut next = || numbers.next().unwrap_or_default().to_owned();
        let major = next();
        Self {
            emulation_major: major.clone(),
            min_compatibility_major: major.clone(),
            major,
            minor: next(),
            git_version: version.to_owned(),
            git_commit: String::new(),
            git_tree_state: String::new(),
            build_date: "1970-01-01T00:00:00Z".to_owned(),
            language_version: String::new(),
            compiler: "rustc".to_owned(),
            platform: format!("{}/{}", std::env::consts::OS, architecture()),
        }
    }
}

/// The architecture by the name that Kubernetes gives it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_its_numbers_apart() {
        let version = Version::new("v1.33.2");
        assert_eq!((version.major.as_str(), version.minor.as_str()), ("1", "33"));
    }
}
