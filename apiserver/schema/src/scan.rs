//! A pull reader over JSON text: values can be taken apart one member at a time, or passed over
//! whole.
//!
//! It differs from a general parser in what a server of raw objects needs: passing over a value
//! checks it completely but is iterative and copies nothing; nesting is limited; errors read as
//! Go's; lone surrogates, which Go turns into U+FFFD and most Rust parsers reject later, are found
//! here once. It builds no tree and interprets no numbers.

mod skip;
mod text;
mod token;

use std::borrow::Cow;
use std::ops::Range;

use self::text::unescape;
pub use self::text::{compact, write_escaped, write_string};
use crate::error::SyntaxError;

/// The JSON type of a value, in the words of Go's decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// `[...]`
    Array,
    /// `{...}`
    Object,
}

impl ValueKind {
    /// The word in `cannot unmarshal WORD into ...`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// Reads one JSON text from front to back. Every method that takes a value checks it; nothing is
/// read twice.
///
/// All methods fail with what Go's scanner says about the text, also where the value is not of the
/// kind that was asked for. After an error the scanner is of no further use.
#[derive(Debug, Clone)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    deepest: usize,
    max_depth: usize,
}

/// What a string holds besides its characters.
#[derive(Debug, Clone, Copy, Default)]
struct Escapes {
    any: bool,
    /// Half of a surrogate pair, which stands for no character.
    lone_surrogate: bool,
}

/// A string as it stands in a text, with its quotes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw<'a> {
    pub(crate) text: &'a str,
    /// It holds an escape: its text is not its value.
    pub(crate) escaped: bool,
}

impl<'a> Raw<'a> {
    /// The string itself; a lone surrogate becomes U+FFFD.
    pub(crate) fn decode(self) -> Cow<'a, str> {
        let inner = &self.text[1..self.text.len() - 1];
        if self.escaped { Cow::Owned(unescape(inner)) } else { Cow::Borrowed(inner) }
    }
}

impl<'a> Scanner<'a> {
    /// A reader of `text` that allows `max_depth` open arrays and objects.
    pub fn new(text: &'a str, max_depth: usize) -> Self {
        Self { text, at: 0, depth: 0, deepest: 0, max_depth }
    }

    /// The kind of the value that comes next.
    #[inline]
    pub fn peek(&mut self) -> Result<ValueKind, SyntaxError> {
        Ok(match self.next_byte() {
            b'n' => ValueKind::Null,
            b't' | b'f' => ValueKind::Bool,
            b'-' | b'0'..=b'9' => ValueKind::Number,
            b'"' => ValueKind::String,
            b'[' => ValueKind::Array,
            b'{' => ValueKind::Object,
            _ => return Err(self.unexpected("looking for beginning of value")),
        })
    }

    /// Opens an object; its members follow from [`Scanner::member`].
    pub fn open_object(&mut self) -> Result<(), SyntaxError> {
        self.open(b'{')
    }

    /// Opens an array; its items follow as long as [`Scanner::item`] says so.
    pub fn open_array(&mut self) -> Result<(), SyntaxError> {
        self.open(b'[')
    }

    /// The key of the next member of the open object, or `None` after closing it. `first` is true
    /// right after `open_object`.
    pub fn member(&mut self, first: bool) -> Result<Option<Cow<'a, str>>, SyntaxError> {
        match self.next_byte() {
            b'}' => {
                self.close();
                return Ok(None);
            }
            b',' if !first => self.at += 1,
            _ if first => {}
            _ => return Err(self.unexpected("after object key:value pair")),
        }
        self.expect_key()?;
        let key = self.here_string()?.decode();
        self.colon()?;
        Ok(Some(key))
    }

    /// Whether the open array has another item; closes it if not. `first` is true right after
    /// `open_array`.
    pub fn item(&mut self, first: bool) -> Result<bool, SyntaxError> {
        match self.next_byte() {
            b']' => {
                self.close();
                return Ok(false);
            }
            b',' if !first => self.at += 1,
            _ if first => {}
            _ => return Err(self.unexpected("after array element")),
        }
        Ok(true)
    }

    /// Takes a string and decodes its escapes; a lone surrogate becomes U+FFFD.
    pub fn string(&mut self) -> Result<Cow<'a, str>, SyntaxError> {
        self.raw_string().map(Raw::decode)
    }

    /// Takes a string as it stands.
    #[inline]
    pub(crate) fn raw_string(&mut self) -> Result<Raw<'a>, SyntaxError> {
        if self.next_byte() != b'"' {
            return Err(self.unexpected("looking for beginning of value"));
        }
        self.here_string()
    }

    /// Takes the string on whose opening quote the cursor stands.
    #[inline]
    fn here_string(&mut self) -> Result<Raw<'a>, SyntaxError> {
        let start = self.at;
        let escapes = self.skip_string()?;
        Ok(Raw { text: &self.text[start..self.at], escaped: escapes.any })
    }

    /// Takes a number and returns its text.
    pub fn number(&mut self) -> Result<&'a str, SyntaxError> {
        self.next_byte();
        let start = self.at;
        self.skip_number()?;
        Ok(&self.text[start..self.at])
    }

    /// Takes `true` or `false`.
    pub fn boolean(&mut self) -> Result<bool, SyntaxError> {
        let value = self.next_byte() == b't';
        self.skip_literal(if value { "true" } else { "false" })?;
        Ok(value)
    }

    /// Takes `null`.
    pub fn null(&mut self) -> Result<(), SyntaxError> {
        self.next_byte();
        self.skip_literal("null")
    }

    /// Passes over any value and returns its text as it stands.
    pub fn skip(&mut self) -> Result<&'a str, SyntaxError> {
        self.next_byte();
        let start = self.at;
        self.skip_value(&mut skip::Unchanged)?;
        Ok(&self.text[start..self.at])
    }

    /// Passes over any value and appends it to `out` without white space and lone surrogates,
    /// otherwise byte for byte.
    pub fn copy(&mut self, out: &mut String) -> Result<(), SyntaxError> {
        self.next_byte();
        let mut tidied = skip::Tidied { copied: self.at, out };
        self.skip_value(&mut tidied)?;
        let rest = tidied.copied..self.at;
        out.push_str(&self.text[rest]);
        Ok(())
    }

    /// As [`Scanner::copy`], but gives the text back, borrowed where there was nothing to tidy.
    pub fn take(&mut self) -> Result<Cow<'a, str>, SyntaxError> {
        self.next_byte();
        let start = self.at;
        let mut out = String::new();
        let mut tidied = skip::Tidied { copied: start, out: &mut out };
        self.skip_value(&mut tidied)?;
        let rest = &self.text[tidied.copied..self.at];
        if tidied.copied == start {
            return Ok(Cow::Borrowed(rest));
        }
        out.push_str(rest);
        Ok(Cow::Owned(out))
    }

    /// Checks that nothing but white space is left.
    pub fn end(&mut self) -> Result<(), SyntaxError> {
        self.blanks();
        if self.at < self.text.len() {
            return Err(self.unexpected("after top-level value"));
        }
        Ok(())
    }

    /// The most arrays and objects that were open at any one place so far.
    pub fn deepest(&self) -> usize {
        self.deepest
    }

    // === tokens ===

    /// Passes over white space and returns where it was.
    fn blanks(&mut self) -> Range<usize> {
        const INDENT: &[u8] = &[b' '; 8];
        let (bytes, start) = (self.text.as_bytes(), self.at);
        let mut at = start;
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(at) {
            at += 1;
            // Indented text is mostly spaces: take them a word at a time.
            while bytes[at..].starts_with(INDENT) {
                at += INDENT.len();
            }
        }
        self.at = at;
        start..at
    }

    /// The next byte that is not white space.
    #[inline]
    fn next_byte(&mut self) -> u8 {
        let byte = self.here();
        if byte > b' ' {
            return byte;
        }
        self.blanks();
        self.here()
    }

    /// The byte at the cursor; 0 at the end. JSON has a place for NUL nowhere, so whoever looks for
    /// a byte need not look for the end, and [`Scanner::unexpected`] tells them apart.
    #[inline]
    fn here(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// What is wrong with the byte at the cursor.
    #[cold]
    fn unexpected(&self, context: &str) -> SyntaxError {
        match self.text.as_bytes().get(self.at) {
            Some(&found) => SyntaxError::unexpected(found, context, self.at),
            None => SyntaxError::end(self.at),
        }
    }

    fn open(&mut self, bracket: u8) -> Result<(), SyntaxError> {
        if self.next_byte() != bracket {
            return Err(self.unexpected("looking for beginning of value"));
        }
        self.enter()
    }

    /// Passes over an opening bracket.
    #[inline]
    fn enter(&mut self) -> Result<(), SyntaxError> {
        if self.depth >= self.max_depth {
            return Err(SyntaxError::too_deep(self.at));
        }
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        self.at += 1;
        Ok(())
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.at += 1;
    }

    fn expect_key(&mut self) -> Result<(), SyntaxError> {
        match self.next_byte() {
            b'"' => Ok(()),
            _ => Err(self.unexpected("looking for beginning of object key string")),
        }
    }

    fn colon(&mut self) -> Result<(), SyntaxError> {
        match self.next_byte() {
            b':' => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.unexpected("after object key")),
        }
    }
}
