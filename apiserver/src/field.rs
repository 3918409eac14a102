//! Validation errors: every problem with its field's path, as apimachinery's `field.ErrorList`.

use std::fmt;

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It must be set.
    Required,
    /// It is set to something that is not allowed; the value as Go prints it.
    Invalid(String),
    /// It is not one of the supported values; the value and those values, as Go prints them.
    NotSupported(String, Vec<String>),
    /// It must not be set, or not by this user.
    Forbidden,
    /// It names something that is not there; the value as Go prints it.
    NotFound(String),
    /// It stands twice; the value as Go prints it.
    Duplicate(String),
    /// It is longer than so many bytes.
    TooLong(usize),
}

/// One problem of one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The path, e.g. `metadata.ownerReferences[0].uid`.
    pub field: String,
    /// What is wrong.
    pub problem: Problem,
    /// Why, in a sentence; may be empty.
    pub detail: String,
}

impl Error {
    /// The field must be set.
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { field: field.into(), problem: Problem::Required, detail: detail.into() }
    }

    /// The field holds a value that is not allowed. `value` is printed as it stands: quote strings.
    pub fn invalid(
        field: impl Into<String>,
        value: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self { field: field.into(), problem: Problem::Invalid(value.into()), detail: detail.into() }
    }

    /// The field must not be set.
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { field: field.into(), problem: Problem::Forbidden, detail: detail.into() }
    }

    /// The field's value is none of `supported`.
    pub fn not_supported(
        field: impl Into<String>,
        value: impl Into<String>,
        supported: &[&str],
    ) -> Self {
        let supported = supported.iter().map(|value| format!("{value:?}")).collect();
        Self {
            field: field.into(),
            problem: Problem::NotSupported(value.into(), supported),
            detail: String::new(),
        }
    }

    /// The field is longer than `limit` bytes.
    pub fn too_long(field: impl Into<String>, limit: usize) -> Self {
        Self { field: field.into(), problem: Problem::TooLong(limit), detail: String::new() }
    }

    /// The same problem, `prefix` before its path.
    #[must_use]
    pub fn under(mut self, prefix: &str) -> Self {
        self.field = format!("{prefix}.{}", self.field);
        self
    }

    /// The message without the path, as it stands in `causes[].message`.
    pub fn body(&self) -> String {
        let head = match &self.problem {
            Problem::Required => "Required value".to_owned(),
            Problem::Invalid(value) => format!("Invalid value: {value}"),
            Problem::NotSupported(value, supported) => {
                return format!(
                    "Unsupported value: {value}: supported values: {}",
                    supported.join(", ")
                );
            }
            Problem::Forbidden => "Forbidden".to_owned(),
            Problem::NotFound(value) => format!("Not found: {value}"),
            Problem::Duplicate(value) => format!("Duplicate value: {value}"),
            Problem::TooLong(limit) => {
                return format!("Too long: may not be more than {limit} bytes");
            }
        };
        if self.detail.is_empty() { head } else { format!("{head}: {}", self.detail) }
    }

    /// The reason of the problem in a cause of a `Status`.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match &self.problem {
            Problem::Required => "FieldValueRequired",
            Problem::Invalid(_) => "FieldValueInvalid",
            Problem::NotSupported(..) => "FieldValueNotSupported",
            Problem::Forbidden => "FieldValueForbidden",
            Problem::NotFound(_) => "FieldValueNotFound",
            Problem::Duplicate(_) => "FieldValueDuplicate",
            Problem::TooLong(_) => "FieldValueTooLong",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

/// All problems in one sentence: alone as it stands, several as `[a, b]`, repeated ones once.
pub(crate) fn aggregate(errors: &[Error]) -> String {
    let mut sentences: Vec<String> = Vec::with_capacity(errors.len());
    for error in errors {
        let sentence = error.to_string();
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    match sentences.as_slice() {
        [only] => only.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

/// A string as Go's `%q` prints it: what `Invalid value:` shows of a string.
pub use schema::go_quote as quote;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_problem_stands_alone_and_several_in_brackets() {
        let one = Error::required("a", "");
        let two = Error::forbidden("b", "no");
        assert_eq!(aggregate(std::slice::from_ref(&one)), "a: Required value");
        assert_eq!(aggregate(&[one, two]), "[a: Required value, b: Forbidden: no]");
    }
}
