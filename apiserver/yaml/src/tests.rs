//! There and back again, with texts of all sorts and with the answers of a real server.
#![expect(clippy::disallowed_methods, reason = "tests read recordings")]

use std::io::Read as _;
use std::path::PathBuf;

use proptest::prelude::*;

use super::read::written::Written;
use super::*;

fn json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let text = prop_oneof![
        "[a-z]{0,6}",
        ".{0,12}",
        "[-0-9.eE+_:xob]{1,10}",
        "(yes|no|on|off|y|n|~|null|true|\\.inf|<<|=|- a|a: b|a #b|#|\\?|:)",
        "[ \\n\\t:#a-]{0,12}",
        "([a-z]{1,9} ){0,30}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON", |f| f.is_finite()).prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// JSON has one kind of number: `1.0` is printed as `1`, and `-0` as `0`.
fn numerically(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Number(number) => {
            *value = serde_json::json!(number.as_f64().map(|f| format!("{:e}", f + 0.0)));
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(numerically),
        serde_json::Value::Object(members) => members.values_mut().for_each(numerically),
        _ => {}
    }
}

/// Answers of a real server in YAML, with something for the placeholders that were quoted.
fn recorded() -> Option<Vec<String>> {
    let beside = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus").into();
    let root = std::env::var_os("FORMWORK_CORPUS").map_or_else(beside, PathBuf::from);
    let Ok(bytes) = std::fs::read(root.join("openshift/transcripts/api.ndjson.gz")) else {
        println!("skipped: corpus not present");
        return None;
    };
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    let answers = text.lines().filter_map(|line| {
        let exchange: serde_json::Value = serde_json::from_str(line).unwrap();
        let response = &exchange["response"];
        let is_yaml = response["contentType"] == "application/yaml";
        let text = response["text"].as_str().filter(|_| is_yaml)?;
        let text = text.replace("<time>", "2026-01-02T03:04:05Z");
        Some(regex::Regex::new("<rv:([0-9]+)>").unwrap().replace_all(&text, "$1").into_owned())
    });
    Some(answers.collect())
}

#[test]
fn what_python_would_take_for_something_else_is_dumped_in_quotes() {
    let json =
        r#"{"=":"=","a":["<<","0b_",".5_","018","1e3","1:30","y","plain"],"z":[1.0,1e16,5]}"#;
    let yaml = "'=': '='\na:\n- '<<'\n- '0b_'\n- '.5_'\n- \"018\"\n- \"1e3\"\n- \"1:30\"\n- \"y\"\n- plain\nz:\n- 1.0\n- 1.0e+16\n- 5\n";
    assert_eq!(safe_dump(json).unwrap(), yaml);
}

#[test]
fn what_only_some_readers_take_for_a_line_break_is_dumped_escaped() {
    let json = r#"["a\u2028b","\u0085","x\ny\u2029 z"]"#;
    assert_eq!(safe_dump(json).unwrap(), "- \"a\\Lb\"\n- \"\\N\"\n- \"x\\ny\\P z\"\n");
}

#[test]
fn recorded_answers_are_written_byte_for_byte() {
    for answer in recorded().unwrap_or_default() {
        let json = to_json(&answer).unwrap().json;
        assert_eq!(from_json(&json).unwrap(), answer);
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_the_same(mut value in json()) {
        let yaml = from_json(&value.to_string()).unwrap();
        let read = to_json(&yaml);
        let read = read.unwrap_or_else(|error| panic!("{yaml}: {error}"));
        prop_assert_eq!(read.duplicates.len(), 0);
        let mut read = serde_json::from_str(&read.json).unwrap();
        numerically(&mut read);
        numerically(&mut value);
        prop_assert_eq!(read, value, "{}", yaml);
    }

    #[test]
    fn what_is_dumped_is_loaded_as_the_same_numbers_and_texts(value in json()) {
        let yaml = safe_dump(&value.to_string()).unwrap();
        let read = safe_load::<Written>(&yaml);
        let read = read.unwrap_or_else(|error| panic!("{yaml}: {error}"));
        prop_assert_eq!(read.duplicates.len(), 0);
        let read: serde_json::Value = serde_json::from_str(&read.value.to_string()).unwrap();
        prop_assert_eq!(read, value, "{}", yaml);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[-a-c0-9 :,\\[\\]{}&*!|>'\"%#?~<\\n\\t]{0,60}") {
        if let Ok(read) = to_json(&text) {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&read.json).is_ok());
        }
        if let Ok(read) = safe_load::<Written>(&text) {
            let json = read.value.to_string();
            prop_assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
        }
    }
}
