//! Strings and white space of JSON text that has been checked, or is being written.

use std::borrow::Cow;

use super::Scanner;
use crate::error::SyntaxError;

/// The number of bytes before the first quote, backslash or control character, eight at a time.
#[inline]
pub(super) fn plain_prefix(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return index * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let is_plain = |byte: &&u8| **byte >= 0x20 && **byte != b'"' && **byte != b'\\';
    words.len() * 8 + rest.iter().take_while(is_plain).count()
}

/// Marks in their highest bits those of eight bytes that are a quote, a backslash or a control
/// character. Of bytes above the first that is marked, more may be.
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    // The subtraction sets the highest bit of a byte that is below the limit, and of no other until
    // it borrows from the next byte, which only a byte below the limit does.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, 0x20) | equal(b'"') | equal(b'\\')) & HIGHS
}

/// Decodes the escapes of a checked string.
pub(super) fn unescape(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = rest.as_bytes()[at + 1];
        rest = &rest[at + 2..];
        match escape {
            b'b' => out.push('\x08'),
            b'f' => out.push('\x0c'),
            b'n' => out.push('\n'),
            b'r' => out.push('\r'),
            b't' => out.push('\t'),
            b'u' => rest = unescape_unicode(rest, &mut out),
            literal => out.push(char::from(literal)),
        }
    }
    out.push_str(rest);
    out
}

/// Decodes what follows `\u`, with the second half of a surrogate pair where there is one, and
/// returns the rest.
fn unescape_unicode<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let unit = |text: &str| {
        text.get(..4).and_then(|hex| u32::from_str_radix(hex, 16).ok()).unwrap_or(0xFFFD)
    };
    let first = unit(rest);
    let rest = &rest[4..];
    if let (0xD800..0xDC00, Some(low)) = (first, rest.strip_prefix("\\u"))
        && let second @ 0xDC00..0xE000 = unit(low)
    {
        let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        return &low[4..];
    }
    out.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    rest
}

/// Any JSON text without white space between tokens and with lone surrogates replaced; borrowed if
/// it already is like that.
///
/// # Errors
/// When it is not JSON, or nested deeper than `max_depth`.
pub fn compact(text: &str, max_depth: usize) -> Result<Cow<'_, str>, SyntaxError> {
    let mut scanner = Scanner::new(text, max_depth);
    let value = scanner.take()?;
    scanner.end()?;
    Ok(value)
}

/// Appends `value` as a JSON string with no more escapes than JSON demands.
pub fn write_string(out: &mut String, value: &str) {
    out.reserve(value.len() + 2);
    out.push('"');
    write_escaped(out, value);
    out.push('"');
}

/// Appends `value` as it stands inside a JSON string.
pub fn write_escaped(out: &mut String, value: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut rest = value;
    loop {
        let plain = plain_prefix(rest.as_bytes());
        out.push_str(&rest[..plain]);
        let Some(&byte) = rest.as_bytes().get(plain) else { break };
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            control => {
                out.push_str("\\u00");
                out.push(char::from(HEX[usize::from(control >> 4)]));
                out.push(char::from(HEX[usize::from(control & 15)]));
            }
        }
        rest = &rest[plain + 1..];
    }
}
