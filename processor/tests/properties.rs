//! The rewriter against the oracle, on generated templates and on the corpus; and against noise.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod oracle;
mod support;

use oracle::{Oracle, Stop};
use processor::{Dialect, Json, Overrides, Random, Template, Values, process};
use proptest::prelude::*;
use serde_json::Value;
use support::tree::{Tree, spell};
use support::{Outcome, Seeded, corpus, run, same};

const PARAMETERS: [(&str, &str); 12] = [
    ("A", "alpha"),
    ("B", "${A} \"quoted\\\n"),
    ("E", ""),
    ("I", "9007199254740993"),
    ("F", "1.50"),
    ("N", "null"),
    ("S", "\"text\""),
    ("J", r#"{"k": "v", "k": [1, {"x": null}]}"#),
    ("M", r#"{"labels": {"own": "1", "z": null}, "namespace": "kept", "name": "n"}"#),
    ("L", r#"{"own": "1", "a": "2"}"#),
    ("K", "metadata"),
    ("R", "Route"),
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "x",
        "é😀",
        "\"",
        "\\",
        "\n",
        "$",
        "{",
        "}",
        "${",
        "${{",
        "}}",
        "${A}",
        "${B}",
        "${E}",
        "${NOPE}",
        "${{A}}",
        "${{S}}",
        "${{NOPE}}",
        "\u{1}",
        "12345678",
        "<&>",
    ]);
    let whole = prop::sample::select(vec![
        "${{A}}", "${{E}}", "${{I}}", "${{F}}", "${{N}}", "${{S}}", "${{J}}", "${{L}}", "${{M}}",
        "${{B}}",
    ]);
    prop_oneof![
        4 => prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat()),
        1 => whole.prop_map(str::to_owned),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec![
            "name", "namespace", "labels", "metadata", "kind", "apiVersion", "items", "spec", "a", "own", "z",
        ])
        .prop_map(str::to_owned),
        1 => prop::sample::select(vec!["${A}", "${K}", "${{S}}", "${{I}}", "${{K}}", "x-${A}", "${U}"])
            .prop_map(str::to_owned),
        1 => text(),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        1 => prop::sample::select(vec!["0", "-1.50", "1e3", "true", "false", "null"]).prop_map(Tree::Raw),
        3 => text().prop_map(Tree::Text),
    ];
    leaf.prop_recursive(4, 24, 5, |tree| {
        prop_oneof![
            prop::collection::vec(tree.clone(), 0..4).prop_map(Tree::List),
            prop::collection::vec((key(), tree), 0..6).prop_map(Tree::Map),
        ]
    })
}

fn metadata() -> impl Strategy<Value = Tree> {
    let label = prop_oneof![
        4 => text().prop_map(Tree::Text),
        1 => prop::sample::select(vec!["null", "5"]).prop_map(Tree::Raw),
    ];
    let labels =
        prop::collection::vec((prop::sample::select(vec!["a", "own", "z", "${A}"]), label), 0..4)
            .prop_map(|labels| {
                Tree::Map(labels.into_iter().map(|(key, label)| (key.to_owned(), label)).collect())
            });
    let member = prop_oneof![
        (Just("labels"), labels),
        (Just("labels"), prop_oneof![tree(), Just(Tree::Text("${{L}}".into()))]),
        (Just("namespace"), prop_oneof![text().prop_map(Tree::Text), tree()]),
        (prop::sample::select(vec!["name", "${K}"]), tree()),
    ];
    let map = prop::collection::vec(member, 0..4).prop_map(|members| {
        Tree::Map(members.into_iter().map(|(key, tree)| (key.to_owned(), tree)).collect())
    });
    prop_oneof![6 => map, 1 => tree(), 1 => Just(Tree::Text("${{M}}".into()))]
}

fn object() -> impl Strategy<Value = Tree> {
    let text = |texts: Vec<&'static str>| {
        prop::sample::select(texts).prop_map(|text| Tree::Text(text.to_owned()))
    };
    let kind =
        text(vec!["Route", "K", "DeploymentConfig", "${R}", "RouteList", "${{N}}", "${{I}}", ""]);
    let version = text(vec!["v1", "", "apps/v1", "/", "/v1", "a/b/c", "${A}/v1", "${{N}}"]);
    let special = prop_oneof![
        (Just("kind".to_owned()), kind.clone()),
        (Just("apiVersion".to_owned()), version.clone()),
        (Just("metadata".to_owned()), metadata()),
        (Just("${K}".to_owned()), metadata()),
        (key(), tree()),
    ];
    (kind, version, metadata(), prop::collection::vec(special, 0..5), any::<bool>()).prop_map(
        |(kind, version, metadata, mut members, first)| {
            let known = [("kind", kind), ("apiVersion", version), ("metadata", metadata)];
            let known = known.map(|(key, tree)| (key.to_owned(), tree));
            let at = if first { 0 } else { members.len() };
            members.splice(at..at, known);
            Tree::Map(members)
        },
    )
}

fn body(objects: &[Tree], labels: Option<&Tree>, message: &str, odd: bool) -> String {
    let text = |text: &str| Tree::Text(text.to_owned());
    let parameter = |(name, value): (&str, &str)| {
        Tree::Map(vec![("name".into(), text(name)), ("value".into(), text(value))])
    };
    let mut fields = vec![
        ("objects".to_owned(), Tree::List(objects.to_vec())),
        ("parameters".to_owned(), Tree::List(PARAMETERS.map(parameter).to_vec())),
        ("message".to_owned(), text(message)),
    ];
    fields.extend(labels.map(|labels| ("labels".to_owned(), labels.clone())));
    let mut out = String::new();
    spell(&Tree::Map(fields), odd, &mut out);
    out
}

fn labels() -> impl Strategy<Value = Option<Tree>> {
    let label = (prop::sample::select(vec!["a", "own", "l", "${A}", "x-${E}"]), text());
    let labels = prop::collection::vec(label, 0..4).prop_map(|labels| {
        Tree::Map(
            labels.into_iter().map(|(key, text)| (key.to_owned(), Tree::Text(text))).collect(),
        )
    });
    prop::option::of(labels)
}

/// The rewriter and the oracle agree on a body; false when the oracle cannot tell.
fn agree(body: &str) -> Result<bool, String> {
    let theirs = Oracle::process(&serde_json::from_str(body).map_err(|error| error.to_string())?);
    match (run(body, &Overrides::new()), theirs) {
        // What follows a collision is not the oracle's to say, but it must be a result.
        (Outcome::Template(_) | Outcome::Invalid(_), Err(Stop::Collision)) => Ok(false),
        (Outcome::Invalid(_), Err(Stop::Refused)) => Ok(true),
        (Outcome::Template(ours), Ok(theirs)) => {
            for field in ["objects", "message", "labels"] {
                let (ours, theirs) = (&ours[field], &theirs[field]);
                let is_empty = ours.is_null() && (theirs == "" || theirs == &serde_json::json!({}));
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
        objects in prop::collection::vec(object(), 1..3),
        labels in labels(),
        message in text(),
        odd in any::<bool>(),
    ) {
        let body = body(&objects, labels.as_ref(), &message, odd);
        if let Err(difference) = agree(&body) {
            return Err(TestCaseError::fail(format!("{body}\n{difference}")));
        }
    }

    #[test]
    fn both_spellings_of_a_template_mean_the_same(object in object(), labels in labels()) {
        let spellings = [false, true].map(|odd| body(std::slice::from_ref(&object), labels.as_ref(), "", odd));
        match spellings.map(|body| run(&body, &Overrides::new())) {
            [Outcome::Template(plain), Outcome::Template(odd)] => prop_assert!(same(&plain, &odd), "{plain}\n{odd}"),
            [Outcome::Invalid(_), Outcome::Invalid(_)] => {}
            outcomes => prop_assert!(false, "{outcomes:?}"),
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let _ = run(&text, &Overrides::new());
        let theirs = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        prop_assert_eq!(Json::parse(&text).is_ok(), theirs);
    }

    #[test]
    fn any_expression_generates_or_is_refused(from in "[\\[\\]{}a-z0-9\\\\wdA-]{0,24}", seed in any::<u64>()) {
        let body = serde_json::json!({"parameters": [{"name": "A", "generate": "expression", "from": from}]});
        let body = body.to_string();
        let template = Template::parse(&body, Dialect::OpenShift).unwrap();
        let _ = Values::resolve(&template, &Overrides::new(), &mut Seeded(seed));
    }
}

#[test]
fn the_corpus_comes_out_as_from_the_oracle() {
    let Some(cases) = corpus("openshift/cases.ndjson.gz") else { return };
    for case in cases.lines() {
        let case: Value = serde_json::from_str(case).unwrap();
        let mut input = case["input"].clone();
        // The oracle knows two legacy kinds; the corpus itself proves the others.
        for object in input["objects"].as_array_mut().unwrap() {
            if let Some(version) =
                object["apiVersion"].as_str().filter(|version| !version.contains('/'))
            {
                object["apiVersion"] = format!("test/{version}").into();
            }
        }
        assert!(
            agree(&input.to_string()).unwrap_or_else(|error| panic!("{}: {error}", case["name"]))
        );
    }
}

/// Whatever happens to the bytes of a real template: no panic, and what comes out is JSON.
#[test]
fn mutated_templates_are_processed_or_refused() {
    let Some(cases) = corpus("openshift/cases.ndjson.gz") else { return };
    let noise = b"\"\\{}[]:,$0-eu \nnt\x01\xc3";
    let mut random = Seeded(7);
    let mut processed = 0;
    for case in cases.lines().filter(|case| case.len() < 30_000) {
        let case: Value = serde_json::from_str(case).unwrap();
        let body = case["input"].to_string();
        for _ in 0..20 {
            let mut bytes = body.clone().into_bytes();
            for _ in 0..=random.below(3) {
                let at = random.index(bytes.len());
                match random.below(3) {
                    0 => bytes[at] = noise[random.index(noise.len())],
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, noise[random.index(noise.len())]),
                }
            }
            let Ok(text) = String::from_utf8(bytes) else { continue };
            let Ok(template) = Template::parse(&text, Dialect::OpenShift) else { continue };
            let Ok(values) = Values::resolve(&template, &Overrides::new(), &mut random) else {
                continue;
            };
            let Ok(result) = process(&template, &values) else { continue };
            let mut out = Vec::new();
            result.write_template(&mut out);
            let out: Value =
                serde_json::from_slice(&out).unwrap_or_else(|error| panic!("{error} from {text}"));
            assert_eq!(
                out["objects"].as_array().map(Vec::len),
                template.objects().map(<[Json]>::len)
            );
            processed += 1;
        }
    }
    assert!(processed > 500, "{processed}");
}
