//! Faults of untrusted origin, made fit to be shown.

use expansion::{Fault, Frame, printable};

/// Characters of a message.
const MESSAGE: usize = 4000;
/// Characters of names, and of a line of source.
const LINE: usize = 500;
/// Frames of a trace.
const FRAMES: usize = 20;

/// A fault as a child told it: short enough, printable, and with frames of `known` files and libraries only.
pub(crate) fn fault(fault: Fault, known: impl Fn(&str) -> bool) -> Fault {
    let Fault { kind, message, frames, hint } = fault;
    let library = |file: &str| file.starts_with('<') && file.ends_with('>') && !file.contains('/');
    let frames = frames.into_iter().filter(|frame| known(&frame.file) || library(&frame.file));
    let frames = frames.take(FRAMES).map(|Frame { file, line, function, text }| Frame {
        file: printable(&file, LINE).into_owned(),
        line,
        function: printable(&function, LINE).into_owned(),
        text: printable(&text, LINE).into_owned(),
    });
    Fault {
        kind: printable(&kind, 100).into_owned(),
        message: printable(&message, MESSAGE).into_owned(),
        frames: frames.collect(),
        hint: hint.map(|hint| printable(&hint, MESSAGE).into_owned()),
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
