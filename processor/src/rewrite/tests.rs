//! The rules for objects, one by one. Where a rule surprises, the recorded exchange that shows it
//! is named; the numbers are those of the `process-objects` scenario.

use crate::{Dialect, Overrides, Random, Template, Values, process};

struct Never;

impl Random for Never {
    fn below(&mut self, _bound: u32) -> u32 {
        unreachable!("nothing is generated here")
    }
}

const PARAMETERS: &str = r#"[{"name":"A","value":"aa"},{"name":"E"},{"name":"N","value":"null"},
    {"name":"I","value":"5"},{"name":"S","value":"\"s\""},{"name":"R","value":"Route"},
    {"name":"K","value":"metadata"},{"name":"M","value":"{\"namespace\":\"n\"}"}]"#;

fn run(object: &str, labels: &str) -> String {
    let body =
        format!("{{\"objects\":[{object}],\"labels\":{labels},\"parameters\":{PARAMETERS}}}");
    let template = Template::parse(&body, Dialect::OpenShift).unwrap();
    let values = Values::resolve(&template, &Overrides::new(), &mut Never).unwrap();
    match process(&template, &values) {
        Ok(processed) => processed.objects().map(|object| object.to_string()).collect(),
        Err(errors) => errors.to_string(),
    }
}

/// Members of an object that has `apiVersion` and `kind` already.
fn check(members: &str, want: &str) {
    let whole = |members: &str| format!(r#"{{"apiVersion":"v1","kind":"K",{members}}}"#);
    assert_eq!(run(&whole(members), "null"), whole(want), "{members}");
}

fn check_object(object: &str, want: &str) {
    assert_eq!(run(object, "null"), want, "{object}");
}

fn check_labels(members: &str, labels: &str, want: &str) {
    let object = format!(r#"{{"apiVersion":"v1","kind":"K"{members}}}"#);
    let want = format!(r#"{{"apiVersion":"v1","kind":"K"{want}}}"#);
    assert_eq!(run(&object, labels), want, "{members}");
}

#[test]
fn values_are_substituted_at_any_depth() {
    check(r#""a":["${A}",{"${A}":"x${E}y"}]"#, r#""a":["aa",{"aa":"xy"}]"#);
    check(r#""a":"${{I}}","b":"${{A}}","c":"${{E}}""#, r#""a":5,"b":"aa","c":"""#);
    check(r#""a":"${{S}}","${{S}}":1"#, r#""a":"s","s":1"#);
    check(
        r#""a":"x${{I}}","b":"${U}${{U}}","c":"\\${A}""#,
        r#""a":"x${{I}}","b":"${U}${{U}}","c":"\\aa""#,
    );
    check(
        r#""a":"\u0024{A}","b":"\ud800","c":"\u003c""#,
        "\"a\":\"aa\",\"b\":\"\u{fffd}\",\"c\":\"<\"",
    );
}

#[test]
fn untouched_text_is_copied_as_it_is() {
    check(
        r#""z" : 1.0 ,  "a":[ 1e3,-0, {} ],"e":"\n\/""#,
        r#""z" : 1.0 ,  "a":[ 1e3,-0, {} ],"e":"\n\/""#,
    );
}

#[test]
fn a_null_removes_its_member() {
    check(r#""a":"${{N}}","b":1,"c":"${{N}}""#, r#""b":1"#);
    check(r#""a":{"x":"${{N}}","y":"${{N}}"}"#, r#""a":{}"#);
    check(r#""a":null"#, r#""a":null"#);
    let error = run(r#"{"kind":"K","a":{"b":["${{N}}"]}}"#, "null");
    assert!(
        error.starts_with("item[0].objects.a.b[0]: Invalid value: null: a list cannot"),
        "{error}"
    );
}

#[test]
fn of_equal_keys_the_last_counts() {
    check(r#""a":1,"b":2,"a":3"#, r#""b":2,"a":3"#);
    check(r#""a":1,"${A}":2,"aa":3"#, r#""a":1,"aa":3"#);
    check(r#""a":1,"a":"${{N}}","b":2"#, r#""b":2"#);
    check(r#""${A}":1,"aa":"${{N}}","b":2"#, r#""aa":1,"b":2"#);
    check(r#""a":["${{N}}"],"a":1"#, r#""a":1"#);
}

#[test]
fn a_namespace_that_is_no_reference_is_removed() {
    check(r#""metadata":{"namespace":"hard"}"#, r#""metadata":{}"#);
    check(r#""metadata":{"name":"n","namespace":"${{A}}"}"#, r#""metadata":{"name":"n"}"#); // 041
    check(r#""metadata":{"namespace":"x-${A}"}"#, r#""metadata":{"namespace":"x-aa"}"#);
    check(r#""metadata":{"namespace":"${U}"}"#, r#""metadata":{"namespace":"${U}"}"#);
    check(r#""metadata":{"namespace":"${E}"}"#, r#""metadata":{"namespace":""}"#);
    check(r#""metadata":{"namespace":[{"a":1}]}"#, r#""metadata":{"namespace":""}"#); // 046
    check(r#""${K}":{"namespace":"hard"}"#, r#""metadata":{"namespace":"hard"}"#);
    check(r#""metadata":"${{M}}""#, r#""metadata":{"namespace":"n"}"#);
    check(r#""namespace":"hard""#, r#""namespace":"""#); // 051
    check(r#""namespace":"${A}""#, r#""namespace":"aa""#);
    check(r#""namespace":"top","metadata":{}"#, r#""namespace":"top","metadata":{}"#); // 053
}

#[test]
fn identity_is_written_from_group_version_and_kind() {
    check_object(r#"{"kind":"K"}"#, r#"{"kind":"K","apiVersion":""}"#);
    check_object(r#"{"apiVersion":1,"kind":"K"}"#, r#"{"apiVersion":"","kind":"K"}"#);
    check_object(r#"{"apiVersion":"/","kind":"K"}"#, r#"{"apiVersion":"","kind":"K"}"#);
    check_object(
        r#"{"apiVersion":"v9","kind":"${R}"}"#,
        r#"{"apiVersion":"route.openshift.io/v9","kind":"Route"}"#,
    );
    check_object(r#"{"kind":"Route"}"#, r#"{"kind":"Route","apiVersion":"route.openshift.io/"}"#);
    check_object(
        r#"{"apiVersion":"apps/v1","kind":"Route"}"#,
        r#"{"apiVersion":"apps/v1","kind":"Route"}"#,
    );
    check_object(
        r#"{"apiVersion":"a/${A}/b","kind":"K"}"#,
        &refused_kind(r#"{"apiVersion":"a/${A}/b","kind":"K"}"#),
    );
    check_object(r#"{"apiVersion":"v1","kind":"${{I}}"}"#, r#"{"apiVersion":"v1","kind":""}"#);
    check_object(
        r#"{"apiVersion":"v1","kind":5}"#,
        &refused_kind(r#"{"apiVersion":"v1","kind":5}"#),
    );
}

fn refused_kind(object: &str) -> String {
    format!(
        "item[0].objects: Invalid value: {object}: unable to handle object: \
         Object 'Kind' is missing in '{object}'"
    )
}

#[test]
fn labels_reach_the_metadata_of_the_object_only() {
    let ab = r#"{"a":"b"}"#;
    check_labels("", ab, r#","metadata":{"labels":{"a":"b"}}"#);
    check_labels(r#","metadata":{}"#, ab, r#","metadata":{"labels":{"a":"b"}}"#);
    check_labels(r#","metadata":{"labels":{}}"#, ab, r#","metadata":{"labels":{"a":"b"}}"#);
    check_labels(
        r#","metadata":{"labels":{"a":"x","z":"1"}}"#,
        ab,
        r#","metadata":{"labels":{"a":"b","z":"1"}}"#,
    );
    check_labels(
        r#","metadata":{"labels":{"q":null}}"#,
        ab,
        r#","metadata":{"labels":{"q":"","a":"b"}}"#,
    ); // 071
    check_labels(
        r#","metadata":{"labels":{"q":5,"w":"x"}}"#,
        ab,
        r#","metadata":{"labels":{"a":"b"}}"#,
    ); // 072
    check_labels(r#","metadata":{"labels":"x"}"#, ab, r#","metadata":{"labels":{"a":"b"}}"#); // 075
    check_labels(r#","metadata":null"#, ab, r#","metadata":null"#); // 069
    check_labels(r#","metadata":{"namespace":"hard"}"#, ab, r#","metadata":{"labels":{"a":"b"}}"#);
    check_labels(
        r#","spec":{"labels":{}}"#,
        "{}",
        r#","spec":{"labels":{}},"metadata":{"labels":{}}"#,
    ); // 066
}

#[test]
fn a_list_is_substituted_and_no_more() {
    let list = r#"{"apiVersion":"v1","metadata":{"namespace":"n"},"items":[{"kind":"${R}","x":{"namespace":"n"}}],"kind":"List"}"#;
    check_object(list, &list.replace("${R}", "Route"));
    check_object(
        r#"{"kind":"RList","items":[{"a":1},{"kind":"","a":1},null]}"#,
        r#"{"kind":"RList","items":[{"a":1,"apiVersion":"","kind":"R"},{"kind":"R","a":1,"apiVersion":""},{"apiVersion":"","kind":"R"}],"apiVersion":""}"#,
    );
    let error = run(r#"{"kind":"L","items":null}"#, "{}"); // 027
    assert!(
        error.starts_with("item[0].labels: Invalid value: {}: label could not be applied"),
        "{error}"
    );
}
