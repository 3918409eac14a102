//! `registries`: where the configurations of a namespace find templates. Who may use which is the business of
//! [`crate::sources`].

pub(crate) mod spec;

use apiserver::field;
use apiserver::object::Object;
use apiserver::resource::{Cell, Column, Resource, Serves, Strategy};

use self::spec::{FORMATS, Spec, TYPES};
use super::{kinds, registrytypes};
use crate::engine::Engine;
use crate::sources::Sources;

struct Registries;

/// The resource. What a Registry has, `engine` asks, for those who may use what `sources` has.
pub(crate) fn resource(engine: &Engine, sources: Option<&Sources>) -> Resource {
    Resource::new(kinds::registry(), Serves::Stored(Box::new(Registries)))
        .selectable_by(&["spec.type"])
        .with(registrytypes::subresource(engine, sources))
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
    let mut errors: Vec<_> = wrong_url(spec).into_iter().collect();
    if !TYPES.contains(&spec.kind.as_str()) {
        errors.push(field::Error::not_supported("spec.type", field::quote(&spec.kind), &TYPES));
    }
    errors.extend(wrong_format(&spec.format));
    errors.extend(wrong_references(spec));
    errors
}

fn wrong_url(spec: &Spec) -> Option<field::Error> {
    let wrong = |why: &str| Some(field::Error::invalid("spec.url", field::quote(&spec.url), why));
    let is_part = |part: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-:".contains(c);
        !part.is_empty() && part.chars().all(plain) && !part.chars().all(|c| c == '.')
    };
    let parts: Vec<_> = spec.prefix().split('/').collect();
    if !parts.iter().all(|part| is_part(part)) {
        return wrong("must be a host and a path, without a query");
    }
    match spec.kind.as_str() {
        "github" if parts[0] != "github.com" || parts.len() < 3 => {
            wrong("must be github.com/OWNER/REPOSITORY[/FOLDER]")
        }
        "http" if !is_host(parts[0]) || !spec.is_web() => {
            wrong("must be [https://]HOST[:PORT][/PATH], or the same with http://")
        }
        _ => None,
    }
}

/// Whether this is a host, and a port behind it if there is a colon.
fn is_host(text: &str) -> bool {
    let authority = text.parse::<http::uri::Authority>().ok();
    authority
        .is_some_and(|it| !it.host().is_empty() && text.contains(':') == it.port_u16().is_some())
}

fn wrong_format(format: &[String]) -> Vec<field::Error> {
    let mut errors = Vec::new();
    for (at, word) in format.iter().enumerate() {
        if !FORMATS.contains(&word.as_str()) {
            let path = format!("spec.format[{at}]");
            errors.push(field::Error::not_supported(path, field::quote(word), &FORMATS));
        }
    }
    let says = |word: &str| format.iter().any(|said| said == word);
    let mut wrong = |value: &str, why: &str| {
        errors.push(field::Error::invalid("spec.format", field::quote(value), why));
    };
    for pair in [["versioned", "unversioned"], ["collection", "onelevel"]] {
        if pair.iter().all(|word| says(word)) {
            wrong(pair[1], &format!("may not be said together with {}", pair[0]));
        }
    }
    if says("chart") {
        wrong("chart", "charts are packages of objects and no templates");
    }
    errors
}

fn wrong_references(spec: &Spec) -> Option<field::Error> {
    let given = (spec.credential_ref.is_some(), spec.config_map_ref.is_some());
    match (spec.kind.as_str(), given) {
        ("github" | "http", (_, true)) => {
            Some(field::Error::forbidden("spec.configMapRef", "is for type configMap"))
        }
        ("configMap", (true, _)) => {
            Some(field::Error::forbidden("spec.credentialRef", "is for types github and http"))
        }
        ("configMap", (_, false)) => {
            Some(field::Error::required("spec.configMapRef", "for type configMap"))
        }
        _ => None,
    }
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
            r#"{"type":"http","url":"charts.example/lib","credentialRef":{"name":"c"}}"#,
            r#"{"type":"http","url":"http://127.0.0.1:8000"}"#,
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
        for url in [
            "h:x/lib",
            ":80/lib",
            "h:/lib",
            "ftp://h/lib",
            "https://u@h/lib",
            "h/lib?x",
            "https://",
        ] {
            assert_eq!(wrong(&format!(r#"{{"type":"http","url":"{url}"}}"#)).len(), 1, "{url}");
        }
        let refused = wrong(r#"{"type":"http","url":"h/lib","configMapRef":{"name":"c"}}"#);
        assert_eq!(refused, ["spec.configMapRef: Forbidden: is for type configMap"]);
        assert!(
            wrong(r#"{"type":"configMap","url":"h/x"}"#)[0].contains("spec.configMapRef: Required")
        );
    }

    #[test]
    fn words_that_nobody_knows_are_refused() {
        let refused = wrong(r#"{"type":"oci","url":"h/x","format":["versioned","flat"]}"#);
        let formats = FORMATS.map(|word| format!("{word:?}")).join(", ");
        assert_eq!(
            refused,
            [
                r#"spec.type: Unsupported value: "oci": supported values: "configMap", "github", "http""#.to_owned(),
                format!(r#"spec.format[1]: Unsupported value: "flat": supported values: {formats}"#),
            ]
        );
    }
}
