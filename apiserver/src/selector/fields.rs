//! Field selectors: `metadata.name=a,metadata.namespace!=b`.
//!
//! Unlike labels, only the fields that a resource declares can be asked for, every operator is an
//! equality, and `\` makes `,`, `=` and itself part of a value.

use std::fmt;

use super::ParseError;

/// The field of every object that is its name.
pub const NAME: &str = "metadata.name";
/// The field of every object that is its namespace.
pub const NAMESPACE: &str = "metadata.namespace";

/// A conjunction of equalities and inequalities of fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    field: String,
    value: String,
    equal: bool,
}

impl FieldSelector {
    /// Reads a `fieldSelector` parameter. The empty text selects everything. `selectable` are the
    /// fields of the resource besides `metadata.name` and `metadata.namespace`.
    pub fn parse(text: &str, selectable: &[&str]) -> Result<Self, ParseError> {
        let selector = Self::parse_any(text)?;
        let known =
            |field: &str| field == NAME || field == NAMESPACE || selectable.contains(&field);
        match selector.terms.iter().find(|term| !known(&term.field)) {
            Some(stranger) => Err(unknown(&stranger.field, selectable)),
            None => Ok(selector),
        }
    }

    /// As [`FieldSelector::parse`], for whoever does not know yet which resource is meant: any
    /// field may be asked for.
    pub(crate) fn parse_any(text: &str) -> Result<Self, ParseError> {
        let mut parts = split(text);
        // Upstream reports the first bad term in this order.
        parts.sort_unstable();
        let mut terms = Vec::with_capacity(parts.len());
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let Some(term) = Term::parse(part) else {
                let why = format!("invalid selector: '{text}'; can't understand '{part}'");
                return Err(ParseError(why));
            };
            terms.push(term?);
        }
        Ok(Self { terms })
    }

    /// Whether every object matches.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The fields, the values they are compared with, and whether they must be equal.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        self.terms.iter().map(|term| (term.field.as_str(), term.value.as_str(), term.equal))
    }

    /// Whether an object with these fields matches. An absent field is the empty text.
    pub fn matches<'a>(&self, field: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.terms
            .iter()
            .all(|term| (field(&term.field).unwrap_or_default() == term.value) == term.equal)
    }

    /// The only name that can match, if the selector says `metadata.name=…`: then one object is
    /// meant, and authorization and storage treat the request so.
    pub fn required_name(&self) -> Option<&str> {
        self.required(NAME)
    }

    /// The only namespace that can match, if the selector names one.
    pub fn required_namespace(&self) -> Option<&str> {
        self.required(NAMESPACE)
    }

    fn required(&self, field: &str) -> Option<&str> {
        let term = self.terms.iter().find(|term| term.equal && term.field == field)?;
        Some(&term.value)
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Term { field, value, equal }) in self.terms.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let operator = if *equal { "=" } else { "!=" };
            let value = value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
            write!(f, "{comma}{field}{operator}{value}")?;
        }
        Ok(())
    }
}

impl Term {
    /// `None` when there is no operator. The first operator splits the term: `!=` or `==` where
    /// they stand, else `=`.
    fn parse(text: &str) -> Option<Result<Self, ParseError>> {
        let (field, equal, value) = text.char_indices().find_map(|(at, _)| {
            let rest = &text[at..];
            let value = |operator| rest.strip_prefix(operator);
            value("!=").map(|value| (&text[..at], false, value)).or_else(|| {
                value("==").or_else(|| value("=")).map(|value| (&text[..at], true, value))
            })
        })?;
        Some(unescape(value).map(|value| Self { field: field.to_owned(), value, equal }))
    }
}

/// Splits at commas that are not escaped; the escapes stay.
fn split(text: &str) -> Vec<&str> {
    let mut escaped = false;
    text.split(|character| {
        let comma = character == ',' && !escaped;
        escaped = character == '\\' && !escaped;
        comma
    })
    .collect()
}

fn unescape(text: &str) -> Result<String, ParseError> {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => out.push(escaped),
                other => {
                    let sequence: String = std::iter::once('\\').chain(other).collect();
                    return Err(ParseError(format!(
                        "invalid field selector: invalid escape sequence: {sequence}"
                    )));
                }
            },
            ',' | '=' => {
                // Upstream prints the character's number.
                return Err(ParseError(format!(
                    "invalid field selector: unescaped character in value: {}",
                    u32::from(character)
                )));
            }
            plain => out.push(plain),
        }
    }
    Ok(out)
}

fn unknown(field: &str, selectable: &[&str]) -> ParseError {
    let known: Vec<String> =
        [NAME, NAMESPACE].iter().chain(selectable).map(|name| format!("\"{name}\"")).collect();
    let field = crate::field::quote(field);
    ParseError(format!("{field} is not a known field selector: only {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> FieldSelector {
        FieldSelector::parse(text, &["spec.x"]).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn matches(selector: &str, name: &str, namespace: &str) -> bool {
        parse(selector).matches(|field| match field {
            NAME => Some(name),
            NAMESPACE => Some(namespace),
            _ => None,
        })
    }

    #[test]
    fn terms_select_by_equality() {
        assert!(matches("metadata.name=a", "a", "n"));
        assert!(matches("metadata.name==a", "a", "n"));
        assert!(matches("metadata.name!=a", "b", "n"));
        assert!(!matches("metadata.name=a,metadata.name=b", "a", "n"));
        assert!(matches("metadata.name=a,metadata.namespace!=x,,", "a", "n"));
        assert!(matches("", "a", "n"));
        assert!(!matches("metadata.name=", "a", "n"));
        assert!(matches("spec.x=", "a", "n"), "an absent field is empty");
    }

    #[test]
    fn only_declared_fields_can_be_asked_for() {
        let message = |text: &str, selectable: &[&str]| {
            FieldSelector::parse(text, selectable).unwrap_err().to_string()
        };
        assert_eq!(
            message("spec.y=1", &[]),
            r#""spec.y" is not a known field selector: only "metadata.name", "metadata.namespace""#
        );
        assert_eq!(
            message("=a", &["spec.x"]),
            r#""" is not a known field selector: only "metadata.name", "metadata.namespace", "spec.x""#
        );
    }

    #[test]
    fn what_is_no_equality_is_refused() {
        let message = |text: &str| FieldSelector::parse(text, &[]).unwrap_err().to_string();
        assert_eq!(
            message("metadata.name in (a,b)"),
            "invalid selector: 'metadata.name in (a,b)'; can't understand 'b)'"
        );
        assert_eq!(
            message("metadata.name"),
            "invalid selector: 'metadata.name'; can't understand 'metadata.name'"
        );
        assert_eq!(
            message("metadata.name=a=b"),
            "invalid field selector: unescaped character in value: 61"
        );
        assert_eq!(
            message("metadata.name=a\\b"),
            "invalid field selector: invalid escape sequence: \\b"
        );
        assert_eq!(
            message("metadata.name=a\\"),
            "invalid field selector: invalid escape sequence: \\"
        );
    }

    #[test]
    fn a_required_name_is_found_among_the_terms() {
        assert_eq!(parse("spec.x=1,metadata.name=a").required_name(), Some("a"));
        assert_eq!(parse("metadata.name!=a").required_name(), None);
        assert_eq!(parse("metadata.namespace==n").required_namespace(), Some("n"));
        assert_eq!(parse("").required_name(), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,40}") {
            _ = FieldSelector::parse(&text, &[]);
        }

        #[test]
        fn every_value_can_be_written_with_escapes(value in ".{0,12}") {
            let term = Term { field: NAME.into(), value: value.clone(), equal: true };
            let text = FieldSelector { terms: vec![term] }.to_string();
            let selector = parse(&text);
            prop_assert_eq!(selector.required_name(), Some(value.as_str()));
        }
    }
}
