//! What templates give, and how they fail.

mod differences;
mod expressions;
mod garbage;
mod recorded;

use std::sync::Arc;

use super::{Renderer, render};
use crate::call::{Call, Fault, Import, Imports, Language, Rendered};
use crate::value::{Map, Value};

/// A call of the first of these templates, with these properties in JSON.
fn call(templates: &[(&str, &str)], properties: &str) -> Call {
    let import = |(name, text): &(&str, &str)| {
        (String::from(*name), Import { path: String::new(), content: Arc::from(*text) })
    };
    let imports: Imports = templates.iter().map(import).collect();
    let name = templates[0].0;
    let resource = format!(r#"{{"name": "web", "type": "{name}", "properties": {properties}}}"#);
    let Value::Map(resource) = Value::from_json(&resource).unwrap() else { unreachable!() };
    let env = [("deployment", "shop"), ("project", "p1"), ("name", "web"), ("type", name)];
    let env: Map =
        env.iter().map(|(key, value)| (String::from(*key), Value::from(*value))).collect();
    let (id, language, template) = (1, Language::Jinja, String::from(name));
    Call { id, language, template, resource, env, imports: Arc::new(imports) }
}

fn text(templates: &[(&str, &str)], properties: &str) -> String {
    match render(&call(templates, properties), 1_000_000, 1 << 20) {
        Ok(Rendered::Text { text, .. }) => text,
        other => panic!("{other:?}"),
    }
}

fn failure(templates: &[(&str, &str)], properties: &str) -> Fault {
    render(&call(templates, properties), 100_000, 1000).unwrap_err()
}

#[test]
fn a_template_sees_its_resource_its_environment_and_the_imports() {
    let template = "{{ name }} {{ type }} {{ properties.size + 1 }} {{ env['deployment'] }} \
                    {{ env.name }}{{ env['nothing'] }}{{ nothing }} {{ imports['motd.txt'] }}\n";
    let got = text(&[("t.jinja", template), ("motd.txt", "hello\n")], r#"{"size": 2}"#);
    assert_eq!(got, "web t.jinja 3 shop web hello\n");
}

#[test]
fn templates_include_import_and_extend_imports_by_their_names() {
    let templates = [
        (
            "t.jinja",
            "{% extends 'base' %}{% from 'lib/m' import two %}{% block body %}{% include 'part' %}{{ two('x') }}{% include 'none' ignore missing %}{% endblock %}",
        ),
        ("base", "[{% block body %}{% endblock %}]\n"),
        ("lib/m", "{% macro two(x) %}{{ x }}{{ x }}{% endmacro %}"),
        ("part", "part of {{ name }};\n"),
    ];
    assert_eq!(text(&templates, "{}"), "[part of web;xx]");
}

#[test]
fn a_failure_names_the_way_through_the_templates() {
    let fault =
        failure(&[("t.jinja", "a\n{% include 'part' %}"), ("part", "\n\n {{ a.b.c }}")], "{}");
    assert_eq!(fault.kind, "UndefinedError");
    let way: Vec<_> =
        fault.frames.iter().map(|f| (f.file.as_str(), f.line, f.text.as_str())).collect();
    assert_eq!(way, [("t.jinja", 2, "{% include 'part' %}"), ("part", 3, "{{ a.b.c }}")]);
}

#[test]
fn a_loop_without_end_is_out_of_fuel() {
    let nested = "{% for a in range(999) %}{% for b in range(999) %}{% endfor %}{% endfor %}";
    assert_eq!(failure(&[("t.jinja", nested)], "{}").kind, "TimeLimit");
}

#[test]
fn text_without_end_is_refused() {
    let fault = failure(&[("t.jinja", "{% for a in range(999) %}ten bytes {% endfor %}")], "{}");
    assert_eq!(fault.kind, "OutputLimit");
    assert_eq!(fault.message, "the template writes more than 1000 bytes");
}

#[test]
fn a_template_that_includes_itself_is_refused() {
    assert_eq!(failure(&[("t.jinja", "{% include 't.jinja' %}")], "{}").kind, "RecursionError");
}

#[test]
fn fuel_is_counted_and_the_same_each_time() {
    let call = call(&[("t.jinja", "{% for i in range(10) %}{{ i }}{% endfor %}")], "{}");
    let first = render(&call, 1_000_000, 1000).unwrap();
    let Rendered::Text { fuel, .. } = &first else { panic!("{first:?}") };
    assert!((20..200).contains(fuel), "{fuel}");
    assert_eq!(render(&call, *fuel + 1, 1000).unwrap(), first);
    assert_eq!(render(&call, *fuel, 1000).unwrap_err().kind, "TimeLimit");
}

#[test]
fn a_panic_of_the_engine_is_a_fault() {
    // Overflows where arithmetic is checked, and gives nothing where it is not.
    let call = call(&[("t.jinja", "{{ [1, 2][0:5:-1]|list }}")], "{}");
    match render(&call, 1000, 1000) {
        Ok(Rendered::Text { text, .. }) => assert_eq!(text, "[]"),
        Err(fault) => assert_eq!(fault.kind, "InternalError"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn whoever_changes_a_list_is_told_what_to_do() {
    let fault = failure(&[("t.jinja", "{% if [].append(1) %}{% endif %}")], "{}");
    assert_eq!(fault.message, "'list object' has no attribute 'append'");
    assert!(fault.hint.unwrap().contains("namespace"));
}

#[test]
fn failures_have_the_names_and_words_of_jinja() {
    for (template, kind, message) in [
        ("{{ nope.x }}", "UndefinedError", "'nope' is undefined"),
        ("{{ properties.a.b }}", "UndefinedError", "'properties.a' is undefined"),
        ("{{ nope() }}", "UndefinedError", "'nope' is undefined"),
        ("{{ nope + 1 }}", "UndefinedError", "'nope' is undefined"),
        ("{{ 'a'.nope() }}", "UndefinedError", "'str object' has no attribute 'nope'"),
        ("{{ env.nope() }}", "UndefinedError", "'dict object' has no attribute 'nope'"),
        ("{{ 1|nope }}", "TemplateAssertionError", "no filter named 'nope'"),
        ("{{ 1 is nope }}", "TemplateAssertionError", "no test named 'nope'"),
        ("{% do x %}", "TemplateSyntaxError", "Encountered unknown tag 'do'."),
        (
            "{% for x in [] %}{% break %}{% endfor %}",
            "TemplateSyntaxError",
            "Encountered unknown tag 'break'.",
        ),
        ("{{ 'a", "TemplateSyntaxError", "unexpected end of string"),
        ("{% include 'nope' %}", "TemplateNotFound", "nope"),
        (
            "{% include ['a', 'b'] %}",
            "TemplateNotFound",
            "none of the templates given were found: ['a', 'b']",
        ),
        ("{% extends \"it's\" %}", "TemplateNotFound", "it's"),
        ("{{ 1 / 0 }}", "ZeroDivisionError", "division by zero"),
        ("{{ 1 % 0 }}{{ env }}", "ZeroDivisionError", "division by zero"),
        ("{{ name|length % 0 }}", "ZeroDivisionError", "division by zero"),
        ("{{ 6 is divisibleby(0) }}", "ZeroDivisionError", "division by zero"),
        (
            "{{ 2 ** 127 }}",
            "OverflowError",
            "unable to calculate 2 ** 127: integers end at 128 bits",
        ),
        ("{{ 'a' + 1 }}", "TypeError", "unsupported operand type(s) for +: 'str' and 'number'"),
        (
            "{{ [1]|random }}",
            "Forbidden",
            "random is not available: one configuration has one result",
        ),
        ("{{ 'a'|center(999999999) }}", "TypeError", "a text of 999999998 bytes is too long"),
    ] {
        let fault = failure(&[("t.jinja", template)], "{}");
        assert_eq!((&*fault.kind, &*fault.message), (kind, message), "{template}");
    }
}

#[test]
fn messages_have_no_control_characters_and_an_end() {
    let fault = failure(&[("t.jinja", "{% include 'a\\n\u{1b}' ~ 'x' * 5000 %}")], "{}");
    assert!(fault.message.starts_with("a\\n\\x1bxx"), "{}", fault.message);
    assert!(fault.message.len() < 1100);
}

#[test]
fn what_is_nested_too_deep_or_asked_for_too_often_is_refused() {
    let nest =
        "{% set n = namespace(x=1) %}{% for i in range(9999) %}{% set n.x = [n.x] %}{% endfor %}";
    for filter in ["tojson", "yaml", "pprint"] {
        let fault = failure(&[("t.jinja", &format!("{nest}{{{{ n.x|{filter} }}}}"))], "{}");
        assert_eq!(fault.message, "lists and maps stand more than 128 deep");
    }
    for filter in ["batch(99999999, 0)", "slice(99999999)"] {
        let fault = failure(&[("t.jinja", &format!("{{{{ [1]|{filter}|list }}}}"))], "{}");
        assert_eq!(fault.message, "99999999 is too many");
    }
}

#[test]
fn what_was_compiled_before_makes_no_difference() {
    let calls = [
        call(&[("t.jinja", "{% include 'part' %} {{ name }}"), ("part", "1")], "{}"),
        call(&[("t.jinja", "{% include 'part' %} {{ properties.a }}"), ("part", "1")], "{}"),
        call(
            &[("t.jinja", "{% include 'part' %} {{ properties.a }}"), ("part", "1")],
            r#"{"a": 2}"#,
        ),
        call(&[("t.jinja", "{% include 'part' %} {{ properties.a }}"), ("part", "{{")], "{}"),
        call(&[("t.jinja", "{% include 'part' %} {{ properties.a }}")], "{}"),
        call(&[("t.jinja", "{{ 1 / 0 }}")], "{}"),
        call(&[("t.jinja", "{% for i in range(99999) %}{% endfor %}")], "{}"),
    ];
    let mut kept = Renderer::default();
    for fuel in [100, 10_000] {
        for call in calls.iter().flat_map(|call| [call, call]) {
            assert_eq!(kept.render(call, fuel, 1000), render(call, fuel, 1000), "{call:?}");
        }
    }
}
