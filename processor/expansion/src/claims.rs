//! What holds for every input, as functions that panic where it does not: property tests give them structured nonsense,
//! and the fuzzers of `hack/fuzz` whatever reaches new code.
//!
//! Not part of the library; it is compiled for those two alone.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::call::{Call, Import, Imports, Outcome, Rendered};
use crate::configuration;
use crate::error::Failure;
use crate::expand::{Expansion, Input, Options, Step};
use crate::expanded::Expanded;
use crate::limits::Limits;
use crate::links::{Link, Target};
use crate::references::{BEGIN, Malformed, Piece, path, pieces, references, replace, texts};
use crate::value::{Map, Value};
use crate::waves::waves;

/// Stands between the parts of an input of [`expansion`]; YAML may not have it.
pub const SEPARATOR: char = '\u{c}';

/// A text is refused with a message that can be shown, or read as a value that survives being written and read again.
pub fn configuration(text: &str) {
    let document = match configuration::read(text) {
        Ok(document) => document,
        Err(unreadable) => return showable(&unreadable.message),
    };
    let json = document.value.to_json();
    assert!(document.size >= json.len(), "{} bytes count as {}", json.len(), document.size);
    assert_eq!(Value::from_json(&json).expect("what is written can be read"), document.value);
    let dumped = yaml::safe_dump(&json).expect("what was read can be written");
    let again = configuration::read(&dumped).expect("what is written can be read");
    assert_eq!(again.value, document.value, "{dumped}");
}

/// The parts of the input are a configuration, a schema for every template, and what the templates give, in turn. The
/// expansion comes to an end within its limits, whatever is answered, and in whatever order.
pub fn expansion(input: &str) {
    let parts: Vec<&str> = input.split(SEPARATOR).collect();
    let (forwards, backwards) = (run(&parts, false), run(&parts, true));
    match &forwards {
        Ok(expanded) => {
            assert!(expanded.resources.len() <= limits().resources);
            for value in expanded.resources.iter().chain(&expanded.layout) {
                assert!(value.as_map().is_some(), "{value:?}");
            }
            linked(expanded);
        }
        Err(failure) => {
            assert!(!failure.problems.is_empty());
            assert!(!failure.deployment_manager().is_empty());
            failure.problems.iter().for_each(|problem| showable(&problem.to_string()));
        }
    }
    assert_eq!(forwards, backwards, "the order of the answers makes a difference");
}

/// What resources need comes in an earlier wave; what they refer to is among that, and stands in them.
fn linked(expanded: &Expanded) {
    let Expanded { resources, links, .. } = expanded;
    assert_eq!(links.len(), resources.len());
    let needs: Vec<_> = links.iter().map(|links| links.needs.clone()).collect();
    let mut there = BTreeSet::new();
    for wave in waves(&needs) {
        for &at in &wave {
            assert!(needs[at].is_sorted_by(|a, b| a < b), "{:?}", needs[at]);
            assert!(needs[at].iter().all(|other| there.contains(other)), "{needs:?}");
        }
        there.extend(wave);
    }
    assert_eq!(there.len(), resources.len());
    for ((resource, links), needs) in resources.iter().zip(links).zip(&needs) {
        let mut all = String::new();
        texts(resource, &mut |text| all.push_str(text));
        for Link { text, target, .. } in &links.references {
            assert!(all.contains(text), "{text}");
            if let Target::Resource(at) = target {
                assert!(needs.contains(at), "{text}");
            }
        }
    }
}

/// A text is malformed as a whole, or its pieces are all of it; replacing every reference by its own text changes
/// nothing.
pub fn reference(text: &str) {
    let pieces = match pieces(text) {
        Ok(pieces) => pieces,
        Err(Malformed(whole)) => {
            assert_eq!(whole, text);
            assert!(text.contains(BEGIN));
            return;
        }
    };
    let piece = |piece: &Piece<'_>| match piece {
        Piece::Text(text) => (*text).to_owned(),
        Piece::Reference(reference) => reference.text.to_owned(),
    };
    assert_eq!(pieces.iter().map(piece).collect::<String>(), text);
    for found in references(text).expect("it was read before") {
        assert!(found.text.starts_with(BEGIN) && found.text.ends_with(')'));
        assert!(!found.name.is_empty() && found.path != Some(""));
        if let Some(steps) = path::parse(found.path.unwrap_or_default()) {
            let value = Value::from_json(r#"{"a": [{"b": 1}, [2]], "b": {"a": null}}"#);
            _ = path::find(&value.expect("it is JSON"), &steps);
        }
    }
    let itself = replace::<Malformed>(text, |found| Ok(Some(Value::from(found.text))));
    let itself = itself.expect("it was read before").unwrap_or_else(|| Value::from(text));
    assert_eq!(itself, Value::from(text));
    assert_eq!(replace::<Malformed>(text, |_| Ok(None)), Ok(None));
}

/// Small, so that every one of them is met.
fn limits() -> Limits {
    Limits {
        depth: 6,
        resources: 100,
        calls: 40,
        rounds: 3,
        imports: 20,
        output: 1 << 16,
        input: 1 << 20,
        env: 1 << 10,
        fuel: 1_000,
    }
}

/// Drives an expansion to its end; the answers of a step come in order or the other way round.
fn run(parts: &[&str], backwards: bool) -> Result<Expanded, Failure> {
    let file = |content: &str| Import { path: String::new(), content: Arc::from(content) };
    let (configuration, rest) = parts.split_first().expect("a text has at least one part");
    let (schema, answers) = rest.split_first().unwrap_or((&"", &[]));
    let mut imports = Imports::new();
    for template in ["t.jinja", "t.py"] {
        imports.insert(template.to_owned(), file(""));
        if !schema.is_empty() {
            imports.insert(format!("{template}.schema"), file(schema));
        }
    }
    let options = Options { limits: limits(), ..Options::default() };
    let env = Map::from([("deployment".to_owned(), Value::from("d"))]);
    let configuration = (*configuration).to_owned();
    let mut expansion = Expansion::new(Input { configuration, imports, env, options })?;
    // Each step but the last renders a level or imports a round.
    for _ in 0..=2 * (limits().depth + limits().rounds) {
        match expansion.step()? {
            Step::Done(expanded) => return Ok(expanded),
            Step::Import(wanted) => {
                assert!(!wanted.is_empty());
                let brought = wanted.into_iter().map(|wanted| (wanted.name, file("")));
                expansion.import(brought.collect());
            }
            Step::Render(mut calls) => {
                assert!(!calls.is_empty());
                if backwards {
                    calls.reverse();
                }
                for call in &calls {
                    assert!(call.imports.contains_key(&call.template));
                    expansion.answer(call.id, outcome(call, answers));
                }
            }
        }
    }
    panic!("there is no end")
}

/// What the template of a call gives: data, where the answer is JSON, and text elsewhere.
fn outcome(call: &Call, answers: &[&str]) -> Outcome {
    let turn = usize::try_from(call.id).unwrap_or_default().checked_rem(answers.len());
    let answer = turn.map_or("", |turn| answers[turn]);
    let properties = call.resource.get("properties").cloned();
    Outcome::Rendered(match Value::from_json(answer) {
        Ok(value) => Rendered::Data { value, properties },
        Err(_) => Rendered::Text { text: answer.to_owned(), properties, fuel: 1 },
    })
}

/// Neither moves a terminal's cursor nor is without end.
fn showable(message: &str) {
    assert!(!message.is_empty() && message.len() < 1 << 14, "{} bytes", message.len());
    assert!(!message.contains(char::is_control), "{message:?}");
}
