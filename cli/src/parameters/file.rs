//! Parameter files: one `KEY=VALUE` or `KEY: VALUE` a line, as shells' and compose's `.env` files.
//!
//! The syntax is the one `oc` took over from godotenv, quirks included where files rely on them
//! (a comment starts at any `#` outside quotes). Not taken over: there, the first six letters of
//! `exported=1` were dropped as well; here `export` must be a word.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};

use super::name_faults;

/// Reads the file `name`, or standard input if that is `-`. Of equal keys the last counts.
///
/// # Errors
/// When it cannot be read, a line is no assignment, or a key no name.
pub(super) fn read(name: &str) -> Result<BTreeMap<String, String>, String> {
    let text = if name == "-" {
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| format!("Cannot read variables from file \"stdin\": {error}"))?;
        text
    } else {
        let metadata =
            fs::metadata(name).map_err(|error| format!("Cannot stat {name:?}: {error}"))?;
        if metadata.is_dir() {
            return Err(format!("Cannot read variables from {name:?}: is a directory"));
        }
        fs::read_to_string(name)
            .map_err(|error| format!("Cannot read variables from file {name:?}: {error}"))?
    };
    let shown = if name == "-" { "stdin" } else { name };
    let values = parse(&text)
        .map_err(|error| format!("Cannot read variables from file {shown:?}: {error}"))?;
    match values.iter().find(|(key, _)| !name_faults(key).is_empty()) {
        // The value is left out: it may be a password.
        Some((key, _)) => Err(format!("invalid parameter assignment in {key}=")),
        None => Ok(values),
    }
}

fn parse(text: &str) -> Result<BTreeMap<String, String>, &'static str> {
    text.lines()
        .filter(|line| {
            let line = line.trim_matches([' ', '\t']);
            !line.is_empty() && !line.starts_with('#')
        })
        .map(assignment)
        .collect()
}

fn assignment(line: &str) -> Result<(String, String), &'static str> {
    let line = without_comment(line);
    let separator = line.find(['=', ':']).ok_or("Can't separate key from value")?;
    let (key, value) = (&line[..separator], &line[separator + 1..]);
    let key = key.trim_matches(' ');
    let key = key.strip_prefix("export ").unwrap_or(key).trim_matches(' ');
    Ok((key.to_owned(), unquoted(value.trim_matches(' '))))
}

/// The line up to the first `#` that is not between quotes.
///
/// Quotes are told apart by a piece between two `#` having exactly one of a kind: it opens if none
/// is open, and closes otherwise.
fn without_comment(line: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut open = false;
    for piece in line.split('#') {
        let turns = piece.matches('"').count() == 1 || piece.matches('\'').count() == 1;
        let closes = turns && open;
        open ^= turns;
        if kept.is_empty() || open || closes {
            kept.push(piece);
        }
    }
    kept.join("#")
}

/// Takes off one pair of quotes, and inside them reads `\n`, `\r` and `\` before anything else.
fn unquoted(value: &str) -> String {
    let inner =
        ['"', '\''].iter().find_map(|&quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let Some(inner) = inner else {
        return value.to_owned();
    };
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => out.push('\\'),
            },
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, key: &str, value: &str) {
        let values = parse(line).unwrap();
        assert_eq!(
            values.into_iter().collect::<Vec<_>>(),
            [(key.to_owned(), value.to_owned())],
            "{line}"
        );
    }

    #[test]
    fn a_line_is_an_assignment() {
        check("A=b", "A", "b");
        check("  A = b c ", "A", "b c");
        check("A: b", "A", "b");
        check("A=b:c", "A", "b:c");
        check("A: b=c", "A", "b=c");
        check("A=", "A", "");
        check("A=b\r\n", "A", "b");
        check("export A=b", "A", "b");
        check(" export  A=b", "A", "b");
        check("exported=b", "exported", "b");
    }

    #[test]
    fn quotes_are_stripped_and_escapes_read_inside_them() {
        check(r#"A="b c""#, "A", "b c");
        check("A='b'", "A", "b");
        check(r#"A="b\nc\rd\te\\""#, "A", "b\nc\rdte\\");
        check(r"A=b\nc", "A", r"b\nc");
        check(r#"A="b"#, "A", "\"b");
        check(r#"A=""#, "A", "\"");
        check(r#"A="""#, "A", "");
        check(r#"A="b'"#, "A", "\"b'");
        check(r#"A='"b"'"#, "A", "\"b\"");
    }

    #[test]
    fn comments_end_a_line_outside_quotes() {
        check("A=b # c", "A", "b");
        check("A=b#c", "A", "b");
        check(r##"A="b # c""##, "A", "b # c");
        check(r##"A="b # c" # d"##, "A", "b # c");
        check(r##"A="b # c # d" # e"##, "A", "b # c # d");
        check("# all of it\nA=b\n\n  \t\n  # again", "A", "b");
    }

    #[test]
    fn what_is_no_assignment_is_refused() {
        assert_eq!(parse("A"), Err("Can't separate key from value"));
        assert_eq!(parse("A=1\nB # = c"), Err("Can't separate key from value"));
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        check("A=1\nA=2", "A", "2");
    }

    #[test]
    fn a_key_must_be_a_name_and_the_value_is_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("values");
        std::fs::write(&path, "1A=secret").unwrap();
        assert_eq!(
            read(path.to_str().unwrap()).unwrap_err(),
            "invalid parameter assignment in 1A="
        );
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        assert_eq!(
            read(path).unwrap_err(),
            format!("Cannot read variables from {path:?}: is a directory")
        );
        assert!(read("/nowhere/x").unwrap_err().starts_with("Cannot stat \"/nowhere/x\": "));
    }
}
