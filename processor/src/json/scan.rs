//! The one validating reader of JSON text (RFC 8259), with positions.
//!
//! It builds nothing: a caller asks for the next string, value, map or list and gets spans of the
//! input. Duplicate keys are not its business; those who care see every key.

use super::{Json, MAX_DEPTH, Quoted};

/// A place where the text stops being JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Syntax {
    /// Byte offset into the text.
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

impl Syntax {
    /// Whether the text may be JSON, but nests beyond [`MAX_DEPTH`].
    pub(crate) fn is_depth(&self) -> bool {
        self.what == TOO_DEEP
    }
}

const TOO_DEEP: &str = "maps and lists nest more than 512 levels deep";

/// A cursor over JSON text.
pub(crate) struct Scanner<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Scanner { text, at: 0, depth: 0 }
    }

    /// Skips white space and looks at the next byte; 0 at the end of the text.
    pub(crate) fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Where the cursor stands.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Refuses anything but white space in the rest of the text.
    pub(crate) fn end(&mut self) -> Result<(), Syntax> {
        self.peek();
        if self.at == self.text.len() {
            Ok(())
        } else {
            self.fail("unexpected text after the value")
        }
    }

    /// Reads one value of any kind.
    pub(crate) fn value(&mut self) -> Result<Json<'t>, Syntax> {
        let byte = self.peek();
        let start = self.at;
        match byte {
            b'{' => self.members(|scanner, _| scanner.value().map(drop))?,
            b'[' => self.elements(|scanner| scanner.value().map(drop))?,
            b'"' => drop(self.string()?),
            b't' => self.literal("true")?,
            b'f' => self.literal("false")?,
            b'n' => self.literal("null")?,
            _ => self.number()?,
        }
        Ok(Json::proven(&self.text[start..self.at]))
    }

    /// Reads a map; `each` is called after a member's colon and must read the value.
    pub(crate) fn members<E: From<Syntax>>(
        &mut self,
        mut each: impl FnMut(&mut Self, Quoted<'t>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.open()?;
        if self.peek() == b'}' {
            return self.close();
        }
        loop {
            if self.peek() != b'"' {
                return Ok(self.fail("expected a key in double quotes")?);
            }
            let key = self.string()?;
            if self.peek() != b':' {
                return Ok(self.fail("expected ':' after a key")?);
            }
            self.at += 1;
            each(self, key)?;
            match self.peek() {
                b',' => self.at += 1,
                b'}' => return self.close(),
                _ => return Ok(self.fail("expected ',' or '}' in a map")?),
            }
        }
    }

    /// Reads a list; `each` is called before every element and must read it.
    pub(crate) fn elements<E: From<Syntax>>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.open()?;
        if self.peek() == b']' {
            return self.close();
        }
        loop {
            each(self)?;
            match self.peek() {
                b',' => self.at += 1,
                b']' => return self.close(),
                _ => return Ok(self.fail("expected ',' or ']' in a list")?),
            }
        }
    }

    /// Reads a string; the cursor stands on its first quote.
    pub(crate) fn string(&mut self) -> Result<Quoted<'t>, Syntax> {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let mut at = start;
        loop {
            at = text_end(bytes, at);
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => at = self.escape(at)?,
                Some(_) => {
                    self.at = at;
                    return Err(self.syntax("a control character in a string"));
                }
                None => {
                    self.at = at;
                    return Err(self.syntax("a string without its closing quote"));
                }
            }
        }
        self.at = at + 1;
        Ok(Quoted::proven(&self.text[start..at]))
    }

    fn escape(&mut self, at: usize) -> Result<usize, Syntax> {
        let bytes = self.text.as_bytes();
        let hex = |range| {
            bytes
                .get::<std::ops::Range<usize>>(range)
                .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        };
        match bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'u') if hex(at + 2..at + 6) => Ok(at + 6),
            _ => {
                self.at = at;
                Err(self.syntax("an unknown escape in a string"))
            }
        }
    }

    fn number(&mut self) -> Result<(), Syntax> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
        let whole = at;
        at = digits(at);
        let mut valid = at > whole && (bytes[whole] != b'0' || at == whole + 1);
        if bytes.get(at) == Some(&b'.') {
            let fraction = at + 1;
            at = digits(fraction);
            valid &= at > fraction;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = at + 1 + sign;
            at = digits(exponent);
            valid &= at > exponent;
        }
        if !valid {
            return self.fail("expected a JSON value");
        }
        self.at = at;
        Ok(())
    }

    fn literal(&mut self, word: &'static str) -> Result<(), Syntax> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return self.fail("expected a JSON value");
        }
        self.at += word.len();
        Ok(())
    }

    fn open(&mut self) -> Result<(), Syntax> {
        if self.depth == MAX_DEPTH {
            return self.fail(TOO_DEEP);
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    fn close<E>(&mut self) -> Result<(), E> {
        self.depth -= 1;
        self.at += 1;
        Ok(())
    }

    fn fail(&self, what: &'static str) -> Result<(), Syntax> {
        Err(self.syntax(what))
    }

    /// The error at the cursor.
    pub(crate) fn syntax(&self, what: &'static str) -> Syntax {
        Syntax { at: self.at, what }
    }
}

const LOW: u64 = u64::from_le_bytes([0x01; 8]);
const HIGH: u64 = u64::from_le_bytes([0x80; 8]);

/// Marks the bytes of `word` that equal `byte`; exact up to and including the first of them.
const fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ (LOW * byte as u64), 1)
}

/// Marks the bytes of `word` below `bound`; exact up to and including the first of them.
const fn below(word: u64, bound: u8) -> u64 {
    word.wrapping_sub(LOW * bound as u64) & !word & HIGH
}

/// The first `"`, `\` or control character at or after `at`, else the end.
pub(crate) fn text_end(bytes: &[u8], at: usize) -> usize {
    first(
        bytes,
        at,
        |word| equal(word, b'"') | equal(word, b'\\') | below(word, 0x20),
        |byte| byte == b'"' || byte == b'\\' || byte < 0x20,
    )
}

/// The first `"`, `\` or `$` at or after `at`, else the end.
pub(crate) fn plain_end(bytes: &[u8], at: usize) -> usize {
    first(
        bytes,
        at,
        |word| equal(word, b'"') | equal(word, b'\\') | equal(word, b'$'),
        |byte| byte == b'"' || byte == b'\\' || byte == b'$',
    )
}

/// Eight bytes at a time, then one at a time: the same question asked of a word and of a byte.
fn first(
    bytes: &[u8],
    mut at: usize,
    word: impl Fn(u64) -> u64,
    byte: impl Fn(u8) -> bool,
) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let marks = word(u64::from_le_bytes(*chunk));
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|&b| !byte(b)) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) {
        let ours = Json::parse(text).is_ok();
        let theirs = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        assert_eq!(ours, theirs, "{text}");
    }

    #[test]
    fn the_grammar_is_that_of_serde_json() {
        let valid = [
            "0",
            "-0",
            "1.5e-3",
            "1E+2",
            "[]",
            "{}",
            " [ 1 , 2 ] ",
            "{\"a\":{\"b\":[null]}}",
            "\"\\u00e9\\/\\b\"",
            "true",
            "\"\u{7f}é\"",
            "[[],[{}]]",
            "\"12345678\\\"9\"",
        ];
        let invalid = [
            "",
            "00",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "+1",
            "tru",
            "nul",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"a\nb\"",
            "[1 2]",
            "{\"a\" 1}",
            "1 2",
            "\"abc",
            "[",
            "{\"a\":",
            "]",
            "NaN",
            "'x'",
            "\"\\",
            "-a",
            "\u{feff}1",
        ];
        valid.iter().chain(&invalid).for_each(|text| check(text));
        assert!(valid.iter().all(|text| Json::parse(text).is_ok()));
        assert!(invalid.iter().all(|text| Json::parse(text).is_err()));
    }

    #[test]
    fn the_first_special_byte_is_found_at_every_offset() {
        for offset in 0..40 {
            for special in ["\"", "\\", "\u{1}"] {
                let text = format!("{}{special}$\"", "é".repeat(offset));
                assert_eq!(text_end(text.as_bytes(), 0), 2 * offset);
            }
            let text = format!("{}${{A}}\"", "x".repeat(offset));
            assert_eq!(plain_end(text.as_bytes(), 0), offset);
        }
        assert_eq!(text_end("é\u{7f}\u{80}".as_bytes(), 0), 5);
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Json::parse(&nested(MAX_DEPTH)).is_ok());
        assert!(Json::parse(&nested(MAX_DEPTH + 1)).is_err());
        assert!(Json::parse(&"[".repeat(1 << 20)).is_err());
    }
}
