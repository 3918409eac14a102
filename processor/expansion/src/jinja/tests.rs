//! What templates give, and how they fail.

use std::sync::Arc;

use super::render;
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
