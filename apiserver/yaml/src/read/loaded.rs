//! Tests of what PyYAML's rules make of a text.

use super::written::Written;
use super::*;
use crate::{LARGEST_LOADED, VALUE_LOADED};

fn load(yaml: &str) -> Result<Loaded<Written>, ReadError> {
    safe_load(yaml)
}

fn check(yaml: &str, expected: &str) {
    let read = load(yaml).unwrap_or_else(|error| panic!("{yaml}: {error}"));
    assert_eq!(read.value.to_string(), expected, "{yaml}");
}

fn refused(yaml: &str) -> ReadError {
    load(yaml).expect_err(yaml)
}

#[test]
fn members_and_keys_stay_as_they_are_written() {
    check(
        "b: 1\na: {yes: 1, 010: 2, 1.50: 3, ~: 4, =: 5, 'q': 6, 2001-01-01: 7}\n",
        r#"{"b":1,"a":{"yes":1,"010":2,"1.50":3,"~":4,"=":5,"q":6,"2001-01-01":7}}"#,
    );
    check("? a\n", r#"{"a":null}"#);
    assert_eq!(refused("a: 1\n? [b]\n: 2\n").line(), Some(2));
    assert_eq!(refused("{{a: 1}: 2}").message(), "invalid map key");
}

#[test]
fn dates_stay_the_text_that_is_written_and_floats_stay_floats() {
    check(
        "[2001-01-01, 2001-12-14t21:59:43.10-05:00, 1.0, 1.5e+3, 1e3, 1:30, 010, y, off]",
        r#"["2001-01-01","2001-12-14t21:59:43.10-05:00",1.0,1500.0,"1e3",90,8,"y",false]"#,
    );
    check(r#"{"a": 1e3, "b": 1.0}"#, r#"{"a":"1e3","b":1.0}"#);
}

#[test]
fn a_block_at_the_end_has_the_line_breaks_that_are_written() {
    for (yaml, text) in [
        ("a: |\n  b\n  c", "b\\nc"),
        ("a: |\n  b\n", "b\\n"),
        ("a: |\n  b\n  ", "b\\n"),
        ("a: |\n  b\n# c", "b\\n"),
        ("a: |+\n  b", "b"),
        ("a: |+\n  b\n\n", "b\\n\\n"),
        ("a: >\n  b\n  é", "b é"),
    ] {
        check(yaml, &format!("{{\"a\":\"{text}\"}}"));
    }
    check("- |\n  b\n- c", r#"["b\n","c"]"#);
}

#[test]
fn tags_of_yaml_1_1_count_and_others_are_refused() {
    check(
        "[!!str 5, !!int '0x1f', !!float 5, !!float 1e3, !!bool 'YES', !!null x, !!binary aGk=]",
        r#"["5",31,5.0,1000.0,true,null,"hi"]"#,
    );
    check(
        "[! 5, ! '5', !!timestamp 2001-01-01, !!seq [a], !!map {a: 1}]",
        r#"[5,5,"2001-01-01",["a"],{"a":1}]"#,
    );
    for (yaml, tag) in [
        (
            "a: !!python/object/apply:os.getcwd []",
            "tag:yaml.org,2002:python/object/apply:os.getcwd",
        ),
        ("a: !!python/name:os.system x", "tag:yaml.org,2002:python/name:os.system"),
        ("a: !foo 1", "!foo"),
        ("!foo {a: 1}", "!foo"),
        ("!foo a: 1", "!foo"),
        ("a: !<x> 1", "x"),
        ("a: !%1b%5B31m 1", "!\\u{1b}[31m"),
        ("a: =", "tag:yaml.org,2002:value"),
        ("a: <<", "tag:yaml.org,2002:merge"),
        ("a: !!set {b}", "tag:yaml.org,2002:set"),
    ] {
        let error = refused(yaml);
        let message = format!("could not determine a constructor for the tag '{tag}'");
        assert_eq!((error.line(), error.message()), (Some(1), message.as_str()), "{yaml}");
    }
    assert!(refused(&format!("!{} a", "x".repeat(5000))).message().ends_with("xx…"));
    for yaml in
        ["!!int x", "!!int 1e3", "!!bool x", "!!float x", "!!str [a]", "!!map [a]", "!!seq x"]
    {
        refused(yaml);
    }
}

#[test]
fn what_json_cannot_say_is_refused_with_its_line() {
    for yaml in ["a:\n- .inf", "a:\n- -.INF", "a:\n- .nan", "a:\n- 18446744073709551616"] {
        assert_eq!(refused(yaml).line(), Some(2), "{yaml}");
    }
    check(
        "[18446744073709551615, -9223372036854775808]",
        "[18446744073709551615,-9223372036854775808]",
    );
}

#[test]
fn there_is_one_document_or_none() {
    for empty in ["", "# nothing\n", "---\n", "~", "--- null\n...\n"] {
        check(empty, "null");
    }
    check("---\na: 1\n...\n", r#"{"a":1}"#);
    for two in ["a: 1\n---\nb: 2\n", "a: 1\n---\n", "{}\n--- {"] {
        let error = refused(two);
        assert!(error.message().starts_with("expected a single document"), "{error}");
        assert_eq!(error.line(), Some(2), "{two}");
    }
    refused("{} {}");
}

#[test]
fn of_equal_keys_the_first_has_the_place_and_the_last_the_value() {
    let read = load("b: 1\na: 2\nb: {c: 1, c: 2}\n").unwrap();
    assert_eq!(read.value.to_string(), r#"{"b":{"c":2},"a":2}"#);
    assert_eq!(
        read.duplicates,
        [r#"line 3: key "c" already set in map"#, r#"line 3: key "b" already set in map"#]
    );
}

#[test]
fn what_is_merged_comes_first_and_yields_to_the_map_itself() {
    let read = load("base: &b {k: 1, j: 2}\nown: {a: 0, k: 9, <<: *b}\n").unwrap();
    assert_eq!(read.value.to_string(), r#"{"base":{"k":1,"j":2},"own":{"k":9,"j":2,"a":0}}"#);
    assert_eq!(read.duplicates, [""; 0]);
    check(
        "- &x {c: 1}\n- &y {c: 2, d: 3}\n- {e: 0, <<: [*x, *y], <<: {d: 9}}\n",
        r#"[{"c":1},{"c":2,"d":3},{"c":1,"d":9,"e":0}]"#,
    );
    check("{'<<': 1}", r#"{"<<":1}"#);
    refused("{<<: null}");
}

#[test]
fn an_anchored_key_is_a_text_as_a_key_and_a_value_elsewhere() {
    check("&k 010: 1\nb: *k\n", r#"{"010":1,"b":8}"#);
    check("a: &x name\nb: {*x : 1}\n", r#"{"a":"name","b":{"name":1}}"#);
    refused("&a [*a]");
}

#[test]
fn items_of_lists_at_the_top_have_their_lines() {
    let text = "x: &x [1, 2]\n<<: {y: [1]}\nresources:\n- name: a\n  deep: [1,\n    2]\n-\n  name: b\n- {}\nz: *x\n";
    let lines = load(text).unwrap().lines;
    assert_eq!(lines, [("x".to_owned(), vec![1, 1]), ("resources".to_owned(), vec![4, 8, 9])]);
    assert_eq!(load("- [1]\n- {a: [2]}\n").unwrap().lines, []);
}

#[test]
fn repeated_keys_are_told_in_the_order_in_which_their_values_end() {
    let long = "x".repeat(100);
    let text = format!("<<: {{a: {long}, a: 2}}\nb: 1\nb: 2\n");
    let keys = ["line 1: key \"a\" already set in map", "line 3: key \"b\" already set in map"];
    assert_eq!(load(&text).unwrap().duplicates, keys);
}

#[test]
fn very_many_values_are_refused_before_they_take_memory() {
    let most = LARGEST_LOADED / VALUE_LOADED;
    assert!(load(&format!("[{}]", "0,".repeat(most - 1))).is_ok());
    let error = refused(&format!("[{}]", "0,".repeat(most)));
    let message = "it says more than the 16777216 bytes that are allowed";
    assert_eq!((error.line(), error.message()), (None, message));
    let tenth = most / 10;
    let copies =
        |aliases: usize| format!("- &a [{}]\n- [{}]\n", "0,".repeat(tenth), "*a,".repeat(aliases));
    assert!(load(&copies(8)).is_ok());
    assert!(refused(&copies(9)).message().contains("excessive aliasing"));
}

#[test]
fn bombs_are_refused() {
    let laughs: String =
        ('b'..='z').zip('a'..).fold("a: &a [x]\n".to_owned(), |text, (this, last)| {
            text + &format!("{this}: &{this} [{}]\n", format!("*{last},").repeat(9))
        });
    assert!(refused(&laughs).message().contains("excessive aliasing"));
    let merges: String =
        ('b'..='z').zip('a'..).fold("a: &a {x: 1}\n".to_owned(), |text, (this, last)| {
            text + &format!(
                "{this}: &{this} {{<<: *{last}, {this}: [{}]}}\n",
                format!("*{last},").repeat(9)
            )
        });
    assert!(refused(&merges).message().contains("excessive aliasing"));
    for deep in ["[", "- ", "{a: ", "? "] {
        refused(&deep.repeat(100_000));
        refused(&deep.repeat(101));
    }
    check(
        &format!("{}{}", "[".repeat(100), "]".repeat(100)),
        &format!("{}{}", "[".repeat(100), "]".repeat(100)),
    );
}
