//! JSON text laid out for people, without reading it into a tree.
//!
//! A tree would round large numbers and sort or merge keys; text keeps what the processor wrote.
//! The input is JSON that someone has already parsed; nothing is checked here.

const INDENT: &str = "    ";

/// Lays out `json` as Go's `MarshalIndent` does with four spaces, ending in a line break.
pub(crate) fn indent(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0;
    let mut tokens = Tokens { rest: json }.peekable();
    while let Some(token) = tokens.next() {
        match token {
            "{" | "[" => {
                out.push_str(token);
                if matches!(tokens.peek(), Some(&("}" | "]"))) {
                    out.extend(tokens.next());
                } else {
                    depth += 1;
                    break_line(&mut out, depth);
                }
            }
            "}" | "]" => {
                depth -= 1;
                break_line(&mut out, depth);
                out.push_str(token);
            }
            "," => {
                out.push(',');
                break_line(&mut out, depth);
            }
            ":" => out.push_str(": "),
            scalar => out.push_str(scalar),
        }
    }
    out.push('\n');
    out
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(INDENT, depth));
}

/// Splits JSON into punctuation and whole scalars.
struct Tokens<'t> {
    rest: &'t str,
}

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let first = self.rest.bytes().next()?;
        let length = match first {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            b'"' => string_length(self.rest),
            _ => self
                .rest
                .find([',', ':', '}', ']', ' ', '\t', '\r', '\n'])
                .unwrap_or(self.rest.len()),
        };
        let (token, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(token)
    }
}

/// Length of the string literal that `text` starts with, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_laid_out_and_otherwise_kept() {
        assert_eq!(
            indent(r#"{"b":1.0,"a":[ 12345678901234567890123, "x\"],{\\" ],"c":{"d":null}}"#),
            "{\n    \"b\": 1.0,\n    \"a\": [\n        12345678901234567890123,\n        \"x\\\"],{\\\\\"\n    ],\n    \"c\": {\n        \"d\": null\n    }\n}\n"
        );
    }

    #[test]
    fn empty_collections_stay_on_their_line() {
        assert_eq!(indent("{ }"), "{}\n");
        assert_eq!(indent("[[],{}]"), "[\n    [],\n    {}\n]\n");
    }

    #[test]
    fn scalars_stand_alone() {
        assert_eq!(indent(" true "), "true\n");
        assert_eq!(indent("\"é\""), "\"é\"\n");
    }
}
