use proptest::prelude::*;
use serde_json::json;

use super::{Limits, decode, normalize};
use crate::{DecodeError, Decoded, Schema, Stray, meta};

fn parameter() -> Schema {
    Schema::object("com.example.v1.Parameter", "A parameter.")
        .required("name", Schema::string("Its name."))
        .optional("value", Schema::string("Its value.").lenient())
        .optional("required", Schema::boolean("Whether it must be given."))
        .optional("examples", Schema::list(Schema::string("").or_scalar()))
}

fn form() -> Schema {
    Schema::object("com.example.v1.Form", "A form.")
        .optional("message", Schema::string("Shown afterwards."))
        .always("objects", Schema::list(meta::raw_extension()))
        .optional("parameters", Schema::list(parameter()))
        .optional("labels", Schema::map(Schema::string("")))
        .kind("example.com", "v1", "Form")
}

fn read(text: &str) -> Decoded {
    decode(&form(), text, Limits::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn fields(text: &str) -> String {
    read(text).fields
}

fn warnings(text: &str) -> Vec<String> {
    read(text).strays.iter().map(ToString::to_string).collect()
}

fn error(text: &str) -> String {
    decode(&form(), text, Limits::default()).unwrap_err().to_string()
}

#[test]
fn a_body_is_taken_apart_in_schema_order() {
    let decoded = read(
        r#" {"labels": {"b":"2", "a":"1"}, "objects": [ {"z": 1.0, "a": 1e3 } ], "message":"h\u0069",
             "metadata":{"labels":{}, "name":"n", "generation":7}, "kind":"Form", "apiVersion":"example.com/v1"} "#,
    );
    assert_eq!(decoded.api_version.as_deref(), Some("example.com/v1"));
    assert_eq!(decoded.kind.as_deref(), Some("Form"));
    assert_eq!(decoded.metadata, r#"{"name":"n","generation":7}"#);
    assert_eq!(
        decoded.fields,
        r#""message":"hi","objects":[{"z":1.0,"a":1e3}],"labels":{"a":"1","b":"2"}"#
    );
    assert_eq!(decoded.strays, []);
}

#[test]
fn zero_values_are_left_out_where_go_leaves_them_out() {
    assert_eq!(
        fields(r#"{"message":"","labels":{},"parameters":[],"objects":null}"#),
        r#""objects":null"#
    );
    assert_eq!(fields("{}"), r#""objects":null"#);
    assert_eq!(fields("null"), r#""objects":null"#);
    assert_eq!(
        fields(r#"{"parameters":[{"value":"","required":false},null]}"#),
        r#""objects":null,"parameters":[{"name":""},{"name":""}]"#
    );
    assert_eq!(read(r#"{"metadata":null}"#).metadata, "{}");
}

#[test]
fn an_empty_list_is_seen_by_field_management_and_null_in_storage() {
    let decoded = read(r#"{"labels":{"a":""},"objects":[],"message":"m"}"#);
    assert_eq!(decoded.fields, r#""message":"m","objects":[],"labels":{"a":""}"#);
    assert_eq!(decoded.stored_fields(), r#""message":"m","objects":null,"labels":{"a":""}"#);
    let nested = Schema::object("com.example.v1.Outer", "")
        .required("inner", form())
        .optional("a", Schema::string(""));
    let nested = Schema::object("com.example.v1.Top", "")
        .by_value("spec", nested)
        .optional("z", form())
        .kind("e", "v1", "Top");
    let text = r#"{"z":{"labels":{"x":"y"},"objects":[]},"spec":{"a":"[]","inner":{"labels":{"q":""},"objects":[]}}}"#;
    let decoded = decode(&nested, text, Limits::default()).unwrap();
    assert_eq!(
        decoded.stored_fields(),
        r#""spec":{"inner":{"metadata":{},"objects":null,"labels":{"q":""}},"a":"[]"},"z":{"metadata":{},"objects":null,"labels":{"x":"y"}}"#
    );
}

#[test]
fn pointers_and_defaults_keep_a_zero() {
    let schema = Schema::object("com.example.v1.P", "")
        .optional("flag", Schema::boolean("").pointer())
        .optional("count", Schema::int32("").default_value(3))
        .optional("kept", Schema::string("").nullable())
        .required(
            "spec",
            Schema::object("com.example.v1.S", "")
                .optional("mode", Schema::string("").default_value("auto")),
        );
    let text = |given| normalize(&schema, given, Limits::default()).unwrap().text;
    assert_eq!(
        text(r#"{"flag":false,"count":0,"kept":null}"#),
        r#"{"flag":false,"count":0,"kept":null,"spec":{"mode":"auto"}}"#
    );
    assert_eq!(text("{}"), r#"{"count":3,"spec":{"mode":"auto"}}"#);
    assert_eq!(text(r#"{"spec":{"mode":""},"count":null}"#), r#"{"count":3,"spec":{"mode":""}}"#);
}

#[test]
fn unknown_and_duplicate_fields_are_named_as_upstream_names_them() {
    assert_eq!(
        warnings(r#"{"foo":1,"foo":2,"Message":"x"}"#),
        [r#"unknown field "foo""#, r#"unknown field "Message""#]
    );
    assert_eq!(
        warnings(r#"{"parameters":[{"name":"a","foo":{"b":[1]}}]}"#),
        [r#"unknown field "parameters[0].foo""#]
    );
    assert_eq!(warnings(r#"{"metadata":{"foo":"x"}}"#), [r#"unknown field "metadata.foo""#]);
    assert_eq!(
        warnings(r#"{"labels":{"b":"1","a":"","b":"2"}}"#),
        [r#"duplicate field "labels.b""#]
    );
    assert_eq!(warnings(r#"{"message":"a","message":"b"}"#), [r#"duplicate field "message""#]);
    assert_eq!(fields(r#"{"message":"a","message":"b"}"#), r#""message":"b","objects":null"#);
    assert_eq!(fields(r#"{"message":"a","message":""}"#), r#""objects":null"#);
    assert_eq!(
        fields(r#"{"labels":{"b":"1","a":"","b":"2"}}"#),
        r#""objects":null,"labels":{"a":"","b":"2"}"#
    );
    assert_eq!(warnings(r#"{"objects":[{"a":1,"a":2}]}"#), Vec::<String>::new());
}

#[test]
fn strays_are_counted_once_and_not_without_end() {
    let many: Vec<String> = (0..500).map(|index| format!("\"f{index}\":0")).collect();
    assert_eq!(warnings(&format!("{{{}}}", many.join(","))).len(), 100);
}

#[test]
fn a_number_can_be_read_as_text_where_the_schema_says_so() {
    let decoded = read(r#"{"parameters":[{"name":"P","value":8080}]}"#);
    assert_eq!(decoded.fields, r#""objects":null,"parameters":[{"name":"P","value":"8080"}]"#);
    assert_eq!(
        decoded.strays,
        [Stray::Coerced {
            path: "parameters[0].value".into(),
            text: "8080".into(),
            error: "json: cannot unmarshal number into Go struct field Parameter.parameters.value of type string".into(),
        }]
    );
}

#[test]
fn wrong_types_are_explained_as_go_does() {
    for (text, message) in [
        (
            r#"{"parameters":[{"required":"x"}]}"#,
            "json: cannot unmarshal string into Go struct field Parameter.parameters.required of type bool",
        ),
        (
            r#"{"metadata":{"name":true}}"#,
            "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.name of type string",
        ),
        (
            r#"{"labels":{"a":5}}"#,
            "json: cannot unmarshal number into Go struct field Form.labels of type string",
        ),
        (
            r#"{"parameters":"x"}"#,
            "json: cannot unmarshal string into Go struct field Form.parameters of type []v1.Parameter",
        ),
        (
            r#"{"objects":{}}"#,
            "json: cannot unmarshal object into Go struct field Form.objects of type []runtime.RawExtension",
        ),
        (
            r#"{"labels":[]}"#,
            "json: cannot unmarshal array into Go struct field Form.labels of type map[string]string",
        ),
        (
            r#"{"metadata":5}"#,
            "json: cannot unmarshal number into Go struct field Form.metadata of type v1.ObjectMeta",
        ),
        (
            r#"{"metadata":{"generation":1.5}}"#,
            "json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.metadata.generation of type int64",
        ),
        (
            r#"{"metadata":{"creationTimestamp":5}}"#,
            "json: cannot unmarshal number into Go value of type string",
        ),
        (
            r#"{"kind":5,"message":1}"#,
            "json: cannot unmarshal number into Go struct field .kind of type string",
        ),
    ] {
        assert_eq!(error(text), message, "{text}");
    }
    assert!(
        error(r#"{"metadata":{"creationTimestamp":"x"}}"#).starts_with("parsing time \"x\" as ")
    );
    assert!(error("[]").starts_with(
        "json: cannot unmarshal array into Go value of type struct { APIVersion string"
    ));
    let Err(DecodeError::Type(error)) =
        decode(&form(), r#"{"parameters":[{},{"name":[]}]}"#, Limits::default())
    else {
        panic!()
    };
    assert_eq!(error.path, "parameters[1].name");
}

#[test]
fn bad_json_is_explained_as_go_does_and_comes_before_wrong_types() {
    for (text, message) in [
        ("", "unexpected end of JSON input"),
        ("{", "unexpected end of JSON input"),
        (r#"{"message":5"#, "unexpected end of JSON input"),
        ("nonsense", "invalid character 'o' in literal null (expecting 'u')"),
        ("kind: x", "invalid character 'k' looking for beginning of value"),
        (r#"{"message":5,}"#, "invalid character '}' looking for beginning of object key string"),
        (r#"{"message" 5}"#, "invalid character '5' after object key"),
        (r#"{"a":1 "b"}"#, "invalid character '\"' after object key:value pair"),
        (r#"{"a":[1 2]}"#, "invalid character '2' after array element"),
        (r#"{"a":[1,]}"#, "invalid character ']' looking for beginning of value"),
        (r#"{"a":01}"#, "invalid character '1' after object key:value pair"),
        (r#"{"a":1.}"#, "invalid character '}' after decimal point in numeric literal"),
        (r#"{"a":1e}"#, "invalid character '}' in exponent of numeric literal"),
        (r#"{"a":-}"#, "invalid character '}' in numeric literal"),
        ("{\"a\":\"\n\"}", r"invalid character '\n' in string literal"),
        (r#"{"a":"\x"}"#, "invalid character 'x' in string escape code"),
        (r#"{"a":"\u12g4"}"#, r"invalid character 'g' in \u hexadecimal character escape"),
        ("{} x", "invalid character 'x' after top-level value"),
        ("é", "invalid character 'Ã' looking for beginning of value"),
        ("'", r"invalid character '\'' looking for beginning of value"),
    ] {
        assert_eq!(error(text), message, "{text}");
    }
}

#[test]
fn opaque_text_stays_but_for_blanks_and_lone_surrogates() {
    let given = r#"{"objects":[{"u":"\u00e9\/ \ud83d\ude00","n":18446744073709551616,"e":-0,"dup":1, "dup" : 2,"h":"<&>"},null,"x",1,[ ]]}"#;
    let kept = r#""objects":[{"u":"\u00e9\/ \ud83d\ude00","n":18446744073709551616,"e":-0,"dup":1,"dup":2,"h":"<&>"},null,"x",1,[]]"#;
    assert_eq!(fields(given), kept);
    assert_eq!(
        fields(r#"{"objects":["\ud800x\udc00"],"message":"\ud800"}"#),
        "\"message\":\"\u{FFFD}\",\"objects\":[\"\u{FFFD}x\u{FFFD}\"]"
    );
}

#[test]
fn depth_is_limited_without_recursion() {
    let nested =
        |levels: usize| format!("{{\"objects\":[{}{}]}}", "[".repeat(levels), "]".repeat(levels));
    read(&nested(510));
    assert_eq!(error(&nested(511)), "exceeded max depth");
    assert_eq!(error(&format!("{{\"x\":{}", "[".repeat(1_000_000))), "exceeded max depth");
}

#[test]
fn empty_managed_fields_are_not_the_same_as_none() {
    assert_eq!(read(r#"{"metadata":{"managedFields":[]}}"#).metadata, r#"{"managedFields":[]}"#);
    assert_eq!(
        read(r#"{"metadata":{"managedFields":[{}]}}"#).metadata,
        r#"{"managedFields":[{}]}"#
    );
    assert_eq!(read(r#"{"metadata":{"managedFields":null}}"#).metadata, "{}");
    let given = r#"{"metadata":{"managedFields":[{"time":"2001-01-01T01:00:00+01:00","fieldsV1":{"f:b": {}, "f:a":{}}}]}}"#;
    assert_eq!(
        read(given).metadata,
        r#"{"managedFields":[{"time":"2001-01-01T00:00:00Z","fieldsV1":{"f:b":{},"f:a":{}}}]}"#
    );
}

#[test]
fn many_keys_take_linear_time() {
    let keys: Vec<String> =
        (0..100_000).rev().map(|index| format!("\"k{index:06}\":\"v\"")).collect();
    let decoded = read(&format!("{{\"labels\":{{{}}}}}", keys.join(",")));
    assert!(decoded.fields.starts_with(r#""objects":null,"labels":{"k000000":"v","k000001":"v""#));
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        Just(json!(0.5)),
        ".{0,4}".prop_map(|value| json!(value)),
        Just(json!([])),
        Just(json!({})),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let name = prop_oneof!["message|objects|parameters|labels|metadata|name|value|required|kind|apiVersion|annotations|uid", ".{0,3}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|items| json!(items)),
            prop::collection::vec((name, inner), 0..6).prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_form() -> impl Strategy<Value = serde_json::Value> {
    let text = || {
        prop_oneof![
            Just(json!("")),
            "[a-z\"\\\\é\n]{0,6}".prop_map(|text| json!(text)),
            Just(json!(null))
        ]
    };
    let labels = prop::collection::hash_map(".{0,3}", text(), 0..4).prop_map(|map| json!(map));
    let parameters = prop::collection::vec((text(), prop_oneof![Just(json!(5)), text()]), 0..3)
        .prop_map(|list| {
            list.into_iter()
                .map(|(name, value)| json!({"value": value, "name": name}))
                .collect::<Vec<_>>()
        });
    (text(), prop::collection::vec(any_json(), 0..3), labels, parameters, text()).prop_map(|(message, objects, labels, parameters, name)| {
        json!({"labels": labels, "message": message, "objects": objects, "parameters": parameters, "metadata": {"name": name, "labels": labels}})
    })
}

proptest! {
    #[test]
    fn decoding_never_panics(text in ".{0,60}", bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = decode(&form(), &text, Limits::default());
        let _ = decode(&form(), &String::from_utf8_lossy(&bytes), Limits::default());
    }

    #[test]
    fn what_is_not_json_to_others_is_not_json_here(text in r#"[\[\]{}:,"\\u0-9a-e.+\- ]{0,24}"#) {
        let ours = crate::json::compact(&text, 100);
        match serde_json::from_str::<Box<serde_json::value::RawValue>>(&text) {
            Ok(raw) => {
                let ours = ours.unwrap();
                // Others reject lone surrogates and huge numbers, but only when they look at them.
                if let Ok(theirs) = serde_json::from_str::<serde_json::Value>(raw.get()) {
                    prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&ours).unwrap(), theirs);
                }
            }
            Err(_) => prop_assert!(ours.is_err()),
        }
    }

    #[test]
    fn white_space_goes_and_nothing_else(value in any_json(), blanks in "[ \t\r\n]{0,20}") {
        // A line ends between tokens only: in strings it is escaped.
        let spaced = serde_json::to_string_pretty(&value).unwrap().replace('\n', &blanks);
        prop_assert_eq!(crate::json::compact(&spaced, 100).unwrap(), value.to_string());
    }

    #[test]
    fn arbitrary_json_decodes_or_names_a_type(value in any_json()) {
        match decode(&form(), &value.to_string(), Limits::default()) {
            Ok(decoded) => {
                let members = decoded.members().map(|(name, value)| format!("\"{name}\":{value}"));
                prop_assert_eq!(&decoded.fields, &members.collect::<Vec<_>>().join(","));
                let whole = format!("{{\"metadata\":{},{}}}", decoded.metadata, decoded.fields);
                prop_assert!(serde_json::from_str::<serde_json::Value>(&whole).is_ok(), "{}", whole);
            }
            Err(error) => prop_assert!(!matches!(error, DecodeError::Syntax(_))),
        }
    }

    #[test]
    fn normal_form_is_a_fixpoint(value in any_form()) {
        let once = read(&value.to_string());
        let whole = |decoded: &Decoded| format!("{{\"metadata\":{},{}}}", decoded.metadata, decoded.fields);
        let twice = read(&whole(&once));
        prop_assert_eq!(whole(&once), whole(&twice));
        prop_assert_eq!(twice.strays, []);
    }
}

#[test]
fn a_string_that_may_be_any_scalar_takes_it_without_a_word() {
    let decoded = read(r#"{"parameters":[{"name":"a","examples":[1.50,true,"x"]}]}"#);
    assert_eq!(
        decoded.fields,
        r#""objects":null,"parameters":[{"name":"a","examples":["1.50","true","x"]}]"#
    );
    assert_eq!(decoded.strays, []);
}
