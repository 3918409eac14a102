//! Strings and white space of JSON text that has been checked, or is being written.

use std::borrow::Cow;

use super::Scanner;
use crate::error::SyntaxError;

/// Where the first quote, backslash or control character at or after `at` is; the end of the text if
/// there is none.
// A call of its own keeps its constants out of the registers of its callers, who are large.
#[inline(never)]
pub(super) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while let Some(b' ' | b'!' | b'#'..=b'[' | b']'..) = bytes.get(at) {
        at += 1;
    }
    at
}

/// Marks in their highest bits those of eight bytes that are a quote, a backslash or a control
/// character. Bytes above the first that is marked may be marked for nothing.
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    // A subtraction sets the highest bit of every byte below the limit, and of no other before it
    // has borrowed from the next byte, as only a byte below the limit does.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    // Swapping the quote and the space leaves the quote and the control characters below 0x21.
    let quotes_and_controls = below(word ^ (ONES * 0x02), 0x21);
    let backslashes = below(word ^ (ONES * u64::from(b'\\')), 1);
    (quotes_and_controls | backslashes) & HIGHS
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
        let plain = plain_end(rest.as_bytes(), 0);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_string_ends_at_its_first_special_byte(
            bytes in prop::collection::vec(prop_oneof![8 => any::<u8>(), 1 => b' '..b'$'], 0..40),
            at in 0..40_usize,
        ) {
            let at = at.min(bytes.len());
            let is_special = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
            let rest = &bytes[at..];
            let end = rest.iter().position(is_special).map_or(bytes.len(), |index| at + index);
            prop_assert_eq!(plain_end(&bytes, at), end);
        }
    }
}
