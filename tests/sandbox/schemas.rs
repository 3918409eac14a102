//! Schemas: references to elsewhere, regular expressions, circles, and YAML that is none of a schema's.

use crate::attack::{Attack, Want, configuration};

/// A template that gives its own properties, and its schema.
fn schema(name: &str, schema: &str, properties: &str, want: Want) -> Attack {
    let text = format!("resources:\n- name: a\n  type: t.jinja\n  properties: {properties}\n");
    let template = "resources: [{name: b, type: t, properties: {ok: true}}]";
    configuration(name, &text, &[("t.jinja", template), ("t.jinja.schema", schema)], want)
}

pub(crate) fn attacks() -> Vec<Attack> {
    let mut attacks: Vec<_> = ELSEWHERE
        .iter()
        .map(|place| {
            let text = format!("properties:\n  x:\n    $ref: {place:?}\n");
            schema(&format!("$ref to {place}"), &text, "{x: 1}", Want::Fails("$ref"))
        })
        .collect();
    attacks.extend(patterns());
    attacks.extend(shapes());
    attacks
}

const ELSEWHERE: &[&str] = &[
    "http://169.254.169.254/latest/meta-data",
    "https://example.com/schema.json",
    "file:///etc/passwd",
    "/etc/passwd",
    "../../../etc/passwd",
    "t.jinja.schema",
    "//example.com/x",
];

fn patterns() -> Vec<Attack> {
    let pattern = |name: &str, pattern: &str, value: &str, want: Want| {
        let text = format!("properties:\n  x:\n    type: string\n    pattern: {pattern:?}\n");
        schema(name, &text, &format!("{{x: {value:?}}}"), want)
    };
    let long = "a".repeat(50_000);
    vec![
        pattern(
            "a pattern that explodes elsewhere",
            "^(a+)+$",
            &format!("{long}!"),
            Want::Fails("does not match '^(a+)+$'"),
        ),
        pattern(
            "a pattern of alternatives",
            "^(a|a)*$",
            &format!("{long}!"),
            Want::Fails("does not match '^(a|a)*$'"),
        ),
        pattern(
            "a pattern that looks back",
            r"^(a+)+\1$",
            &long,
            Want::Fails("look-around or back references, which are not supported"),
        ),
        pattern(
            "a pattern that looks ahead",
            "^(?=(a+)+$)b",
            &long,
            Want::Fails("look-around or back references, which are not supported"),
        ),
        pattern(
            "a pattern of repeats of repeats",
            "((a{1,1000}){1,1000}){1,1000}",
            "a",
            Want::Fails("matches too much text to be checked"),
        ),
        pattern(
            "a pattern of deep groups",
            &("(".repeat(20_000) + &")".repeat(20_000)),
            "a",
            Want::Fails("properties.x.pattern: pattern '(((((((("),
        ),
        pattern(
            "a pattern that is none",
            "(",
            "a",
            Want::Fails("is not a regular expression: unclosed group"),
        ),
        schema(
            "a name by a pattern that explodes elsewhere",
            "patternProperties:\n  '^(a+)+$': {type: integer}\n",
            &format!("{{{}: 1, {}!: 1}}", "a".repeat(900), "a".repeat(900)),
            Want::Expands(r#""ok":true"#),
        ),
    ]
}

fn shapes() -> Vec<Attack> {
    let mut laughs = "x0: &x0 {type: string}\n".to_owned();
    for level in 1..12 {
        let below = level - 1;
        laughs += &format!("x{level}: &x{level} [{}]\n", vec![format!("*x{below}"); 9].join(", "));
    }
    let deep =
        format!("properties: {{x: {}{{}}{}}}\n", "{items: ".repeat(5_000), "}".repeat(5_000));
    let mut wide = "definitions:\n  d0: {type: integer}\n".to_owned();
    for level in 1..30 {
        let below = level - 1;
        let one = format!("{{$ref: '#/definitions/d{below}'}}");
        wide += &format!("  d{level}: {{anyOf: [{one}, {one}, {one}]}}\n");
    }
    wide += "properties: {x: {$ref: '#/definitions/d29'}}\n";
    let endless = Want::Fails("Schema 't.jinja.schema' refers to itself without coming to an end");
    vec![
        schema("a schema that is itself", "$ref: '#'\n", "{x: 1}", endless),
        schema(
            "a property that is itself",
            "properties: {x: {$ref: '#/properties/x'}}\n",
            "{x: 1}",
            endless,
        ),
        schema(
            "two that are each other",
            "definitions: {a: {$ref: '#/definitions/b'}, b: {$ref: '#/definitions/a'}}\nproperties: {x: {$ref: '#/definitions/a'}}\n",
            "{x: 1}",
            endless,
        ),
        schema(
            "a tree of alternatives that all fail",
            &wide,
            "{x: text}",
            Want::Fails("takes too many steps to validate"),
        ),
        schema("a schema that laughs", &laughs, "{x: 1}", Want::Fails("excessive aliasing")),
        schema("a schema that is deep", &deep, "{x: 1}", Want::Fails("exceeded max depth")),
        schema(
            "an object of Python's",
            "properties: {x: !!python/object/apply:os.system [id]}\n",
            "{x: 1}",
            Want::Fails("could not determine a constructor for the tag"),
        ),
        schema(
            "a schema that imports the machine's",
            "imports: [{path: /etc/passwd}]\n",
            "{x: 1}",
            Want::Fails(
                "File '/etc/passwd' requested in schema 't.jinja.schema' but not included with imports",
            ),
        ),
        schema(
            "a default of more than there may be",
            &format!("properties: {{x: {{default: {:?}}}}}\n", "x".repeat(1_000_000)),
            "{}",
            Want::Fails("A schema may have 262144 bytes"),
        ),
        schema(
            "a dialect from elsewhere",
            "$schema: http://example.com/own\nproperties: {x: {type: integer}}\n",
            "{x: 1}",
            Want::Expands(r#""ok":true"#),
        ),
        schema(
            "words that redraw a terminal",
            "properties: {x: {enum: [\"\\e[2J\"]}}\n",
            "{x: \"\\e]0;x\\a\"}",
            Want::Fails("'\\x1b]0;x\\x07' is not one of ['\\x1b[2J']"),
        ),
        schema(
            "a schema that is text",
            "evil\n",
            "{x: 1}",
            Want::Fails("'evil' is not of type 'object'"),
        ),
    ]
}
