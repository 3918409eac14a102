//! Where Jinja here differs from Jinja2 2.8, as COMPATIBILITY.md lists it.

use super::{failure, text};

#[track_caller]
fn gives(template: &str, want: &str) {
    assert_eq!(text(&[("t.jinja", template)], r#"{"list": [1, 2], "items": "mine"}"#), want);
}

#[track_caller]
fn fails(template: &str, kind: &str) {
    assert_eq!(failure(&[("t.jinja", template)], "{}").kind, kind, "{template}");
}

#[test]
fn what_later_versions_of_jinja_brought_is_there() {
    gives("{% with a = 1 %}{{ a }}{% endwith %}", "1");
    gives(
        "{% set n = namespace(a=1) %}{% for i in [1, 2] %}{% set n.a = i %}{% endfor %}{{ n.a }}",
        "2",
    );
    gives(
        "{{ [2, 1, 2]|unique|list }} {{ [1, 2]|max }} {{ 1 is integer }} {{ 1 is in [1] }}",
        "[2, 1] 2 True True",
    );
    gives("{{ {'b': '<', 'a': none}|tojson }}", r#"{"a": null, "b": "\u003c"}"#);
    // Operators of one rank are taken from left to right; 2.8 took `//` and `%` before `*`.
    gives("{{ 7 * 3 // 2 }} {{ 2 * 3 % 4 }}", "10 2");
}

#[test]
fn yaml_is_written_in_one_line() {
    gives("{{ {'b': [1, none, 'it\\'s <a>']}|yaml }}", r#"{"b": [1, null, "it's <a>"]}"#);
}

#[test]
fn nothing_is_changed_or_left_to_chance_and_python_is_out_of_reach() {
    fails("{{ [].append(1) }}", "UndefinedError");
    fails("{{ {}.update(a=1) }}", "UndefinedError");
    fails("{{ [1, 2]|random }}", "Forbidden");
    fails("{{ lipsum() }}", "UndefinedError");
    fails("{{ ''.__class__.__mro__ }}", "UndefinedError");
    fails("{{ 'a b'|urlize }}", "TemplateAssertionError");
    fails("{% macro m() %}{{ varargs }}{% endmacro %}{{ m(1) }}", "TypeError");
}

#[test]
fn some_of_what_jinja_refuses_has_a_meaning() {
    let macros = ("m", "{% macro m() %}{{ name }}{% endmacro %}");
    assert_eq!(text(&[("t.jinja", "{% from 'm' import m %}{{ m() }}"), macros], "{}"), "web");
    assert_eq!(text(&[("t.jinja", "{% include 'm' without context %}."), macros], "{}"), ".");
    gives("{% for x in none %}{% else %}nothing{% endfor %}", "nothing");
    gives("{{ none < 1 }} {{ 'a' < 1 }}", "True False");
    gives("{% if false %}{{ 1|nope }}{% endif %}", "");
    gives("{{ properties.items }} {{ {'a': 1}.iteritems()|list }}", "mine [('a', 1)]");
}

#[test]
fn floats_with_an_exponent_lose_it_when_they_are_joined_to_text() {
    gives("{{ 1.5e16 }} {{ [1.5e16] }}", "1.5e+16 [1.5e+16]");
    gives("{{ 1.5e16 ~ '' }}", "15000000000000000.0");
}
