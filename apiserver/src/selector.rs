//! Which objects a list, a watch or a deletecollection is about: `labelSelector` and `fieldSelector`.
//!
//! A selector is parsed once at the door, with apimachinery's grammar and sentences, and then asked
//! for every object. It knows no object: the caller hands it the labels and fields by name.

mod fields;
mod labels;

pub use fields::{FieldSelector, NAME, NAMESPACE};
pub use labels::{Condition as LabelCondition, LabelSelector};

/// Why a selector was refused; the sentence is the message of the 400.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseError(String);

impl From<ParseError> for crate::status::Error {
    fn from(error: ParseError) -> Self {
        Self::bad_request(error.0)
    }
}

/// Both selectors of a request; an object must match both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// By label.
    pub labels: LabelSelector,
    /// By field.
    pub fields: FieldSelector,
}

impl Selector {
    /// Reads both query parameters; an absent one is empty. `selectable` are the fields that the
    /// resource knows besides `metadata.name` and `metadata.namespace`.
    pub fn parse(labels: &str, fields: &str, selectable: &[&str]) -> Result<Self, ParseError> {
        let labels = LabelSelector::parse(labels)?;
        Ok(Self { labels, fields: FieldSelector::parse(fields, selectable)? })
    }

    /// Whether every object matches.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether an object with these labels and fields is meant.
    pub fn matches<'a>(
        &self,
        label: impl Fn(&str) -> Option<&'a str>,
        field: impl Fn(&str) -> Option<&'a str>,
    ) -> bool {
        self.fields.matches(field) && self.labels.matches(label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_must_match_both_selectors() {
        let selector = Selector::parse("app=x", "metadata.name!=a", &[]).unwrap();
        let matches = |app, name| {
            selector.matches(
                |label| (label == "app").then_some(app),
                |field| (field == "metadata.name").then_some(name),
            )
        };
        assert!(matches("x", "b"));
        assert!(!matches("x", "a"));
        assert!(!matches("y", "b"));
        assert!(Selector::parse("", "", &[]).unwrap().is_empty());
    }

    #[test]
    fn a_bad_selector_is_a_bad_request() {
        let error = crate::status::Error::from(Selector::parse("a in x", "", &[]).unwrap_err());
        assert_eq!(error.reason().code(), 400);
        assert_eq!(error.message(), "unable to parse requirement: found 'x' expected: '('");
        assert_eq!(error.details(), None);
    }
}
