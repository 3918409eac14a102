//! What stops the processing of one object, and the field error that it becomes.

use std::fmt::Write as _;

use crate::Json;
use crate::error::{FieldError, go_compact, go_quote};

use super::Labels;

/// Boxed, because it travels up through every level of an object.
#[derive(Debug)]
pub(crate) struct Fault(Box<Inner>);

#[derive(Debug)]
struct Inner {
    what: What,
    /// From the faulty value outwards.
    path: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    Key(String),
    Index(usize),
}

#[derive(Debug)]
pub(crate) enum What {
    /// Not an error: the object has `items` and must be read as a list.
    IsList,
    /// Not an error: an object cannot be processed by its outline, as a value removes itself.
    Vanishing,
    NotAnObject,
    MissingKind,
    /// `items` is neither a list nor null.
    Items {
        found: &'static str,
    },
    /// An element of `items` is no object.
    Item {
        found: &'static str,
    },
    LabelsOnList,
    /// A `${{NAME}}` in a list stands for null; upstream panics.
    NullInList,
    /// A `${{NAME}}` as a key stands for something that is no string; upstream panics.
    Key {
        key: String,
    },
    /// A `${{NAME}}` stands for JSON that is nested too deep.
    TooDeep,
    /// Substitution makes the objects larger than [`crate::MAX_PROCESSED`].
    TooLong,
    /// A parameter's JSON holds a number that no float can hold.
    Number,
}

impl Fault {
    pub(super) fn new(what: What) -> Self {
        let path = Vec::new();
        Fault(Box::new(Inner { what, path }))
    }

    pub(super) fn at_index(mut self, index: usize) -> Self {
        self.0.path.push(Step::Index(index));
        self
    }

    pub(super) fn under(mut self, key: &str) -> Self {
        self.0.path.push(Step::Key(key.to_owned()));
        self
    }

    pub(crate) fn what(&self) -> &What {
        &self.0.what
    }

    /// The error of `objects[index]`, with upstream's field and text where upstream has one.
    pub(crate) fn into_error(
        self,
        index: usize,
        object: Json,
        labels: Option<&Labels>,
    ) -> FieldError {
        let refused = |why: String| {
            let field = format!("item[{index}].objects");
            let detail = format!("unable to handle object: {why}");
            FieldError::invalid(field, go_compact(object.as_str()), detail)
        };
        let unmarshal =
            |found, target| refused(format!("json: cannot unmarshal {found} into Go {target}"));
        match &self.0.what {
            What::NotAnObject if object.as_str() != "null" => {
                unmarshal(object.kind(), "value of type unstructured.detector")
            }
            What::NotAnObject | What::MissingKind | What::IsList | What::Vanishing => {
                refused(format!("Object 'Kind' is missing in '{object}'"))
            }
            What::Items { found } => {
                unmarshal(found, "struct field decodeList.items of type []json.RawMessage")
            }
            What::Item { found } => unmarshal(found, "value of type map[string]interface {}"),
            What::LabelsOnList => {
                let mut shown = String::new();
                labels.inspect(|labels| labels.push_json(&mut shown));
                let detail =
                    "label could not be applied: object does not implement the Object interfaces";
                FieldError::invalid(
                    format!("item[{index}].labels"),
                    go_compact(&shown),
                    detail.to_owned(),
                )
            }
            What::TooLong => FieldError::too_long(format!("item[{index}].objects")),
            What::NullInList => {
                self.reference(index, "null", "a list cannot hold a parameter whose value is null")
            }
            What::Key { key } => {
                let value = go_quote(key);
                self.reference(
                    index,
                    &value,
                    "a key must be a string, and the parameter's value is other JSON",
                )
            }
            What::TooDeep => self.reference(
                index,
                "...",
                "the parameter's value nests more than 512 levels deep",
            ),
            What::Number => self.reference(index, "...", "a number is out of range"),
        }
    }

    fn reference(&self, index: usize, value: &str, detail: &str) -> FieldError {
        let mut field = format!("item[{index}].objects");
        for step in self.0.path.iter().rev() {
            match step {
                Step::Key(key) => write!(field, ".{key}"),
                Step::Index(index) => write!(field, "[{index}]"),
            }
            .expect("a String takes all text");
        }
        FieldError::invalid(field, value.to_owned(), detail.to_owned())
    }
}
