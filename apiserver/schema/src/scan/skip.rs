//! Passing over values: the loop that most bytes of a body go through.
//!
//! It checks everything and interprets nothing. What changes on the way into a copy, white space and
//! lone surrogates, is told to a [`Keep`] as it is met, so that no text is read twice.

use std::ops::Range;

use super::Scanner;
use super::text::{unescape, write_string};
use crate::error::SyntaxError;

/// What is done with the parts of a value that do not stay as they are.
pub(super) trait Keep {
    /// White space between tokens.
    fn blanks(&mut self, text: &str, place: Range<usize>);
    /// A string with a lone surrogate.
    fn broken(&mut self, text: &str, place: Range<usize>);
}

/// They stay after all.
pub(super) struct Unchanged;

impl Keep for Unchanged {
    fn blanks(&mut self, _: &str, _: Range<usize>) {}
    fn broken(&mut self, _: &str, _: Range<usize>) {}
}

/// They are left out of a copy, or mended.
pub(super) struct Tidied<'o> {
    pub(super) out: &'o mut String,
    /// Up to where the text is in `out`: what stays is copied in runs as long as possible.
    pub(super) copied: usize,
}

impl Keep for Tidied<'_> {
    fn blanks(&mut self, text: &str, place: Range<usize>) {
        self.out.push_str(&text[self.copied..place.start]);
        self.copied = place.end;
    }

    fn broken(&mut self, text: &str, place: Range<usize>) {
        self.out.push_str(&text[self.copied..place.start]);
        write_string(self.out, &unescape(&text[place.start + 1..place.end - 1]));
        self.copied = place.end;
    }
}

/// Of every open container, whether it is an object: a stack of bits, the topmost in a word, so
/// that no value of usual depth needs memory for it.
#[derive(Default)]
struct Containers {
    top: u64,
    count: u32,
    below: Vec<u64>,
}

impl Containers {
    fn push(&mut self, is_object: bool) {
        if self.count == u64::BITS {
            self.below.push(self.top);
            self.count = 0;
        }
        self.top = self.top << 1 | u64::from(is_object);
        self.count += 1;
    }

    fn pop(&mut self) {
        self.top >>= 1;
        self.count -= 1;
        if self.count == 0
            && let Some(word) = self.below.pop()
        {
            (self.top, self.count) = (word, u64::BITS);
        }
    }

    /// Whether the innermost is an object.
    fn last(&self) -> Option<bool> {
        (self.count > 0).then_some(self.top & 1 == 1)
    }
}

impl Scanner<'_> {
    /// Passes over a value, without recursion.
    pub(super) fn skip_value(&mut self, keep: &mut impl Keep) -> Result<(), SyntaxError> {
        let mut open = Containers::default();
        loop {
            match self.next_token(keep) {
                b'"' => self.keep_string(keep)?,
                b'{' => {
                    self.enter()?;
                    if self.next_token(keep) == b'}' {
                        self.close();
                    } else {
                        open.push(true);
                        self.skip_key(keep)?;
                        continue;
                    }
                }
                b'[' => {
                    self.enter()?;
                    if self.next_token(keep) == b']' {
                        self.close();
                    } else {
                        open.push(false);
                        continue;
                    }
                }
                b'-' | b'0'..=b'9' => self.skip_number()?,
                b't' => self.skip_literal("true")?,
                b'f' => self.skip_literal("false")?,
                b'n' => self.skip_literal("null")?,
                _ => return Err(self.unexpected("looking for beginning of value")),
            }
            if self.close_all(&mut open, keep)? {
                return Ok(());
            }
        }
    }

    /// After a value: closes what ends here, up to a container that has another value. True when
    /// none is open any more.
    #[inline]
    fn close_all(
        &mut self,
        open: &mut Containers,
        keep: &mut impl Keep,
    ) -> Result<bool, SyntaxError> {
        while let Some(is_object) = open.last() {
            match (self.next_token(keep), is_object) {
                (b',', true) => {
                    self.at += 1;
                    self.skip_key(keep)?;
                    return Ok(false);
                }
                (b',', false) => {
                    self.at += 1;
                    return Ok(false);
                }
                (b'}', true) | (b']', false) => {
                    self.close();
                    open.pop();
                }
                (_, true) => return Err(self.unexpected("after object key:value pair")),
                (_, false) => return Err(self.unexpected("after array element")),
            }
        }
        Ok(true)
    }

    /// Passes over a key and its colon.
    #[inline]
    fn skip_key(&mut self, keep: &mut impl Keep) -> Result<(), SyntaxError> {
        if self.next_token(keep) != b'"' {
            return Err(self.unexpected("looking for beginning of object key string"));
        }
        self.keep_string(keep)?;
        if self.next_token(keep) != b':' {
            return Err(self.unexpected("after object key"));
        }
        self.at += 1;
        Ok(())
    }

    /// The next byte that is not white space.
    // Two instructions where there is none, three times for every member.
    #[inline(always)]
    fn next_token(&mut self, keep: &mut impl Keep) -> u8 {
        let byte = self.here();
        if byte > b' ' {
            return byte;
        }
        let place = self.blanks();
        if !place.is_empty() {
            keep.blanks(self.text, place);
        }
        self.here()
    }

    #[inline]
    fn keep_string(&mut self, keep: &mut impl Keep) -> Result<(), SyntaxError> {
        let start = self.at;
        if self.skip_string()?.lone_surrogate {
            keep.broken(self.text, start..self.at);
        }
        Ok(())
    }
}
