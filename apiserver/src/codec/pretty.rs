//! Indented JSON, for people: two blanks a level, as kube-apiserver does for curl and browsers.

/// Indents valid JSON text. Values keep their spelling; empty lists and objects stay on one line.
pub(crate) fn indent(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0;
    let mut empty = false;
    let mut rest = json.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        match byte {
            b'"' => {
                let length = string_length(rest);
                start(&mut out, depth, &mut empty);
                push(&mut out, &rest[..length]);
                rest = &rest[length..];
                continue;
            }
            b'{' | b'[' => {
                start(&mut out, depth, &mut empty);
                out.push(char::from(byte));
                depth += 1;
                empty = true;
            }
            b'}' | b']' => {
                depth -= 1;
                if !std::mem::take(&mut empty) {
                    new_line(&mut out, depth);
                }
                out.push(char::from(byte));
            }
            b',' => {
                out.push(',');
                new_line(&mut out, depth);
            }
            b':' => out.push_str(": "),
            byte if byte.is_ascii_whitespace() => {}
            byte => {
                start(&mut out, depth, &mut empty);
                out.push(char::from(byte));
            }
        }
        rest = tail;
    }
    out
}

/// Breaks the line before the first thing in a list or object.
fn start(out: &mut String, depth: usize, empty: &mut bool) {
    if std::mem::take(empty) {
        new_line(out, depth);
    }
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

fn push(out: &mut String, text: &[u8]) {
    out.push_str(std::str::from_utf8(text).unwrap_or_default());
}

/// The length of the string at the beginning of `text`, quotes included.
fn string_length(text: &[u8]) -> usize {
    let mut escaped = false;
    for (index, &byte) in text.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_indented_as_by_serde() {
        let text = r#"{"a":[1,2.50,{"b":"x\"{,:}\\"}],"c":{},"d":[],"e":"é","f":[[],[null]]}"#;
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        assert_eq!(indent(text), pretty.replace("2.5,", "2.50,"));
        assert_eq!(indent(&pretty).replace("2.5,", "2.50,"), indent(text));
    }
}
