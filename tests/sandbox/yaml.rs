//! YAML: bombs, tags and depths, in configurations, in what templates give, and in schemas; templates without end.

use crate::attack::{Attack, Want, configuration, expanded, function};

pub(crate) fn attacks() -> Vec<Attack> {
    let mut attacks: Vec<_> = documents()
        .into_iter()
        .flat_map(|(name, text, here, want)| {
            let literal = serde_json::to_string(&text).expect("text is JSON");
            let python = function(&format!("return {literal}"));
            [
                configuration(&format!("{name}, in a configuration"), &text, &[], here),
                expanded(&format!("{name}, from Jinja"), &[("t.jinja", &text)], want),
                expanded(&format!("{name}, from Python"), &[("t.py", &python)], want),
            ]
        })
        .collect();
    attacks.extend(growth());
    attacks
}

/// Text that is read in three places; what comes of it in a configuration, and of what a template gives.
fn documents() -> Vec<(&'static str, String, Want, Want)> {
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    let mut merges = "m0: &m0 {x: 1}\n".to_owned();
    for level in 1..12 {
        let below = level - 1;
        let again = vec![format!("*a{below}"); 9].join(", ");
        laughs += &format!("a{level}: &a{level} [{again}]\n");
        merges +=
            &format!("m{level}: &m{level}\n  k{level}: {{<<: *m{below}}}\n  l{level}: *m{below}\n");
    }
    let resource =
        |value: &str| format!("resources:\n- name: a\n  type: t\n  properties: {{x: {value}}}\n");
    vec![
        (
            "merges of merges",
            merges,
            Want::Expands("[]"),
            Want::Fails("Template did not return a 'resources:' field"),
        ),
        both("a thousand million laughs", laughs, Want::Fails("excessive aliasing")),
        both(
            "an anchor that holds itself",
            resource("&a [*a]"),
            Want::Fails("anchor value contains itself"),
        ),
        both(
            "an object of Python's",
            resource("!!python/object/apply:os.system [id]"),
            Want::Fails(
                "could not determine a constructor for the tag 'tag:yaml.org,2002:python/object/apply:os.system'",
            ),
        ),
        both(
            "a name of Python's",
            resource("!!python/name:os.system"),
            Want::Fails(
                "could not determine a constructor for the tag 'tag:yaml.org,2002:python/name:os.system'",
            ),
        ),
        both(
            "a tag of one's own",
            resource("!evil x"),
            Want::Fails("a constructor for the tag '!evil'"),
        ),
        both(
            "lists, 20,000 deep",
            format!("resources: {}", "[".repeat(20_000)),
            Want::Fails("recursion limit exceeded"),
        ),
        both(
            "maps, 5,000 deep",
            format!("resources: {}", "{a: ".repeat(5_000)),
            Want::Fails("exceeded max depth"),
        ),
        both(
            "the same key twice",
            "resources: []\nresources: [{name: a, type: t}]\n".into(),
            Want::Expands(r#"[{"name":"a","type":"t"}]"#),
        ),
        both(
            "two documents",
            "resources: []\n---\nresources: []\n".into(),
            Want::Fails("expected a single document in the stream"),
        ),
        both(
            "control characters",
            "resources: \"\u{1}\u{1b}[2J\"\n".into(),
            Want::Fails("unexpected character"),
        ),
        both(
            "names that redraw a terminal",
            "resources: [{name: \"\\e[2J\", type: t}, {name: \"\\e[2J\", type: t}]\n".into(),
            Want::Fails("Resource name '\\u{1b}[2J' is not unique"),
        ),
    ]
}

fn both(name: &'static str, text: String, want: Want) -> (&'static str, String, Want, Want) {
    (name, text, want, want)
}

fn growth() -> Vec<Attack> {
    vec![
        expanded(
            "a template that is its own resource",
            &[("t.py", &function("return {'resources': [{'name': 'a', 'type': 't.py'}]}"))],
            Want::Fails("more than 100 templates in one another (limit: depth)"),
        ),
        expanded(
            "a template in Jinja that is its own resource",
            &[("t.jinja", "resources: [{name: a, type: t.jinja}]")],
            Want::Fails("more than 100 templates in one another (limit: depth)"),
        ),
        expanded(
            "templates that are each other's resources",
            &[
                ("a.jinja", "resources: [{name: b, type: b.jinja}]"),
                ("b.jinja", "resources: [{name: a, type: a.jinja}]"),
            ],
            Want::Fails("more than 100 templates in one another (limit: depth)"),
        ),
        expanded(
            "a template that makes ten of itself",
            &[(
                "t.jinja",
                "resources:{% for i in range(10) %}\n- {name: a{{ i }}, type: t.jinja}{% endfor %}",
            )],
            Want::Fails("more than 10000 templates to render (limit: calls)"),
        ),
        expanded(
            "a hundred thousand resources",
            &[(
                "t.jinja",
                "resources:{% for a in range(10) %}{% for b in range(9999) %}\n- {name: a{{ a }}-{{ b }}, type: t}{% endfor %}{% endfor %}",
            )],
            Want::Fails("more than 10000 resources (limit: resources)"),
        ),
        expanded(
            "many values in little text",
            &[(
                "t.jinja",
                "resources: [{name: a, type: t, properties: {x: [{% for i in range(8) %}{{ 'x,' * 100000 }}{% endfor %}]}}]",
            )],
            Want::Fails("it says more than the 16777216 bytes that are allowed"),
        ),
        expanded(
            "what a sibling could see of another",
            &[
                (
                    "t.py",
                    &function(
                        "return {'resources': [{'name': 'x', 'type': 'u.py'}, {'name': 'y', 'type': 'u.py'}]}",
                    ),
                ),
                (
                    "u.py",
                    &function(
                        "import json\nseen = [context.env['deployment'], sorted(context.imports), hasattr(json, 'left')]\n\
                     context.env['deployment'] = 'changed'\ncontext.imports['evil'] = 'x'\njson.left = 1\n\
                     return {'resources': [{'name': context.env['name'] + '1', 'type': 't', 'properties': {'seen': seen}}]}",
                    ),
                ),
            ],
            Want::Expands(
                r#"{"name":"x1","type":"t","properties":{"seen":["d",["t.py","u.py"],false]}},{"name":"y1","type":"t","properties":{"seen":["d",["t.py","u.py"],false]}}"#,
            ),
        ),
        configuration(
            "an import of the machine's",
            "imports: [{path: /etc/passwd}]\nresources: [{name: a, type: /etc/passwd}]\n",
            &[],
            Want::Expands(r#"[{"name":"a","type":"/etc/passwd"}]"#),
        ),
        configuration(
            "a template by a URL",
            "resources: [{name: a, type: 'http://169.254.169.254/latest/t.py'}]\n",
            &[],
            Want::Fails("Template 'http://169.254.169.254/latest/t.py' is not among the imports"),
        ),
        configuration(
            "a template by a file's URL",
            "resources: [{name: a, type: 'file:///etc/t.py'}]\n",
            &[],
            Want::Fails("Template 'file:///etc/t.py' is not among the imports"),
        ),
    ]
}
