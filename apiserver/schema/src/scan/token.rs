//! Passing over the tokens that are values: strings, numbers and literals.

use super::text::plain_end;
use super::{Escapes, Scanner};
use crate::error::SyntaxError;

impl Scanner<'_> {
    /// Passes over a string; the cursor stands on its opening quote.
    #[inline]
    pub(super) fn skip_string(&mut self) -> Result<Escapes, SyntaxError> {
        self.at = plain_end(self.text.as_bytes(), self.at + 1);
        if self.here() == b'"' {
            self.at += 1;
            return Ok(Escapes::default());
        }
        self.skip_escaped()
    }

    /// Passes over the rest of a string that is not plain, from its first special byte on. Apart
    /// from the plain ones, so that those are few instructions wherever they are skipped.
    #[inline(never)]
    fn skip_escaped(&mut self) -> Result<Escapes, SyntaxError> {
        let mut escapes = Escapes { any: true, lone_surrogate: false };
        loop {
            match self.here() {
                b'"' => break,
                b'\\' => escapes.lone_surrogate |= self.skip_escape()?,
                _ => return Err(self.unexpected("in string literal")),
            }
            self.at = plain_end(self.text.as_bytes(), self.at);
        }
        self.at += 1;
        Ok(escapes)
    }

    /// Passes over an escape; true if it is a lone surrogate.
    fn skip_escape(&mut self) -> Result<bool, SyntaxError> {
        self.at += 1;
        match self.here() {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.at += 1;
                Ok(false)
            }
            b'u' => {
                self.at += 1;
                match self.skip_hex()? {
                    0xD800..0xDC00 => self.skip_low_surrogate(),
                    0xDC00..0xE000 => Ok(true),
                    _ => Ok(false),
                }
            }
            _ => Err(self.unexpected("in string escape code")),
        }
    }

    /// Passes over the second half of a surrogate pair; true if there is none.
    fn skip_low_surrogate(&mut self) -> Result<bool, SyntaxError> {
        if self.text[self.at..].starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            if matches!(self.skip_hex()?, 0xDC00..0xE000) {
                return Ok(false);
            }
            self.at = before;
        }
        Ok(true)
    }

    fn skip_hex(&mut self) -> Result<u32, SyntaxError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = char::from(self.here())
                .to_digit(16)
                .ok_or_else(|| self.unexpected("in \\u hexadecimal character escape"))?;
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }

    pub(super) fn skip_number(&mut self) -> Result<(), SyntaxError> {
        if self.here() == b'-' {
            self.at += 1;
        }
        match self.here() {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.skip_digits(),
            _ => return Err(self.unexpected("in numeric literal")),
        }
        if self.here() == b'.' {
            self.at += 1;
            self.one_digit("after decimal point in numeric literal")?;
            self.skip_digits();
        }
        if matches!(self.here(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.here(), b'+' | b'-') {
                self.at += 1;
            }
            self.one_digit("in exponent of numeric literal")?;
            self.skip_digits();
        }
        Ok(())
    }

    fn one_digit(&self, context: &str) -> Result<(), SyntaxError> {
        if self.here().is_ascii_digit() { Ok(()) } else { Err(self.unexpected(context)) }
    }

    fn skip_digits(&mut self) {
        while self.here().is_ascii_digit() {
            self.at += 1;
        }
    }

    pub(super) fn skip_literal(&mut self, literal: &str) -> Result<(), SyntaxError> {
        if self.text.as_bytes()[self.at..].starts_with(literal.as_bytes()) {
            self.at += literal.len();
            return Ok(());
        }
        // Go names the first letter that is wrong.
        for expected in literal.bytes() {
            if self.here() != expected {
                let expected = char::from(expected);
                return Err(
                    self.unexpected(&format!("in literal {literal} (expecting '{expected}')"))
                );
            }
            self.at += 1;
        }
        Ok(())
    }
}
