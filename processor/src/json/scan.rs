//! The one validating reader of JSON text (RFC 8259), with positions.
//!
//! It builds nothing: a caller asks for the next string, value, map or list and gets spans of the
//! input. Duplicate keys are not its business; those who care see every key.

use super::search::{plain_end, text_end};
use super::string::Marks;
use super::{Json, MAX_DEPTH, Quoted};

/// A place where the text stops being JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Syntax {
    /// Byte offset into the text.
    pub(crate) at: usize,
    pub(crate) defect: Defect,
}

/// Why text is no JSON. Not a text, so that results of a [`Scanner`] fit into two registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defect {
    /// It may be JSON, but nests beyond [`MAX_DEPTH`].
    Depth,
    Trailing,
    NoValue,
    NoKey,
    NoColon,
    InMap,
    InList,
    Control,
    Unclosed,
    Escape,
}

impl Defect {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Defect::Depth => "maps and lists nest more than 512 levels deep",
            Defect::Trailing => "unexpected text after the value",
            Defect::NoValue => "expected a JSON value",
            Defect::NoKey => "expected a key in double quotes",
            Defect::NoColon => "expected ':' after a key",
            Defect::InMap => "expected ',' or '}' in a map",
            Defect::InList => "expected ',' or ']' in a list",
            Defect::Control => "a control character in a string",
            Defect::Unclosed => "a string without its closing quote",
            Defect::Escape => "an unknown escape in a string",
        }
    }
}

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

    /// A scanner that goes on in the middle of a text that another one has read.
    pub(crate) fn resume(text: &'t str, at: usize) -> Self {
        Scanner { text, at, depth: 0 }
    }

    /// Skips white space and looks at the next byte; 0 at the end of the text.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        match bytes.get(self.at) {
            Some(&byte) if byte > b' ' => byte,
            _ => {
                self.at = space_end(bytes, self.at);
                bytes.get(self.at).copied().unwrap_or(0)
            }
        }
    }

    /// Where the cursor stands.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// What has been read since the cursor stood at `start`: exactly one value.
    pub(crate) fn since(&self, start: usize) -> Json<'t> {
        Json::proven(&self.text[start..self.at])
    }

    /// Refuses anything but white space in the rest of the text.
    pub(crate) fn end(&mut self) -> Result<(), Syntax> {
        self.peek();
        if self.at == self.text.len() { Ok(()) } else { self.fail(Defect::Trailing) }
    }

    /// Reads one value of any kind.
    pub(crate) fn value(&mut self) -> Result<Json<'t>, Syntax> {
        self.peek();
        let start = self.at;
        self.skip()?;
        Ok(self.since(start))
    }

    /// Reads one value of any kind, of which only the end matters.
    #[inline]
    pub(crate) fn skip(&mut self) -> Result<(), Syntax> {
        match self.peek() {
            b'"' => self.skip_string().map(drop),
            b'{' | b'[' => self.skip_nested(),
            _ => self.scalar(),
        }
    }

    /// Reads a map or a list. What costs a call is nesting, not every value.
    fn skip_nested(&mut self) -> Result<(), Syntax> {
        if self.peek() == b'{' {
            self.members(|scanner, _| scanner.skip())
        } else {
            self.elements(Self::skip)
        }
    }

    /// Reads a number, bool or null.
    #[inline]
    pub(crate) fn scalar(&mut self) -> Result<(), Syntax> {
        self.peek();
        self.at = scalar_end(self.text.as_bytes(), self.at)?;
        Ok(())
    }

    /// Reads a map; `each` is called after a member's colon and must read the value.
    pub(crate) fn members<E: From<Syntax>>(
        &mut self,
        mut each: impl FnMut(&mut Self, Quoted<'t>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.open()?;
        if self.peek() == b'}' {
            self.close();
            return Ok(());
        }
        loop {
            let key = self.key()?;
            each(self, key)?;
            match self.peek() {
                b',' => self.at += 1,
                b'}' => break,
                _ => return Ok(self.fail(Defect::InMap)?),
            }
        }
        self.close();
        Ok(())
    }

    /// Reads a member's key and the colon behind it.
    #[inline(always)]
    fn key(&mut self) -> Result<Quoted<'t>, Syntax> {
        if self.peek() != b'"' {
            return Err(self.syntax(Defect::NoKey));
        }
        let key = self.string()?;
        if self.peek() != b':' {
            return Err(self.syntax(Defect::NoColon));
        }
        self.at += 1;
        Ok(key)
    }

    /// Reads a list; `each` is called before every element and must read it.
    pub(crate) fn elements<E: From<Syntax>>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.open()?;
        if self.peek() == b']' {
            self.close();
            return Ok(());
        }
        loop {
            each(self)?;
            match self.peek() {
                b',' => self.at += 1,
                b']' => break,
                _ => return Ok(self.fail(Defect::InList)?),
            }
        }
        self.close();
        Ok(())
    }

    /// Reads a string; the cursor stands on its first quote.
    #[inline(always)]
    pub(crate) fn string(&mut self) -> Result<Quoted<'t>, Syntax> {
        let start = self.at + 1;
        let marks = self.skip_string()?;
        Ok(Quoted::new(&self.text[start..self.at - 1], marks))
    }

    /// Reads a string of which only the marks matter.
    #[inline(always)]
    pub(crate) fn skip_string(&mut self) -> Result<Marks, Syntax> {
        let bytes = self.text.as_bytes();
        let end = plain_end(bytes, self.at + 1);
        if bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(Marks::default());
        }
        let (end, marks) = marked_string_end(bytes, end)?;
        self.at = end + 1;
        Ok(marks)
    }

    fn open(&mut self) -> Result<(), Syntax> {
        if self.depth == MAX_DEPTH {
            return self.fail(Defect::Depth);
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.at += 1;
    }

    fn fail(&self, defect: Defect) -> Result<(), Syntax> {
        Err(self.syntax(defect))
    }

    /// The error at the cursor.
    pub(crate) fn syntax(&self, defect: Defect) -> Syntax {
        Syntax { at: self.at, defect }
    }
}

// What is rare stands apart from the scanner, so that the common steps are short enough to be
// inlined where they are taken.

#[cold]
fn space_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Where the closing quote is of a string that is plain up to `at`, but not beyond.
#[inline(never)]
fn marked_string_end(bytes: &[u8], mut at: usize) -> Result<(usize, Marks), Syntax> {
    let mut marks = Marks::default();
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok((at, marks)),
            Some(b'$') => at += marks.note_dollar(),
            Some(b'\\') => {
                marks.note_escape(bytes.get(at + 1));
                at = escape_end(bytes, at)?;
            }
            Some(_) => return Err(Syntax { at, defect: Defect::Control }),
            None => return Err(Syntax { at, defect: Defect::Unclosed }),
        }
        // One dollar sign says it all, further ones are plain text.
        at = if marks.has_dollar() { text_end(bytes, at) } else { plain_end(bytes, at) };
    }
}

fn escape_end(bytes: &[u8], at: usize) -> Result<usize, Syntax> {
    let hex = |range| {
        bytes
            .get::<std::ops::Range<usize>>(range)
            .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') if hex(at + 2..at + 6) => Ok(at + 6),
        _ => Err(Syntax { at, defect: Defect::Escape }),
    }
}

#[inline(never)]
fn scalar_end(bytes: &[u8], at: usize) -> Result<usize, Syntax> {
    let rest = &bytes[at..];
    for word in [&b"true"[..], b"false", b"null"] {
        if rest.starts_with(word) {
            return Ok(at + word.len());
        }
    }
    number_end(bytes, at).ok_or(Syntax { at, defect: Defect::NoValue })
}

fn number_end(bytes: &[u8], start: usize) -> Option<usize> {
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let whole = start + usize::from(bytes.get(start) == Some(&b'-'));
    let mut at = digits(whole);
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
    valid.then_some(at)
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
    fn nesting_is_bounded() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Json::parse(&nested(MAX_DEPTH)).is_ok());
        assert!(Json::parse(&nested(MAX_DEPTH + 1)).is_err());
        assert!(Json::parse(&"[".repeat(1 << 20)).is_err());
    }
}
