//! What schemas mean here: versions, messages, defaults, references, imports.

use super::*;
use crate::call::Import;

fn read(schema: &str) -> Result<Schema, Vec<String>> {
    let lines = |violations: Vec<Violation>| violations.iter().map(Violation::to_string).collect();
    Schema::read("t.py.schema", schema).map_err(lines).map(|schema| schema.expect("not empty"))
}

fn validate(schema: &str, properties: &str) -> Result<String, Vec<String>> {
    let lines = |violations: Vec<Violation>| violations.iter().map(Violation::to_string).collect();
    let properties = parse(properties).unwrap();
    let filled = read(schema)?.validate(properties, &Imports::new(), &mut WORK.clone());
    filled.map(|filled| filled.to_json()).map_err(lines)
}

#[track_caller]
fn assert_filled(schema: &str, properties: &str, wanted: &str) {
    assert_eq!(validate(schema, properties).unwrap(), wanted, "{schema}");
}

#[track_caller]
fn assert_refused(schema: &str, properties: &str, wanted: &[&str]) {
    assert_eq!(validate(schema, properties).unwrap_err(), wanted, "{schema}");
}

#[test]
fn messages_are_in_the_words_of_pythons_library() {
    for (schema, value, message) in [
        ("{type: [string, 'null']}", "5", "5 is not of type 'string', 'null'"),
        ("{enum: [a, 1, null]}", "b", "'b' is not one of ['a', 1, None]"),
        ("{minimum: 3}", "2.5", "2.5 is less than the minimum of 3"),
        ("{maximum: 3}", "4", "4 is greater than the maximum of 3"),
        (
            "{maximum: 3, exclusiveMaximum: true}",
            "3",
            "3 is greater than or equal to the maximum of 3",
        ),
        (
            "{minimum: 3, exclusiveMinimum: true}",
            "3",
            "3 is less than or equal to the minimum of 3",
        ),
        ("{multipleOf: 2}", "3", "3 is not a multiple of 2"),
        ("{multipleOf: 2}", "2.5", "2.5 is not a multiple of 2"),
        ("{multipleOf: 0.1}", "0.3", "0.3 is not a multiple of 0.1"),
        ("{multipleOf: 1.0e-300}", "1.0e+300", "1e+300 is not a multiple of 1e-300"),
        ("{minLength: 2}", "a", "'a' is too short"),
        ("{maxLength: 1}", "ab", "'ab' is too long"),
        ("{pattern: '^(?P<a>\\d)\\Z'}", "x", r"'x' does not match '^(?P<a>\\d)\\Z'"),
        ("{minItems: 1}", "[]", "[] is too short"),
        ("{maxItems: 0}", "[1]", "[1] is too long"),
        ("{uniqueItems: true}", "[1, 1]", "[1, 1] has non-unique elements"),
        (
            "{items: [{}], additionalItems: false}",
            "[1, 2, a]",
            "Additional items are not allowed (2, 'a' were unexpected)",
        ),
        ("{minProperties: 1}", "{}", "{} does not have enough properties"),
        ("{maxProperties: 0}", "{a: 1}", "{'a': 1} has too many properties"),
        ("{required: [a]}", "{}", "'a' is a required property"),
        (
            "{additionalProperties: false}",
            "{a: 1}",
            "Additional properties are not allowed ('a' was unexpected)",
        ),
        ("{dependencies: {a: [b]}}", "{a: 1}", "'b' is a dependency of 'a'"),
        (
            "{anyOf: [{type: string}, {minimum: 3}]}",
            "1",
            "1 is not valid under any of the given schemas",
        ),
        (
            "{oneOf: [{type: string}, {minimum: 3}]}",
            "1",
            "1 is not valid under any of the given schemas",
        ),
        (
            "{oneOf: [{type: integer}, {}, {type: string}]}",
            "1",
            "1 is valid under each of {}, {'type': 'integer'}",
        ),
        ("{not: {type: int}}", "1", "{'type': 'int'} is not allowed for 1"),
    ] {
        let schema = format!("properties: {{v: {schema}}}");
        assert_refused(&schema, &format!("v: {value}"), &[&format!("{message} at ['v']")]);
    }
}

#[test]
fn messages_of_later_versions_are_those_of_later_libraries() {
    let newest = "$schema: https://json-schema.org/draft/2020-12/schema\n";
    for (schema, value, message) in [
        ("{const: 5}", "6", "5 was expected"),
        ("{contains: {type: string}}", "[1]", "None of [1] are valid under the given schema"),
        ("{exclusiveMinimum: 3}", "3", "3 is less than or equal to the minimum of 3"),
        ("{propertyNames: {pattern: ^a}}", "{b: 1}", "'b' does not match '^a'"),
        (
            "{unevaluatedProperties: false}",
            "{b: 1}",
            "Unevaluated properties are not allowed ('b' was unexpected)",
        ),
        ("{prefixItems: [{type: string}]}", "[1]", "1 is not of type 'string'"),
        ("false", "1", "False schema does not allow 1"),
    ] {
        let schema = format!("{newest}properties: {{v: {schema}}}");
        let found = validate(&schema, &format!("v: {value}")).unwrap_err();
        assert!(found.len() == 1 && found[0].starts_with(message), "{schema}: {found:?}");
    }
}

#[test]
fn all_violations_are_told_in_the_order_of_the_properties() {
    let schema = "{additionalProperties: {type: integer}, required: [q]}";
    let found = [
        "'q' is a required property",
        "'x' is not of type 'integer' at ['b']",
        "'y' is not of type 'integer' at ['a']",
    ];
    assert_refused(schema, "{b: x, c: 1, a: y}", &found);
}

#[test]
fn a_version_is_read_as_it_says_and_an_unknown_one_as_draft_4() {
    assert_filled("properties: {v: {const: 5}}", "v: 6", r#"{"v":6}"#);
    let seventh =
        "{$schema: 'http://json-schema.org/draft-07/schema#', properties: {v: {const: 5}}}";
    assert_refused(seventh, "v: 6", &["5 was expected at ['v']"]);
    let third =
        read("{$schema: 'http://json-schema.org/draft-03/schema#', properties: {}}").unwrap();
    let warning = "$schema 'http://json-schema.org/draft-03/schema#' is not known: the schema is read as Draft 4";
    assert_eq!(third.warnings(), [warning]);
}

#[test]
fn types_of_programming_languages_are_read_with_a_warning() {
    let schema = "properties: {a: {type: int}, b: {type: [str, bool]}, c: {$ref: '#/x/y'}}\nx: {y: {type: dict}}\n";
    let warnings = read(schema).unwrap().warnings().to_vec();
    assert_eq!(
        warnings,
        [
            "type 'int' is read as 'integer' at ['properties', 'a', 'type']",
            "type 'str' is read as 'string' at ['properties', 'b', 'type']",
            "type 'bool' is read as 'boolean' at ['properties', 'b', 'type']",
            "type 'dict' is read as 'object' at ['x', 'y', 'type']",
        ]
    );
    assert_refused(
        schema,
        "{a: x, c: 1}",
        &["'x' is not of type 'int' at ['a']", "1 is not of type 'dict' at ['c']"],
    );
    // A property may be called type, and a default may look like a schema.
    assert!(read("properties: {type: {default: {type: int}}}").unwrap().warnings().is_empty());
    let nobodys = read("properties: {a: {type: whatever}}").unwrap_err();
    assert_eq!(
        nobodys,
        ["'whatever' is not valid under any of the given schemas at ['properties', 'a', 'type']"]
    );
}

#[test]
fn nothing_outside_the_document_is_referred_to() {
    for reference in [
        "http://127.0.0.1:9/x.json",
        "https://json-schema.org/draft/2020-12/schema",
        "file:///etc/passwd",
        "other.schema",
        "/etc/passwd",
        "//host/x",
        "json-schema:///",
        "?x#/definitions/a",
        "",
    ] {
        let found = read(&format!("properties: {{z: {{$ref: '{reference}'}}}}")).unwrap_err();
        let wanted = format!("'{reference}' refers to another document, which is never fetched");
        assert!(found.len() == 1 && found[0].starts_with(&wanted), "{found:?}");
    }
    let anchor = read("properties: {z: {$ref: '#name'}}").unwrap_err();
    assert!(anchor[0].contains("is not a JSON pointer"), "{anchor:?}");
    let dynamic = "{$schema: 'https://json-schema.org/draft/2020-12/schema', properties: {z: {$dynamicRef: '#meta'}}}";
    assert!(read(dynamic).unwrap_err()[0].contains("'$dynamicRef' is not supported"));
}

#[test]
fn names_of_schemas_lead_nowhere_else() {
    for (keyword, version) in [("id", "draft-04"), ("$id", "draft-07")] {
        let schema = format!(
            "{{$schema: 'http://json-schema.org/{version}/schema#', {keyword}: 'http://127.0.0.1:9/a/',
            properties: {{z: {{{keyword}: 'file:///etc/', $ref: '#/definitions/d'}}, {keyword}: {{type: string}},
              y: {{{keyword}: 'http://127.0.0.1:9/b', items: {{$ref: '#/definitions/d'}}}}}},
            definitions: {{d: {{{keyword}: '#d', type: integer}}}}}}"
        );
        let found = [
            "'x' is not of type 'integer' at ['z']",
            "'x' is not of type 'integer' at ['y', 0]",
            &format!("1 is not of type 'string' at ['{keyword}']"),
        ];
        assert_refused(&schema, &format!("{{z: x, y: [x], {keyword}: 1}}"), &found);
    }
}

#[test]
fn a_reference_may_lead_anywhere_in_the_document() {
    let schema =
        "properties: {z: {$ref: '#/some where/0/a~1b'}}\nsome where: [{a/b: {type: integer}}]\n";
    assert_refused(schema, "z: x", &["'x' is not of type 'integer' at ['z']"]);
    let outside = "properties: {z: {$ref: '#/x'}}\nx: {minimum: big}\n";
    assert_eq!(read(outside).unwrap_err(), ["'big' is not of type 'number' at ['x', 'minimum']"]);
    let tree =
        "properties: {left: {$ref: '#'}, right: {$ref: '#'}, v: {type: integer, default: 0}}";
    assert_filled(tree, "{left: {right: {}}}", r#"{"left":{"right":{"v":0},"v":0},"v":0}"#);
    let nobody = read("{properties: {a: {$ref: '#/nope'}, b: {$ref: 5}}}").unwrap_err();
    assert_eq!(
        nobody,
        [
            "Unresolvable JSON pointer: 'nope'",
            "5 is not of type 'string' at ['properties', 'b', '$ref']"
        ]
    );
}

#[test]
fn a_pattern_that_cannot_be_checked_in_linear_time_is_an_error_of_the_schema() {
    let found = read("properties: {a: {pattern: '(?=x)y'}}\npatternProperties: {'(a)\\1': {}}\n")
        .unwrap_err();
    assert_eq!(
        found,
        [
            r"pattern '(a)\\1' uses look-around or back references, which are not supported at ['patternProperties']",
            "pattern '(?=x)y' uses look-around or back references, which are not supported at ['properties', 'a', 'pattern']",
        ]
    );
    let verbose = read("properties: {a: {pattern: '(?x) a'}}").unwrap_err();
    assert_eq!(verbose, ["'(?x) a' is not a 'regex' at ['properties', 'a', 'pattern']"]);
    let wrong = read("properties: {a: {pattern: '(('}}").unwrap_err();
    assert_eq!(
        wrong,
        [
            "pattern '((' is not a regular expression: unclosed group at ['properties', 'a', 'pattern']"
        ]
    );
    let two = "patternProperties: {'^a\\Z': {type: integer}, '^a\\z': {minimum: 3}}";
    assert_refused(two, "a: 1", &["1 is less than the minimum of 3 at ['a']"]);
}

#[test]
fn defaults_are_set_wherever_properties_are_reached() {
    for (schema, properties, wanted) in [
        ("{properties: {a: {default: 1}}}", "~", r#"{"a":1}"#),
        ("{properties: {a: {default: null}}}", "{}", r#"{"a":null}"#),
        ("{properties: {a: {type: 'null', default: 1}}}", "{a: ~}", r#"{"a":null}"#),
        (
            "{properties: {o: {default: {}, properties: {k: {default: d}}}}}",
            "{}",
            r#"{"o":{"k":"d"}}"#,
        ),
        ("{properties: {o: {properties: {k: {default: d}}}}}", "{}", "{}"),
        (
            "{properties: {l: {items: [{}, {properties: {k: {default: d}}}]}}}",
            "{l: [{}, {}, {}]}",
            r#"{"l":[{},{"k":"d"},{}]}"#,
        ),
        (
            "{properties: {l: {items: [{}], additionalItems: {properties: {k: {default: d}}}}}}",
            "{l: [{}, {}]}",
            r#"{"l":[{},{"k":"d"}]}"#,
        ),
        (
            "{patternProperties: {^a: {properties: {k: {default: d}}}}, additionalProperties: {properties: {j: {default: e}}}}",
            "{ab: {}, b: {}}",
            r#"{"ab":{"k":"d"},"b":{"j":"e"}}"#,
        ),
        (
            "{dependencies: {a: {properties: {k: {default: d}}}, z: {properties: {j: {default: e}}}}}",
            "{a: 1}",
            r#"{"a":1,"k":"d"}"#,
        ),
        (
            "{allOf: [{properties: {a: {default: 1}}}, {properties: {a: {default: 2}, b: {default: 2}}}]}",
            "{}",
            r#"{"a":1,"b":2}"#,
        ),
        (
            "{oneOf: [{required: [b], properties: {a: {default: 1}}}, {properties: {c: {default: 2}}}]}",
            "{}",
            r#"{"a":1,"c":2}"#,
        ),
        ("{not: {type: string, properties: {a: {default: 1}}}}", "{}", r#"{"a":1}"#),
        (
            "{properties: {a: {$ref: '#/d/e'}}, d: {e: {$ref: '#/d/f'}, f: {default: 1}}}",
            "{}",
            r#"{"a":1}"#,
        ),
        ("{properties: {a: {default: 2, $ref: '#/d'}}, d: {default: 1}}", "{}", r#"{"a":2}"#),
        ("{properties: {a: {$ref: '#/d'}}, d: {type: integer}}", "{}", "{}"),
    ] {
        assert_filled(schema, properties, wanted);
    }
    assert_refused(
        "{properties: {a: {type: integer, default: x}}}",
        "{}",
        &["'x' is not of type 'integer' at ['a']"],
    );
}

#[test]
fn of_any_of_the_first_branch_that_holds_is_the_last_to_set_defaults() {
    let schema = |first: &str| {
        format!(
            "{{anyOf: [{{{first}, properties: {{x: {{default: 1}}}}}}, {{$ref: '#/two'}}], two: {{properties: {{y: {{default: 2}}}}}}}}"
        )
    };
    assert_filled(&schema("type: object"), "{}", r#"{"x":1}"#);
    assert_filled(&schema("minProperties: 3"), "{}", r#"{"x":1,"y":2}"#);
    // What is required may still get a default, so it does not count.
    let required = "{anyOf: [{$ref: '#/one'}, {properties: {y: {default: 2}}}], one: {allOf: [{required: [z]}], properties: {x: {default: 1}}}}";
    assert_filled(required, "{z: 1}", r#"{"z":1,"x":1}"#);
    assert_eq!(validate(required, "{}").unwrap(), r#"{"x":1}"#);
}

#[test]
fn a_condition_brings_the_defaults_of_the_side_that_applies() {
    let schema = "{$schema: 'http://json-schema.org/draft-07/schema#',
        if: {required: [a], properties: {q: {default: 1}}}, then: {properties: {t: {default: 1}}}, else: {properties: {e: {default: 1}}}}";
    assert_filled(schema, "{a: 1}", r#"{"a":1,"t":1}"#);
    assert_filled(schema, "{}", r#"{"e":1}"#);
    assert_filled(&schema.replace("draft-07", "draft-06"), "{}", "{}");
}

#[test]
fn only_what_a_reference_causes_is_overlooked() {
    let reference = "'$(ref.b.port)'";
    for (schema, value) in [
        ("{type: integer}", reference),
        ("{enum: [1, 2]}", "'a-$(ref.b.c.d)-b'"),
        ("{items: {type: integer}}", "[1, $(ref.b.x)]"),
        ("{enum: [[1], [2]]}", "[$(ref.b.x)]"),
        ("{not: {type: string}}", reference),
        ("{uniqueItems: true}", "[$(ref.b.x), $(ref.b.x)]"),
        ("{anyOf: [{properties: {k: {type: integer}}}, {type: string}]}", "{k: $(ref.b.x)}"),
        ("{oneOf: [{properties: {k: {type: integer}}}, {type: string}]}", "{k: $(ref.b.x)}"),
        ("{oneOf: [{}, {type: string}]}", reference),
        ("{required: [k]}", "{p: $(ref.b.x)}"),
        ("{required: [k]}", "{p: [{q: $(ref.b.x)}]}"),
        ("{anyOf: [{required: [k]}, {type: string}]}", "{p: $(ref.b.x)}"),
    ] {
        let schema = format!("properties: {{v: {schema}}}");
        assert!(validate(&schema, &format!("v: {value}")).is_ok(), "{schema} {value}");
    }
    for (schema, value, message) in [
        ("{required: [k]}", "{p: $(ref.b.x}", "'k' is a required property"),
        ("{type: string}", "{p: $(ref.b.x)}", "{'p': '$(ref.b.x)'} is not of type 'string'"),
        ("{minItems: 2}", "[$(ref.b.x)]", "['$(ref.b.x)'] is too short"),
        (
            "{additionalProperties: false}",
            "{p: $(ref.b.x)}",
            "Additional properties are not allowed ('p' was unexpected)",
        ),
        (
            "{anyOf: [{minProperties: 2}, {type: string}]}",
            "{p: $(ref.b.x)}",
            "{'p': '$(ref.b.x)'} is not valid under any of the given schemas",
        ),
        ("{type: integer}", "$(ref.b.x", "'$(ref.b.x' is not of type 'integer'"),
    ] {
        let schema = format!("properties: {{v: {schema}}}");
        assert_refused(&schema, &format!("v: {value}"), &[&format!("{message} at ['v']")]);
    }
}

#[test]
fn a_schema_names_the_files_it_needs() {
    let schema = read("imports: [{path: a/h.py}, {path: long/b.py, name: b}, {path: 'helpers/*.py'}, {path: 'no/*'}]").unwrap();
    let file = || Import { path: String::new(), content: "".into() };
    let imports = ["a/h.py", "helpers/x.py"].map(|name| (name.to_owned(), file())).into();
    let found = schema.validate(Value::Null, &imports, &mut WORK.clone()).unwrap_err();
    let line = |file| {
        format!("File '{file}' requested in schema 't.py.schema' but not included with imports.")
    };
    assert_eq!(
        found.iter().map(Violation::to_string).collect::<Vec<_>>(),
        [line("b"), line("no/*")]
    );
    assert_eq!(
        read("imports: 5\nrequired: 6\n").unwrap_err(),
        ["5 is not of type 'array' at ['imports']", "6 is not of type 'array' at ['required']",]
    );
}

#[test]
fn what_is_no_schema_is_refused_and_an_empty_one_says_nothing() {
    for empty in ["", "~", "{}", "[]", "# nothing\n"] {
        assert!(Schema::read("x", empty).unwrap().is_none(), "{empty}");
    }
    assert_eq!(read("[1]").unwrap_err(), ["[1] is not of type 'object'"]);
    assert_eq!(read("text").unwrap_err(), ["'text' is not of type 'object'"]);
    assert!(read("a: b: c").unwrap_err()[0].starts_with("Error parsing YAML: "));
}
