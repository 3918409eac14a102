//! The claims, tried on nonsense that is made of the words of each language.

use proptest::prelude::*;
use proptest::sample::select;

use super::SEPARATOR;

/// Pieces of configurations, schemas and results.
const WORDS: &[&str] = &[
    "resources:\n",
    "- name: a\n  type: t.jinja\n",
    "- name: b\n  type: t.py\n  properties:\n",
    "- {name: c, type: Pod}\n",
    "- {name: d, type: t.py, properties: {x: $(ref.a.out)}}\n",
    "- {name: e, type: P, metadata: {dependsOn: [a, b, c]}, properties: ['$(ref.c.x)', '$(ref.b.out)']}\n",
    "- {name: f, type: P, properties: '$(ref.deployments/d.o) $(ref.e.x) $(ref.c.x)'}\n",
    "- {name: u, type: 'https://example.com/u.jinja'}\n",
    "outputs:\n",
    "- {name: out, value: $(ref.b.out)}\n",
    "- {name: out, value: [1, '$(ref.a.out[*].x)']}\n",
    "properties:\n",
    "  x: {type: string, default: z}\n",
    "  y: {$ref: '#/properties/x'}\n",
    "required: [x]\n",
    "imports: [{path: t.py}]\n",
    "{\"resources\": []}",
    "&a ",
    "*a ",
    "<<: *a\n",
    "? ",
    ": ",
    ": ",
    "- ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "|\n",
    ">-\n",
    "'",
    "\"",
    "\\",
    "\\u00e9",
    "!!binary ",
    "!!set ",
    "!!omap ",
    "# x\n",
    "--- ",
    "%YAML 1.1\n",
    "\n",
    "\n",
    "  ",
    "  ",
    "\t",
    "\u{85}",
    "\u{1b}",
    "é",
    "😀",
    "yes",
    "null",
    "~",
    "=",
    "017",
    "1:30",
    "0x_f",
    "1e3",
    ".inf",
    "-.5",
    "2001-12-14 21:59:43.10 -5",
    "18446744073709551616",
];

/// Pieces of references.
const REFERENCES: &[&str] = &[
    "$(ref.", "$(", "$", "ref.", "(", ")", ")", ".", "a", "b", "é", "[", "]", "[0]", "[*]", "*",
    "\"", "'", "9", " ",
];

fn text(words: &'static [&'static str], most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(select(words), 0..most).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn any_configuration_is_read_or_refused(text in text(WORDS, 16), other: String) {
        super::configuration(&text);
        super::configuration(&other);
    }

    #[test]
    fn any_expansion_ends(parts in prop::collection::vec(text(WORDS, 8), 1..5)) {
        super::expansion(&parts.join(&SEPARATOR.to_string()));
        super::expansion(&format!("resources:\n- {{name: a, type: t.jinja}}\n- {{name: b, type: t.py}}\n{}",
            parts.join(&SEPARATOR.to_string())));
    }

    #[test]
    fn any_text_is_whole_or_malformed(text in text(REFERENCES, 24), other: String) {
        super::reference(&text);
        super::reference(&other);
    }
}
