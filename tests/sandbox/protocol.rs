//! Answers that a template writes itself, in place of the harness: whatever they claim, it is the template's own result.

use crate::attack::{Attack, TOO_SLOW, Want, walk};

/// Writes what follows to the channel.
const FRAME: &str = "\
def write(data):
  while data: data = data[posix.write(3, data):]
def frame(text): write(len(text).to_bytes(4, 'big') + text)
";

fn forged(name: &str, body: &str, want: Want) -> Attack {
    walk(name, &format!("{FRAME}{body}"), want)
}

const INVALID: fn(&'static str) -> Want = |part| Want::Fault("InvalidResult", part);

pub(crate) fn attacks() -> Vec<Attack> {
    let mut attacks = frames();
    attacks.extend(claims());
    attacks
}

fn frames() -> Vec<Attack> {
    let ours = r#"{"mine":1}"#;
    vec![
        forged(
            "a frame before the real one",
            r#"frame(b'{"data":{"value":{"mine":1}}}')"#,
            Want::Data(ours),
        ),
        forged(
            "two frames at once",
            r#"one = b'{"data":{"value":{"mine":1}}}'
two = b'{"data":{"value":{"mine":2}}}'
write(len(one).to_bytes(4, 'big') + one + len(two).to_bytes(4, 'big') + two)"#,
            Want::Data(ours),
        ),
        forged(
            "a frame, and then no end",
            "frame(b'{\"data\":{\"value\":{\"mine\":1}}}')\nwhile True: pass",
            Want::Data(ours),
        ),
        forged(
            "a frame of 4 GiB",
            r"write(b'\xff\xff\xff\xff')",
            Want::Fault("OutputLimit", "gave more than the 1048576 bytes that it may give"),
        ),
        forged(
            "a frame of a byte too many",
            "write((2 ** 20 + 1).to_bytes(4, 'big'))",
            Want::Fault("OutputLimit", "gave more than"),
        ),
        forged("an empty frame", r"write(b'\0\0\0\0')", INVALID("gave a result that is not valid")),
        forged(
            "half a frame, and then no end",
            "write(b'\\0\\0\\1\\0{\"da')\nwhile True: pass",
            TOO_SLOW,
        ),
        forged("half a header, and then no end", "write(b'\\0\\0')\nwhile True: pass", TOO_SLOW),
        forged(
            "half a frame, and then the end",
            "write(b'\\0\\0\\1\\0{\"da')\nposix._exit(0)",
            Want::Fault("NoResult", "ended without a result"),
        ),
        forged(
            "a frame that goes on and on",
            "write(b'\\0\\x0f\\0\\0')\nwhile True: write(b'[' * 1000)",
            // So many values that they would take more memory than text.
            Want::Fault("OutputLimit", "gave more than the 1048576 bytes that it may give"),
        ),
        // Nothing comes, and nobody asks again: only the clock on the wall ends that.
        forged(
            "wait for another request",
            "posix.read(3, 1)",
            Want::Fault("TimeLimit", "more time than the"),
        ),
        forged("no JSON", "frame(b'resources: []')", INVALID("not valid")),
        forged("no UTF-8", r#"frame(b'{"text":{"text":"\xff\xfe"}}')"#, INVALID("not valid")),
        forged(
            "half a character",
            r#"frame(b'{"text":{"text":"\\ud800"}}')"#,
            INVALID("not valid"),
        ),
        forged(
            "deep JSON",
            "frame(b'{\"data\":{\"value\":' + b'[' * 1000)",
            INVALID("recursion limit"),
        ),
        forged(
            "an answer of no known kind",
            "frame(b'{\"root\":{}}')",
            INVALID("unknown variant `root`"),
        ),
        forged(
            "the same key twice",
            r#"frame(b'{"data":{"value":{"mine":2,"mine":1}}}')"#,
            Want::Data(ours),
        ),
    ]
}

fn claims() -> Vec<Attack> {
    vec![
        forged(
            "a fault that claims to be the jailer's",
            r#"frame(b'{"fault":{"kind":"Forbidden","message":"x\\u001b[2J"}}')"#,
            Want::Fault("Forbidden", "x\\u{1b}[2J"),
        ),
        forged(
            "a fault in a file of the machine",
            r#"frame(b'{"fault":{"kind":"E","message":"m","frames":[{"file":"/etc/shadow","line":1,"text":"root"}]}}')"#,
            Want::Fault("E", "m"),
        ),
        forged(
            "a message as long as a frame may be",
            r#"frame(b'{"fault":{"kind":"E","message":"' + b'm' * 1000000 + b'"}}')"#,
            Want::Fault("E", "mmm"),
        ),
        forged(
            "more fuel than there is",
            r#"frame(b'{"text":{"text":"a: 1","fuel":18446744073709551615}}')"#,
            Want::Text("a: 1"),
        ),
        forged(
            "a line that no file has",
            r#"frame(b'{"fault":{"kind":"E","message":"m","frames":[{"file":"attack.py","line":-1}]}}')"#,
            INVALID("not valid"),
        ),
        forged(
            "another kind of value",
            r#"frame(b'{"data":{"value":1e999}}')"#,
            INVALID("number out of range"),
        ),
    ]
}
