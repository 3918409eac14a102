//! The proposal's dialect: the published examples, and the rewriter against the oracle.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod oracle;
mod support;

use oracle::proposal::Proposal;
use processor::{Dialect, Overrides, Template, Values, process};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use support::tree::{Tree, spell};
use support::{Outcome, Seeded, corpus, run_in, same};

// === Published examples ===

fn processed(template: &Value, overrides: &Overrides) -> Value {
    match run_in(Dialect::Proposal, &template.to_string(), overrides) {
        Outcome::Template(processed) => processed,
        outcome => panic!("{template}: {outcome:?}"),
    }
}

fn yaml(path: &str) -> Option<Value> {
    Some(serde_saphyr::from_str(&corpus(path)?).unwrap())
}

#[test]
fn fields_and_keys_come_out_as_in_the_table() {
    let Some(table) = corpus("openshift/tables/k8s-proposal.json") else { return };
    let table: Value = serde_json::from_str(&table).unwrap();
    let cases = |key: &str| table[key].as_array().unwrap().clone();
    for case in cases("field").into_iter().chain(cases("key")) {
        let parameters = case["params"].as_object().unwrap().iter();
        let parameters: Vec<_> =
            parameters.map(|(name, value)| json!({"name": name, "value": value})).collect();
        let object = json!({"apiVersion": "v1", "kind": "X", "v": case["in"]});
        let template = json!({"objects": [object], "parameters": parameters});
        let got = processed(&template, &Overrides::new());
        assert_eq!(got["objects"][0]["v"], case["out"], "{case}");
        if let Some(quoted) = case["quoted"].as_bool() {
            let is_text = got["objects"][0]["v"].is_string();
            assert!(is_text || !quoted, "{case}");
        }
    }
}

#[test]
fn ktmpl_s_examples_are_processed() {
    let Some(template) = yaml("proposal/ktmpl-example.yml") else { return };
    let params = yaml("proposal/ktmpl-params.yml").unwrap();
    let given = params.as_object().unwrap().iter();
    let overrides = given.map(|(name, value)| (name, value.as_str().unwrap())).collect();
    let got = processed(&template, &overrides);
    let controller = &got["objects"][1];
    assert_eq!(controller["spec"]["replicas"], 2);
    let env = &controller["spec"]["template"]["spec"]["containers"][0]["env"];
    assert_eq!(env[0], json!({"name": "MONGODB_USER", "value": "carl"}));
    assert_eq!(env[1], json!({"name": "MONGODB_PASSWORD", "value": "c2VjcmV0"}));
    let label = "mongodb-ephemeral-template";
    assert_eq!(got["objects"][0]["spec"]["selector"]["template"], label);
    assert_eq!(controller["spec"]["selector"]["template"], label);
    assert_eq!(controller["spec"]["template"]["metadata"]["labels"]["template"], label);
    assert_eq!(got["parameters"][2]["value"], "secret");

    let secret = yaml("proposal/ktmpl-secret_example.yml").unwrap();
    let got = processed(&secret, &Overrides::from_iter([("PASSWORD", "p")]));
    assert_eq!(got["objects"][0]["data"]["config.yml"], "username: \"carl\"\npassword: \"p\"\n");
}

#[test]
fn the_examples_come_out_as_from_the_oracle() {
    for path in ["ktmpl-example.yml", "ktmpl-secret_example.yml", "mongodb-ephemeral.json"] {
        let Some(mut template) = yaml(&format!("proposal/{path}")) else { return };
        for parameter in template["parameters"].as_array_mut().unwrap() {
            if parameter["value"].is_null() {
                parameter["value"] = "given".into();
            }
        }
        assert_eq!(agree(&template.to_string()), Ok(true), "{path}");
    }
}

// === Generated templates ===

const PARAMETERS: [(&str, &str); 12] = [
    ("A", "alpha"),
    ("B", "$(A) $((A)) \"quoted\\\n"),
    ("E", ""),
    ("I", "9007199254740993"),
    ("F", "1.50"),
    ("N", "null"),
    ("T", "true"),
    ("S", "\"text\""),
    ("J", "{\"k\": 1}"),
    ("K", "Deployment"),
    ("M", "metadata"),
    ("BASE", "caf\u{e9}"),
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "x",
        "é😀",
        "\"",
        "\\",
        "\n",
        "$",
        "(",
        ")",
        "$$",
        "$$(A)",
        "$$((NOPE))",
        "$$$(A)",
        "$(A)",
        "$(B)",
        "$(E)",
        "$(BASE)",
        "$((A))",
        "$((I))",
        "$((E))",
        "$(a-b)",
        "$((A)",
        "\u{1}",
        "12345678",
        "${A}",
        "1",
    ]);
    let whole = prop::sample::select(vec![
        "$((A))",
        "$((E))",
        "$((I))",
        "$((F))",
        "$((N))",
        "$((T))",
        "$((S))",
        "$((J))",
        "$((B))",
        "$((BASE))",
        "1$((I))",
        "$((F))0",
        "$((I))$(E)",
        "$(I)",
        "$(N)",
    ]);
    prop_oneof![
        4 => prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat()),
        2 => whole.prop_map(str::to_owned),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => prop::sample::select(vec!["name", "labels", "metadata", "spec", "template", "a", "z"])
            .prop_map(str::to_owned),
        2 => prop::sample::select(vec!["$(A)", "$((I))", "x-$(A)", "$(M)", "$$(Z)"]).prop_map(str::to_owned),
        1 => text(),
    ]
}

/// A map without equal keys, which the oracle could not see.
fn map(members: Vec<(String, Tree)>) -> Tree {
    let mut unique: Vec<(String, Tree)> = Vec::new();
    for member in members {
        if unique.iter().all(|(key, _)| *key != member.0) {
            unique.push(member);
        }
    }
    Tree::Map(unique)
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        1 => prop::sample::select(vec!["0", "-1.50", "1e3", "true", "null"]).prop_map(Tree::Raw),
        3 => text().prop_map(Tree::Text),
    ];
    leaf.prop_recursive(3, 12, 4, |tree| {
        prop_oneof![
            prop::collection::vec(tree.clone(), 0..3).prop_map(Tree::List),
            prop::collection::vec((key(), tree), 0..4).prop_map(map),
        ]
    })
}

/// Some of these members, in any order.
fn some_of(members: Vec<(&'static str, BoxedStrategy<Tree>)>) -> BoxedStrategy<Tree> {
    let members: Vec<_> = members
        .into_iter()
        .map(|(key, tree)| {
            prop::option::weighted(0.7, tree).prop_map(move |tree| Some((key.to_owned(), tree?)))
        })
        .collect();
    members
        .prop_flat_map(|members| {
            Just(members.into_iter().flatten().collect::<Vec<_>>()).prop_shuffle()
        })
        .prop_map(Tree::Map)
        .boxed()
}

fn one_of(texts: &[&str]) -> BoxedStrategy<Tree> {
    let texts: Vec<Tree> = texts.iter().map(|text| Tree::Text((*text).to_owned())).collect();
    prop::sample::select(texts).boxed()
}

fn raw(raws: &[&'static str]) -> BoxedStrategy<Tree> {
    let raws: Vec<Tree> = raws.iter().map(|raw| Tree::Raw(raw)).collect();
    prop::sample::select(raws).boxed()
}

fn list_of(element: BoxedStrategy<Tree>) -> BoxedStrategy<Tree> {
    prop::collection::vec(element, 0..3).prop_map(Tree::List).boxed()
}

/// Strings that Kubernetes expands.
fn expanded() -> BoxedStrategy<Tree> {
    prop_oneof![
        6 => one_of(&["$(VAR)", "x $(VAR) $(A)", "$$(VAR) $(I)", "$((I))", "$((I))$(VAR)"]),
        1 => one_of(&["$(NOPE)", "$((VAR))"]),
        2 => text().prop_map(Tree::Text),
    ]
    .boxed()
}

fn container() -> BoxedStrategy<Tree> {
    let variable = some_of(vec![
        ("name", one_of(&["VAR", "VAR", "OTHER", "$(E)VAR", "A"])),
        ("value", expanded()),
    ]);
    let container = some_of(vec![
        ("env", prop_oneof![5 => list_of(variable), 1 => tree()].boxed()),
        ("args", prop_oneof![5 => list_of(expanded()), 1 => expanded()].boxed()),
        ("command", list_of(expanded())),
        ("livenessProbe", some_of(vec![("exec", some_of(vec![("command", list_of(expanded()))]))])),
        ("volumeMounts", list_of(some_of(vec![("subPathExpr", expanded())]))),
        ("image", one_of(&["i:$(A)", "$(VAR)", "i", "i"])),
        ("envFrom", raw(&["[]", "null", "[{}]"])),
    ]);
    prop_oneof![9 => container, 1 => tree()].boxed()
}

fn labels_map() -> BoxedStrategy<Tree> {
    let value = prop_oneof![4 => text().prop_map(Tree::Text), 1 => raw(&["null", "5"])];
    let member = (prop::sample::select(vec!["a", "own", "z", "$(A)"]), value);
    let members = prop::collection::vec(member, 0..3);
    let labels = members
        .prop_map(|members| map(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()));
    prop_oneof![8 => labels, 1 => raw(&["null", "{ }", "5"]), 1 => one_of(&["x", "$((N))"])].boxed()
}

fn metadata() -> BoxedStrategy<Tree> {
    let metadata = some_of(vec![
        ("labels", labels_map()),
        ("namespace", text().prop_map(Tree::Text).boxed()),
        ("annotations", tree().boxed()),
    ]);
    prop_oneof![8 => metadata, 1 => raw(&["null", "{}", "7"])].boxed()
}

fn selector() -> BoxedStrategy<Tree> {
    prop_oneof![
        2 => labels_map(),
        3 => some_of(vec![
            ("matchLabels", labels_map()),
            ("matchExpressions", raw(&["[]", "[ ]", "null", "[{\"key\":\"k\"}]"])),
        ]),
        1 => raw(&["null", "{}", "[]"]),
    ]
    .boxed()
}

fn template() -> BoxedStrategy<Tree> {
    let spec = some_of(vec![
        ("containers", list_of(container())),
        ("initContainers", list_of(container())),
        ("nodeName", text().prop_map(Tree::Text).boxed()),
    ]);
    some_of(vec![("metadata", metadata()), ("spec", spec)])
}

fn object() -> BoxedStrategy<Tree> {
    let job = some_of(vec![
        ("metadata", metadata()),
        ("spec", some_of(vec![("template", template()), ("selector", selector())])),
    ]);
    let spec = some_of(vec![
        ("selector", selector()),
        ("podSelector", selector()),
        ("template", prop_oneof![6 => template(), 1 => raw(&["null", "[]"])].boxed()),
        ("jobTemplate", job),
        ("type", one_of(&["ExternalName", "ClusterIP", "External$(E)Name"])),
        (
            "manualSelector",
            prop_oneof![raw(&["true", "false"]), one_of(&["$((T))", "$((E))"])].boxed(),
        ),
        ("more", tree().boxed()),
    ]);
    let identity = prop::sample::select(vec![
        ("v1", "Service"),
        ("v1", "ReplicationController"),
        ("apps/v1", "Deployment"),
        ("apps/v1", "StatefulSet"),
        ("batch/v1", "Job"),
        ("batch/v1", "CronJob"),
        ("v1", "PodTemplate"),
        ("policy/v1", "PodDisruptionBudget"),
        ("networking.k8s.io/v1", "NetworkPolicy"),
        ("apps/v1", "$(K)"),
        ("v$((E))1", "Pod"),
        ("x/v1", "Service"),
        ("v1", "AllowList"),
    ]);
    let identity = prop_oneof![
        20 => identity,
        1 => prop::sample::select(vec![("a/b/c", "K"), ("", "K"), ("v1", "$((I))"), ("$(N)", "$((N))")]),
    ];
    let rest = some_of(vec![
        ("metadata", metadata()),
        ("spec", spec),
        ("template", template()),
        ("items", list_of(tree().boxed())),
        ("$(A)", tree().boxed()),
    ]);
    (identity, rest, any::<bool>())
        .prop_map(|((version, kind), rest, first)| {
            let Tree::Map(mut members) = rest else { unreachable!("an object is a map") };
            if kind != "AllowList" {
                members.retain(|(key, _)| key != "items");
            }
            let text = |text: &str| Tree::Text(text.to_owned());
            let identity = [("kind", text(kind)), ("apiVersion", text(version))];
            let at = if first { 0 } else { members.len() };
            members.splice(at..at, identity.map(|(key, tree)| (key.to_owned(), tree)));
            Tree::Map(members)
        })
        .boxed()
}

fn list() -> BoxedStrategy<Tree> {
    prop_oneof![9 => prop::collection::vec(object(), 0..3), 1 => prop::collection::vec(tree(), 1..2)]
        .prop_map(|items| {
            let text = |text: &str| Tree::Text(text.to_owned());
            let members = [
                ("apiVersion", text("v1")),
                ("items", Tree::List(items)),
                ("metadata", Tree::Map(vec![("x".to_owned(), text("$(A)"))])),
                ("kind", text("List")),
            ];
            Tree::Map(members.map(|(key, tree)| (key.to_owned(), tree)).to_vec())
        })
        .boxed()
}

fn labels() -> impl Strategy<Value = Option<Tree>> {
    let value = prop_oneof![
        8 => prop::sample::select(vec!["b", "", "$(A)", "$((I))-x", "$(E)"]),
        1 => prop::sample::select(vec!["$(NOPE)", "-", "$(B)"]),
    ];
    let label = (prop::sample::select(vec!["a", "own", "l", "$(A)", "x$(E)"]), value);
    let labels = prop::collection::vec(label, 0..4).prop_map(|labels| {
        map(labels.into_iter().map(|(k, v)| (k.to_owned(), Tree::Text(v.to_owned()))).collect())
    });
    prop::option::weighted(0.8, labels)
}

fn body(objects: &[Tree], labels: Option<&Tree>, all_used: bool, odd: bool) -> String {
    let text = |text: &str| Tree::Text(text.to_owned());
    let parameter = |(name, value): (&str, &str)| {
        let kind = if name == "BASE" { "base64" } else { "string" };
        let fields = [("name", name), ("value", value), ("type", kind)];
        Tree::Map(fields.map(|(key, value)| (key.to_owned(), text(value))).to_vec())
    };
    let mut objects = objects.to_vec();
    if all_used {
        let references: String = PARAMETERS.iter().map(|(name, _)| format!("$({name})")).collect();
        let fields = [("apiVersion", "v1"), ("kind", "Used"), ("all", &references)];
        objects.push(Tree::Map(fields.map(|(key, value)| (key.to_owned(), text(value))).to_vec()));
    }
    let mut fields = vec![
        ("objects".to_owned(), Tree::List(objects)),
        ("parameters".to_owned(), Tree::List(PARAMETERS.map(parameter).to_vec())),
    ];
    fields.extend(labels.map(|labels| ("labels".to_owned(), labels.clone())));
    let mut out = String::new();
    spell(&Tree::Map(fields), odd, &mut out);
    out
}

/// The rewriter and the oracle agree on a body, and it comes out of both.
fn agree(body: &str) -> Result<bool, String> {
    let theirs = Proposal::process(&serde_json::from_str(body).unwrap());
    match (run_in(Dialect::Proposal, body, &Overrides::new()), theirs) {
        (Outcome::Invalid(_), None) => Ok(false),
        (Outcome::Template(ours), Some(theirs)) => {
            for field in ["objects", "labels"] {
                let (ours, theirs) = (&ours[field], &theirs[field]);
                let is_empty = ours.is_null() && theirs == &json!({});
                if !is_empty && !same(ours, theirs) {
                    return Err(format!("{field}\nours:   {ours}\ntheirs: {theirs}"));
                }
            }
            Ok(true)
        }
        (ours, theirs) => Err(format!("ours: {ours:?}\ntheirs: {theirs:?}")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_templates_come_out_as_from_the_oracle(
        objects in prop::collection::vec(prop_oneof![4 => object(), 1 => list()], 1..3),
        labels in labels(),
        all_used in prop::bool::weighted(0.95),
        odd in any::<bool>(),
    ) {
        let body = body(&objects, labels.as_ref(), all_used, odd);
        if let Err(difference) = agree(&body) {
            return Err(TestCaseError::fail(format!("{body}\n{difference}")));
        }
    }

    /// What validation of a stored template refuses, no values make good.
    #[test]
    fn a_template_that_can_be_processed_can_be_stored(object in object(), labels in labels()) {
        let body = body(&[object], labels.as_ref(), true, false);
        let template = Template::parse(&body, Dialect::Proposal).unwrap();
        let values = Values::resolve(&template, &Overrides::new(), &mut Seeded(1)).unwrap();
        if process(&template, &values).is_ok() {
            prop_assert_eq!(processor::validate(&template).iter().count(), 0);
        }
    }
}

/// The tests above would pass if everything were refused.
#[test]
fn enough_generated_templates_are_sound() {
    let mut runner = TestRunner::deterministic();
    let strategy = (object(), labels());
    let sound = (0..300).filter(|_| {
        let (object, labels) = strategy.new_tree(&mut runner).unwrap().current();
        agree(&body(&[object], labels.as_ref(), true, false)) == Ok(true)
    });
    let count = sound.count();
    println!("{count} of 300 are sound");
    assert!((60..295).contains(&count), "{count}");
}

// === Real templates ===

/// OpenShift's corpus with the other dialect's references, all parameters referred to, and none
/// that has no value.
fn translated() -> Vec<Value> {
    let Some(cases) = corpus("openshift/cases.ndjson.gz") else { return Vec::new() };
    let quoted = regex::Regex::new(r"\$\{([a-zA-Z0-9_]+)\}").unwrap();
    let unquoted = regex::Regex::new(r"\$\{\{([a-zA-Z0-9_]+)\}\}").unwrap();
    let translate = |case: &str| {
        let case: Value = serde_json::from_str(case).unwrap();
        let text = case["input"].to_string();
        let text = unquoted.replace_all(&text, "$$(($1))");
        let text = quoted.replace_all(&text, "$$($1)");
        let mut template: Value = serde_json::from_str(&text).unwrap();
        let mut references = String::new();
        for parameter in template["parameters"].as_array_mut().into_iter().flatten() {
            references += &format!("$({})", parameter["name"].as_str().unwrap_or_default());
            parameter.as_object_mut().unwrap().remove("generate");
            if parameter["value"].as_str().is_none_or(str::is_empty) {
                parameter["value"] = "given".into();
            }
        }
        let used = json!({"apiVersion": "v1", "kind": "Used", "all": references});
        template["objects"].as_array_mut().unwrap().push(used);
        template
    };
    cases.lines().map(translate).collect()
}

#[test]
fn real_templates_come_out_as_from_the_oracle() {
    let mut sound = 0;
    for template in translated() {
        let names: Vec<_> =
            template["parameters"].as_array().into_iter().flatten().map(|p| &p["name"]).collect();
        let is_unique = (1..names.len()).all(|at| !names[..at].contains(&names[at]));
        if is_unique {
            let name = &template["metadata"]["name"];
            let agreed = agree(&template.to_string());
            sound += usize::from(agreed.unwrap_or_else(|error| panic!("{name}: {error}")));
        }
    }
    println!("{sound} real templates are sound");
    assert!(sound > 150 || corpus("openshift/cases.ndjson.gz").is_none(), "{sound}");
}

/// Whatever happens to the bytes of a real template: no panic, and what comes out is JSON.
#[test]
fn mutated_templates_are_processed_or_refused() {
    let noise = b"\"\\{}[]:,$()0-eu \nnt\x01\xc3";
    let mut random = Seeded(7);
    let templates = translated();
    let bodies = templates.iter().map(Value::to_string).filter(|body| body.len() < 30_000);
    for body in bodies {
        for _ in 0..20 {
            let mut bytes = body.clone().into_bytes();
            for _ in 0..=random.index(3) {
                let at = random.index(bytes.len());
                match random.index(3) {
                    0 => bytes[at] = noise[random.index(noise.len())],
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, noise[random.index(noise.len())]),
                }
            }
            if let Ok(text) = String::from_utf8(bytes) {
                let _ = run_in(Dialect::Proposal, &text, &Overrides::new());
            }
        }
    }
}
