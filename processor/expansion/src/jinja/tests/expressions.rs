//! What Jinja2 2.8 made of hundreds of expressions and small templates, held against what is made here.
//!
//! `expressions.jsonl` has the properties in its first line, and in each other one a template and what became of it;
//! `null` is an error. The results were taken from Jinja2 itself; what is different on purpose is not in the table.

use super::{call, render};
use crate::call::Rendered;
use crate::value::Value;

const TABLE: &str = include_str!("expressions.jsonl");

const OTHERS: [(&str, &str); 6] = [
    ("inc", "inc {{ name }} {{ p.s }}\n"),
    (
        "lib",
        "{% macro m(x) %}<{{ x }}>{% endmacro %}{% set v = 7 %}{% macro c() %}[{{ name }}]{% endmacro %}\
         {% macro boom() %}\n{{ nope.x }}{% endmacro %}\n",
    ),
    ("base", "A{% block a %}base{% endblock %}B{% block b %}{{ name }}{% endblock %}C\n"),
    ("bad", "\n{% if %}"),
    ("fails", "x\n{{ 1 + nope.y.z }}"),
    ("seesx", "[{{ x }}]"),
];

#[test]
fn every_expression_gives_what_jinja_gave() {
    let mut lines = TABLE.lines();
    let properties = lines.next().unwrap();
    let mut wrong = Vec::new();
    for line in lines {
        let row = Value::from_json(line).unwrap();
        let [template, want] = row.as_list().unwrap() else { panic!("{line}") };
        let template = format!("{{% set p = properties %}}{}", template.as_str().unwrap());
        let mut templates = vec![("t.jinja", template.as_str())];
        templates.extend(OTHERS);
        let got = match render(&call(&templates, properties), 100_000, 1 << 20) {
            Ok(Rendered::Text { text, .. }) => Value::from(text),
            _ => Value::Null,
        };
        if got != *want {
            wrong.push(format!("{line}\n    but here {}", got.to_json()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
