//! Schemas that mean no good. Every one ends soon, within the stack of a thread.

use proptest::prelude::*;

use super::*;

/// What becomes of it: whether it can be read, and how it is validated.
fn outcome(schema: &str, properties: Value) -> Result<Value, String> {
    let first = |violations: Vec<Violation>| violations[0].to_string();
    let schema = Schema::read("x.schema", schema).map_err(first)?.expect("not empty");
    schema.validate(properties, &Imports::new(), &mut WORK.clone()).map_err(first)
}

const ENDLESS: &str = "Schema 'x.schema' refers to itself without coming to an end";
const LONG: &str = "Schema 'x.schema' takes too many steps to validate";

#[test]
fn a_schema_that_is_itself_comes_to_no_end() {
    for schema in [
        "{$ref: '#'}",
        "{allOf: [{$ref: '#'}]}",
        "{anyOf: [{$ref: '#'}, {$ref: '#'}]}",
        "{not: {$ref: '#'}}",
        "{$ref: '#/a', a: {$ref: '#/b'}, b: {$ref: '#/a'}}",
        "{properties: {z: {$ref: '#/a'}}, a: {$ref: '#/a'}}",
        "{oneOf: [{$ref: '#/oneOf/1'}, {allOf: [{$ref: '#/oneOf/0'}]}]}",
    ] {
        assert_eq!(outcome(schema, Value::Null).unwrap_err(), ENDLESS, "{schema}");
    }
}

/// `a0` goes to `a1` twice, and so on.
fn doubling(keyword: &str, levels: usize, end: &str) -> String {
    let level =
        |n: usize| format!("a{n}: {{{keyword}: [{{$ref: '#/a{0}'}}, {{$ref: '#/a{0}'}}]}}", n + 1);
    let levels_text: Vec<String> = (0..levels).map(level).collect();
    format!("{{allOf: [{{$ref: '#/a0'}}], {}, a{levels}: {end}}}", levels_text.join(", "))
}

#[test]
fn schemas_that_double_at_every_level_are_stopped() {
    for keyword in ["anyOf", "oneOf", "allOf"] {
        for end in ["{type: string}", "{}", "{properties: {a: {default: 1}}}"] {
            let found = outcome(&doubling(keyword, 60, end), Value::Null);
            assert_eq!(found.unwrap_err(), LONG, "{keyword} {end}");
        }
        let few = outcome(&doubling(keyword, 8, "{type: object}"), Value::Null);
        assert_eq!(few.is_ok(), keyword != "oneOf", "{keyword}: {few:?}");
    }
}

#[test]
fn the_schemas_of_an_expansion_share_their_steps() {
    let schema = Schema::read("x", "properties: {a: {default: 1}}").unwrap().unwrap();
    let mut work = 20;
    assert!(schema.validate(Value::Null, &Imports::new(), &mut work).is_ok());
    assert!(work < 20);
    let found = schema.validate(Value::Null, &Imports::new(), &mut work).unwrap_err();
    assert!(found[0].message.contains("schemas of this configuration take too many steps"));
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(Value::Map(Map::new()), |inner, _| Value::Map([("a".to_owned(), inner)].into()))
}

#[test]
fn values_as_deep_as_they_get_are_validated_on_a_small_stack() {
    let tree = "{properties: {a: {$ref: '#'}}, additionalProperties: false}";
    assert!(outcome(tree, nested(100)).is_ok());
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let deeper = format!("{{properties: {{a: {{{keyword}: [{{$ref: '#'}}]}}}}, type: object}}");
        assert!(outcome(&deeper, nested(60)).is_ok());
        assert_eq!(outcome(&deeper, nested(100)).unwrap_err(), ENDLESS);
    }
}

#[test]
fn references_in_a_long_row_are_compiled_and_stopped() {
    let links: Vec<String> =
        (0..5_000).map(|n| format!("a{n}: {{$ref: '#/a{}'}}", n + 1)).collect();
    let schema = format!(
        "{{properties: {{z: {{$ref: '#/a0'}}}}, {}, a5000: {{type: integer}}}}",
        links.join(", ")
    );
    let given = Value::Map([("z".to_owned(), Value::Null)].into());
    assert_eq!(outcome(&schema, given).unwrap_err(), ENDLESS);
    let schema = format!("{}{{}}{}", "{not: ".repeat(90), "}".repeat(90));
    assert!(outcome(&schema, nested(3)).is_ok());
}

#[test]
fn defaults_that_multiply_are_stopped() {
    let large = format!("[{}]", vec!["1"; 5_000].join(", "));
    let schema =
        format!("{{properties: {{l: {{items: {{properties: {{k: {{default: {large}}}}}}}}}}}}}");
    let items = Value::List(vec![Value::Map(Map::new()); 1_000]);
    let found = outcome(&schema, Value::Map([("l".to_owned(), items)].into()));
    assert_eq!(found.unwrap_err(), LONG);
}

#[test]
fn messages_and_their_number_are_bounded() {
    let schema = Schema::read("x", "additionalProperties: {enum: [1]}").unwrap().unwrap();
    let text = Value::from("x".repeat(100_000));
    let given = (0..600).map(|n| (n.to_string(), if n == 0 { text.clone() } else { Value::Null }));
    let properties = Value::Map(given.collect());
    let found = schema.validate(properties, &Imports::new(), &mut WORK.clone()).unwrap_err();
    assert_eq!(found.len(), MAX_VIOLATIONS);
    assert!(found.iter().all(|violation| violation.message.len() < 2_500));
}

#[test]
fn large_schemas_are_refused() {
    for (schema, message) in [
        ("x".repeat(MAX_TEXT + 1), "A schema may have 262144 bytes"),
        (format!("[{}]", vec!["1"; 20_001].join(",")), "A schema may have 20000 values"),
        ("{a: ".repeat(200), "Error parsing YAML: "),
        (
            format!(
                "a: &a [{0}]\nb: [{1}]\n",
                "xxxxxxxxxxxxxxxx, ".repeat(100),
                "*a, ".repeat(400)
            ),
            "A schema may have 524288 bytes with its aliases",
        ),
    ] {
        let found = outcome(&schema, Value::Null).unwrap_err();
        assert!(found.starts_with(message), "{found}");
    }
    let patterns: Vec<String> = (0..300).map(|n| format!("p{n}: {{pattern: a{n}}}")).collect();
    let found = outcome(&format!("{{properties: {{{}}}}}", patterns.join(", ")), Value::Null);
    assert!(found.unwrap_err().starts_with("A schema may have 200 different patterns"));
}

/// Schemas of all keywords, right and wrong, that refer to each other.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just("{}"),
        Just(r#"{"type":"int"}"#),
        Just(r#"{"type":["string","object"]}"#),
        Just(r##"{"$ref":"#"}"##),
        Just(r##"{"$ref":"#/definitions/a"}"##),
        Just(r##"{"$ref":"#/x/0"}"##),
        Just(r#"{"$ref":null}"#),
        Just(r#"{"enum":[1,"a",{}]}"#),
        Just(r#"{"pattern":"^[a-z]+$"}"#),
        Just(r#"{"default":{"a":[1]}}"#),
        Just(r#"{"required":["a","b"]}"#),
        Just(r#"{"minimum":1,"multipleOf":0.5}"#),
        Just(r#"{"id":"http://x/"}"#),
        Just("5"),
        Just("null"),
        Just("true"),
        Just("[]"),
        Just(r#"{"minLength":-1}"#),
    ];
    let leaf = leaf.prop_map(|text| Value::from_json(text).unwrap());
    leaf.prop_recursive(5, 40, 4, |inner| {
        let keywords = [
            "properties",
            "patternProperties",
            "additionalProperties",
            "items",
            "additionalItems",
            "dependencies",
            "definitions",
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "if",
            "then",
            "else",
            "contains",
            "propertyNames",
            "unevaluatedProperties",
            "x",
        ];
        let held = prop_oneof![
            inner.clone(),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Value::List),
            prop::collection::vec((names(), inner), 1..4)
                .prop_map(|members| Value::Map(members.into_iter().collect())),
        ];
        prop::collection::vec((prop::sample::select(keywords.to_vec()), held), 1..4).prop_map(
            |members| Value::Map(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        )
    })
}

fn names() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "0", "~/%", "$ref", "id", "é"]).prop_map(str::to_owned)
}

fn values_of_all_kinds() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|n| Value::Number(n.into())),
        "[a-c(ref.$)]{0,8}".prop_map(Value::from),
        Just(Value::from("$(ref.a.b)")),
    ];
    leaf.prop_recursive(4, 30, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::vec((names(), inner), 0..4)
                .prop_map(|members| Value::Map(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn every_schema_gives_an_answer_and_the_same_one_twice(
        schema in schemas(),
        version in prop::sample::select(vec!["draft-04", "draft-07", "draft/2020-12"]),
        properties in values_of_all_kinds(),
    ) {
        let mut schema = schema;
        if let Value::Map(map) = &mut schema {
            map.insert("$schema".into(), format!("http://json-schema.org/{version}/schema").into());
        }
        let read = || Schema::read("x", &schema.to_json());
        if let Ok(Some(schema)) = read() {
            let answer = schema.validate(properties.clone(), &Imports::new(), &mut WORK.clone());
            let again = read().unwrap().unwrap();
            prop_assert_eq!(&again.validate(properties, &Imports::new(), &mut WORK.clone()), &answer);
            if let Ok(filled) = answer {
                // What was filled in and found valid is valid, and complete.
                let again = schema.validate(filled, &Imports::new(), &mut WORK.clone());
                prop_assert!(again.is_ok(), "{again:?}");
            }
        }
    }
}
