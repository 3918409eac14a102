//! Regular expressions of schemas: written as for Python's `re`, matched in linear time.
//!
//! Where Python's spelling differs and the meaning does not, the spelling is translated. Look-around and back references
//! have no linear match and are refused.

use std::iter::Peekable;
use std::str::Chars;

use regex::{Regex, RegexBuilder};

/// The longest pattern, in bytes.
pub(super) const MAX_LENGTH: usize = 2048;
/// The largest compiled pattern, in bytes.
pub(super) const MAX_SIZE: usize = 256 << 10;
/// The memory that one match may take to be fast, in bytes.
pub(super) const MAX_CACHE: usize = 256 << 10;

/// The pattern as the `regex` crate spells it, if it can be used.
///
/// # Errors
/// What is wrong with it, in a phrase.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    if pattern.len() > MAX_LENGTH {
        return Err(format!("is longer than {MAX_LENGTH} bytes"));
    }
    if uses_lookaround(pattern) {
        return Err("uses look-around or back references, which are not supported".to_owned());
    }
    let translated = respell(pattern);
    compile(&translated)?;
    Ok(translated)
}

/// Compiles what [`translate`] gave.
///
/// # Errors
/// What is wrong with it, in a phrase.
pub(super) fn compile(translated: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(&with_ascii_classes(translated))
        .size_limit(MAX_SIZE)
        .dfa_size_limit(MAX_CACHE)
        .build();
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

/// Whether the pattern needs a match that may take exponential time.
fn uses_lookaround(pattern: &str) -> bool {
    let mut rest = pattern;
    let mut class = false;
    while let Some(c) = rest.chars().next() {
        let next = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                let Some(escaped) = next.chars().next() else { return false };
                if !class && ('1'..='9').contains(&escaped) {
                    return true;
                }
                rest = &next[escaped.len_utf8()..];
                continue;
            }
            '[' => class = true,
            ']' => class = false,
            '(' if !class => {
                let refused = ["?=", "?!", "?<=", "?<!", "?P=", "?("];
                if refused.iter().any(|start| next.starts_with(start)) {
                    return true;
                }
            }
            _ => {}
        }
        rest = next;
    }
    false
}

/// The same pattern in the syntax that Python has in common with the `regex` crate and with ECMAScript, which the crate
/// for schemas insists on: anchors are `^` and `$`, groups have no names, flags that stand first are those of a group, and
/// a bracket or brace that means itself is escaped.
fn respell(pattern: &str) -> String {
    let (flags, pattern) = leading_flags(pattern);
    let mut out = String::with_capacity(pattern.len() + 16);
    if let Some(flags) = flags {
        out.push_str(&format!("(?{flags}:"));
    }
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => respell_escape(&mut out, rest.next()),
            '[' => respell_class(&mut out, &mut rest),
            '{' => {
                let ahead: String = rest.clone().take_while(|c| *c != '}').collect();
                match repetition(&ahead) {
                    Some(repetition) => {
                        out.push_str(&repetition);
                        rest.by_ref().find(|c| *c == '}');
                    }
                    None => out.push_str("\\{"),
                }
            }
            '}' | ']' => out.extend(['\\', c]),
            '(' => {
                out.push('(');
                let mut ahead = rest.clone();
                if ahead.by_ref().take(3).eq("?P<".chars()) {
                    rest.by_ref().find(|c| *c == '>');
                }
            }
            plain => out.push(plain),
        }
    }
    out.extend(flags.map(|_| ')'));
    out
}

/// `(?i)` at the beginning: its flags, and what is behind it.
fn leading_flags(pattern: &str) -> (Option<&str>, &str) {
    let flags = pattern.strip_prefix("(?").and_then(|rest| rest.split_once(')'));
    match flags {
        Some((flags, rest)) if !flags.is_empty() && flags.bytes().all(|b| b"ims".contains(&b)) => {
            (Some(flags), rest)
        }
        _ => (None, pattern),
    }
}

/// What stands between braces, if it is a repetition: `3`, `3,`, `3,5` and Python's `,5`.
fn repetition(text: &str) -> Option<String> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match text.split_once(',') {
        None if !text.is_empty() && digits(text) => Some(format!("{{{text}}}")),
        Some(("", most)) if !most.is_empty() && digits(most) => Some(format!("{{0,{most}}}")),
        Some((least, most)) if !least.is_empty() && digits(least) && digits(most) => {
            Some(format!("{{{least},{most}}}"))
        }
        _ => None,
    }
}

/// A class, whose `[` is taken.
fn respell_class(out: &mut String, rest: &mut Peekable<Chars<'_>>) {
    out.push('[');
    out.extend(rest.next_if_eq(&'^'));
    // A bracket that comes first is a member of the class.
    if rest.next_if_eq(&']').is_some() {
        out.push_str("\\]");
    }
    while let Some(c) = rest.next() {
        match c {
            ']' => return out.push(']'),
            '\\' => match rest.next() {
                Some('b') => out.push_str("\\x08"),
                escaped => respell_escape(out, escaped),
            },
            '[' | '&' | '~' => out.extend(['\\', c]),
            plain => out.push(plain),
        }
    }
}

/// An escape, whose backslash is taken.
fn respell_escape(out: &mut String, escaped: Option<char>) {
    match escaped {
        Some('A') => out.push('^'),
        Some('Z') => out.push('$'),
        Some('a') => out.push_str("\\x07"),
        // Any other character may be escaped that means nothing in particular.
        Some(other) if !other.is_ascii_graphic() => out.push(other),
        escaped => {
            out.push('\\');
            out.extend(escaped);
        }
    }
}

/// The pattern with its class escapes spelled out: they are ASCII, as they are for Python 2 and for JSON Schema.
fn with_ascii_classes(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        let escaped = if c == '\\' { rest.next() } else { None };
        out.push_str(match escaped {
            Some('d') => "[0-9]",
            Some('D') => "[^0-9]",
            Some('w') => "[0-9A-Za-z_]",
            Some('W') => "[^0-9A-Za-z_]",
            Some('s') => r"[\t\n\x0B\f\r\x20]",
            Some('S') => r"[^\t\n\x0B\f\r\x20]",
            Some(other) => {
                out.extend([c, other]);
                continue;
            }
            None => {
                out.push(c);
                continue;
            }
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::draft::Version;
    use super::*;

    /// By our own matcher and by that of the crate for schemas, which have to agree.
    #[track_caller]
    fn matches(pattern: &str, text: &str) -> bool {
        let translated = translate(pattern).unwrap();
        let ours = compile(&translated).unwrap().is_match(text);
        let schema = serde_json::json!({"pattern": translated});
        let theirs = Version::Draft4.compile(&schema).unwrap().is_valid(&text.into());
        assert_eq!(ours, theirs, "{pattern} {translated}");
        ours
    }

    #[test]
    fn python_spellings_keep_their_meaning() {
        assert!(matches(r"\w+-\w+-\w+", "in us-central1-a there"));
        assert!(matches(r"\Aab\Z", "ab") && !matches(r"\Aab\Z", "abc"));
        assert!(matches(r"^(?P<host>[^:]+):(?P<port>\d+)$", "db:80"));
        assert!(matches(r"(?i)^ABC$", "abc") && !matches(r"^(?i:A)BC$", "abc"));
        assert!(matches(r"^a{,2}b{1,}{c}]}$", "abb{c}]}") && !matches("^a{2}$", "a"));
        assert!(matches("^[\\b]\\a$", "\u{8}\u{7}") && matches(r"^\bx\b$", "x"));
        assert!(matches(r"^([0-9]{1,3}\.){3}[0-9]{1,3}\/[0-9]{1,2}$", "10.0.0.0/8"));
        assert!(matches(r"^[[]\]$", "[]"));
        assert!(matches(r"^[]a]+$", "]a"));
        assert!(matches(r"^[a&&b~~c]+$", "a&b~c"));
        assert!(matches(r"^\/dev\/sd[a-z]\_\ $", "/dev/sda_ "));
        assert!(!matches(r"^\d$", "٣") && !matches(r"^[\w.]$", "é") && matches(r"^[^\s]$", "é"));
    }

    #[test]
    fn what_cannot_match_in_linear_time_is_refused() {
        for pattern in ["(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b", r"(a)\1", "(?P<x>a)(?P=x)"] {
            let reason = translate(pattern).unwrap_err();
            assert!(reason.contains("look-around or back references"), "{pattern}: {reason}");
        }
        assert!(translate(r"^[(?=a)]+$").is_ok());
    }

    #[test]
    fn what_cannot_be_compiled_has_a_reason() {
        assert_eq!(translate("((").unwrap_err(), "is not a regular expression: unclosed group");
        let big = translate(r"(\w{1000}){1000}").unwrap_err();
        assert_eq!(big, "matches too much text to be checked");
        assert_eq!(translate(&"a".repeat(2049)).unwrap_err(), "is longer than 2048 bytes");
    }
}
