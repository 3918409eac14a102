//! The selectors of a request in the form in which reviews carry them.
//!
//! They can only narrow what is asked for. One that cannot be read, or that a review has no word for,
//! is left out: then more is asked for than is wanted, never less.

use serde::Serialize;

use crate::selector::{FieldSelector, LabelCondition, LabelSelector};

/// `fieldSelector.requirements`.
#[derive(Serialize)]
pub(super) struct FieldRequirements {
    requirements: Vec<Requirement>,
}

/// `labelSelector.requirements`.
#[derive(Serialize)]
pub(super) struct LabelRequirements {
    requirements: Vec<Requirement>,
}

#[derive(Serialize)]
struct Requirement {
    key: String,
    operator: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<String>,
}

impl FieldRequirements {
    /// The requirements of a `fieldSelector` parameter; `None` when there are none.
    pub(super) fn read(text: &str) -> Option<Self> {
        let selector = FieldSelector::parse_any(text).ok()?;
        let requirements: Vec<_> = selector
            .terms()
            .map(|(field, value, is_equal)| Requirement {
                key: field.to_owned(),
                operator: if is_equal { "In" } else { "NotIn" },
                values: vec![value.to_owned()],
            })
            .collect();
        (!requirements.is_empty()).then_some(Self { requirements })
    }
}

impl LabelRequirements {
    /// The requirements of a `labelSelector` parameter; `None` when there are none.
    pub(super) fn read(text: &str) -> Option<Self> {
        let selector = LabelSelector::parse(text).ok()?;
        let requirements: Vec<_> = selector
            .requirements()
            .filter_map(|(key, condition)| {
                let (operator, values) = match condition {
                    LabelCondition::Exists => ("Exists", Vec::new()),
                    LabelCondition::Absent => ("DoesNotExist", Vec::new()),
                    LabelCondition::In(values) => ("In", values.clone()),
                    LabelCondition::NotIn(values) => ("NotIn", values.clone()),
                    LabelCondition::Above(_) | LabelCondition::Below(_) => return None,
                };
                Some(Requirement { key: key.to_owned(), operator, values })
            })
            .collect();
        (!requirements.is_empty()).then_some(Self { requirements })
    }
}
