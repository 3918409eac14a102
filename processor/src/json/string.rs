//! JSON strings: from text between quotes to characters, and back.
//!
//! A lone surrogate (`"\ud800"`) has no character; it is read as U+FFFD, as Go's decoder does,
//! so that no later reader can choke on it.

use std::borrow::Cow;

use super::scan::text_end;

/// What stands between the quotes of a valid JSON string, escapes and all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quoted<'t>(&'t str);

impl<'t> Quoted<'t> {
    pub(crate) fn proven(content: &'t str) -> Self {
        Quoted(content)
    }

    /// The text as spelled, escapes and all.
    pub(crate) fn as_str(self) -> &'t str {
        self.0
    }

    /// The characters that the string means; borrowed unless it has an escape.
    pub(crate) fn decode(self) -> Cow<'t, str> {
        let Some(first) = self.0.find('\\') else {
            return Cow::Borrowed(self.0);
        };
        let mut text = String::with_capacity(self.0.len());
        text.push_str(&self.0[..first]);
        let mut rest = &self.0[first..];
        while let Some(escape) = rest.strip_prefix('\\') {
            rest = unescape(escape, &mut text);
            let run = rest.find('\\').unwrap_or(rest.len());
            text.push_str(&rest[..run]);
            rest = &rest[run..];
        }
        Cow::Owned(text)
    }
}

/// Decodes what follows a backslash and returns what follows the escape.
fn unescape<'t>(escape: &'t str, text: &mut String) -> &'t str {
    let (name, rest) = escape.split_at(1);
    match name {
        "b" => text.push('\u{8}'),
        "f" => text.push('\u{c}'),
        "n" => text.push('\n'),
        "r" => text.push('\r'),
        "t" => text.push('\t'),
        "u" => return unescape_unit(rest, text),
        other => text.push_str(other),
    }
    rest
}

fn unescape_unit<'t>(digits: &'t str, text: &mut String) -> &'t str {
    let unit = |digits: &str| u32::from_str_radix(digits.get(..4)?, 16).ok();
    let high = unit(digits).expect("the scanner has seen four hexadecimal digits");
    let rest = &digits[4..];
    if let 0xd800..0xdc00 = high
        && let Some(low @ 0xdc00..0xe000) = rest.strip_prefix("\\u").and_then(unit)
    {
        let pair = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        text.push(char::from_u32(pair).expect("a surrogate pair is a character"));
        return &rest[6..];
    }
    text.push(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
    rest
}

/// The content of the JSON string that means `text`; borrowed when nothing needs an escape.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    let mut run = text_end(text.as_bytes(), 0);
    if run == text.len() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while run < rest.len() {
        out.push_str(&rest[..run]);
        match rest.as_bytes()[run] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            control => {
                out.push_str("\\u00");
                out.push(char::from(b'0' + (control >> 4)));
                out.push(char::from(b"0123456789abcdef"[usize::from(control & 15)]));
            }
        }
        rest = &rest[run + 1..];
        run = text_end(rest.as_bytes(), 0);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Appends the JSON string that means `text`.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    out.push_str(&escape(text));
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, meaning: &str) {
        assert_eq!(Quoted::proven(content).decode(), meaning, "{content}");
    }

    #[test]
    fn escapes_are_decoded() {
        check("plain é", "plain é");
        check(r#"a\n\t\"\\\/\b\f\r"#, "a\n\t\"\\/\u{8}\u{c}\r");
        check(r"\u0041\u00e9x", "Aéx");
        check(r"\ud83d\ude00!", "😀!");
    }

    #[test]
    fn lone_surrogates_become_the_replacement_character() {
        check(r"a\ud800b", "a\u{fffd}b");
        check(r"\ud800\u0041", "\u{fffd}A");
        check(r"\ud800\ud83d\ude00", "\u{fffd}😀");
        check(r"\ude00", "\u{fffd}");
    }

    #[test]
    fn what_is_escaped_decodes_to_itself() {
        for text in ["", "a", "\"\\\n\r\t\u{0}\u{1f}\u{7f}é😀", "12345678\n", "$\\"] {
            assert_eq!(Quoted::proven(&escape(text)).decode(), text);
            let quoted = format!("\"{}\"", escape(text));
            assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
        }
    }
}
