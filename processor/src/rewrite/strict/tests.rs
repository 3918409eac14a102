//! The proposal's rules for objects, one by one.

use crate::{Dialect, Overrides, Random, Template, Values, process, validate};

struct Never;

impl Random for Never {
    fn below(&mut self, _bound: u32) -> u32 {
        unreachable!("nothing is generated here")
    }
}

const PARAMETERS: [(&str, &str); 7] = [
    ("A", "aa"),
    ("E", ""),
    ("N", "2"),
    ("NULL", "null"),
    ("S", "\\\"s\\\""),
    ("J", "{}"),
    ("K", "Deployment"),
];

/// The object with the labels that come with it, processed; or what is wrong with them.
fn run(object: &str, labels: &str) -> String {
    let used = |name: &str| {
        let refers = |text: &str| text.contains(&format!("({name})"));
        refers(object) || refers(labels)
    };
    let parameters: Vec<String> = PARAMETERS
        .iter()
        .filter(|(name, _)| used(name))
        .map(|(name, value)| format!("{{\"name\":\"{name}\",\"value\":\"{value}\"}}"))
        .collect();
    let body = format!(
        "{{\"objects\":[{object}],\"labels\":{labels},\"parameters\":[{}]}}",
        parameters.join(",")
    );
    let template = Template::parse(&body, Dialect::Proposal).unwrap();
    let values = Values::resolve(&template, &Overrides::new(), &mut Never).unwrap();
    match process(&template, &values) {
        Ok(processed) => processed.objects().map(|object| object.to_string()).collect(),
        Err(errors) => errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

/// Members of an object that has `apiVersion` and `kind` already.
fn check(members: &str, want: &str) {
    let whole = |members: &str| format!(r#"{{"apiVersion":"v1","kind":"K",{members}}}"#);
    assert_eq!(run(&whole(members), "null"), whole(want), "{members}");
}

fn refused(members: &str, want: &[&str]) {
    let object = format!(r#"{{"apiVersion":"v1","kind":"K",{members}}}"#);
    assert_eq!(run(&object, "null"), want.join("\n"), "{members}");
}

/// Members of an object of this kind that gets the label `a: b`.
fn labels(api_version: &str, kind: &str, members: &str, want: &str) {
    let whole =
        |members: &str| format!(r#"{{"apiVersion":"{api_version}","kind":"{kind}",{members}}}"#);
    let want = whole(want);
    assert_eq!(run(&whole(members), r#"{"a":"b"}"#), want, "{members}");
}

const META: &str = r#""metadata":{"labels":{"a":"b"}}"#;

#[test]
fn a_quoted_reference_gives_text() {
    check(r#""a":["$(A)",{"$(A)":"x$(E)y"}]"#, r#""a":["aa",{"aa":"xy"}]"#);
    check(r#""a":"$(N)","b":"$(NULL)","c":"$(S)""#, r#""a":"2","b":"null","c":"\"s\"""#);
    check(r#""a":"$(A)$(A)-$(A)","b":"\u0024(A)""#, r#""a":"aaaa-aa","b":"aa""#);
}

#[test]
fn unquoted_references_give_what_the_text_says() {
    check(r#""a":"$((N))","b":"1$((N))","c":"$((N))$((N)).50""#, r#""a":2,"b":12,"c":22.5"#);
    check(r#""a":"$((A))","b":"x$((A))\n""#, r#""a":"aa","b":"xaa\n""#);
    check(r#""a":"$((S))","b":"$((J))","c":["$((NULL))"]"#, r#""a":"s","b":"{}","c":[null]"#);
    check(r#""a":"$((E))","b":"$((E))$((E))""#, r#""a":null,"b":null"#);
    check(r#""a":"\u0074rue$((E))","b":"0$((N))""#, r#""a":true,"b":"02""#);
}

#[test]
fn one_quoted_reference_keeps_the_quotes() {
    check(r#""a":"$((N))$(N)","b":"$(E)$((N))""#, r#""a":"22","b":"2""#);
}

#[test]
fn keys_are_text() {
    check(r#""$(A)":1,"$((N))":2,"x$((NULL))":3"#, r#""aa":1,"2":2,"xnull":3"#);
}

#[test]
fn values_are_not_read_again() {
    let body = r#"{"objects":[{"apiVersion":"v1","kind":"K","v":"$(A)$$(B)"}],
        "parameters":[{"name":"A","value":"$(A)$((A))"}]}"#;
    let template = Template::parse(body, Dialect::Proposal).unwrap();
    let values = Values::resolve(&template, &Overrides::new(), &mut Never).unwrap();
    let processed = process(&template, &values).unwrap();
    let object = processed.objects().next().unwrap();
    assert!(object.as_str().ends_with(r#""v":"$(A)$((A))$$(B)"}"#), "{object}");
}

#[test]
fn what_is_no_reference_is_copied() {
    let members = r#""z" : 1.0 , "a":[ "$$(NOPE)", "$(a b)", "${A}", "\n\/" ],"b":null"#;
    check(members, members);
    check(
        r#""metadata":{"namespace":"kept","name":"\ud800"}"#,
        "\"metadata\":{\"namespace\":\"kept\",\"name\":\"\u{fffd}\"}",
    );
}

#[test]
fn everything_undefined_is_named_with_its_path() {
    refused(
        r#""spec":{"x":["ok","$(NO) $((NOR))"],"a.b/c":{"$(NO)":"$(A)"}},"$(NO)":1"#,
        &[
            "objects[0].spec.x[1]: Not found: \"$(NO)\": the template has no such parameter",
            "objects[0].spec.x[1]: Not found: \"$((NOR))\": the template has no such parameter",
            "objects[0].spec[a.b/c]: Not found: \"$(NO)\": the template has no such parameter",
            "objects[0]: Not found: \"$(NO)\": the template has no such parameter",
        ],
    );
}

#[test]
fn a_key_stands_once() {
    refused(
        r#""s":{"a":1,"a":2,"$(A)":3,"aa":4}"#,
        &["objects[0].s: Duplicate value: \"a\"", "objects[0].s: Duplicate value: \"aa\""],
    );
}

#[test]
fn an_object_says_what_it_is() {
    let required = "Required value: an object needs its apiVersion and its kind";
    assert_eq!(
        run("{}", "null"),
        format!("objects[0].apiVersion: {required}\nobjects[0].kind: {required}")
    );
    assert_eq!(
        run(r#"{"apiVersion":"a/b/c","kind":"$((N))"}"#, "null"),
        "objects[0].kind: Invalid value: 2: must be a string\n\
         objects[0].apiVersion: Invalid value: \"a/b/c\": must be a version, or a group, '/' and a version"
    );
    assert_eq!(
        run(r#"{"kind":"$(E)","apiVersion":"v1"}"#, "null"),
        format!("objects[0].kind: {required}")
    );
    assert_eq!(run("null", "null"), "objects[0]: Required value: must be an object");
    assert_eq!(run("[1, 2]", "null"), "objects[0]: Invalid value: [1,2]: must be an object");
    assert_eq!(
        run(r#"{"kind":"Route","apiVersion":"v1"}"#, "null"),
        r#"{"kind":"Route","apiVersion":"v1"}"#
    );
}

// === Containers ===

fn pod(container: &str) -> String {
    format!(r#""spec":{{"containers":[{{{container}}}]}}"#)
}

#[test]
fn variables_of_the_container_stay() {
    let containers = [
        r#""args":["$(VAR) $(A)"],"env":[{"name":"VAR","value":"1"}]"#,
        r#""env":[{"name":"VAR","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}}],"command":["$(VAR) $(A)"]"#,
        r#""env":[{"name":"VAR"},{"name":"B","value":"$(VAR) $(A)"}]"#,
        r#""env":[{"name":"V$(E)AR"}],"volumeMounts":[{"subPathExpr":"$(VAR) $(A)"}]"#,
        r#""livenessProbe":{"exec":{"command":["$(VAR) $(A)"]}},"env":[{"name":"VAR"}]"#,
        r#""envFrom":[{"configMapRef":{"name":"c"}}],"args":["$(VAR) $(A)"]"#,
    ];
    for container in containers {
        let want = container.replace("$(A)", "aa").replace("$(E)", "");
        check(&pod(container), &pod(&want));
    }
    let init = r#""spec":{"template":{"spec":{"initContainers":[{"args":["$(VAR)"],"env":[{"name":"VAR"}]}]}}}"#;
    check(init, init);
}

#[test]
fn variables_count_only_where_kubernetes_expands_them() {
    let undefined = "Not found: \"$(VAR)\": the template has no such parameter";
    for (container, path) in [
        (r#""env":[{"name":"VAR"}],"image":"$(VAR)""#, "image"),
        (r#""env":[{"name":"VAR"}],"lifecycle":{"x":"$(VAR)"}"#, "lifecycle.x"),
        (r#""env":[],"envFrom":[ ],"args":["$(VAR)"]"#, "args[0]"),
        (r#""env":[{"name":"$(VAR)"}]"#, "env[0].name"),
    ] {
        refused(&pod(container), &[&format!("objects[0].spec.containers[0].{path}: {undefined}")]);
    }
    refused(
        r#""spec":{"containers":[{"env":[{"name":"VAR"}]},{"args":["$(VAR)"]}]}"#,
        &[&format!("objects[0].spec.containers[1].args[0]: {undefined}")],
    );
    refused(
        &pod(r#""env":[{"name":"N"}],"args":["$((VAR))"]"#),
        &[
            "objects[0].spec.containers[0].args[0]: Not found: \"$((VAR))\": the template has no such parameter",
        ],
    );
}

#[test]
fn a_name_that_means_two_things_is_refused() {
    let clash = "Invalid value: \"$(A)\": a parameter and an environment variable of this container have this name";
    for (container, path) in [
        (r#""env":[{"name":"A"}],"args":["x","$(A)"]"#, "args[1]"),
        (r#""env":[{"name":"A"},{"name":"B","value":"$(A)"}]"#, "env[1].value"),
    ] {
        refused(&pod(container), &[&format!("objects[0].spec.containers[0].{path}: {clash}")]);
    }
}

#[test]
fn a_variable_may_be_set_from_the_parameter_of_its_name() {
    // Kubernetes expands only variables that stand before, so there is one meaning.
    check(
        &pod(r#""env":[{"name":"A","value":"$(A)"}],"image":"$(A)""#),
        &pod(r#""env":[{"name":"A","value":"aa"}],"image":"aa""#),
    );
}

// === Labels ===

#[test]
fn labels_reach_metadata() {
    labels("v1", "K", r#""x":1"#, &format!(r#""x":1,{META}"#));
    labels("v1", "K", r#""metadata":null"#, META);
    labels("v1", "K", r#""metadata":{"labels":null}"#, META);
    labels(
        "v1",
        "K",
        r#""metadata":{"namespace":"n","labels":{"a":"x","z":"1"}}"#,
        r#""metadata":{"namespace":"n","labels":{"a":"b","z":"1"}}"#,
    );
    for (metadata, field) in [(r#""x""#, "metadata"), (r#"{"labels":"x"}"#, "metadata.labels")] {
        let object = format!(r#"{{"apiVersion":"v1","kind":"K","metadata":{metadata}}}"#);
        let want = format!("objects[0].{field}: Invalid value: \"x\": must be a map");
        assert_eq!(run(&object, r#"{"a":"b"}"#), want);
    }
    assert_eq!(run(r#"{"apiVersion":"v1","kind":"K"}"#, "{}"), r#"{"apiVersion":"v1","kind":"K"}"#);
}

#[test]
fn labels_reach_pods_and_what_selects_them() {
    let template = r#""template":{"spec":{}}"#;
    let labelled = format!(r#""template":{{"spec":{{}},{META}}}"#);
    for (api_version, kind) in
        [("v1", "ReplicationController"), ("apps.openshift.io/v1", "DeploymentConfig")]
    {
        labels(
            api_version,
            kind,
            &format!(r#""spec":{{"selector":{{"x":"y"}},{template}}}"#),
            &format!(r#""spec":{{"selector":{{"x":"y","a":"b"}},{labelled}}},{META}"#),
        );
    }
    for kind in ["Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"] {
        labels(
            "apps/v1",
            kind,
            &format!(r#""spec":{{"selector":{{"matchLabels":{{"a":"x"}}}},{template}}}"#),
            &format!(r#""spec":{{"selector":{{"matchLabels":{{"a":"b"}}}},{labelled}}},{META}"#),
        );
    }
    labels(
        "batch/v1",
        "Job",
        &format!(r#""spec":{{{template}}}"#),
        &format!(r#""spec":{{{labelled}}},{META}"#),
    );
    labels(
        "batch/v1",
        "CronJob",
        &format!(r#""spec":{{"jobTemplate":{{"spec":{{{template}}}}}}}"#),
        &format!(r#""spec":{{"jobTemplate":{{"spec":{{{labelled}}},{META}}}}},{META}"#),
    );
    labels("v1", "PodTemplate", template, &format!("{labelled},{META}"));
}

#[test]
fn a_selector_gets_labels_only_if_it_selects() {
    let expressions = r#""matchExpressions":[{"key":"x","operator":"Exists"}]"#;
    labels(
        "policy/v1",
        "PodDisruptionBudget",
        &format!(r#""spec":{{"selector":{{{expressions}}}}}"#),
        &format!(r#""spec":{{"selector":{{{expressions},"matchLabels":{{"a":"b"}}}}}},{META}"#),
    );
    labels(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        r#""spec":{"podSelector":{"matchLabels":{"x":"y"}},"ingress":[{"from":[{"podSelector":{"matchLabels":{"p":"q"}}}]}]}"#,
        &format!(
            r#""spec":{{"podSelector":{{"matchLabels":{{"x":"y","a":"b"}}}},"ingress":[{{"from":[{{"podSelector":{{"matchLabels":{{"p":"q"}}}}}}]}}]}},{META}"#
        ),
    );
    for (api_version, kind, spec) in [
        ("v1", "Service", r#"{"selector":{}}"#),
        ("v1", "Service", r#"{"selector":null}"#),
        ("v1", "Service", r#"{"clusterIP":"None"}"#),
        ("v1", "Service", r#"{"selector":{"x":"y"},"type":"ExternalName"}"#),
        ("networking.k8s.io/v1", "NetworkPolicy", r#"{"podSelector":{ }}"#),
        ("networking.k8s.io/v1", "NetworkPolicy", r#"{"podSelector":{"matchLabels":{}}}"#),
        ("batch/v1", "Job", r#"{"selector":{"matchLabels":{"x":"y"}}}"#),
        ("apps/v1", "Deployment", r#"{"replicas":1}"#),
        ("apps/v1", "Other", r#"{"selector":{"matchLabels":{"x":"y"}},"template":{}}"#),
        ("example.com/v1", "Service", r#"{"selector":{"x":"y"}}"#),
    ] {
        let spec = format!(r#""spec":{spec}"#);
        labels(api_version, kind, &spec, &format!("{spec},{META}"));
    }
}

#[test]
fn what_decides_about_labels_may_be_a_parameter() {
    let job = |manual: &str, selector: &str| {
        format!(
            r#""spec":{{"selector":{{"matchLabels":{{{selector}}}}},"manualSelector":{manual}}}"#
        )
    };
    labels(
        "batch/v1",
        "Job",
        &job("true", r#""x":"y""#),
        &format!("{},{META}", job("true", r#""x":"y","a":"b""#)),
    );
    labels(
        "batch/v1",
        "Job",
        &job("\"true$((E))\"", r#""x":"y""#),
        &format!("{},{META}", job("true", r#""x":"y","a":"b""#)),
    );
    assert_eq!(
        run(
            r#"{"spec":{"template":{}},"kind":"$(K)","apiVersion":"apps/v1"}"#,
            r#"{"$(A)":"$((N))"}"#
        ),
        r#"{"spec":{"template":{"metadata":{"labels":{"aa":"2"}}}},"kind":"Deployment","apiVersion":"apps/v1","metadata":{"labels":{"aa":"2"}}}"#
    );
}

#[test]
fn labels_are_those_of_kubernetes() {
    let object = r#"{"apiVersion":"v1","kind":"K"}"#;
    let told = run(object, r#"{"a b":"ok","c":"-","$(NO)":"x","aa":"1","$(A)":"2"}"#);
    let fields: Vec<_> =
        told.lines().map(|line| line.split(": ").take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        fields,
        [
            "labels[$(NO)] Not found",
            "labels[a b] Invalid value",
            "labels[aa] Duplicate value",
            "labels[c] Invalid value",
        ]
    );
}

// === Lists ===

#[test]
fn items_of_a_list_are_objects() {
    let list =
        |service: &str| format!(r#"{{"apiVersion":"v1","kind":"List","items":[{service}]}}"#);
    let service = r#"{"kind":"Service","apiVersion":"v1","spec":{"selector":{"x":"y"}}}"#;
    let labelled = r#"{"kind":"Service","apiVersion":"v1","spec":{"selector":{"x":"y","a":"b"}},"metadata":{"labels":{"a":"b"}}}"#;
    assert_eq!(run(&list(service), r#"{"a":"b"}"#), list(labelled));
    let told = run(&list(&format!(r#"{{"kind":"K"}},5,{}"#, list("{}"))), "null");
    let fields: Vec<_> = told.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(
        fields,
        ["objects[0].items[0].apiVersion", "objects[0].items[1]", "objects[0].items[2].kind"]
    );
    // No list, whatever its name.
    let list = r#"{"apiVersion":"example.com/v1","kind":"AllowList","items":{}}"#;
    assert_eq!(run(list, "null"), list);
}

// === Templates that are only stored ===

fn stored(template: &str) -> String {
    let template = Template::parse(template, Dialect::Proposal).unwrap();
    validate(&template).iter().map(|error| format!("{error}\n")).collect()
}

#[test]
fn a_stored_template_is_checked_as_far_as_values_do_not_matter() {
    let sound = r#"{"parameters":[{"name":"A","required":true},{"name":"B","type":"int"}],
        "labels":{"$(A)":"$(A)","x$(B)":"-$(B)-"},
        "objects":[{"apiVersion":"$(A)","kind":"$((B))","$(A)":1,"$(B)":2,"spec":{"containers":[
            {"env":[{"name":"$(A)"}],"args":["$(FROM_A)"]}]}}]}"#;
    assert_eq!(stored(sound), "");
    let broken = r#"{"parameters":[{"name":"A"},{"name":"B"}],"labels":{"a b":"$(A)"},
        "objects":[{"kind":"K","v":"$(C)","w":{"k":1,"k":2}}]}"#;
    assert_eq!(
        stored(broken)
            .lines()
            .map(|line| line.split(": ").take(2).collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>(),
        [
            "labels[a b] Invalid value",
            "objects[0].apiVersion Required value",
            "objects[0].v Not found",
            "objects[0].w Duplicate value",
            "parameters[1].name Invalid value",
        ]
    );
}
