use super::written::Written;
use super::*;

fn check(yaml: &str, expected: &str) {
    let read = to_json(yaml);
    assert_eq!(read.unwrap_or_else(|error| panic!("{yaml}: {error}")).json, expected, "{yaml}");
}

fn refused(yaml: &str) -> String {
    to_json(yaml).expect_err(yaml).to_string()
}

#[test]
fn an_object_becomes_json_sorted_by_key() {
    check(
        "kind: Pod\napiVersion: v1\nmetadata: {name: a}\nobjects:\n- b: 1\n  a: [x, 'y', y]\n- |\n  two\n  lines\n",
        r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"objects":[{"a":["x","y",true],"b":1},"two\nlines\n"]}"#,
    );
}

#[test]
fn scalars_follow_yaml_1_1() {
    check(
        "[yes, 0755, 1_000, 1.50, 1e3, ~, 2001-01-01, 18446744073709551615, 12345678901234567890123, -0]",
        "[true,493,1000,1.5,1000,null,\"2001-01-01\",18446744073709551615,1.2345678901234568e+22,0]",
    );
    check(
        "[!!str 5, !!int \"5\", !!float 5, !custom 5, ! 5, !!binary aGk=]",
        r#"["5",5,5,"5","5","hi"]"#,
    );
    assert!(refused("a: .inf").contains("no number"));
    assert!(refused("!!int x").contains("cannot decode"));
}

#[test]
fn keys_are_texts_whatever_they_look_like() {
    check("n: 1\n5: 2\n1.5: 3\n'6': 4\n", r#"{"1.5":3,"5":2,"6":4,"false":1}"#);
    assert!(refused("~: 1").contains("unsupported map key"));
    assert!(refused("{[a]: 1}").contains("invalid map key"));
}

#[test]
fn only_the_first_document_counts() {
    check("a: 1\n---\nb: 2\n", r#"{"a":1}"#);
    check("", "null");
    check("# nothing\n", "null");
    check("---\n---\na: 1\n", "null");
}

fn all(text: &str) -> Vec<String> {
    let documents = documents(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    documents.into_iter().map(|document| document.json).collect()
}

#[test]
fn a_file_has_documents_and_those_that_are_empty_do_not_count() {
    let text = "---\n# nothing\n---\na: 1\n---\n---\nb: 2\n...\n---\n~\n--- {c: 3}\n";
    assert_eq!(all(text), [r#"{"a":1}"#, r#"{"b":2}"#, r#"{"c":3}"#]);
    assert!(all("").is_empty());
    assert!(all("# nothing\n").is_empty());
    assert_eq!(all("{\"a\": 1}\n---\nb: 2\n"), [r#"{"a":1}"#, r#"{"b":2}"#]);
}

#[test]
fn a_file_of_json_has_objects_one_behind_the_other() {
    let text = "{\"b\": 1.0, \"a\": [ ]}\n{\"c\": 1e3} {}\n";
    assert_eq!(all(text), ["{\"b\": 1.0, \"a\": [ ]}", "{\"c\": 1e3}", "{}"]);
    assert!(documents("{\"a\": 1} 5").is_err());
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(600), "]".repeat(600));
    assert_eq!(all(&deep), [deep]);
}

#[test]
fn documents_share_lines_and_limits_but_no_anchors() {
    let read = documents("a: 1\n---\nb: 1\nb: 2\n").unwrap();
    assert_eq!(read[0].duplicates, [""; 0]);
    assert_eq!(read[1].duplicates, [r#"line 4: key "b" already set in map"#]);
    let error = |text: &str| documents(text).unwrap_err().to_string();
    assert!(error("a: 1\n---\n{").starts_with("yaml: line "));
    assert!(error("a: &x 1\n---\nb: *x\n").starts_with("yaml: line 3: "));
    let half = format!("a: &x {}\nb: *x\n---\n", "x".repeat(1 << 20));
    assert!(documents(&half).is_ok());
    assert!(error(&half.repeat(3)).contains("excessive aliasing"));
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_text() {
    check("\u{feff}a: 1\n", r#"{"a":1}"#);
    check("\u{feff}{\"a\": 1.0}", r#"{"a": 1.0}"#);
}

#[test]
fn json_is_passed_on_as_it_stands() {
    check(" {\"b\": 1.0, \"a\": 1e3}\n", "{\"b\": 1.0, \"a\": 1e3}");
    check("{b: 1.0, a: 1e3}", r#"{"a":1000,"b":1}"#);
    check("{\"a\": \"\\ud83d\\ude00\", b: 1}", "{\"a\":\"😀\",\"b\":1}");
}

#[test]
fn a_repeated_key_takes_the_last_value_and_is_reported_with_its_line() {
    let read = to_json("a: 1\nb: 2\na:\n  c: 1\n  c: 2\n").unwrap();
    assert_eq!(read.json, r#"{"a":{"c":2},"b":2}"#);
    assert_eq!(
        read.duplicates,
        [r#"line 5: key "c" already set in map"#, r#"line 4: key "a" already set in map"#]
    );
    assert!(to_json("a: 1").unwrap().duplicates.is_empty());
    let many = "a: 1\n".repeat(5000);
    let loaded = safe_load::<Written>(&many).unwrap();
    let told = (to_json(&many).unwrap().duplicates.len(), loaded.duplicates.len());
    assert_eq!(told, (1000, 1000), "millions of them would be gigabytes");
}

#[test]
fn aliases_and_merges_are_expanded() {
    check("a: &x {c: 1, b: 2}\nd: *x\n", r#"{"a":{"b":2,"c":1},"d":{"b":2,"c":1}}"#);
    check("a: &x {c: 1}\nd: {<<: *x, e: 2}\n", r#"{"a":{"c":1},"d":{"c":1,"e":2}}"#);
    check(
        "- &x {c: 1}\n- &y {c: 2, d: 3}\n- <<: [*x, *y]\n",
        r#"[{"c":1},{"c":2,"d":3},{"c":1,"d":3}]"#,
    );
    check("&k a: 1\nb: *k\n*k : 2\n", r#"{"a":2,"b":"a"}"#);
    check("'<<': 1\n", r#"{"<<":1}"#);
    assert!(refused("&a [*a]").contains("contains itself"));
    assert!(refused("<<: 5").contains("merge requires map"));
    assert!(refused("*x").starts_with("yaml: line 1: "));
}

#[test]
fn bombs_are_refused() {
    let mut laughs = "a: &a [lol,lol,lol,lol,lol,lol,lol,lol,lol]\n".to_owned();
    for (this, last) in ('b'..='z').zip('a'..) {
        laughs += &format!(
            "{this}: &{this} [{}]\n",
            [format!("*{last}"), String::new()].join(",").repeat(9)
        );
    }
    assert!(refused(&laughs).contains("excessive aliasing"));
    let keys = format!("- &a {}\n- [{}]\n", "x".repeat(1 << 20), "{*a : 1},".repeat(5));
    assert!(refused(&keys).contains("excessive aliasing"));
    assert!(safe_load::<Written>(&keys).unwrap_err().message().contains("excessive aliasing"));
    let nested_anchors: String = (0..200).map(|n| format!("&a{n} [")).collect();
    let big = format!("{nested_anchors}{}{}", "x".repeat(1 << 20), "]".repeat(200));
    assert!(refused(&big).contains("excessive aliasing"));
    for deep in
        ["[".repeat(100_000), "- ".repeat(100_000), "{a: ".repeat(100_000), "? ".repeat(100_000)]
    {
        refused(&deep);
    }
}

#[test]
fn two_hundred_levels_are_fine() {
    let yaml = format!("{}1{}", "{b: ".repeat(200), ", a: 0}".repeat(200));
    let json = format!("{}1{}", "{\"a\":0,\"b\":".repeat(200), "}".repeat(200));
    check(&yaml, &json);
}

#[test]
fn what_is_no_yaml_is_told_with_its_line() {
    for yaml in ["{{", "a: b: c", "a: 1\n- b", "\"", "a: [", "%X", "@a"] {
        assert!(refused(yaml).starts_with("yaml: line "), "{yaml}");
    }
}
