//! Large and deep input: answered or refused, in linear time and bounded stack. Nothing here
//! looks at a clock; a quadratic step would make these tests take minutes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use processor::{Dialect, Errors, Overrides, Reason, Template, Values, process};
use serde_json::Value;
use support::Seeded;

fn objects(body: &str) -> Result<String, Errors> {
    let template = Template::parse(body, Dialect::OpenShift).unwrap();
    let values = Values::resolve(&template, &Overrides::new(), &mut Seeded(1))?;
    let mut out = Vec::new();
    process(&template, &values)?.write_list(&mut out);
    Ok(String::from_utf8(out).unwrap())
}

/// Runs on a stack as small as that of a server's worker thread.
#[allow(clippy::disallowed_methods, reason = "a test of stack use needs a stack")]
fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(test).unwrap();
    thread.join().unwrap();
}

fn nested(open: &str, close: &str, depth: usize) -> String {
    format!("{}\"${{A}}\"{}", open.repeat(depth), close.repeat(depth))
}

fn deep(value: &str, parameter: &str) -> String {
    let parameter = Value::from(parameter);
    format!(
        "{{\"objects\":[{{\"kind\":\"K\",\"metadata\":{{\"labels\":{{}},\"deep\":{value}}}}}],\
         \"parameters\":[{{\"name\":\"A\",\"value\":{parameter}}}],\"labels\":{{\"a\":\"b\"}}}}"
    )
}

#[test]
fn five_hundred_levels_are_processed() {
    on_a_small_stack(|| {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
            let depth = 500 / close.len();
            let out = objects(&deep(&nested(open, close, depth), "x")).unwrap();
            assert!(out.contains(&nested(open, close, depth).replace("${A}", "x")));
        }
        // A list is read twice, an object with a faulty repeated key three times.
        let list = format!("{{\"kind\":\"L\",\"items\":[{{\"a\":{}}}]}}", nested("[", "]", 490));
        assert!(objects(&format!("{{\"objects\":[{list}]}}")).is_ok());
    });
}

#[test]
fn deeper_objects_are_refused() {
    on_a_small_stack(|| {
        for depth in [520, 100_000, 1_000_000] {
            let body = deep(&nested("[", "]", depth), "x");
            let error = Template::parse(&body, Dialect::OpenShift).unwrap_err();
            assert!(error.to_string().ends_with("nest more than 512 levels deep"), "{error}");
        }
    });
}

#[test]
fn a_deep_value_is_injected_or_refused() {
    on_a_small_stack(|| {
        let body =
            |depth| deep("\"${{A}}\"", &format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
        assert!(objects(&body(512)).unwrap().contains(&"[".repeat(512)));
        let (array, value) =
            (nested("[", "]", 500), format!("{}{}", "[".repeat(512), "]".repeat(512)));
        assert!(objects(&deep(&array.replace("${A}", "${{A}}"), &value)).is_ok());
        let errors = objects(&body(100_000)).unwrap_err();
        assert_eq!(errors.iter().next().unwrap().field, "item[0].objects.metadata.deep");
    });
}

#[test]
fn ten_thousand_objects_are_processed() {
    let object = "{\"apiVersion\":\"v1\",\"kind\":\"Route\",\"metadata\":{\"name\":\"${A}\",\"namespace\":\"n\"}}";
    let body = format!(
        "{{\"objects\":[{}],\"labels\":{{\"l\":\"${{A}}\"}},\"parameters\":[{{\"name\":\"A\",\"value\":\"x\"}}]}}",
        vec![object; 10_000].join(",")
    );
    let want = "{\"apiVersion\":\"route.openshift.io/v1\",\"kind\":\"Route\",\
                \"metadata\":{\"name\":\"x\",\"labels\":{\"l\":\"x\"}}}";
    assert_eq!(objects(&body).unwrap().matches(want).count(), 10_000);
}

#[test]
fn a_hundred_thousand_keys_are_processed() {
    let member = |index: usize| format!("\"k{}\":\"${{A}}\"", index % 60_000);
    let members: Vec<String> = (0..100_000).map(member).collect();
    let labels: Vec<String> = (0..5_000).map(|index| format!("\"k{index}\":\"l\"")).collect();
    let body = format!(
        "{{\"objects\":[{{\"kind\":\"K\",\"metadata\":{{\"labels\":{{{}}}}}}}],\"labels\":{{{}}}}}",
        members.join(","),
        labels.join(",")
    );
    let out: Value = serde_json::from_str(&objects(&body).unwrap()).unwrap();
    let labels = out["items"][0]["metadata"]["labels"].as_object().unwrap();
    assert_eq!(labels.len(), 60_000);
    assert_eq!((&labels["k7"], &labels["k59999"]), (&"l".into(), &"${A}".into()));
}

#[test]
fn keys_that_all_become_one_or_none_are_processed() {
    let removed = "\"a\":\"${{N}}\",".repeat(100_000);
    let equal: String = (0..50_000).map(|index| format!("\"${{A}}{index}${{A}}\":1,")).collect();
    let body = format!(
        "{{\"objects\":[{{{removed}{equal}\"kind\":\"K\"}}],\
         \"parameters\":[{{\"name\":\"N\",\"value\":\"null\"}},{{\"name\":\"A\"}}]}}"
    );
    let out: Value = serde_json::from_str(&objects(&body).unwrap()).unwrap();
    assert_eq!(out["items"][0].as_object().unwrap().len(), 50_002);
}

#[test]
fn three_mebibytes_of_references_are_processed() {
    let body = |text: &str| {
        format!(
            "{{\"objects\":[{{\"kind\":\"K\",\"v\":\"{text}\"}}],\"message\":\"{text}\",\
             \"parameters\":[{{\"name\":\"A\",\"value\":\"xyz\"}}]}}"
        )
    };
    let count = (3 << 20) / 8;
    assert!(objects(&body(&"${A}".repeat(count))).unwrap().contains(&"xyz".repeat(count)));
    for text in ["${", "${{", "${A", "${A${", "$", "\\u0024{A}", "${{A}}", "\\\\"] {
        assert!(objects(&body(&text.repeat((3 << 20) / text.len() / 2))).is_ok());
    }
}

#[test]
fn text_that_grows_beyond_bounds_is_refused() {
    let value = "x".repeat(1 << 20);
    let body = |object: &str, more: &str| {
        let value = format!("\"parameters\":[{{\"name\":\"A\",\"value\":\"{value}\"}}]");
        format!("{{\"objects\":[{object}],{value}{more}}}")
    };
    let many = "${A}".repeat(100_000);
    let key = format!("{{\"kind\":\"K\",\"{many}\":1}}");
    let text = format!("{{\"kind\":\"K\",\"v\":\"{many}\"}}");
    let list = format!("{{\"kind\":\"${{A}}List\",\"items\":[{}]}}", vec!["{}"; 100_000].join(","));
    let faulty = vec!["{\"v\":\"${A}${A}${A}${A}${A}${A}${A}${A}\"}"; 100_000].join(",");
    let labelled = vec!["{\"kind\":\"K\"}"; 100_000].join(",");
    let labels: Vec<String> = (0..1000).map(|index| format!("\"k{index}\":\"${{A}}\"")).collect();
    let refused = [
        body(&text, ""),
        body(&key, ""),
        body(&list, ""),
        body(&faulty, ""),
        body(&labelled, ",\"labels\":{\"a\":\"${A}\"}"),
        body("", &format!(",\"message\":\"{many}\"")),
        body("", &format!(",\"labels\":{{\"{many}\":\"\"}}")),
        body("", &format!(",\"labels\":{{{}}}", labels.join(","))),
    ];
    for body in &refused {
        let errors = objects(body).unwrap_err();
        let last = errors.iter().last().unwrap();
        let is_bounded = last.reason == Reason::TooLong || errors.to_string().len() > 4 << 20;
        assert!(is_bounded, "{} {}", last.field, last.detail);
    }
}

#[test]
fn one_large_override_for_many_parameters_is_refused() {
    let body = format!("{{\"parameters\":[{}]}}", vec!["{\"name\":\"A\"}"; 100_000].join(","));
    let template = Template::parse(&body, Dialect::OpenShift).unwrap();
    let overrides = Overrides::from_iter([("A", "x".repeat(1 << 20))]);
    let errors = Values::resolve(&template, &overrides, &mut Seeded(1)).err().unwrap();
    assert_eq!(errors.iter().next().unwrap().field, "template.parameters[64]");
}

#[test]
fn a_hundred_thousand_faulty_objects_do_not_make_gigabytes_of_errors() {
    let label = "x".repeat(1 << 20);
    let lists = vec!["{\"kind\":\"L\",\"items\":[]}"; 50_000].join(",");
    let body = format!("{{\"objects\":[{lists}],\"labels\":{{\"a\":\"{label}\"}}}}");
    let errors = objects(&body).unwrap_err();
    assert_eq!(errors.iter().next().unwrap().field, "item[0].labels");
    assert!(errors.to_string().len() < 8 << 20);
}

#[test]
fn a_hundred_thousand_parameters_are_resolved() {
    let parameters: Vec<String> = (0..100_000)
        .map(|index| format!("{{\"name\":\"P{}\",\"value\":\"{index}\"}}", index % 70_000))
        .collect();
    let body = format!(
        "{{\"objects\":[{{\"kind\":\"K\",\"v\":\"${{P5}} ${{P69999}}\"}}],\"parameters\":[{}]}}",
        parameters.join(",")
    );
    assert!(objects(&body).unwrap().contains("\"v\":\"70005 69999\""));
}
