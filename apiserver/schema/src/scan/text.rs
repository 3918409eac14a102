//! Strings and white space of JSON text that has been checked, or is being written.

use std::borrow::Cow;

use super::Scanner;
use crate::error::SyntaxError;

/// The number of bytes before the first quote, backslash or control character, eight at a time.
pub(super) fn plain_prefix(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    // The classic test for a zero byte: exact as a yes or no for the whole word, which is all that
    // is asked of it.
    let has_zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS != 0;
    let (words, _) = bytes.as_chunks::<8>();
    let mut count = 0;
    for word in words {
        let word = u64::from_ne_bytes(*word);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS != 0;
        if control
            || has_zero(word ^ (ONES * u64::from(b'"')))
            || has_zero(word ^ (ONES * u64::from(b'\\')))
        {
            break;
        }
        count += 8;
    }
    count
        + bytes[count..]
            .iter()
            .take_while(|&&byte| byte >= 0x20 && byte != b'"' && byte != b'\\')
            .count()
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

/// Appends checked JSON without white space between tokens and with lone surrogates replaced.
pub(super) fn tidy(text: &str, out: &mut String) {
    let mut scanner = Scanner::new(text, usize::MAX);
    let bytes = text.as_bytes();
    let mut kept = 0;
    while scanner.at < bytes.len() {
        match bytes[scanner.at] {
            b' ' | b'\t' | b'\n' | b'\r' => {
                out.push_str(&text[kept..scanner.at]);
                scanner.blanks();
                kept = scanner.at;
            }
            b'"' => {
                let start = scanner.at;
                scanner.untidy = false;
                let raw = scanner.raw_string().expect("the text was checked before");
                if scanner.untidy {
                    out.push_str(&text[kept..start]);
                    write_string(out, &unescape(&raw[1..raw.len() - 1]));
                    kept = scanner.at;
                }
            }
            _ => scanner.at += 1,
        }
    }
    out.push_str(&text[kept..]);
}

/// Any JSON text without white space between tokens and with lone surrogates replaced; borrowed if
/// it already is like that.
///
/// # Errors
/// When it is not JSON, or nested deeper than `max_depth`.
pub fn compact(text: &str, max_depth: usize) -> Result<Cow<'_, str>, SyntaxError> {
    let mut scanner = Scanner::new(text, max_depth);
    scanner.skip()?;
    scanner.end()?;
    if !scanner.untidy {
        return Ok(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len());
    tidy(text, &mut out);
    Ok(Cow::Owned(out))
}

/// Appends `value` as a JSON string with no more escapes than JSON demands.
pub fn write_string(out: &mut String, value: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push('"');
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
    out.push('"');
}
