//! Go's quoted strings (`%q`), which Kubernetes puts into messages and warnings.

use std::fmt::Write;

/// `text` as Go's `%q` prints it: quotes and backslashes escaped, printable Unicode kept,
/// everything else as `\n`, `\x01`, `\u2028` or `\U0001f000`.
pub fn go_quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0b' => out.push_str("\\v"),
            printable if is_printable(printable) => out.push(printable),
            other => {
                let code = u32::from(other);
                // Writing to a String cannot fail.
                let _ = match code {
                    0..0x80 => write!(out, "\\x{code:02x}"),
                    0x80..0x1_0000 => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push('"');
    out
}

/// Rust's notion of printable, which is made from the same Unicode tables as Go's. An ASCII letter
/// goes first because Rust escapes a combining mark at the beginning of a string, which Go does
/// not.
fn is_printable(character: char) -> bool {
    let mut buffer = [b'a'; 5];
    let length = character.encode_utf8(&mut buffer[1..]).len();
    let probe =
        std::str::from_utf8(&buffer[..=length]).expect("an ASCII letter and one encoded character");
    character == '\'' || probe.escape_debug().nth(1) != Some('\\')
}

#[cfg(test)]
mod tests {
    use super::go_quote;

    #[test]
    fn only_what_go_escapes_is_escaped() {
        assert_eq!(go_quote(r#"a"b\c"#), r#""a\"b\\c""#);
        assert_eq!(go_quote("é日本e\u{301}"), "\"é日本e\u{301}\"");
        assert_eq!(go_quote("\n\t\x01\x7f"), r#""\n\t\x01\x7f""#);
        assert_eq!(go_quote("\u{2028}\u{a0}'"), r#""\u2028\u00a0'""#);
    }
}
