//! The proposal's references: `$(NAME)`, which stands for text, and `$((NAME))`, which stands for
//! what the text reads as. Both may stand anywhere in a string, any number of times.
//!
//! A doubled dollar sign is Kubernetes' escape in commands and environments: `$$(NAME)` is no
//! reference and stays as it is written, for Kubernetes to unescape. What does not match is text.

use super::name_at;

/// A reference inside a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reference<'s> {
    /// Byte offset of the `$`.
    pub(crate) start: usize,
    /// Byte offset after the last bracket.
    pub(crate) end: usize,
    pub(crate) name: &'s str,
    pub(crate) style: Style,
}

/// What a reference makes of the string that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `$(NAME)`: the string stays a string.
    Quoted,
    /// `$((NAME))`: the string loses its quotes, unless a quoted reference keeps them.
    Unquoted,
}

/// The references of a text, left to right.
pub(crate) fn references(text: &str) -> impl Iterator<Item = Reference<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let first = from + text[from..].find('$')?;
            let signs = text.as_bytes()[first..].iter().take_while(|byte| **byte == b'$').count();
            from = first + signs;
            // Pairs of signs are escapes; only an odd one out can start a reference.
            if signs % 2 == 1
                && let Some((name, end, style)) = read(text, from)
            {
                let start = from - 1;
                from = end;
                return Some(Reference { start, end, name, style });
            }
        }
    })
}

/// What follows a `$`: name, end and style.
fn read(text: &str, at: usize) -> Option<(&str, usize, Style)> {
    let rest = &text[at..];
    let (open, close, style) = if rest.starts_with("((") {
        ("((", "))", Style::Unquoted)
    } else {
        ("(", ")", Style::Quoted)
    };
    let name = name_at(rest.strip_prefix(open)?, 0);
    let end = at + open.len() + name.len();
    let is_closed = text[end..].starts_with(close);
    (!name.is_empty() && is_closed).then_some((name, end + close.len(), style))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: &[&str]) {
        let found: Vec<_> = references(text).map(|found| &text[found.start..found.end]).collect();
        assert_eq!(found, want, "{text}");
        for found in references(text) {
            let shown = match found.style {
                Style::Quoted => format!("$({})", found.name),
                Style::Unquoted => format!("$(({}))", found.name),
            };
            assert_eq!(text[found.start..found.end], shown);
        }
    }

    #[test]
    fn both_styles_are_found_anywhere() {
        check("$(A)", &["$(A)"]);
        check("1$((A_1))", &["$((A_1))"]);
        check("x-$(A)$((0b))-y", &["$(A)", "$((0b))"]);
        check("$($(A)$(($((B))", &["$(A)", "$((B))"]);
        check("é$(A)é", &["$(A)"]);
    }

    #[test]
    fn a_doubled_dollar_sign_is_no_reference() {
        check("$$(A)", &[]);
        check("$$((A))", &[]);
        check("$$$(A)", &["$(A)"]);
        check("$$$$(A) $(B)", &["$(B)"]);
    }

    #[test]
    fn what_does_not_match_is_text() {
        for text in [
            "",
            "$",
            "$$",
            "$A",
            "$(",
            "$()",
            "$(A",
            "$(A-B)",
            "$( A )",
            "$((A)",
            "$((A) )",
            "$(())",
            "$((i+1))",
            "$(é)",
            "${A}",
            "(A)",
            "$(date +%s)",
        ] {
            check(text, &[]);
        }
    }
}
