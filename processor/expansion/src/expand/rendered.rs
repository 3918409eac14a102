//! What came of a template: text that has to be read, data, or a fault. All of it is a stranger's.

use super::budget::Budget;
use super::contents::Contents;
use crate::call::{Fault, Outcome, Rendered};
use crate::configuration::{self, Document, Unreadable};
use crate::error::{Cause, Problem};
use crate::value::Value;

/// What a template gave.
pub(super) struct Given {
    pub(super) contents: Contents,
    /// Its properties as it left them, if it could change them.
    pub(super) properties: Option<Value>,
    /// What is odd about it.
    pub(super) warnings: Vec<String>,
}

/// Takes what came of the template `name`.
pub(super) fn take(
    name: &str,
    outcome: Outcome,
    budget: &mut Budget,
) -> Result<Given, Vec<Problem>> {
    let one = |problem: Problem| vec![problem.in_file(name)];
    let (value, properties, warnings) = match outcome {
        Outcome::Failed(fault) => return Err(vec![failed(name, fault)]),
        Outcome::Rendered(Rendered::Text { text, properties, fuel }) => {
            budget.fuel(fuel).map_err(one)?;
            let document = configuration::read(&text).map_err(|it| one(unreadable(it)))?;
            let Document { value, size, warnings, .. } = document;
            budget.output(size.max(text.len())).map_err(one)?;
            let warnings = warnings.iter().map(|it| format!("In what the template gave: {it}"));
            (value, properties, warnings.collect())
        }
        Outcome::Rendered(Rendered::Data { value, properties }) => {
            budget.output(value.size()).map_err(one)?;
            (not_text(name, value).map_err(one)?, properties, Vec::new())
        }
    };
    let contents = Contents::of_template(value, name)
        .map_err(|problems| problems.into_iter().map(|it| it.in_file(name)).collect::<Vec<_>>())?;
    Ok(Given { contents, properties, warnings })
}

/// Python gives a dictionary, nothing, or text, which does not come as data.
fn not_text(name: &str, value: Value) -> Result<Value, Problem> {
    let python = match &value {
        Value::Null | Value::Map(_) => return Ok(value),
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::List(_) => "list",
    };
    let message = format!(
        "Python expansion must return dict, str or unicode type, but was <type '{python}'>"
    );
    Err(Problem::new(Cause::Configuration, message).about(name))
}

/// The line is one of the text that was rendered, which nobody has before them: so it is part of the message.
fn unreadable(Unreadable { line, message }: Unreadable) -> Problem {
    let at = line.map(|line| format!(" (line {line} of what the template gave)"));
    Problem::new(Cause::Configuration, message + at.as_deref().unwrap_or_default())
}

/// The place of a fault is the innermost one that is in a file of the caller's.
fn failed(name: &str, fault: Fault) -> Problem {
    let Fault { kind, message, frames, hint } = fault;
    let cause = if kind.ends_with("Limit") { Cause::Limit } else { Cause::Template };
    let message = if kind.is_empty() { message } else { format!("{kind}: {message}") };
    let mut problem = Problem::new(cause, message).about(name);
    let own = frames.iter().rev().find(|frame| !frame.file.starts_with('<'));
    problem.line = own.map(|frame| frame.line).filter(|&line| line > 0);
    problem.file = Some(own.map_or_else(|| name.to_owned(), |frame| frame.file.clone()));
    problem.trace = frames;
    problem.hint = hint;
    problem
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Frame;
    use crate::limits::Limits;

    fn text(text: &str) -> Outcome {
        Outcome::Rendered(Rendered::Text { text: text.to_owned(), properties: None, fuel: 1 })
    }

    fn data(json: &str) -> Outcome {
        let value = Value::from_json(json).unwrap();
        Outcome::Rendered(Rendered::Data { value, properties: None })
    }

    fn refused(outcome: Outcome, limits: Limits) -> String {
        let Err(problems) = take("t.py", outcome, &mut Budget::new(limits)) else {
            panic!("given")
        };
        assert_eq!(problems.len(), 1);
        problems[0].to_string().replace(" (in config)", "")
    }

    #[test]
    fn text_and_data_give_the_same() {
        for outcome in [text("resources: [a]\n"), data(r#"{"resources": ["a"]}"#)] {
            let mut budget = Budget::new(Limits::default());
            let Ok(given) = take("t.py", outcome, &mut budget) else { panic!("refused") };
            assert_eq!(given.contents.resources, ["a".into()]);
        }
    }

    #[test]
    fn other_data_is_refused_in_the_words_of_python() {
        let of = |json| refused(data(json), Limits::default());
        let words = "t.py: Python expansion must return dict, str or unicode type, but was <type";
        assert_eq!(of("[]"), format!("{words} 'list'>"));
        assert_eq!(of("1"), format!("{words} 'int'>"));
        assert_eq!(of("1.0"), format!("{words} 'float'>"));
        assert_eq!(of("null"), "t.py: Template did not return a 'resources:' field.");
    }

    #[test]
    fn text_that_is_no_yaml_names_the_template() {
        assert!(refused(text("a: b: c"), Limits::default()).starts_with("t.py: "));
    }

    #[test]
    fn a_fault_is_where_the_callers_own_file_is() {
        let frame = |file: &str, line| Frame { file: file.into(), line, ..Frame::default() };
        let fault = Fault {
            kind: "ScannerError".into(),
            message: "bad".into(),
            frames: vec![frame("t.py", 3), frame("helper.py", 7), frame("<python:yaml>", 80)],
            hint: Some("try".into()),
        };
        let problem = failed("t.py", fault);
        assert_eq!(problem.to_string(), "helper.py:7: ScannerError: bad (in config)");
        assert_eq!((problem.trace.len(), problem.hint.as_deref()), (3, Some("try")));
    }

    #[test]
    fn a_fault_of_a_limit_is_one() {
        let fault = Fault { kind: "MemoryLimit".into(), message: "x".into(), ..Fault::default() };
        let problem = failed("t.py", fault);
        assert_eq!((problem.cause, problem.file.as_deref()), (Cause::Limit, Some("t.py")));
    }

    #[test]
    fn everything_given_counts() {
        let limits = |output| Limits { output, ..Limits::default() };
        let long = "resources: []\n# a comment counts as well";
        assert!(refused(text(long), limits(20)).contains("(limit: output)"));
        let aliases = "a: &a [xxxxxxxxxxxxxxxx]\nb: [*a, *a, *a, *a]\nresources: []\n";
        assert!(refused(text(aliases), limits(aliases.len())).contains("(limit: output)"));
        assert!(refused(data(r#"{"resources": []}"#), limits(15)).contains("(limit: output)"));
        let no_fuel = Limits { fuel: 0, ..Limits::default() };
        assert!(refused(text("resources: []"), no_fuel).contains("(limit: fuel)"));
    }
}
