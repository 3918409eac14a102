//! Text of strangers, made fit to be shown: one line in one direction, no control characters, not endless.

use std::borrow::Cow;
use std::fmt::Write as _;

/// How many characters of a name or value a message quotes.
pub(crate) const QUOTED: usize = 200;

/// `text` as a message quotes it.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    printable(text, QUOTED)
}

/// `text` as it may stand in a message, a log or on a terminal: control characters escaped, and cut behind `limit`
/// characters. What reorders or hides text on a screen counts as a control character too.
pub fn printable(text: &str, limit: usize) -> Cow<'_, str> {
    // No text has more characters than bytes.
    if text.len() <= limit && text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for (at, character) in text.chars().enumerate() {
        if at == limit {
            out.push('…');
            break;
        }
        if plain(character) {
            out.push(character);
        } else {
            let _ = write!(out, "{}", character.escape_default());
        }
    }
    Cow::Owned(out)
}

/// Neither moves the cursor nor turns the direction of what follows, and is seen.
fn plain(character: char) -> bool {
    let misleads = matches!(character,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    !character.is_control() && !misleads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_long_texts_cut() {
        assert_eq!(shown("plain é"), "plain é");
        assert_eq!(shown("a\u{1b}[31m\nb"), r"a\u{1b}[31m\nb");
        assert_eq!(shown("a\u{202e}b"), r"a\u{202e}b");
        assert_eq!(shown(&"é".repeat(150)), "é".repeat(150));
        assert_eq!(shown(&"x".repeat(1000)), format!("{}…", "x".repeat(200)));
    }
}
