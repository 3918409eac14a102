//! References to parameters inside text: where they are, not what they become.
//!
//! OpenShift's grammar: `${NAME}` anywhere in a string, and `${{NAME}}` as the whole of one. There
//! is no escape, and what does not match is ordinary text. Both are found in one forward scan.
//! The other dialect's grammar is in [`proposal`]; what a name is they have in common.

pub(crate) mod proposal;

use crate::json::search;

/// A `${NAME}` inside a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reference<'s> {
    /// Byte offset of the `$`.
    pub(crate) start: usize,
    /// Byte offset after the `}`.
    pub(crate) end: usize,
    pub(crate) name: &'s str,
}

/// The string references of a text, left to right.
pub(crate) fn references(text: &str) -> impl Iterator<Item = Reference<'_>> {
    let bytes = text.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let dollar = search::byte(bytes, from, b'$');
            if dollar == bytes.len() {
                return None;
            }
            from = dollar + 1;
            if let Some(reference) = reference_at(text, dollar) {
                from = reference.end;
                return Some(reference);
            }
        }
    })
}

/// The string reference that starts with the `$` at an offset.
pub(crate) fn reference_at(text: &str, dollar: usize) -> Option<Reference<'_>> {
    let bytes = text.as_bytes();
    if bytes.get(dollar + 1) != Some(&b'{') {
        return None;
    }
    let name = name_at(text, dollar + 2);
    let end = dollar + 2 + name.len();
    let is_reference = !name.is_empty() && bytes.get(end) == Some(&b'}');
    is_reference.then_some(Reference { start: dollar, end: end + 1, name })
}

/// The name in a text that is `${{NAME}}` and nothing else.
pub(crate) fn whole(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${{")?.strip_suffix("}}")?;
    (!name.is_empty() && name_at(name, 0).len() == name.len()).then_some(name)
}

/// The name in a JSON string whose content is `${{NAME}}` and starts at an offset, and where that
/// content ends.
pub(crate) fn whole_at(json: &str, start: usize) -> Option<(&str, usize)> {
    if !json.as_bytes()[start..].starts_with(b"${{") {
        return None;
    }
    let name = name_at(json, start + 3);
    let end = start + 3 + name.len();
    let is_whole = !name.is_empty() && json.as_bytes()[end..].starts_with(b"}}\"");
    is_whole.then_some((name, end + 2))
}

/// Whether a parameter may be called this.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && name_at(text, 0).len() == text.len()
}

/// The longest run of name characters at an offset.
fn name_at(text: &str, from: usize) -> &str {
    let bytes = &text.as_bytes()[from..];
    let run = bytes.iter().position(|&byte| !IS_NAME[usize::from(byte)]);
    &text[from..from + run.unwrap_or(bytes.len())]
}

/// The bytes that may stand in a name.
const IS_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0u8;
    while byte < 0x80 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, names: &[&str]) {
        let found: Vec<_> = references(text).map(|reference| reference.name).collect();
        assert_eq!(found, names, "{text}");
        for found in references(text) {
            assert_eq!(&text[found.start..found.end], format!("${{{}}}", found.name));
        }
    }

    #[test]
    fn string_references_are_found_anywhere() {
        check("${A}", &["A"]);
        check("x-${A}${0_b}-y", &["A", "0_b"]);
        check("$${A} \\${B}", &["A", "B"]);
        check("${${A}", &["A"]);
        check("${{A}}-${B}", &["B"]);
    }

    #[test]
    fn what_does_not_match_is_text() {
        for text in
            ["", "$A", "$(A)", "${A-B}", "${ A }", "${}", "${A", "${{A}}", "${é}", "$", "${"]
        {
            check(text, &[]);
        }
    }

    #[test]
    fn a_non_string_reference_is_the_whole_text() {
        assert_eq!(whole("${{A_1}}"), Some("A_1"));
        for text in
            ["${{A}}x", "x${{A}}", "${{A}}\n", "${{}}", "${{A-B}}", "${A}", "${{A}", "${{A}}${{A}}"]
        {
            assert_eq!(whole(text), None, "{text}");
        }
    }
}
