//! How a text is written in YAML: plain where it can be, in quotes where it must be, as a block where
//! it has lines. The choice is that of Go's library, so that answers do not change with the server.

use super::scalar::needs_quotes;

/// The notation of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    /// `|`, line by line.
    Literal,
}

/// What decides on the notation.
#[derive(Default)]
struct Traits {
    /// It has line breaks of any kind.
    lines: bool,
    plain_allowed: bool,
    single_allowed: bool,
    literal_allowed: bool,
}

/// The notation of a value.
pub(super) fn of_value(text: &str) -> Style {
    let traits = Traits::of(text);
    if text.contains('\n') {
        return if traits.literal_allowed { Style::Literal } else { Style::Double };
    }
    if needs_quotes(text) {
        return Style::Double;
    }
    match (traits.plain_allowed, traits.single_allowed) {
        (true, _) => Style::Plain,
        (false, true) => Style::Single,
        (false, false) => Style::Double,
    }
}

/// Whether a key can stand before its colon on one line.
pub(super) fn is_simple_key(text: &str) -> bool {
    text.len() <= 128 && !Traits::of(text).lines
}

/// A break to YAML 1.1.
pub(super) fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What may stand in a text as it is. Tabs may not, and nothing beyond the basic plane.
pub(super) fn is_printable(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && character != '\u{feff}'
}

impl Traits {
    fn of(text: &str) -> Self {
        let mut lines = false;
        let mut special = false;
        let mut indicators = text.starts_with("---") || text.starts_with("...");
        let (mut space_before_break, mut space_after_break) = (false, false);
        let mut previous = None;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let blank_follows = characters.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
            indicators |= match (previous, character) {
                (
                    None,
                    '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"'
                    | '%' | '@' | '`',
                ) => true,
                (None, '?' | '-') | (_, ':') => blank_follows,
                (Some(before), '#') => before == ' ' || before == '\t' || is_break(before),
                _ => false,
            };
            special |= !is_printable(character);
            lines |= is_break(character);
            space_before_break |= previous == Some(' ') && is_break(character);
            space_after_break |= previous.is_some_and(is_break) && character == ' ';
            previous = Some(character);
        }
        let blank_end = |end: Option<char>| end.is_some_and(|end| end == ' ' || is_break(end));
        let blank_ends = blank_end(text.chars().next()) || blank_end(previous);
        let escaped = space_before_break || special;
        Self {
            lines,
            plain_allowed: !(blank_ends || space_after_break || escaped || lines || indicators),
            single_allowed: !(space_after_break || escaped),
            literal_allowed: !(escaped || previous == Some(' ')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_quoted_only_where_it_must_be() {
        for (text, style) in [
            ("a b", Style::Plain),
            ("a:b", Style::Plain),
            ("-a", Style::Plain),
            ("a#b", Style::Plain),
            ("/x?y", Style::Plain),
            ("é", Style::Plain),
            ("a: b", Style::Single),
            ("a #b", Style::Single),
            ("- a", Style::Single),
            (" a", Style::Single),
            ("a ", Style::Single),
            ("${A}", Style::Plain),
            ("---", Style::Single),
            ("@a", Style::Single),
            ("a:", Style::Single),
            ("-", Style::Single),
            ("{}", Style::Single),
            ("", Style::Double),
            ("yes", Style::Double),
            ("1", Style::Double),
            ("~", Style::Double),
            ("2001-01-01", Style::Double),
            ("a\tb", Style::Double),
            ("😀", Style::Double),
            ("\u{feff}", Style::Double),
            ("\u{85}", Style::Double),
            ("a\nb", Style::Literal),
            ("a\n b\n", Style::Literal),
            ("a \nb", Style::Double),
            ("a\nb ", Style::Double),
            ("a\n\tb", Style::Double),
            ("a\u{2028}b", Style::Single),
        ] {
            assert_eq!(of_value(text), style, "{text:?}");
        }
    }
}
