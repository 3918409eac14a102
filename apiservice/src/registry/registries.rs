//! `registries`: where Deployments of a namespace find templates. Asking them is the business of
//! [`crate::deployments`].

use apiserver::field;
use apiserver::object::Object;
use apiserver::resource::{Cell, Column, Resource, Serves, Strategy};
use serde::Deserialize;

use super::kinds;

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
        let url = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest);
        url.trim_end_matches('/')
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

struct Registries;

/// The resource.
pub fn resource() -> Resource {
    Resource::new(kinds::registry(), Serves::Stored(Box::new(Registries)))
        .selectable_by(&["spec.type"])
}

const COLUMNS: [Column; 2] = [
    Column::text("Type", "Of what sort it is."),
    Column::text("URL", "What its types begin with."),
];

impl Strategy for Registries {
    fn validate(&self, object: &Object) -> Vec<field::Error> {
        match Spec::of(object) {
            Ok(spec) => validate(&spec),
            Err(error) => vec![field::Error::invalid("spec", "", error.to_string())],
        }
    }

    fn columns(&self) -> &'static [Column] {
        &COLUMNS
    }

    fn cells(&self, object: &Object) -> Vec<Cell> {
        ["spec.type", "spec.url"].map(|field| object.fields.scalar(field).into()).into()
    }
}

fn validate(spec: &Spec) -> Vec<field::Error> {
    let mut errors = Vec::new();
    let mut wrong = |path: &str, value: &str, why: &str| {
        errors.push(field::Error::invalid(path, field::quote(value), why));
    };
    let is_part = |part: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-:".contains(c);
        !part.is_empty() && part.chars().all(plain) && !part.chars().all(|c| c == '.')
    };
    let parts: Vec<_> = spec.prefix().split('/').collect();
    if !parts.iter().all(|part| is_part(part)) {
        wrong("spec.url", &spec.url, "must be a host and a path, without a query");
    } else if spec.kind == "github" && (parts[0] != "github.com" || parts.len() < 3) {
        wrong("spec.url", &spec.url, "must be github.com/OWNER/REPOSITORY[/FOLDER]");
    }
    for pair in [["versioned", "unversioned"], ["collection", "onelevel"]] {
        if pair.iter().all(|word| spec.says(word)) {
            wrong("spec.format", pair[1], &format!("may not be said together with {}", pair[0]));
        }
    }
    if spec.says("chart") {
        wrong("spec.format", "chart", "charts are packages of objects and no templates");
    }
    let given = (spec.credential_ref.is_some(), spec.config_map_ref.is_some());
    match (spec.kind.as_str(), given) {
        ("github", (_, true)) => {
            errors.push(field::Error::forbidden("spec.configMapRef", "is for type configMap"));
        }
        ("configMap", (true, _)) => {
            errors.push(field::Error::forbidden("spec.credentialRef", "is for type github"));
        }
        ("configMap", (_, false)) => {
            errors.push(field::Error::required("spec.configMapRef", "for type configMap"));
        }
        _ => {}
    }
    errors
}

#[cfg(test)]
mod tests {
    use apiserver::meta::ObjectMeta;
    use apiserver::object::Fields;
    use apiserver::schema::{self, Limits};

    use super::*;

    fn wrong(spec: &str) -> Vec<String> {
        let body = format!(r#"{{"spec":{spec}}}"#);
        let decoded = schema::decode(&kinds::registry().schema, &body, Limits::default()).unwrap();
        let object = Object { meta: ObjectMeta::default(), fields: Fields::new(decoded.fields) };
        Registries.validate(&object).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_well_is_taken() {
        for spec in [
            r#"{"type":"github","url":"github.com/o/r"}"#,
            r#"{"type":"github","url":"https://github.com/o/r/folder/","format":["versioned","collection","template"],
                "credentialRef":{"name":"c","key":"t"}}"#,
            r#"{"type":"configMap","url":"https://templates.example","format":["unversioned"],"configMapRef":{"name":"c"}}"#,
        ] {
            assert_eq!(wrong(spec), [""; 0], "{spec}");
        }
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let spec = r#"{"type":"github","url":"gitlab.com/o/r","configMapRef":{"name":"c"},
            "format":["versioned","unversioned","chart"]}"#;
        let fields: Vec<_> =
            wrong(spec).iter().map(|it| it.split(':').next().unwrap().to_owned()).collect();
        assert_eq!(fields, ["spec.url", "spec.format", "spec.format", "spec.configMapRef"]);
        let spec = r#"{"type":"configMap","url":"h/../x?y","credentialRef":{"name":"c"}}"#;
        let fields: Vec<_> =
            wrong(spec).iter().map(|it| it.split(':').next().unwrap().to_owned()).collect();
        assert_eq!(fields, ["spec.url", "spec.credentialRef"]);
        for url in ["github.com/o", "github.com", "", "github.com//r", "github.com/o/.."] {
            assert_eq!(wrong(&format!(r#"{{"type":"github","url":"{url}"}}"#)).len(), 1, "{url}");
        }
        assert!(
            wrong(r#"{"type":"configMap","url":"h/x"}"#)[0].contains("spec.configMapRef: Required")
        );
    }
}
