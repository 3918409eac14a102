//! Templates that make no sense.

use proptest::prelude::*;

use super::{call, render};
use crate::jinja::source;

/// Pieces of Jinja in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{{",
        "}}",
        "{%",
        "%}",
        "{#",
        "#}",
        "-",
        "+",
        "%",
        "*",
        "**",
        "/",
        "//",
        "~",
        "|",
        ".",
        ",",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ":",
        "=",
        "==",
        "<",
        "'",
        "\"",
        "\\",
        "'%s'",
        "'é'",
        "7",
        "1.5",
        "a",
        "properties",
        "in",
        "is",
        "not",
        "if",
        "endif",
        "for",
        "endfor",
        "set",
        "raw",
        "endraw",
        "do",
        "macro",
        "upper",
        "join",
        "\n",
        "\r\n",
        " ",
        "é",
        "none",
        "loop",
        "include 't.jinja'",
        "{% if a %}",
        "{% endif %}",
        "{{ a % b }}",
    ]);
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_template_brings_the_renderer_down(template in pieces()) {
        let outcome = render(&call(&[("t.jinja", &template)], "{}"), 10_000, 1000);
        prop_assert!(outcome.err().is_none_or(|fault| fault.kind != "InternalError"));
    }

    #[test]
    fn lines_stay_where_they_are(template in pieces()) {
        let lines = template.replace("\r\n", "\n").matches('\n').count();
        prop_assert_eq!(source::prepare(&template).unwrap().matches('\n').count(), lines);
    }
}
