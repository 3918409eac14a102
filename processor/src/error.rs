//! What can be wrong with a template, and how it is said.
//!
//! Two kinds: a body that cannot be read ([`ParseError`]), and fields whose values are refused
//! ([`Errors`]: all of them, each with its path). The texts are those of OpenShift's API server,
//! byte for byte where it has one, because clients show them and people search for them.

use std::fmt;

use crate::json::Syntax;

/// A body that is no Template at all: broken JSON, or a value of the wrong JSON type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Not JSON, or nested too deep.
    #[error("line {line}, column {column}: {what}")]
    Syntax {
        /// Line of the offending byte, from 1.
        line: usize,
        /// Column of the offending byte in characters, from 1.
        column: usize,
        /// What was expected or found there.
        what: &'static str,
    },
    /// A field holds another JSON type than the API's; said in the words of Go's decoder.
    #[error("json: cannot unmarshal {found} into Go {target}")]
    Type {
        /// The JSON type found: `number`, `string`, `bool`, `array`, `object`.
        found: &'static str,
        /// The Go field and its type, such as
        /// `struct field Parameter.parameters.value of type string`.
        target: &'static str,
    },
}

impl ParseError {
    pub(crate) fn syntax(text: &str, Syntax { at, defect }: Syntax) -> Self {
        let before = &text.as_bytes()[..at.min(text.len())];
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let column = before[start..].iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
        let line = before.iter().filter(|&&byte| byte == b'\n').count();
        ParseError::Syntax { line: line + 1, column: column + 1, what: defect.text() }
    }
}

/// One refused field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// Path of the field, such as `template.parameters[1]` or `item[0].objects`.
    pub field: String,
    /// Why it is refused.
    pub reason: Reason,
    /// The sentence after the reason; may be empty.
    pub detail: String,
}

/// Why a field is refused; the kinds of Kubernetes' field errors that processing can give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A value is needed and there is none.
    Required,
    /// The value, printed as Go prints it, does not fit.
    Invalid {
        /// Strings quoted, everything else as JSON.
        value: String,
    },
    /// The value is none of those that are supported.
    NotSupported {
        /// As in [`Invalid`](Reason::Invalid).
        value: String,
        /// Those that are, printed the same way.
        supported: Vec<String>,
    },
    /// The field must not be set here.
    Forbidden,
    /// The value names something that is not there.
    NotFound {
        /// As in [`Invalid`](Reason::Invalid).
        value: String,
    },
    /// The value stands there twice.
    Duplicate {
        /// As in [`Invalid`](Reason::Invalid).
        value: String,
    },
    /// A value was given for a parameter that the template does not have.
    UnknownParameter {
        /// The name that nothing answers to.
        name: String,
    },
    /// The result would be larger than the processor is willing to write.
    TooLong,
}

impl FieldError {
    pub(crate) fn required(field: String, detail: String) -> Self {
        FieldError { field, reason: Reason::Required, detail }
    }

    pub(crate) fn invalid(field: String, value: String, detail: String) -> Self {
        FieldError { field, reason: Reason::Invalid { value }, detail }
    }

    pub(crate) fn forbidden(field: String, detail: String) -> Self {
        FieldError { field, reason: Reason::Forbidden, detail }
    }

    pub(crate) fn duplicate(field: String, value: String) -> Self {
        FieldError { field, reason: Reason::Duplicate { value }, detail: String::new() }
    }

    pub(crate) fn too_long(field: String) -> Self {
        let detail = "substitution would bring in more than 64 MiB".to_owned();
        FieldError { field, reason: Reason::TooLong, detail }
    }

    /// The error without its field: what a `Status` cause carries as its message.
    pub fn body(&self) -> String {
        let reason = match &self.reason {
            Reason::Required => "Required value".to_owned(),
            Reason::Invalid { value } => format!("Invalid value: {value}"),
            Reason::NotSupported { value, supported } => {
                format!("Unsupported value: {value}: supported values: {}", supported.join(", "))
            }
            Reason::Forbidden => "Forbidden".to_owned(),
            Reason::NotFound { value } => format!("Not found: {value}"),
            Reason::Duplicate { value } => format!("Duplicate value: {value}"),
            Reason::UnknownParameter { name } => {
                format!("unknown parameter name {}", go_quote(name))
            }
            Reason::TooLong => "Too long".to_owned(),
        };
        if self.detail.is_empty() { reason } else { format!("{reason}: {}", self.detail) }
    }

    /// The machine-readable word that a `Status` cause carries as its reason.
    pub fn cause(&self) -> &'static str {
        match self.reason {
            Reason::Required => "FieldValueRequired",
            Reason::Invalid { .. } => "FieldValueInvalid",
            Reason::NotSupported { .. } => "FieldValueNotSupported",
            Reason::Forbidden => "FieldValueForbidden",
            Reason::NotFound { .. } | Reason::UnknownParameter { .. } => "FieldValueNotFound",
            Reason::Duplicate { .. } => "FieldValueDuplicate",
            Reason::TooLong => "FieldValueTooLong",
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            f.write_str(&self.body())
        } else {
            write!(f, "{}: {}", self.field, self.body())
        }
    }
}

/// Everything that was refused, in the order of the template.
///
/// An error quotes what it refuses, so ten thousand bad objects could say far more than the body
/// that held them: past 4 MiB of text further errors are dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Errors {
    list: Vec<FieldError>,
    size: usize,
}

pub(crate) const MAX_ERROR_TEXT: usize = 4 << 20;

impl Errors {
    pub(crate) fn push(&mut self, error: FieldError) {
        self.push_with(|| error);
    }

    /// Adds an error, unless there is too much text already; then it is not even made.
    pub(crate) fn push_with(&mut self, make: impl FnOnce() -> FieldError) {
        if self.size > MAX_ERROR_TEXT {
            return;
        }
        let error = make();
        self.size += error.field.len() + error.body().len();
        self.list.push(error);
    }

    /// Adds all errors of another list.
    pub(crate) fn append(&mut self, others: Errors) {
        others.into_iter().for_each(|error| self.push(error));
    }

    /// Whether nothing was refused.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The errors in order.
    pub fn iter(&self) -> std::slice::Iter<'_, FieldError> {
        self.list.iter()
    }

    /// `ok` when nothing was refused.
    pub(crate) fn or<T>(self, ok: T) -> Result<T, Errors> {
        if self.is_empty() { Ok(ok) } else { Err(self) }
    }
}

impl<'e> IntoIterator for &'e Errors {
    type Item = &'e FieldError;
    type IntoIter = std::slice::Iter<'e, FieldError>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Errors {
    type Item = FieldError;
    type IntoIter = std::vec::IntoIter<FieldError>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

/// One error as it is; several as `[a, b]`, the way Kubernetes prints an aggregate.
impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [one] = self.list.as_slice() {
            return one.fmt(f);
        }
        f.write_str("[")?;
        for (index, error) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{error}")?;
        }
        f.write_str("]")
    }
}

impl std::error::Error for Errors {}

/// A string as Go's `%q` prints it.
pub(crate) fn go_quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            ' '..='~' => out.push(c),
            c if c < ' ' || c == '\u{7f}' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if is_printable(c) => out.push(c),
            c if u32::from(c) < 0x10000 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

/// Rust escapes what Go escapes, and combining marks at the start of a string: hence the `x`.
fn is_printable(c: char) -> bool {
    let probe = String::from_iter(['x', c]);
    probe.escape_debug().count() == 2
}

/// JSON text as Go's encoder embeds it: no white space, and `<`, `>`, `&` spelled `\u003c` ...
pub(crate) fn go_compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            ' ' | '\n' | '\r' | '\t' if !in_string => {}
            _ => out.push(c),
        }
        in_string ^= c == '"' && !escaped;
        escaped = in_string && c == '\\' && !escaped;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Defect;

    #[test]
    fn errors_read_as_in_kubernetes() {
        let required = FieldError::required("parameters[0].name".into(), String::new());
        assert_eq!(required.to_string(), "parameters[0].name: Required value");
        let invalid = FieldError::invalid("a".into(), go_quote("x\"é"), "no".into());
        assert_eq!(invalid.to_string(), "a: Invalid value: \"x\\\"é\": no");
        let mut errors = Errors::default();
        errors.push(required);
        errors.push(invalid);
        assert_eq!(
            errors.to_string(),
            "[parameters[0].name: Required value, a: Invalid value: \"x\\\"é\": no]"
        );
    }

    #[test]
    fn strings_are_quoted_as_in_go() {
        assert_eq!(go_quote("a\n\u{1}\u{7f}"), r#""a\n\x01\x7f""#);
        assert_eq!(go_quote("\u{a0}\u{200b}😀e\u{301}"), "\"\\u00a0\\u200b😀e\u{301}\"");
        assert_eq!(go_quote("\u{e000}\u{10ffff}"), "\"\\ue000\\U0010ffff\"");
    }

    #[test]
    fn json_is_compacted_as_in_go() {
        assert_eq!(
            go_compact("{ \"a\" : \"b \\\" <c\" ,\n1: [ ] }"),
            "{\"a\":\"b \\\" \\u003cc\",1:[]}"
        );
        assert_eq!(go_compact(r#"["\\", 1]"#), r#"["\\",1]"#);
    }

    #[test]
    fn a_syntax_error_has_line_and_column() {
        let error = ParseError::syntax("{\n \"é\": x}", Syntax { at: 8, defect: Defect::NoValue });
        assert_eq!(error.to_string(), "line 2, column 6: expected a JSON value");
    }

    #[test]
    fn error_text_is_bounded() {
        let mut errors = Errors::default();
        for _ in 0..10 {
            errors.push(FieldError::required(String::new(), "x".repeat(1 << 20)));
        }
        assert_eq!(errors.iter().count(), 4);
    }
}
