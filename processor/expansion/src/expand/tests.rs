//! The machine with templates that are rendered by hand: what a template says is what it gives.

mod oracle;

use super::*;
use crate::call::{Fault, Import, Rendered};
use crate::expanded::Output;
use crate::links::{LayoutLinks, Link, Links, Target};
use crate::value::Value;

/// A configuration and files, everything else as usual.
fn input(configuration: &str, files: &[(&str, &str)]) -> Input {
    Input {
        configuration: configuration.to_owned(),
        imports: imports(files),
        env: [("deployment".to_owned(), "dep".into())].into_iter().collect(),
        options: Options::default(),
    }
}

fn imports(files: &[(&str, &str)]) -> Imports {
    let import = |text: &str| Import { path: String::new(), content: text.into() };
    files.iter().map(|(name, text)| ((*name).to_owned(), import(text))).collect()
}

/// What a template is taken to give: its own text.
fn rendered(call: &Call) -> Outcome {
    let text = call.imports[&call.template].content.to_string();
    Outcome::Rendered(Rendered::Text { text, properties: None, fuel: 1 })
}

/// Answers in the given order of calls until the end.
fn run(input: Input, order: fn(&mut Vec<Call>)) -> Result<Expanded, Failure> {
    let mut expansion = Expansion::new(input)?;
    loop {
        match expansion.step()? {
            Step::Done(expanded) => return Ok(expanded),
            Step::Import(wanted) => panic!("{wanted:?}"),
            Step::Render(mut calls) => {
                order(&mut calls);
                for call in calls {
                    expansion.answer(call.id, rendered(&call));
                }
            }
        }
    }
}

fn refused(input: Input) -> Vec<String> {
    let failure = run(input, |_| {}).unwrap_err();
    failure.problems.iter().map(ToString::to_string).collect()
}

fn calls(step: Result<Step, Failure>) -> Vec<Call> {
    let Ok(Step::Render(calls)) = step else { panic!("{step:?}") };
    calls
}

/// Two templates side by side, one of which has one of its own.
fn nested() -> Input {
    let configuration = "resources:\n- {name: a, type: a.jinja}\n- {name: p, type: P}\n\
                         - {name: b, type: b.py, properties: {k: 1}}\n";
    let files = [
        ("a.jinja", "resources: [{name: in, type: b.py}, {name: x, type: X}]"),
        ("b.py", "resources: [{name: z, type: Z}]"),
    ];
    input(configuration, &files)
}

#[test]
fn a_configuration_without_templates_needs_nothing() {
    let extra = "resources: [{name: a, type: P, metadata: {dependsOn: [b]}, properties: {x: 1}}]";
    let expanded = run(input(extra, &[]), |_| {}).unwrap();
    let whole = r#"{"name":"a","type":"P","metadata":{"dependsOn":["b"]},"properties":{"x":1}}"#;
    let mut want = Value::from_json(whole).unwrap();
    assert_eq!(expanded.resources, [want.clone()]);
    let Value::Map(map) = &mut want else { unreachable!() };
    map.retain(|key, _| key == "name" || key == "type");
    assert_eq!(expanded.layout, [want]);
    for empty in ["", "~", "resources:\n", "foo: 1\n"] {
        assert_eq!(run(input(empty, &[]), |_| {}), Ok(Expanded::default()), "{empty:?}");
    }
}

#[test]
fn the_templates_of_a_level_are_given_at_once() {
    let mut expansion = Expansion::new(nested()).unwrap();
    let first = calls(expansion.step());
    let names = |calls: &[Call]| -> Vec<_> {
        calls.iter().map(|call| (call.template.clone(), call.language)).collect()
    };
    let (jinja, python) = (Language::Jinja, Language::Python);
    assert_eq!(names(&first), [("a.jinja".to_owned(), jinja), ("b.py".to_owned(), python)]);
    first.iter().for_each(|call| expansion.answer(call.id, rendered(call)));
    assert_eq!(names(&calls(expansion.step())), [("b.py".to_owned(), python)]);
}

#[test]
fn the_order_of_answers_changes_nothing() {
    let forwards = run(nested(), |_| {}).unwrap();
    assert_eq!(run(nested(), |calls| calls.reverse()).unwrap(), forwards);
    let flat = Value::List(forwards.resources).to_json();
    let names = r#"[{"name":"z","type":"Z"},{"name":"x","type":"X"},{"name":"p","type":"P"},{"name":"z","type":"Z"}]"#;
    assert_eq!(flat, names);
    assert_eq!(
        Value::List(forwards.layout).to_json(),
        concat!(
            r#"[{"name":"a","type":"a.jinja","resources":["#,
            r#"{"name":"in","type":"b.py","resources":[{"name":"z","type":"Z"}]},"#,
            r#"{"name":"x","type":"X"}]},{"name":"p","type":"P"},"#,
            r#"{"name":"b","type":"b.py","properties":{"k":1},"resources":[{"name":"z","type":"Z"}]}]"#
        )
    );
}

#[test]
fn links_stand_beside_the_resources_of_the_result() {
    let configuration = "resources:\n\
        - {name: first, type: P, metadata: {dependsOn: [t]}, properties: {ip: $(ref.t.ip)}}\n\
        - {name: t, type: t.jinja}\n\
        - {name: svc, type: P}\n\
        outputs: [{name: ip, value: $(ref.t.ip)}]\n";
    let template = "resources: [{name: x, type: P}, {name: svc, type: P, properties: $(ref.x.v)}]\n\
        outputs: [{name: ip, value: $(ref.svc.ip)}]";
    let expanded = run(input(configuration, &[("t.jinja", template)]), |_| {}).unwrap();
    let names: Vec<_> =
        expanded.resources.iter().map(|it| it.get("name").unwrap().repr()).collect();
    assert_eq!(names, ["'first'", "'x'", "'svc'", "'svc'"]);
    let link = |text: &str, at, path: &str| Link {
        text: text.to_owned(),
        target: Target::Resource(at),
        path: Some(path.to_owned()),
    };
    let ip = vec![link("$(ref.svc.ip)", 2, "ip")];
    let links = |needs: &[usize], references: &[Link]| Links {
        needs: needs.to_vec(),
        references: references.to_vec(),
        missing: Vec::new(),
    };
    let x = [link("$(ref.x.v)", 1, "v")];
    let want = [links(&[1, 2], &ip), links(&[], &[]), links(&[1], &x), links(&[], &[])];
    assert_eq!(expanded.links, want);
    assert_eq!(expanded.output_links, ip);
    assert_eq!(expanded.layout_links, [LayoutLinks { place: vec![1], references: ip }]);
    assert!(expanded.warnings.is_empty());
}

#[test]
fn a_step_says_the_same_until_it_is_answered() {
    let mut expansion = Expansion::new(nested()).unwrap();
    let first = calls(expansion.step());
    assert_eq!(calls(expansion.step()), first);
    expansion.answer(first[1].id, rendered(&first[1]));
    assert_eq!(calls(expansion.step()), first[..1]);
    // Neither a second answer nor one to a call that nobody made is taken.
    let fault = || Outcome::Failed(crate::call::Fault::default());
    expansion.answer(first[1].id, fault());
    expansion.answer(77, fault());
    expansion.answer(first[0].id, rendered(&first[0]));
    let last = calls(expansion.step());
    expansion.answer(last[0].id, rendered(&last[0]));
    for _ in 0..2 {
        assert!(
            matches!(expansion.step(), Ok(Step::Done(expanded)) if expanded.resources.len() == 4)
        );
    }
}

#[test]
fn a_call_has_its_own_env_and_all_of_its_resource() {
    let mut expansion = Expansion::new(nested()).unwrap();
    let call = calls(expansion.step()).remove(1);
    let map = |json| Value::from_json(json).unwrap();
    assert_eq!(Value::Map(call.env), map(r#"{"deployment": "dep", "name": "b", "type": "b.py"}"#));
    let resource = map(r#"{"name": "b", "type": "b.py", "properties": {"k": 1}}"#);
    assert_eq!(Value::Map(call.resource), resource);
}

#[test]
fn what_python_does_to_its_properties_is_shown_and_what_jinja_claims_is_not() {
    for (template, shown) in [("b.py", r#"{"k":2}"#), ("b.jinja", r#"{"k":1}"#)] {
        let configuration =
            format!("resources: [{{name: b, type: {template}, properties: {{k: 1}}}}]");
        let mut expansion = Expansion::new(input(&configuration, &[(template, "")])).unwrap();
        let id = calls(expansion.step())[0].id;
        let text = "resources: [{name: z, type: Z}]".to_owned();
        let properties = Some(Value::from_json(r#"{"k": 2}"#).unwrap());
        expansion.answer(id, Outcome::Rendered(Rendered::Text { text, properties, fuel: 0 }));
        let Ok(Step::Done(expanded)) = expansion.step() else { panic!("not done") };
        let properties = expanded.layout[0].get("properties").unwrap().to_json();
        assert_eq!(properties, shown, "{template}");
    }
}

const ELSEWHERE: &str = "resources:\n- {name: a, type: 'https://h/t.jinja'}\n\
                         - {name: b, type: 'github.com/o/r/t:v1'}\n\
                         - {name: c, type: 'https://h/t.jinja'}\n";

fn wanting(files: &[(&str, &str)]) -> Expansion {
    let mut expansion = Expansion::new(input(ELSEWHERE, files)).unwrap();
    for _ in 0..2 {
        let Ok(Step::Import(wanted)) = expansion.step() else { panic!("nothing wanted") };
        let names: Vec<_> = wanted.iter().map(|wanted| wanted.name.as_str()).collect();
        assert_eq!(names, ["github.com/o/r/t:v1", "https://h/t.jinja"]);
    }
    expansion
}

#[test]
fn types_from_elsewhere_are_asked_for_once() {
    let mut expansion = wanting(&[]);
    let mut files = imports(&[("https://h/t.jinja", "resources: []")]);
    let path = "https://raw/t.py".to_owned();
    files.insert("github.com/o/r/t:v1".into(), Import { path, content: "resources: []".into() });
    expansion.import(files);
    let calls = calls(expansion.step());
    assert_eq!(calls.len(), 3);
    assert_eq!(calls[1].language, Language::Python);
    assert!(calls[0].imports.contains_key("github.com/o/r/t:v1"));
}

#[test]
fn a_file_that_nobody_brings_is_missing_at_its_place() {
    let mut expansion = wanting(&[]);
    expansion.import(imports(&[("https://h/t.jinja", "resources: []")]));
    let failure = expansion.step().unwrap_err();
    assert_eq!(
        failure.to_string(),
        "config:3: Template 'github.com/o/r/t:v1' is not among the imports. (in config > b)"
    );
    assert_eq!(expansion.step().unwrap_err(), failure);
}

#[test]
fn what_is_fetched_replaces_nothing() {
    let mut expansion = wanting(&[("helper.py", "mine")]);
    expansion.import(imports(&[("https://h/t.jinja", ""), ("helper.py", "theirs")]));
    let failure = expansion.step().unwrap_err();
    assert_eq!(failure.problems[0].message, "Import 'helper.py' stands for two files.");
}

#[test]
fn everything_that_is_wrong_on_a_level_is_said_at_once() {
    let configuration = "resources:\n- {name: a, type: a.jinja}\n- {name: b, type: b.jinja}\n\
                         - {name: c, type: c.jinja}\n";
    let files = [
        ("a.jinja", "resources: [{name: x, type: P}, {name: x, type: P}]"),
        ("b.jinja", "resources: [{name: x, type: nowhere.py}]"),
        ("c.jinja", "hello"),
    ];
    assert_eq!(
        refused(input(configuration, &files)),
        [
            "a.jinja: resources[1]: Resource name 'x' is not unique in a.jinja. (in config > a (a.jinja))",
            "c.jinja: Template did not return a 'resources:' field. (in config > c (c.jinja))",
        ]
    );
    let two = "resources:\n- {name: a, type: b.py}\n- {name: b, type: c.jinja}\n";
    assert_eq!(
        refused(input(two, &[])),
        [
            "config:2: Template 'b.py' is not among the imports. (in config > a)",
            "config:3: Template 'c.jinja' is not among the imports. (in config > b)",
        ]
    );
}

#[test]
fn a_mistake_in_the_configuration_has_its_line() {
    let said = |configuration| {
        let failure = Expansion::new(input(configuration, &[])).unwrap_err();
        failure.to_string().replace(" (in config)", "")
    };
    assert_eq!(
        said("outputs:\n- {name: a, value: 1}\n- {value: 1}\n"),
        "config:3: outputs[1]: Output does not have a name."
    );
    assert_eq!(
        said("resources:\n- type: P\n"),
        "config:2: resources[0]: Resource does not have a name."
    );
    assert!(said("a: b\nresources: c: d\n").starts_with("config:2: Error parsing YAML: "));
}

#[test]
fn a_template_that_calls_itself_ends() {
    let files = [("t.jinja", "resources: [{name: b, type: t.jinja}]")];
    let problems = refused(input("resources: [{name: a, type: t.jinja}]", &files));
    assert_eq!(
        problems,
        [
            "t.jinja: Expansion needs more than 100 templates in one another (limit: depth) (in config > \
          a (t.jinja) > b (t.jinja) > b (t.jinja) > b (t.jinja) > … 93 more … > b (t.jinja) > b \
          (t.jinja) > b (t.jinja) > b (t.jinja))"
        ]
    );
}

#[test]
fn a_template_that_multiplies_ends() {
    let twice = "resources: [{name: a, type: t.jinja}, {name: b, type: t.jinja}]";
    let problems = refused(input("resources: [{name: a, type: t.jinja}]", &[("t.jinja", twice)]));
    assert_eq!(problems.len(), 1);
    assert!(problems[0].contains("more than 10000 templates to render (limit: calls)"));
}

#[test]
fn every_limit_holds() {
    let limited = |limits: Limits| {
        let options = Options { limits, ..Options::default() };
        refused(Input { options, ..nested() }).remove(0)
    };
    let usual = Limits::default;
    for (limits, name) in [
        (Limits { depth: 1, ..usual() }, "depth"),
        (Limits { resources: 3, ..usual() }, "resources"),
        (Limits { calls: 2, ..usual() }, "calls"),
        (Limits { imports: 1, ..usual() }, "imports"),
        (Limits { input: 150, ..usual() }, "input"),
        (Limits { output: 200, ..usual() }, "output"),
        (Limits { env: 10, ..usual() }, "env"),
        (Limits { fuel: 2, ..usual() }, "fuel"),
    ] {
        let problem = limited(limits);
        assert!(problem.contains(&format!("(limit: {name})")), "{name}: {problem}");
    }
    let options = Options { limits: Limits { rounds: 0, ..usual() }, ..Options::default() };
    let elsewhere = Input { options, ..input(ELSEWHERE, &[]) };
    assert!(refused(elsewhere)[0].contains("(limit: rounds)"));
}

#[test]
fn what_is_told_of_references_is_bounded_as_the_result_is() {
    let references =
        |count: usize| (0..count).map(|at| format!("$(ref.p.f{at})")).collect::<String>();
    let bounded = |references: String| {
        let configuration = format!(
            "resources: [{{name: p, type: P}}, {{name: q, type: P, properties: '{references}'}}]"
        );
        let limits = Limits { output: 4_000, ..Limits::default() };
        let options = Options { limits, ..Options::default() };
        run(Input { options, ..input(&configuration, &[]) }, |_| {})
    };
    let few = bounded(references(20)).unwrap();
    assert_eq!(few.links[1].references.len(), 20);
    // The text is the same length, and one link instead of many.
    assert!(bounded("$(ref.p.f11)".repeat(100)).is_ok());
    let many = bounded(references(100)).unwrap_err().to_string();
    assert!(many.contains("more than 4000 bytes of references (limit: output)"), "{many}");
}

/// So many resources of one template.
fn wide(count: usize, template: &str) -> Input {
    let resource = |at| format!("- {{name: r{at}, type: {template}, properties: {{k: 1}}}}\n");
    let resources: String = (0..count).map(resource).collect();
    input(&format!("resources:\n{resources}"), &[(template, "resources: []")])
}

#[test]
fn a_level_that_is_too_much_fails_alike_whichever_answer_comes_first() {
    type Answer<'a> = &'a dyn Fn(&Call) -> Outcome;
    let text = "#".repeat(1 << 20);
    let fail = |backwards: bool, outcome: Answer<'_>| {
        let mut expansion = Expansion::new(wide(20, "t.py")).unwrap();
        let mut calls = calls(expansion.step());
        if backwards {
            calls.reverse();
        }
        let mut answered = calls.iter().take_while(|call| {
            expansion.answer(call.id, outcome(call));
            !expansion.is_exhausted()
        });
        (answered.by_ref().count(), expansion.step().unwrap_err().to_string())
    };
    let long = |text: &str, fuel| {
        let (text, properties) = (text.to_owned(), None);
        Outcome::Rendered(Rendered::Text { text, properties, fuel })
    };
    let bytes = "Expansion needs more than 16777216 bytes of resources (limit: output)";
    let fuel = "Expansion needs more than 10000000 instructions of Jinja (limit: fuel)";
    let cases: [(Answer<'_>, usize, &str); 3] = [
        (&|_| long(&text, 0), 15, bytes),
        (&|_| long("resources: []", 2_000_000), 5, fuel),
        // Properties count as soon as they are others than those that the template was given.
        (
            &|_| {
                let (value, properties) = (Value::Null, Some(text.as_str().into()));
                Outcome::Rendered(Rendered::Data { value, properties })
            },
            15,
            bytes,
        ),
    ];
    for (outcome, most, message) in cases {
        let (answered, failure) = fail(false, outcome);
        assert!(failure.contains(message), "{failure}");
        assert_eq!(answered, most, "no answer is taken that is of no use");
        assert_eq!(fail(true, outcome), (answered, failure));
    }
}

#[test]
fn properties_that_a_template_left_alone_are_not_kept_for_each_call() {
    let mut expansion = Expansion::new(wide(20, "t.py")).unwrap();
    for call in calls(expansion.step()) {
        let properties = call.resource.get("properties").cloned();
        let value = Value::from_json(r#"{"resources": []}"#).unwrap();
        expansion.answer(call.id, Outcome::Rendered(Rendered::Data { value, properties }));
    }
    let Stage::Rendering { answers, .. } = &expansion.stage else { panic!("it is not stepped") };
    let kept =
        |it: &Outcome| matches!(it, Outcome::Rendered(Rendered::Data { properties: Some(_), .. }));
    assert_eq!((answers.len(), answers.values().any(kept)), (20, false));
}

#[test]
fn a_wide_level_is_called_piece_by_piece() {
    let mut expansion = Expansion::new(wide(1000, "t.py")).unwrap();
    let mut made = Vec::new();
    while let Step::Render(calls) = expansion.step().unwrap() {
        assert!(calls.len() <= 256, "each has an env of its own");
        for call in calls {
            expansion.answer(call.id, rendered(&call));
            made.push(call.id);
        }
    }
    assert_eq!(made, (1..=1000).collect::<Vec<_>>());
}

#[test]
fn the_first_faults_of_a_level_are_told_whichever_came_first() {
    let fail = |backwards: bool| {
        let mut expansion = Expansion::new(wide(250, "t.py")).unwrap();
        let mut calls = calls(expansion.step());
        if backwards {
            calls.reverse();
        }
        for call in calls {
            let message = format!("no {}", call.id);
            let fault = Fault { kind: "E".into(), message, ..Fault::default() };
            expansion.answer(call.id, Outcome::Failed(fault));
        }
        expansion.step().unwrap_err()
    };
    let failure = fail(true);
    assert_eq!(failure, fail(false));
    let messages = failure.problems.iter().map(|it| it.message.clone());
    let want = (1..=100).map(|at| format!("E: no {at}")).chain(["150 more problems".to_owned()]);
    assert!(messages.eq(want));
}

#[test]
fn outputs_are_carried_unless_they_are_switched_off() {
    let files = [("t.jinja", "resources: []\noutputs: [{name: o, value: {k: [1]}}]")];
    let configuration = "resources: [{name: a, type: t.jinja}]\noutputs: [{name: p, value: q}]\n";
    let expanded = run(input(configuration, &files), |_| {}).unwrap();
    assert_eq!(expanded.outputs, [Output { name: "p".into(), value: "q".into() }]);
    let layout = r#"[{"name":"a","type":"t.jinja","outputs":[{"name":"o","value":{"k":[1]}}]}]"#;
    assert_eq!(Value::List(expanded.layout).to_json(), layout);
    let options = Options { outputs: false, ..Options::default() };
    let expanded = run(Input { options, ..input(configuration, &files) }, |_| {}).unwrap();
    assert_eq!(expanded.outputs, []);
    assert_eq!(expanded.layout[0].get("outputs"), None);
}

#[test]
fn references_are_replaced_when_everything_is_rendered() {
    let files = [("t.jinja", "resources: [{name: x, type: P}]\noutputs: [{name: n, value: 80}]")];
    let configuration = "resources:\n- name: c\n  type: P\n  properties: {port: $(ref.a.n)}\n\
                         - {name: a, type: t.jinja}\noutputs: [{name: all, value: $(ref.a)}]\n";
    let expanded = run(input(configuration, &files), |_| {}).unwrap();
    let port = expanded.resources[0].get("properties").map(Value::to_json);
    assert_eq!(port.as_deref(), Some(r#"{"port":80}"#));
    assert_eq!(expanded.outputs[0].value.to_json(), r#"{"n":80}"#);
    assert_eq!(
        refused(input(&configuration.replace("a.n", "a.x"), &files)),
        ["config:2: properties.port: No value found. Reference: $(ref.a.x) (in config > c)"]
    );
    let limits = Limits { output: configuration.len() + 150, ..Limits::default() };
    let many =
        configuration.replace("$(ref.a.n)", &format!("[{}]", "$(ref.a.n)$(ref.a.n),".repeat(5)));
    let options = Options { limits, ..Options::default() };
    let problems = refused(Input { options, ..input(&many, &files) });
    assert!(problems[0].contains("(limit: output)"), "{problems:?}");
}

#[test]
fn resources_that_need_each_other_are_refused_and_names_that_nobody_has_are_odd() {
    let mut configuration =
        "resources:\n- {name: a, type: P, properties: {v: $(ref.b.v)}}\n".to_owned();
    let expanded = run(input(&configuration, &[]), |_| {}).unwrap();
    let warnings: Vec<_> = expanded.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["$(ref.b.v) refers to a resource that is not there (in config > a)"]);
    configuration.push_str("- {name: b, type: P, properties: {v: $(ref.a.v)}}\n");
    let circle = "config:2: Resources need each other in a circle: a -> b -> a (in config > a)";
    assert_eq!(refused(input(&configuration, &[])), [circle]);
}
