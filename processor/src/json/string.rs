//! JSON strings: from text between quotes to characters, and back.
//!
//! A lone surrogate (`"\ud800"`) has no character; it is read as U+FFFD, as Go's decoder does,
//! so that no later reader can choke on it.

use std::borrow::Cow;

use super::search::{self, plain_end, text_end};

/// What stands between the quotes of a valid JSON string, escapes and all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quoted<'t> {
    content: &'t str,
    marks: Marks,
}

/// What there is in a string besides plain text. A set of bits: results hold it in a register.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Marks(u8);

impl Marks {
    const DOLLAR: u8 = 1;
    const ESCAPE: u8 = 2;
    const UNICODE_ESCAPE: u8 = 4;

    fn of(content: &str) -> Self {
        let bytes = content.as_bytes();
        let mut marks = Marks::default();
        let mut at = plain_end(bytes, 0);
        while let Some(&byte) = bytes.get(at) {
            at += match byte {
                b'\\' => marks.note_escape(bytes.get(at + 1)),
                b'$' => marks.note_dollar(),
                _ => 1,
            };
            at = plain_end(bytes, at);
        }
        marks
    }

    /// Returns how long it is, at least.
    pub(super) fn note_dollar(&mut self) -> usize {
        self.0 |= Self::DOLLAR;
        1
    }

    /// Returns how long it is, at least.
    pub(super) fn note_escape(&mut self, name: Option<&u8>) -> usize {
        let unicode = if name == Some(&b'u') { Self::UNICODE_ESCAPE } else { 0 };
        self.0 |= Self::ESCAPE | unicode;
        2
    }

    pub(crate) fn is_plain(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn has_dollar(self) -> bool {
        self.0 & Self::DOLLAR != 0
    }

    fn has_escape(self) -> bool {
        self.0 & Self::ESCAPE != 0
    }

    /// `\u0024` is a dollar sign and `\ud800` is nothing: such strings are decoded first.
    pub(crate) fn has_unicode_escape(self) -> bool {
        self.0 & Self::UNICODE_ESCAPE != 0
    }

    /// Whether the string may hold a reference, or something that is no character.
    pub(crate) fn is_to_rewrite(self) -> bool {
        self.0 & (Self::DOLLAR | Self::UNICODE_ESCAPE) != 0
    }
}

impl<'t> Quoted<'t> {
    /// Content of which the scanner knows everything.
    pub(crate) fn new(content: &'t str, marks: Marks) -> Self {
        Quoted { content, marks }
    }

    /// Content that is known to be valid and no more.
    pub(crate) fn proven(content: &'t str) -> Self {
        Quoted { content, marks: Marks::of(content) }
    }

    /// The text as spelled, escapes and all.
    pub(crate) fn as_str(self) -> &'t str {
        self.content
    }

    pub(crate) fn marks(self) -> Marks {
        self.marks
    }

    /// The characters that the string means; borrowed unless it has an escape.
    #[inline]
    pub(crate) fn decode(self) -> Cow<'t, str> {
        if self.marks.has_escape() {
            Cow::Owned(unescaped(self.content))
        } else {
            Cow::Borrowed(self.content)
        }
    }
}

fn unescaped(content: &str) -> String {
    let mut text = String::with_capacity(content.len());
    let mut rest = content;
    loop {
        let run = search::byte(rest.as_bytes(), 0, b'\\');
        text.push_str(&rest[..run]);
        match rest[run..].strip_prefix('\\') {
            Some(escape) => rest = unescape(escape, &mut text),
            None => return text,
        }
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
    if text_end(text.as_bytes(), 0) == text.len() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    push_escaped(&mut out, text);
    Cow::Owned(out)
}

/// Appends the content of the JSON string that means `text`.
fn push_escaped(out: &mut String, text: &str) {
    let mut rest = text;
    loop {
        let run = text_end(rest.as_bytes(), 0);
        out.push_str(&rest[..run]);
        let Some(&special) = rest.as_bytes().get(run) else {
            return;
        };
        push_escape(out, special);
        rest = &rest[run + 1..];
    }
}

fn push_escape(out: &mut String, special: u8) {
    match special {
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
}

/// Appends the JSON string that means `text`.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    push_escaped(out, text);
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
