//! The recursion as one would write it without a second thought, against the machine, which has none.

use proptest::prelude::*;

use super::*;

/// Templates by number; each uses only later ones, so that there is an end. A resource is a primitive or a template.
type Templates = Vec<Vec<Option<usize>>>;

fn templates() -> impl Strategy<Value = Templates> {
    (1..6_usize).prop_flat_map(|count| {
        let one = |at| {
            let later = if at + 1 < count { (at + 1..count).boxed() } else { Just(count).boxed() };
            let kind = prop_oneof![Just(None), later.prop_map(Some)];
            let real = move |kind: Option<usize>| kind.filter(|&kind| kind < count);
            prop::collection::vec(kind.prop_map(real), 0..4)
        };
        (0..count).map(one).collect::<Vec<_>>()
    })
}

/// Files: the first template is the configuration.
fn files(templates: &Templates) -> Vec<(String, String)> {
    let resource = |(at, kind): (usize, &Option<usize>)| {
        let of_type = kind.map_or_else(|| "P".to_owned(), |kind| format!("t{kind}.jinja"));
        format!("{{name: r{at}, type: {of_type}, properties: {{at: {at}}}}}")
    };
    let text = |resources: &Vec<_>| {
        let list: Vec<_> = resources.iter().enumerate().map(resource).collect();
        format!("resources: [{}]", list.join(", "))
    };
    let name = |(at, resources)| (format!("t{at}.jinja"), text(resources));
    templates.iter().enumerate().map(name).collect()
}

/// What a template consists of, as JSON: its primitives in a row, and its layout.
fn expanded(templates: &Templates, of: usize) -> (Vec<String>, String) {
    let (mut flat, mut layout) = (Vec::new(), Vec::new());
    for (at, kind) in templates[of].iter().enumerate() {
        let properties = format!(r#""properties":{{"at":{at}}}"#);
        let Some(kind) = *kind else {
            flat.push(format!(r#"{{"name":"r{at}","type":"P",{properties}}}"#));
            layout.push(format!(r#"{{"name":"r{at}","type":"P"}}"#));
            continue;
        };
        let (inner, below) = expanded(templates, kind);
        flat.extend(inner);
        let head = format!(r#""name":"r{at}","type":"t{kind}.jinja""#);
        layout.push(if below == "[]" {
            format!("{{{head}}}")
        } else {
            format!(r#"{{{head},{properties},"resources":{below}}}"#)
        });
    }
    (flat, format!("[{}]", layout.join(",")))
}

proptest! {
    #[test]
    fn the_machine_gives_what_the_recursion_gives(
        templates in templates(),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
    ) {
        let files = files(&templates);
        let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let mut expansion = Expansion::new(input(files[0].1, &files)).unwrap();
        let mut choices = choices.iter().cycle();
        // Any one of the open calls is answered, and then it is asked again.
        let result = loop {
            match expansion.step().unwrap() {
                Step::Done(result) => break result,
                Step::Import(wanted) => panic!("{wanted:?}"),
                Step::Render(calls) => {
                    let call = choices.next().unwrap().get(&calls);
                    expansion.answer(call.id, rendered(call));
                }
            }
        };
        let (flat, layout) = expanded(&templates, 0);
        prop_assert_eq!(result.resources.iter().map(Value::to_json).collect::<Vec<_>>(), flat);
        prop_assert_eq!(Value::List(result.layout).to_json(), layout);
    }
}
