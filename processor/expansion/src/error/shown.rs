//! Text of strangers, made fit to be shown: one line in one direction, no control characters, not endless.

use std::borrow::Cow;
use std::fmt::Write as _;

/// How many characters of a name or value a message quotes.
pub(crate) const QUOTED: usize = 200;

/// `text` as it may stand in a message or on a terminal.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    // No text has more characters than bytes.
    if text.len() <= QUOTED && text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for (at, character) in text.chars().enumerate() {
        if at == QUOTED {
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

/// Neither moves the cursor nor turns the direction of what follows.
fn plain(character: char) -> bool {
    let turns = matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !character.is_control() && !turns
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
