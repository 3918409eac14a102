//! A pull reader over JSON text: values can be taken apart one member at a time, or passed over
//! whole.
//!
//! It differs from a general parser in what a server of raw objects needs: passing over a value
//! checks it completely but is iterative and copies nothing; nesting is limited; errors read as
//! Go's; lone surrogates, which Go turns into U+FFFD and most Rust parsers reject later, are found
//! here once. It builds no tree and interprets no numbers.

mod text;

use std::borrow::Cow;

pub use self::text::{compact, write_string};
use self::text::{plain_prefix, tidy, unescape};
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
    /// White space between tokens, or a lone surrogate in a string, was seen since the last
    /// [`Scanner::copy`] began.
    untidy: bool,
}

impl<'a> Scanner<'a> {
    /// A reader of `text` that allows `max_depth` open arrays and objects.
    pub fn new(text: &'a str, max_depth: usize) -> Self {
        Self { text, at: 0, depth: 0, deepest: 0, max_depth, untidy: false }
    }

    /// The kind of the value that comes next.
    pub fn peek(&mut self) -> Result<ValueKind, SyntaxError> {
        Ok(match self.next_byte()? {
            b'n' => ValueKind::Null,
            b't' | b'f' => ValueKind::Bool,
            b'-' | b'0'..=b'9' => ValueKind::Number,
            b'"' => ValueKind::String,
            b'[' => ValueKind::Array,
            b'{' => ValueKind::Object,
            other => return Err(self.unexpected(other, "looking for beginning of value")),
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
        match self.next_byte()? {
            b'}' => {
                self.close();
                return Ok(None);
            }
            b',' if !first => self.at += 1,
            _ if first => {}
            other => return Err(self.unexpected(other, "after object key:value pair")),
        }
        self.expect_key()?;
        let key = self.string()?;
        self.colon()?;
        Ok(Some(key))
    }

    /// Whether the open array has another item; closes it if not. `first` is true right after
    /// `open_array`.
    pub fn item(&mut self, first: bool) -> Result<bool, SyntaxError> {
        match self.next_byte()? {
            b']' => {
                self.close();
                return Ok(false);
            }
            b',' if !first => self.at += 1,
            _ if first => {}
            other => return Err(self.unexpected(other, "after array element")),
        }
        Ok(true)
    }

    /// Takes a string and decodes its escapes; a lone surrogate becomes U+FFFD.
    pub fn string(&mut self) -> Result<Cow<'a, str>, SyntaxError> {
        let raw = self.raw_string()?;
        let inner = &raw[1..raw.len() - 1];
        Ok(if inner.contains('\\') { Cow::Owned(unescape(inner)) } else { Cow::Borrowed(inner) })
    }

    /// Takes a number and returns its text.
    pub fn number(&mut self) -> Result<&'a str, SyntaxError> {
        self.next_byte()?;
        let start = self.at;
        self.skip_number()?;
        Ok(&self.text[start..self.at])
    }

    /// Takes `true` or `false`.
    pub fn boolean(&mut self) -> Result<bool, SyntaxError> {
        let value = self.next_byte()? == b't';
        self.skip_literal(if value { "true" } else { "false" })?;
        Ok(value)
    }

    /// Takes `null`.
    pub fn null(&mut self) -> Result<(), SyntaxError> {
        self.next_byte()?;
        self.skip_literal("null")
    }

    /// Passes over any value and returns its text as it stands.
    pub fn skip(&mut self) -> Result<&'a str, SyntaxError> {
        self.next_byte()?;
        let start = self.at;
        self.skip_value()?;
        Ok(&self.text[start..self.at])
    }

    /// Passes over any value and appends it to `out` without white space and lone surrogates,
    /// otherwise byte for byte.
    pub fn copy(&mut self, out: &mut String) -> Result<(), SyntaxError> {
        self.next_byte()?;
        self.untidy = false;
        let start = self.at;
        self.skip_value()?;
        let text = &self.text[start..self.at];
        if self.untidy {
            tidy(text, out);
        } else {
            out.push_str(text);
        }
        Ok(())
    }

    /// As [`Scanner::copy`], but gives the text back, borrowed where there was nothing to tidy.
    pub fn take(&mut self) -> Result<Cow<'a, str>, SyntaxError> {
        self.next_byte()?;
        self.untidy = false;
        let start = self.at;
        self.skip_value()?;
        let text = &self.text[start..self.at];
        if !self.untidy {
            return Ok(Cow::Borrowed(text));
        }
        let mut out = String::with_capacity(text.len());
        tidy(text, &mut out);
        Ok(Cow::Owned(out))
    }

    /// Checks that nothing but white space is left.
    pub fn end(&mut self) -> Result<(), SyntaxError> {
        self.blanks();
        match self.text.as_bytes().get(self.at) {
            None => Ok(()),
            Some(&other) => Err(self.unexpected(other, "after top-level value")),
        }
    }

    /// The most arrays and objects that were open at any one place so far.
    pub fn deepest(&self) -> usize {
        self.deepest
    }

    // === tokens ===

    fn blanks(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        let count =
            rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.untidy |= count > 0;
        self.at += count;
    }

    fn next_byte(&mut self) -> Result<u8, SyntaxError> {
        self.blanks();
        self.here()
    }

    fn here(&self) -> Result<u8, SyntaxError> {
        self.text.as_bytes().get(self.at).copied().ok_or_else(|| SyntaxError::end(self.at))
    }

    fn unexpected(&self, found: u8, context: &str) -> SyntaxError {
        SyntaxError::unexpected(found, context, self.at)
    }

    fn open(&mut self, bracket: u8) -> Result<(), SyntaxError> {
        let found = self.next_byte()?;
        if found != bracket {
            return Err(self.unexpected(found, "looking for beginning of value"));
        }
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
        match self.next_byte()? {
            b'"' => Ok(()),
            other => Err(self.unexpected(other, "looking for beginning of object key string")),
        }
    }

    fn colon(&mut self) -> Result<(), SyntaxError> {
        match self.next_byte()? {
            b':' => {
                self.at += 1;
                Ok(())
            }
            other => Err(self.unexpected(other, "after object key")),
        }
    }

    /// Takes a string, quotes included, as it stands.
    fn raw_string(&mut self) -> Result<&'a str, SyntaxError> {
        let found = self.next_byte()?;
        if found != b'"' {
            return Err(self.unexpected(found, "looking for beginning of value"));
        }
        let start = self.at;
        self.at += 1;
        loop {
            self.at += plain_prefix(&self.text.as_bytes()[self.at..]);
            match self.here()? {
                b'"' => {
                    self.at += 1;
                    return Ok(&self.text[start..self.at]);
                }
                b'\\' => self.skip_escape()?,
                other => return Err(self.unexpected(other, "in string literal")),
            }
        }
    }

    fn skip_escape(&mut self) -> Result<(), SyntaxError> {
        self.at += 1;
        match self.here()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            b'u' => {
                self.at += 1;
                let unit = self.skip_hex()?;
                if matches!(unit, 0xD800..0xE000) {
                    self.skip_low_surrogate(unit)?;
                }
            }
            other => return Err(self.unexpected(other, "in string escape code")),
        }
        Ok(())
    }

    fn skip_low_surrogate(&mut self, high: u32) -> Result<(), SyntaxError> {
        if high < 0xDC00 && self.text[self.at..].starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            if matches!(self.skip_hex()?, 0xDC00..0xE000) {
                return Ok(());
            }
            self.at = before;
        }
        self.untidy = true;
        Ok(())
    }

    fn skip_hex(&mut self) -> Result<u32, SyntaxError> {
        let mut unit = 0;
        for _ in 0..4 {
            let byte = self.here()?;
            let digit = char::from(byte)
                .to_digit(16)
                .ok_or_else(|| self.unexpected(byte, "in \\u hexadecimal character escape"))?;
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }

    fn skip_number(&mut self) -> Result<(), SyntaxError> {
        if self.here()? == b'-' {
            self.at += 1;
        }
        match self.here()? {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.skip_digits(),
            other => return Err(self.unexpected(other, "in numeric literal")),
        }
        if self.here() == Ok(b'.') {
            self.at += 1;
            self.one_digit("after decimal point in numeric literal")?;
            self.skip_digits();
        }
        if matches!(self.here(), Ok(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.here(), Ok(b'+' | b'-')) {
                self.at += 1;
            }
            self.one_digit("in exponent of numeric literal")?;
            self.skip_digits();
        }
        Ok(())
    }

    fn one_digit(&self, context: &str) -> Result<(), SyntaxError> {
        match self.here()? {
            b'0'..=b'9' => Ok(()),
            other => Err(self.unexpected(other, context)),
        }
    }

    fn skip_digits(&mut self) {
        self.at +=
            self.text.as_bytes()[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    }

    fn skip_literal(&mut self, literal: &str) -> Result<(), SyntaxError> {
        for expected in literal.bytes() {
            let found = self.here()?;
            if found != expected {
                return Err(self.unexpected(
                    found,
                    &format!("in literal {literal} (expecting '{}')", char::from(expected)),
                ));
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Passes over a value without recursion; `open` remembers for every open container whether it
    /// is an object.
    fn skip_value(&mut self) -> Result<(), SyntaxError> {
        let mut open: Vec<bool> = Vec::new();
        loop {
            let kind = self.peek()?;
            match kind {
                ValueKind::Null => self.skip_literal("null")?,
                ValueKind::Bool => {
                    self.boolean()?;
                }
                ValueKind::Number => self.skip_number()?,
                ValueKind::String => {
                    self.raw_string()?;
                }
                ValueKind::Array | ValueKind::Object => {
                    let is_object = kind == ValueKind::Object;
                    self.open(if is_object { b'{' } else { b'[' })?;
                    open.push(is_object);
                    if self.another(is_object, true)? {
                        continue;
                    }
                    open.pop();
                }
            }
            // A value is complete. Close what closes with it, until a container wants another one.
            loop {
                match open.last() {
                    None => return Ok(()),
                    Some(&is_object) => {
                        if self.another(is_object, false)? {
                            break;
                        }
                        open.pop();
                    }
                }
            }
        }
    }

    /// Moves to the next value of the open container, past its key in an object; false when the
    /// container was closed.
    fn another(&mut self, is_object: bool, first: bool) -> Result<bool, SyntaxError> {
        if !is_object {
            return self.item(first);
        }
        match self.next_byte()? {
            b'}' => {
                self.close();
                return Ok(false);
            }
            b',' if !first => self.at += 1,
            _ if first => {}
            other => return Err(self.unexpected(other, "after object key:value pair")),
        }
        self.expect_key()?;
        self.raw_string()?;
        self.colon()?;
        Ok(true)
    }
}
