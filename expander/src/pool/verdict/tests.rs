//! What is made of deaths and of words, whatever they are.

use std::sync::Arc;

use expansion::{Import, Imports, Map};
use proptest::prelude::*;
use protocol::Ended;

use super::*;

fn ended(code: Option<i32>, signal: Option<i32>) -> Option<End> {
    Some(End::Ended(Ended { id: 1, code, signal, cpu: 0, memory: 0 }))
}

fn kind(language: Language, end: Option<End>) -> String {
    match death(language, end, &Config::default()) {
        Verdict::Fault(fault) => fault.kind,
        other => format!("{other:?}").chars().take_while(|c| c.is_alphabetic()).collect(),
    }
}

#[test]
fn a_death_says_who_is_to_blame() {
    let python = |code, signal| kind(Language::Python, ended(code, signal));
    assert_eq!(python(None, Some(24)), "TimeLimit");
    assert_eq!(python(None, Some(31)), "Forbidden");
    for crash in [4, 6, 7, 8, 11, 64] {
        assert_eq!(python(None, Some(crash)), "Crash", "{crash}");
    }
    assert_eq!(python(None, Some(9)), "Lost");
    assert_eq!(python(Some(0), None), "NoResult");
    assert_eq!(python(Some(1), None), "NoResult");
    for signal in WALLS {
        assert_eq!(python(None, Some(signal)), "Walls", "{signal}");
    }
    // Any template can end with any code.
    for code in 2..=255 {
        assert_eq!(python(Some(code), None), "NoResult", "{code}");
    }
    assert_eq!(kind(Language::Jinja, ended(None, Some(6))), "MemoryLimit");
    assert_eq!(kind(Language::Jinja, None), "Lost");
    assert_eq!(kind(Language::Jinja, Some(End::Refused(11))), "Lost");
}

fn call(language: Language) -> Call {
    let import = Import { path: String::new(), content: "".into() };
    let imports = Arc::new(Imports::from([("a.py".to_owned(), import)]));
    let (resource, env) = (Map::new(), Map::new());
    Call { id: 1, language, template: "a.py".into(), resource, env, imports }
}

fn read(body: &str, language: Language) -> Outcome {
    answer(body.as_bytes(), &call(language), &Bounds { fuel: 10, output: 100_000 })
}

#[test]
fn what_a_child_says_is_not_believed() {
    let text = r#"{"text": {"text": "a: 1", "fuel": 18446744073709551615}}"#;
    for (language, used) in [(Language::Jinja, 10), (Language::Python, 0)] {
        match read(text, language) {
            Outcome::Rendered(Rendered::Text { fuel, .. }) => assert_eq!(fuel, used),
            other => panic!("{other:?}"),
        }
    }
    let body = r#"{"fault": {"kind": "E\u0007", "message": "\u001b[2J", "frames":
        [{"file": "/srv/secret", "line": 1}, {"file": "a.py", "line": 2}]}}"#;
    let Outcome::Failed(fault) = read(body, Language::Python) else { panic!("a fault") };
    assert_eq!((fault.kind.as_str(), fault.message.as_str()), ("E\\u{7}", "\\u{1b}[2J"));
    assert_eq!(fault.frames.iter().map(|frame| frame.line).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_result_of_very_many_values_is_refused_before_they_take_memory() {
    let of = |count| {
        let list = vec!["[]"; count].join(",");
        read(&format!(r#"{{"data": {{"value": [{list}]}}}}"#), Language::Python)
    };
    assert!(matches!(of(4_000), Outcome::Rendered(_)), "12 kB of text and 96 kB of values");
    let Outcome::Failed(fault) = of(5_000) else { panic!("15 kB of text are too many") };
    assert_eq!(fault.kind, "OutputLimit");
}

#[test]
fn a_result_that_is_no_json_is_the_templates_fault() {
    let deep = format!(r#"{{"data": {{"value": {}"#, "[".repeat(1000));
    for body in ["", "nonsense", "{}", r#"{"data": {"value": "\ud800"}}"#, &deep] {
        let Outcome::Failed(fault) = read(body, Language::Python) else { panic!("{body}") };
        assert_eq!(fault.kind, "InvalidResult", "{body}");
    }
}

/// JSON of all kinds: text that terminals obey, text that is none, and values that take more memory than text.
fn json() -> impl Strategy<Value = String> {
    const LEAVES: &[&str] = &[
        "null",
        "-0.5",
        "18446744073709551615",
        "[]",
        "{}",
        r#""text""#,
        r#""\u001b[2J\r\n""#,
        r#""\u202e""#,
        r#""\ud800""#,
        "\"\u{feff}\u{7f}\"",
        r#""a.py""#,
        r#""/srv/key""#,
        r#""\\\",[{\"""#,
    ];
    prop::sample::select(LEAVES).prop_map(str::to_owned).prop_recursive(4, 64, 8, |inner| {
        let lists = prop::collection::vec(inner.clone(), 0..8);
        let maps = prop::collection::vec((prop::sample::select(&["a", "b", "c"]), inner), 0..4);
        let member = |(key, value): &(&str, String)| format!("{key:?}:{value}");
        prop_oneof![
            lists.prop_map(|items| format!("[{}]", items.join(","))),
            maps.prop_map(move |members| {
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

/// Answers of all kinds, some of them cut off.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let whole = (json(), json(), any::<u64>(), 0..4).prop_map(|(one, other, number, kind)| match kind {
        0 => format!(r#"{{"text":{{"text":{one},"properties":{other},"fuel":{number}}}}}"#),
        1 => format!(r#"{{"data":{{"value":{one},"properties":{other}}}}}"#),
        2 => format!(r#"{{"fault":{{"kind":{one},"message":{other},"frames":[{{"file":{one},"line":1,"text":{other}}}]}}}}"#),
        _ => one,
    });
    let cut = (whole, prop::option::of(any::<prop::sample::Index>())).prop_map(|(whole, cut)| {
        let mut body = whole.into_bytes();
        body.truncate(cut.map_or(body.len(), |cut| cut.index(body.len())));
        body
    });
    prop_oneof![8 => cut, 1 => any::<Vec<u8>>()]
}

fn is_printable(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_000) })]

    #[test]
    fn any_answer_is_made_fit_to_be_used(body in body(), output in 0..400_usize) {
        let bounds = Bounds { fuel: 10, output };
        let fits = |value: &Value| Value::size_of_json(value.to_json().as_bytes()) <= output;
        for language in [Language::Jinja, Language::Python] {
            match answer(&body, &call(language), &bounds) {
                Outcome::Rendered(Rendered::Text { text, properties, fuel }) => {
                    prop_assert!(text.len() <= output && fuel <= bounds.fuel);
                    prop_assert!(properties.is_none_or(|properties| fits(&properties)));
                }
                Outcome::Rendered(Rendered::Data { value, properties }) => {
                    prop_assert!(fits(&value));
                    prop_assert!(properties.is_none_or(|properties| fits(&properties)));
                }
                Outcome::Failed(fault) => {
                    prop_assert!(is_printable(&fault.kind) && is_printable(&fault.message));
                    for frame in fault.frames {
                        prop_assert_eq!(&frame.file, "a.py");
                        prop_assert!(is_printable(&frame.text));
                    }
                }
            }
        }
    }
}
