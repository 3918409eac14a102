//! A Template's JSON as the client edits it before it is processed.
//!
//! What `oc` does to a typed object is done here to the few fields concerned; everything else,
//! the objects above all, stays the text it was. The processor reads the result, here or in the
//! server, so that `--local` and the server get the same body.

use std::collections::BTreeMap;

use anyhow::Context;
use processor::Dialect;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

type Fields = BTreeMap<String, Box<RawValue>>;

/// A Template, taken apart at its top level.
#[derive(Debug)]
pub(crate) struct Body {
    dialect: Dialect,
    fields: Fields,
}

/// Why an object is not a Template that can be processed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotATemplate {
    /// It does not say what it is.
    #[error("Object '{0}' is missing")]
    Untyped(&'static str),
    /// It is something else.
    #[error("not a valid Template but {api_version} {kind}")]
    Other {
        /// Its `apiVersion`.
        api_version: String,
        /// Its `kind`.
        kind: String,
    },
    /// It is a Template of a version that nobody serves.
    #[error("no kind \"Template\" is registered for version \"{0}\"")]
    Version(String),
    /// It is not even a JSON object.
    #[error("{0}")]
    Unreadable(String),
}

impl Body {
    /// Takes a JSON object apart.
    ///
    /// A Template of the core group, `v1`, from before API groups, becomes one of
    /// `template.openshift.io/v1`.
    ///
    /// # Errors
    /// When it is no Template of either dialect.
    pub(crate) fn read(json: &str) -> Result<Self, NotATemplate> {
        let mut fields: Fields = serde_json::from_str(json)
            .map_err(|error| NotATemplate::Unreadable(error.to_string()))?;
        let kind = string(&fields, "kind").ok_or(NotATemplate::Untyped("Kind"))?;
        let api_version =
            string(&fields, "apiVersion").ok_or(NotATemplate::Untyped("apiVersion"))?;
        let dialect = match api_version.as_str() {
            _ if kind != "Template" => return Err(NotATemplate::Other { api_version, kind }),
            "v1" => Dialect::OpenShift,
            version => [Dialect::OpenShift, Dialect::Proposal]
                .into_iter()
                .find(|dialect| dialect.api_version() == version)
                .ok_or(NotATemplate::Version(api_version))?,
        };
        fields.insert("apiVersion".to_owned(), raw(dialect.api_version()));
        Ok(Body { dialect, fields })
    }

    /// Which API it is a Template of.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The whole Template as JSON.
    pub(crate) fn to_json(&self) -> String {
        raw(&self.fields).get().to_owned()
    }

    /// `metadata.name`; empty if there is none.
    pub(crate) fn name(&self) -> String {
        string(&self.object("metadata"), "name").unwrap_or_default()
    }

    /// The objects, each as JSON; none if the field is absent or null.
    ///
    /// # Errors
    /// When `objects` is no list.
    pub(crate) fn objects(&self) -> anyhow::Result<Option<Vec<Box<RawValue>>>> {
        let objects = self.fields.get("objects");
        objects.map_or(Ok(None), |objects| {
            serde_json::from_str(objects.get()).context("objects of the processed template")
        })
    }

    /// Puts the template into `namespace`, in which it is going to be processed.
    pub(crate) fn set_namespace(&mut self, namespace: &str) {
        let mut metadata = self.object("metadata");
        metadata.insert("namespace".to_owned(), raw(namespace));
        self.fields.insert("metadata".to_owned(), raw(&metadata));
    }

    /// Adds labels for all objects to those the template has; the new ones count.
    pub(crate) fn add_labels(&mut self, added: &BTreeMap<String, String>) {
        let mut labels = self.object("labels");
        labels.extend(added.iter().map(|(key, value)| (key.clone(), raw(value))));
        self.fields.insert("labels".to_owned(), raw(&labels));
    }

    /// Sets parameters and switches their generators off. Gives back the names that the template
    /// does not have.
    pub(crate) fn set_parameters(&mut self, values: &BTreeMap<String, String>) -> Vec<String> {
        let mut unknown = values.clone();
        let parameters = self.fields.get("parameters").map(|list| list.get());
        let mut parameters: Vec<Fields> =
            parameters.and_then(|list| serde_json::from_str(list).ok()).unwrap_or_default();
        for parameter in &mut parameters {
            let name = string(parameter, "name").unwrap_or_default();
            if let Some(value) = values.get(&name) {
                parameter.insert("value".to_owned(), raw(value));
                parameter.remove("generate");
                unknown.remove(&name);
            }
        }
        if unknown.len() < values.len() {
            self.fields.insert("parameters".to_owned(), raw(&parameters));
        }
        unknown.into_keys().collect()
    }

    /// The field `key` taken apart in its turn; nothing if it is absent or no object.
    fn object(&self, key: &str) -> Fields {
        let value = self.fields.get(key);
        value.and_then(|value| serde_json::from_str(value.get()).ok()).unwrap_or_default()
    }
}

/// The non-empty string at `key`.
fn string(fields: &Fields, key: &str) -> Option<String> {
    let value: String = serde_json::from_str(fields.get(key)?.get()).ok()?;
    (!value.is_empty()).then_some(value)
}

fn raw<T: Serialize + ?Sized>(value: &T) -> Box<RawValue> {
    to_raw_value(value).expect("strings and maps keyed by strings have a JSON form")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = r#"{"apiVersion":"v1","kind":"Template","metadata":{"name":"t","namespace":"old"},
        "objects":[{"n": 12345678901234567890123}],
        "parameters":[{"name":"A","value":"1","generate":"expression","from":"x"},{"name":"B"},{"name":"A"}]}"#;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
    }

    #[test]
    fn a_core_v1_template_becomes_one_of_the_group() {
        let body = Body::read(TEMPLATE).unwrap();
        assert_eq!(body.dialect(), Dialect::OpenShift);
        assert!(
            body.to_json()
                .starts_with(r#"{"apiVersion":"template.openshift.io/v1","kind":"Template","#)
        );
        assert_eq!(body.name(), "t");
    }

    #[test]
    fn the_version_says_the_dialect() {
        let body =
            Body::read(r#"{"apiVersion":"formwork.dev/v1alpha1","kind":"Template"}"#).unwrap();
        assert_eq!(body.dialect(), Dialect::Proposal);
        assert_eq!(
            Body::read(r#"{"apiVersion":"v1beta3","kind":"Template"}"#).unwrap_err().to_string(),
            "no kind \"Template\" is registered for version \"v1beta3\""
        );
    }

    #[test]
    fn anything_else_is_no_template() {
        let error = |json| Body::read(json).unwrap_err().to_string();
        assert_eq!(
            error(r#"{"apiVersion":"apps/v1","kind":"Deployment"}"#),
            "not a valid Template but apps/v1 Deployment"
        );
        assert_eq!(error(r#"{"apiVersion":"v1","kind":""}"#), "Object 'Kind' is missing");
        assert_eq!(error(r#"{"kind":"Template"}"#), "Object 'apiVersion' is missing");
        assert!(matches!(Body::read("[]"), Err(NotATemplate::Unreadable(_))));
    }

    #[test]
    fn objects_stay_the_text_they_were() {
        let mut body = Body::read(TEMPLATE).unwrap();
        body.set_namespace("new");
        body.add_labels(&map(&[("a", "b")]));
        assert!(body.to_json().contains(r#""objects":[{"n": 12345678901234567890123}]"#));
        assert!(body.to_json().contains(r#""metadata":{"name":"t","namespace":"new"}"#));
    }

    #[test]
    fn a_value_switches_the_generator_off_and_reaches_every_parameter_of_that_name() {
        let mut body = Body::read(TEMPLATE).unwrap();
        assert_eq!(body.set_parameters(&map(&[("A", "\"x\""), ("Z", "1"), ("Y", "")])), ["Y", "Z"]);
        assert!(body.to_json().contains(
            r#""parameters":[{"from":"x","name":"A","value":"\"x\""},{"name":"B"},{"name":"A","value":"\"x\""}]"#
        ));
    }

    #[test]
    fn added_labels_count_before_the_templates() {
        let mut body =
            Body::read(r#"{"apiVersion":"v1","kind":"Template","labels":{"a":"1","b":"2"}}"#)
                .unwrap();
        body.add_labels(&map(&[("b", "3")]));
        assert!(body.to_json().contains(r#""labels":{"a":"1","b":"3"}"#));
        let mut body =
            Body::read(r#"{"apiVersion":"v1","kind":"Template","labels":null,"metadata":null}"#)
                .unwrap();
        body.add_labels(&map(&[("b", "3")]));
        body.set_namespace("n");
        assert!(body.to_json().ends_with(r#""labels":{"b":"3"},"metadata":{"namespace":"n"}}"#));
    }
}
