//! Text of untrusted origin, made fit to be shown.

use std::fmt::Write as _;

use expansion::{Fault, Frame};

/// Characters of a message.
const MESSAGE: usize = 4000;
/// Characters of names, and of a line of source.
const LINE: usize = 500;
/// Frames of a trace.
const FRAMES: usize = 20;

/// `text` with control characters escaped, cut at `limit` characters. What reorders or hides text on a screen counts as
/// a control character too.
pub(crate) fn printable(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(limit));
    for (at, character) in text.chars().enumerate() {
        if at == limit {
            out.push('…');
            break;
        }
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            hidden if hidden.is_control() || misleads(hidden) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(hidden));
            }
            plain => out.push(plain),
        }
    }
    out
}

/// Unicode's invisible separators and directions.
fn misleads(character: char) -> bool {
    matches!(character,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A fault as a child told it: short enough, printable, and with frames of `known` files and libraries only.
pub(crate) fn fault(fault: Fault, known: impl Fn(&str) -> bool) -> Fault {
    let Fault { kind, message, frames, hint } = fault;
    let library = |file: &str| file.starts_with('<') && file.ends_with('>') && !file.contains('/');
    let frames = frames.into_iter().filter(|frame| known(&frame.file) || library(&frame.file));
    let frames = frames.take(FRAMES).map(|Frame { file, line, function, text }| Frame {
        file: printable(&file, LINE),
        line,
        function: printable(&function, LINE),
        text: printable(&text, LINE),
    });
    Fault {
        kind: printable(&kind, 100),
        message: printable(&message, MESSAGE),
        frames: frames.collect(),
        hint: hint.map(|hint| printable(&hint, MESSAGE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_mislead_a_reader_is_escaped() {
        let text = "a\u{1b}[31mb\r\nc\u{202e}d\u{0}é";
        assert_eq!(printable(text, 100), "a\\u{1b}[31mb\\r\\nc\\u{202e}d\\u{0}é");
        assert_eq!(printable("abcdef", 3), "abc…");
    }

    #[test]
    fn frames_that_name_no_file_of_the_call_are_dropped() {
        let frame = |file: &str| Frame { file: file.into(), line: 1, ..Frame::default() };
        let told = Fault {
            kind: "E".into(),
            message: "\u{7}".into(),
            frames: vec![
                frame("a.py"),
                frame("/etc/passwd"),
                frame("<python:yaml>"),
                frame("</x>"),
            ],
            hint: Some("\u{7}".into()),
        };
        let shown = fault(told, |file| file == "a.py");
        let files: Vec<_> = shown.frames.iter().map(|frame| frame.file.as_str()).collect();
        assert_eq!(files, ["a.py", "<python:yaml>"]);
        assert_eq!((shown.message.as_str(), shown.hint.as_deref()), ("\\u{7}", Some("\\u{7}")));
    }
}
