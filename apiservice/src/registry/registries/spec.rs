//! What a Registry says of itself.

use apiserver::object::Object;
use expander::prefix;
use serde::Deserialize;

/// What a Registry's spec may have as `type`.
pub(in crate::registry) const TYPES: [&str; 3] = ["configMap", "github", "http"];

/// What its `format` may say.
pub(in crate::registry) const FORMATS: [&str; 6] =
    ["versioned", "unversioned", "collection", "onelevel", "template", "chart"];

/// A Registry's spec, as its schema has proven it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Spec {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) url: String,
    pub(crate) format: Vec<String>,
    pub(crate) credential_ref: Option<Reference>,
    pub(crate) config_map_ref: Option<Reference>,
}

/// An object of the namespace, and a key in it.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Reference {
    pub(crate) name: String,
    pub(crate) key: Option<String>,
}

impl Spec {
    /// The spec of an object that is stored.
    pub(crate) fn of(object: &Object) -> Result<Self, serde_json::Error> {
        serde_json::from_str(object.fields.get("spec").unwrap_or("{}"))
    }

    /// What types begin with that stand in it: the URL without its scheme and a slash at its end.
    pub(crate) fn prefix(&self) -> &str {
        prefix(&self.url)
    }

    /// Whether a credential for `url` is for this registry: it is there or below it, and asked in the
    /// clear only if that URL is, too.
    pub(crate) fn is_for(&self, url: &str) -> bool {
        let there = prefix(url);
        let below = self.prefix().strip_prefix(there).filter(|_| !there.is_empty());
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            && (!self.is_plain() || url.starts_with("http://"))
    }

    /// Whether its URL is one of the web; one without a scheme is https.
    pub(super) fn is_web(&self) -> bool {
        self.url.split_once("://").is_none_or(|(scheme, _)| matches!(scheme, "https" | "http"))
    }

    /// Whether its URL is to be asked in the clear.
    pub(crate) fn is_plain(&self) -> bool {
        self.url.starts_with("http://")
    }

    fn says(&self, word: &str) -> bool {
        self.format.iter().any(|said| said == word)
    }

    /// Whether its templates have versions.
    pub(crate) fn is_versioned(&self) -> bool {
        !self.says("unversioned")
    }

    /// Whether its templates may stand in collections.
    pub(crate) fn has_collections(&self) -> bool {
        !self.says("onelevel")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_for_what_is_below_its_url() {
        for (credential, registry, want) in [
            ("https://h.example/lib", "https://h.example/lib", true),
            ("h.example/lib/", "https://h.example/lib", true),
            ("h.example", "https://h.example/lib/", true),
            ("https://h.example/lib", "https://h.example/lib/more", true),
            ("https://h.example/lib", "https://h.example/library", false),
            ("https://h.example/lib/more", "https://h.example/lib", false),
            ("https://h.example", "https://h.example.evil/lib", false),
            ("https://h.example", "https://h.example:8443/lib", false),
            ("https://h.example", "https://evil.example/://h.example/lib", false),
            ("https://h.example", "http://h.example/lib", false),
            ("h.example", "http://h.example/lib", false),
            ("http://h.example", "http://h.example/lib", true),
            ("http://h.example", "https://h.example/lib", true),
            ("", "https://h.example/lib", false),
            ("https://", "https://h.example/lib", false),
        ] {
            let spec = Spec { url: registry.to_owned(), ..Spec::default() };
            assert_eq!(spec.is_for(credential), want, "{credential} for {registry}");
        }
    }
}
