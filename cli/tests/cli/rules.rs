//! The rules of `oc process`: every error and warning, and what beats what.

use std::fs;

use crate::run::{Outcome, Run};

/// `A` is required; `B` has a value; the object shows both.
const TEMPLATE: &str = "\
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: t}
parameters:
- {name: A, required: true}
- {name: B, value: b, generate: expression, from: '[a-z]{8}'}
objects:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: '${A}', b: '${B}'}}
";

fn process(args: &[&str]) -> Outcome {
    Run::new(&[&["process", "--local", "-f", "-"], args].concat()).stdin(TEMPLATE).go()
}

/// The values of `A` and `B` in the object.
fn values(outcome: Outcome) -> (String, String, String) {
    let (out, err) = outcome.said();
    let list: serde_json::Value = serde_json::from_str(&out).unwrap();
    let data = &list["items"][0]["data"];
    let text = |key: &str| data[key].as_str().unwrap().to_owned();
    (text("a"), text("b"), err)
}

fn check(args: &[&str], a: &str, b: &str) {
    assert_eq!(values(process(args)), (a.to_owned(), b.to_owned(), String::new()), "{args:?}");
}

fn usage(what: &str) -> String {
    format!("error: {what}\nSee 'kubectl formwork process -h' for help and examples\n")
}

#[test]
fn values_are_given_by_flag_or_as_arguments() {
    check(&["-p", "A=1"], "1", "b");
    check(&["-p=A=1"], "1", "b");
    check(&["A=1", "B=2"], "1", "2");
    check(&["--param", "A=1", "B=2"], "1", "2");
    check(&["-p", "A=1=2", "-p", "B=x,y"], "1=2", "x,y");
    check(&["-p", "A=-1", "B="], "-1", "");
}

#[test]
fn a_value_that_looks_like_a_list_is_warned_of() {
    let (a, _, err) = values(process(&["-p", "A=1,B=2"]));
    assert_eq!(a, "1,B=2");
    assert_eq!(
        err,
        "warning: --param no longer accepts comma-separated lists of values. \"A=1,B=2\" will be treated as a single key-value pair.\n"
    );
    // Without -p nobody could expect a list.
    check(&["A=1,B=2"], "1,B=2", "b");
}

#[test]
fn a_key_given_twice_is_a_mistake() {
    let twice = usage("The following parameters were provided more than once: A");
    assert_eq!(process(&["A=1", "A=1"]).refused(), twice);
    assert_eq!(process(&["-p", "A=1", "-p", "A=2"]).refused(), twice);
    assert_eq!(process(&["A=1", "-p", "A=2"]).refused(), twice);
    assert_eq!(
        process(&["B=1", "A=foo", "-p", "A=1", "-p", "B=baz"]).refused(),
        usage("The following parameters were provided more than once: A, B")
    );
}

#[test]
fn files_give_way_to_the_command_line_and_to_earlier_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let one = file("one", "# values\nexport A='1 # one'\nB: \"x\\ny\"\n");
    let two = file("two", "A=2\n");
    check(&["--param-file", &one], "1 # one", "x\ny");
    let (a, b, err) = values(process(&["--param-file", &one, "--param-file", &two, "B=line"]));
    assert_eq!((a.as_str(), b.as_str()), ("1 # one", "line"));
    assert_eq!(
        err,
        format!(
            "warning: Template parameter \"B\" already defined, ignoring value from file {one:?}\n\
             warning: Template parameter \"A\" already defined, ignoring value from file {two:?}\n"
        )
    );
}

#[test]
fn a_file_of_values_may_be_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.yaml"), TEMPLATE).unwrap();
    let run = |args: &[&'static str]| Run::new(args).folder(folder.path()).stdin("A=in").go();
    assert_eq!(values(run(&["process", "--local", "t.yaml", "--param-file", "-"])).0, "in");
}

#[test]
fn a_bad_file_of_values_is_named() {
    let refused = |file: &str| process(&["--param-file", file]).refused();
    assert!(refused("no-such").starts_with("error: Cannot stat \"no-such\": "));
    assert_eq!(refused("golden"), "error: Cannot read variables from \"golden\": is a directory\n");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad");
    fs::write(&path, "A\n").unwrap();
    let path = path.to_str().unwrap();
    assert_eq!(
        refused(path),
        format!("error: Cannot read variables from file {path:?}: Can't separate key from value\n")
    );
}

#[test]
fn an_unknown_parameter_is_refused_unless_ignored() {
    assert_eq!(process(&["A=1", "X=1"]).refused(), "error: unknown parameter name \"X\"\n");
    assert_eq!(
        process(&["A=1", "Y=1", "X=1"]).refused(),
        "unknown parameter name \"X\"\nunknown parameter name \"Y\"\n"
    );
    check(&["A=1", "X=1", "--ignore-unknown-parameters"], "1", "b");
    check(&["A=1", "X=1", "--ignore-unknown-parameters=true"], "1", "b");
}

#[test]
fn an_assignment_must_have_a_name_and_a_value() {
    let refused = process(&["-p", "A"]).refused();
    assert_eq!(refused, "error: invalid parameter assignment in \"A\", []\n");
    let refused = process(&["A=1", "1B=2"]).refused();
    assert!(refused.starts_with(
        "error: invalid parameter assignment in \"1B=2\", [a valid environment variable"
    ));
}

#[test]
fn a_required_parameter_needs_a_value() {
    let refused = process(&[]).refused();
    assert_eq!(
        refused,
        "The Template \"t\" is invalid: template.parameters[0]: Required value: template.parameters[0]: \
         parameter A is required and must be specified\n"
    );
    assert_eq!(process(&["A="]).refused(), refused);
}

#[test]
fn a_template_must_be_named_once() {
    let refused = |args: &[&str]| Run::new(args).go().refused();
    assert_eq!(refused(&["process"]), usage("Must pass a filename or name of stored template"));
    assert_eq!(
        refused(&["process", "A=1"]),
        usage("Must pass a filename or name of stored template")
    );
    assert_eq!(
        refused(&["process", "name1", "name2"]),
        usage("template name must be specified only once: name2")
    );
    assert_eq!(
        refused(&["process", "name", "-f", "x", "--local"]),
        usage(
            "You may only specify a local template file via -f when running this command with --local"
        )
    );
    assert_eq!(
        refused(&["process", "name", "-f", "x"]),
        usage("Pass either a filename or the name of a stored template, not both")
    );
}

#[test]
fn listing_parameters_goes_with_nothing_that_processing_needs() {
    for (flag, args) in [
        ("param", vec!["-p", "A=1"]),
        ("labels", vec!["-l", "a=b"]),
        ("labels", vec!["--labels=a=b"]),
        ("output", vec!["-o", "yaml"]),
        ("raw", vec!["--raw"]),
    ] {
        let args = [vec!["process", "name", "--parameters"], args].concat();
        assert_eq!(
            Run::new(&args).go().refused(),
            usage(&format!(
                "The --parameters flag does not process the template, can't be used with --{flag}"
            ))
        );
    }
    assert!(process(&["--parameters"]).quietly().starts_with("NAME "));
}

#[test]
fn labels_are_added_to_all_objects() {
    let out = process(&["A=1", "-l", "x=y,z=", "-o", "yaml"]).quietly();
    assert!(out.contains("    labels:\n      x: \"y\"\n      z: \"\"\n"), "{out}");
    assert_eq!(
        process(&["A=1", "--labels======"]).refused(),
        "error: error parsing labels: unexpected label spec: =====\n"
    );
    assert_eq!(process(&["A=1", "-l", ""]).quietly(), process(&["A=1"]).quietly());
}

#[test]
fn labels_are_wrong_before_values_are() {
    assert!(process(&["-p", "A", "-l", "x"]).refused().contains("error parsing labels"));
}

#[test]
fn what_is_no_template_is_refused() {
    let refused = |text: &str| Run::new(&["process", "--local", "-"]).stdin(text).go().refused();
    assert_eq!(
        refused("{apiVersion: v1, kind: ConfigMap}"),
        "error: unable to parse \"STDIN\", not a valid Template but v1 ConfigMap\n"
    );
    assert_eq!(
        refused("a: 1"),
        "error: failed to read input object (not a Template?): unable to decode \"STDIN\": Object 'Kind' is missing\n"
    );
    assert_eq!(
        refused("{apiVersion: v1, kind: Template, parameters: [{name: A, required: 'yes'}]}"),
        "error: failed to read input object (not a Template?): json: cannot unmarshal string into Go struct field \
         Parameter.parameters.required of type bool\n"
    );
    assert_eq!(
        Run::new(&["process", "--local", "none.yaml"]).go().refused(),
        "error: failed to read input object (not a Template?): the path \"none.yaml\" does not exist\n"
    );
}

#[test]
fn further_templates_are_left_alone_with_a_notice() {
    let text = format!("{TEMPLATE}---\n{TEMPLATE}---\n");
    let outcome = Run::new(&["process", "--local", "-", "A=1"]).stdin(&text).go();
    assert_eq!(
        values(outcome).2,
        "2 input templates found, but only the first will be processed\n"
    );
}

#[test]
fn unknown_fields_and_numbers_as_values_are_warned_of() {
    let text = TEMPLATE.replace("value: b", "value: 80, colour: red");
    let (_, b, err) = values(Run::new(&["process", "--local", "-", "A=1"]).stdin(&text).go());
    assert_eq!(b, "80");
    assert!(err.contains("Warning: unknown field \"parameters[1].colour\"\n"), "{err}");
    assert_eq!(err.lines().count(), 2, "{err}");
}

#[test]
fn an_unknown_format_or_flag_is_refused() {
    assert_eq!(
        process(&["A=1", "-o", "wide"]).refused(),
        "error: unable to match a printer suitable for the output format \"wide\", allowed formats are: json,yaml,name,describe\n"
    );
    assert!(process(&["--fields"]).refused().starts_with("error: unexpected argument '--fields'"));
}

#[test]
fn without_a_server_only_local_work_is_done() {
    let refused = Run::new(&["process", "name"]).go().refused();
    let expected =
        "error: no server is configured (--local does without one): failed to read kubeconfig";
    assert!(refused.starts_with(expected), "{refused}");
    assert!(Run::new(&["parameters", "-"]).stdin(TEMPLATE).go().quietly().starts_with("NAME "));
}

#[test]
fn generated_values_differ_and_given_ones_do_not() {
    let text = TEMPLATE.replace("value: b, ", "");
    let generated = || values(Run::new(&["process", "--local", "-", "A=1"]).stdin(&text).go()).1;
    let (one, two) = (generated(), generated());
    assert!(one.len() == 8 && one.bytes().all(|byte| byte.is_ascii_lowercase()), "{one}");
    assert_ne!(one, two);
    let given = Run::new(&["process", "--local", "-", "A=1", "B=mine"]).stdin(&text).go();
    assert_eq!(values(given).1, "mine");
}
