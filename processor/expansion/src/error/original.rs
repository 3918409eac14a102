//! Failures in the words of Deployment Manager's service.
//!
//! It stopped at the first problem and printed its message, then ` Resource: ` with what it was about, and as the error
//! passed the top of the configuration once more ` Resource: config`. Violations of a schema came together, a line each.

use std::fmt::Write as _;

use super::{Cause, Problem, shown};

pub(super) fn text(problems: &[Problem]) -> String {
    let Some(first) = problems.first() else { return String::new() };
    let template = first.place.steps.last().and_then(|(_, template)| template.as_deref());
    let template = template.unwrap_or_default();
    let mut text = match first.cause {
        Cause::Schema => violations(format!("Invalid schema '{template}.schema':\n"), problems),
        Cause::Properties => {
            violations(format!("Invalid properties for '{template}':\n"), problems)
        }
        Cause::Template if !first.trace.is_empty() => traceback(template, first),
        _ => line(first).to_owned(),
    };
    for resource in first.original.resource.as_deref().into_iter().chain(["config"]) {
        let _ = write!(text, " Resource: {resource}");
    }
    text
}

fn line(problem: &Problem) -> &str {
    problem.original.line.as_deref().unwrap_or(&problem.message)
}

/// The head and a line for each problem that is of the same schema and resource as the first.
fn violations(mut text: String, problems: &[Problem]) -> String {
    let first = &problems[0];
    let same = |problem: &&Problem| problem.cause == first.cause && problem.place == first.place;
    for problem in problems.iter().take_while(same) {
        text.push_str(line(problem));
        text.push('\n');
    }
    text
}

/// A traceback as Python prints it, of the template's own files.
fn traceback(template: &str, problem: &Problem) -> String {
    let mut text = format!("Exception in {template}\nTraceback (most recent call last):\n");
    for frame in &problem.trace {
        let _ = write!(text, "  File \"{}\", line {}", shown(&frame.file), frame.line);
        if !frame.function.is_empty() {
            let _ = write!(text, ", in {}", frame.function);
        }
        text.push('\n');
        if !frame.text.is_empty() {
            let _ = writeln!(text, "    {}", shown(frame.text.trim()));
        }
    }
    text.push_str(line(problem));
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::super::{Failure, Place};
    use super::*;
    use crate::call::Frame;

    fn place() -> Place {
        Place { steps: vec![("a".into(), Some("t.py".into()))] }
    }

    #[test]
    fn violations_of_one_schema_are_one_text() {
        let mut first = Problem::new(Cause::Properties, "'z' is a required property").at(place());
        first.original.line = Some("'z' is a required property at ['o']".into());
        let second = Problem::new(Cause::Properties, "1 is not of type 'string'").at(place());
        let elsewhere = Problem::new(Cause::Properties, "never shown");
        let failure = Failure { problems: vec![first.about("a"), second.about("a"), elsewhere] };
        assert_eq!(
            failure.deployment_manager(),
            "Invalid properties for 't.py':\n'z' is a required property at ['o']\n\
             1 is not of type 'string'\n Resource: a Resource: config"
        );
    }

    #[test]
    fn a_failing_template_prints_its_traceback() {
        let mut problem = Problem::new(Cause::Template, "KeyError: 'x'").at(place()).about("t.py");
        let text = "  return context.properties['x']".to_owned();
        problem.trace =
            vec![Frame { file: "t.py".into(), line: 2, function: "GenerateConfig".into(), text }];
        assert_eq!(
            Failure::from(problem).deployment_manager(),
            "Exception in t.py\nTraceback (most recent call last):\n  File \"t.py\", line 2, in \
             GenerateConfig\n    return context.properties['x']\nKeyError: 'x'\n \
             Resource: t.py Resource: config"
        );
    }

    #[test]
    fn what_is_wrong_with_the_whole_has_no_resource() {
        let failure = Failure::from(Problem::new(Cause::Configuration, "Error parsing YAML: x"));
        assert_eq!(failure.deployment_manager(), "Error parsing YAML: x Resource: config");
    }
}
