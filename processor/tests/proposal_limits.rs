//! Large and deep templates of the proposal: answered or refused, in linear time and bounded stack.
//! Nothing here looks at a clock; a quadratic step would make these tests take minutes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use processor::{Dialect, Errors, Overrides, Reason, Template, Values, process, validate};
use support::Seeded;

fn objects(body: &str) -> Result<String, Errors> {
    let template = Template::parse(body, Dialect::Proposal).unwrap();
    let values = Values::resolve(&template, &Overrides::new(), &mut Seeded(1))?;
    let mut out = Vec::new();
    process(&template, &values)?.write_list(&mut out);
    assert!(validate(&template).is_empty());
    Ok(String::from_utf8(out).unwrap())
}

/// The errors of a template that is refused, and refused to be stored as well.
fn errors(body: &str) -> Errors {
    let errors = objects(body).unwrap_err();
    let template = Template::parse(body, Dialect::Proposal).unwrap();
    assert!(!validate(&template).is_empty());
    assert!(errors.to_string().len() < 16 << 20);
    errors
}

fn body(objects: &str, labels: &str) -> String {
    format!(
        "{{\"objects\":[{objects}],\"labels\":{labels},\"parameters\":[{{\"name\":\"A\",\"value\":\"x\"}}]}}"
    )
}

/// An object with this value in it.
fn object(value: &str) -> String {
    format!("{{\"apiVersion\":\"v1\",\"kind\":\"K\",\"v\":{value}}}")
}

/// Runs on a stack as small as that of a server's worker thread.
#[allow(clippy::disallowed_methods, reason = "a test of stack use needs a stack")]
fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(test).unwrap();
    thread.join().unwrap();
}

#[test]
fn five_hundred_levels_are_processed() {
    on_a_small_stack(|| {
        for (open, close) in
            [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]"), ("{\"containers\":[", "]}")]
        {
            let depth = 496 / close.len();
            let value = format!("{}\"$(A)\"{}", open.repeat(depth), close.repeat(depth));
            let out = objects(&body(&object(&value), "{\"a\":\"b\"}")).unwrap();
            assert!(out.contains(&value.replace("$(A)", "x")));
            let faulty = value.replace("$(A)", "$(NO)$(A)");
            assert_eq!(errors(&body(&object(&faulty), "null")).iter().count(), 1);
        }
    });
}

#[test]
fn ten_thousand_objects_are_processed() {
    let deployment = "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"spec\":{\"selector\":{\"matchLabels\":{\"k\":\"$(A)\"}},\
        \"template\":{\"spec\":{\"containers\":[{\"args\":[\"$(V)\"],\"env\":[{\"name\":\"V\"}]}]}}}}";
    let out = objects(&body(&vec![deployment; 10_000].join(","), "{\"l\":\"$(A)\"}")).unwrap();
    assert_eq!(out.matches("\"matchLabels\":{\"k\":\"x\",\"l\":\"x\"}").count(), 10_000);
    assert_eq!(out.matches("\"metadata\":{\"labels\":{\"l\":\"x\"}}").count(), 20_000);
    let list = format!(
        "{{\"items\":[{}],\"kind\":\"List\",\"apiVersion\":\"v1\"}}",
        vec![deployment; 10_000].join(",")
    );
    let out = objects(&body(&list, "{\"l\":\"$(A)\"}")).unwrap();
    assert_eq!(out.matches("\"metadata\":{\"labels\":{\"l\":\"x\"}}").count(), 20_000);
}

#[test]
fn three_mebibytes_of_references_are_processed() {
    let out = objects(&body(&object(&format!("\"{}\"", "$(A)".repeat(700_000))), "null")).unwrap();
    assert!(out.contains(&"x".repeat(700_000)));
    for text in
        ["$(A", "$((A)", "$", "$$(A)", "\\u0024(A)", "$((A))", "$(A)$((A))", "$(A$(", "\\\\"]
    {
        let text = text.repeat((3 << 20) / text.len() / 2);
        objects(&body(&object(&format!("\"{text}$(A)\"")), "null")).unwrap();
    }
}

#[test]
fn a_hundred_thousand_variables_are_known() {
    let variable =
        |index: usize| format!("{{\"name\":\"V{index}\",\"value\":\"$(V{index}) $(A)\"}}");
    let variables: Vec<String> = (0..50_000).map(variable).collect();
    let container = format!("{{\"env\":[{}]}}", variables.join(","));
    objects(&body(&object(&format!("{{\"containers\":[{container}]}}")), "null")).unwrap();
    let container = "{\"args\":[\"$(V)$(A)\"],\"env\":[{\"name\":\"V\"}]}";
    let containers = vec![container; 50_000].join(",");
    objects(&body(&object(&format!("{{\"containers\":[{containers}]}}")), "null")).unwrap();
}

#[test]
fn a_hundred_thousand_mistakes_do_not_make_gigabytes_of_errors() {
    let many = "\"$(NO)\",".repeat(200_000);
    let errors_of = |value: &str| errors(&body(&object(value), "null"));
    assert!(errors_of(&format!("[{many}1]")).iter().count() >= 1000);
    let key = "x".repeat(1 << 20);
    assert!(errors_of(&format!("{{\"{key}\":[{many}1]}}")).iter().count() < 10);
    let deep = format!("{}{many}1{}", "[".repeat(400), "]".repeat(400));
    errors_of(&deep);
    errors(&body(&vec![object("\"$(NO)\""); 100_000].join(","), "null"));
    errors(&body("", &format!("{{\"{}\":\"a\"}}", "$(NO)".repeat(500_000))));
    errors(&body(&vec!["{}"; 100_000].join(","), "null"));
}

#[test]
fn a_hundred_thousand_equal_keys_are_refused() {
    let equal = "\"a\":1,".repeat(100_000);
    assert_eq!(
        errors(&body(&object(&format!("{{{equal}\"b\":\"$(A)\"}}")), "null")).iter().count(),
        1000
    );
    let others: String = (0..100_000).map(|index| format!("\"k{index}\":1,")).collect();
    let value = format!("{{{equal}\"$((A))a\":1,{others}\"xa\":1}}");
    errors(&body(&object(&value), "null"));
}

#[test]
fn text_that_grows_beyond_bounds_is_refused() {
    let value = "x".repeat(1 << 20);
    for text in ["$(A)".repeat(100_000), "$((A))".repeat(100_000)] {
        for object in [object(&format!("\"{text}\"")), object(&format!("{{\"{text}\":1}}"))] {
            let body =
                body(&object, "null").replace("\"value\":\"x\"", &format!("\"value\":\"{value}\""));
            let errors = objects(&body).unwrap_err();
            let told: Vec<_> = errors.iter().map(|error| (&*error.field, &error.reason)).collect();
            assert_eq!(told, [("objects[0]", &Reason::TooLong)]);
        }
    }
    let labels: Vec<String> = (0..1000).map(|index| format!("\"k{index}\":\"$(A)\"")).collect();
    let body = body("", &format!("{{{}}}", labels.join(",")))
        .replace("\"value\":\"x\"", &format!("\"value\":\"{value}\""));
    let errors = objects(&body).unwrap_err();
    assert!(errors.to_string().len() < 8 << 20);
}

#[test]
fn patterns_are_few_and_small() {
    let parameter =
        |index: usize| format!("{{\"name\":\"P{index}\",\"pattern\":\"[a-z]{{{index}}}$\"}}");
    let parameters: Vec<String> = (0..50_000).map(parameter).collect();
    let body = format!("{{\"objects\":[],\"parameters\":[{}]}}", parameters.join(","));
    let errors = errors(&body);
    let forbidden = errors.iter().find(|error| error.reason == Reason::Forbidden).unwrap();
    assert_eq!(forbidden.field, "parameters[256].pattern");
}

#[test]
fn a_hundred_thousand_parameters_are_resolved() {
    let parameter =
        |index: usize| format!("{{\"name\":\"P{index}\",\"type\":\"int\",\"value\":{index}}}");
    let parameters: Vec<String> = (0..100_000).map(parameter).collect();
    let references: Vec<String> = (0..100_000).map(|index| format!("\"$((P{index}))\"")).collect();
    let object = object(&format!("[{}]", references.join(",")));
    let body = format!("{{\"objects\":[{object}],\"parameters\":[{}]}}", parameters.join(","));
    assert!(objects(&body).unwrap().contains(",99998,99999]"));
}
