//! Regular expressions of people who are not trusted, as the `pattern` of a parameter: searched anywhere in a value.
//!
//! It means what JSON Schema and the patterns of Kubernetes mean: unanchored, and `\d`, `\w` and
//! `\s` are ASCII. The syntax is that of the `regex` crate, so there are neither look-around nor
//! back references, and matching takes linear time. What anybody may make us compile is bounded.

pub use regex::Regex;
use regex::RegexBuilder;

/// The longest pattern, in bytes.
const MAX_LENGTH: usize = 1024;
/// The largest compiled pattern, in bytes.
const MAX_SIZE: usize = 256 << 10;

/// Compiles a pattern.
///
/// # Errors
/// What is wrong with it, in a phrase.
pub fn compile(pattern: &str) -> Result<Regex, String> {
    if pattern.len() > MAX_LENGTH {
        return Err(format!("must be no longer than {MAX_LENGTH} bytes"));
    }
    let built = RegexBuilder::new(&with_ascii_classes(pattern)).size_limit(MAX_SIZE).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "matches too much text to be checked".to_owned(),
        error => {
            let text = error.to_string();
            // The crate draws a picture of the pattern first; the reason is its last line.
            let reason = text.rsplit("error: ").next().unwrap_or_default().trim();
            format!("is not a regular expression: {reason}")
        }
    })
}

/// The pattern with its class escapes spelled out. A class inside a class is one in this syntax.
fn with_ascii_classes(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        let escaped = if c == '\\' { rest.next() } else { None };
        match escaped {
            Some('d') => out.push_str("[0-9]"),
            Some('D') => out.push_str("[^0-9]"),
            Some('w') => out.push_str("[0-9A-Za-z_]"),
            Some('W') => out.push_str("[^0-9A-Za-z_]"),
            Some('s') => out.push_str(r"[\t\n\x0B\f\r\x20]"),
            Some('S') => out.push_str(r"[^\t\n\x0B\f\r\x20]"),
            Some(other) => out.extend([c, other]),
            None => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        compile(pattern).unwrap().is_match(text)
    }

    #[test]
    fn a_pattern_is_searched_anywhere() {
        assert!(matches("b", "abc"));
        assert!(!matches("^b$", "abc"));
        assert!(!matches("^a$", "a\n"));
    }

    #[test]
    fn class_escapes_are_ascii() {
        assert!(matches(r"^\d[\w.-]\S\s$", "1-x\t"));
        assert!(!matches(r"^\d$", "٣"));
        assert!(!matches(r"^\w$", "é"));
        assert!(matches(r"^.$", "é"));
        assert!(matches(r"^\\d$", r"\d"));
        assert!(matches(r"^[^\s]$", "x"));
    }

    #[test]
    fn what_cannot_be_compiled_has_a_reason() {
        assert_eq!(compile("((").unwrap_err(), "is not a regular expression: unclosed group");
        assert_eq!(compile("a\\").unwrap_err().lines().count(), 1);
        assert!(compile("(?=a)").is_err());
        assert_eq!(
            compile(r"(\w{1000}){1000}").unwrap_err(),
            "matches too much text to be checked"
        );
        assert!(compile(&"a".repeat(1025)).is_err());
    }
}
