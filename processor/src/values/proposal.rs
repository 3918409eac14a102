//! Values of the proposal's parameters: typed, and strict about every declaration.
//!
//! A value is text, whatever the type: the style of a reference decides what becomes of it. Only
//! `base64` changes it: the value that is given is plain text, and references give its base64, for
//! the `data` of a Secret. (Bytes that are no text are a `string` whose value is their base64.)

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Overrides, Value, Values, check_names};
use crate::constraint::{Constraint, MAX_PATTERNS, Type};
use crate::error::{Errors, FieldError, Reason, go_quote};
use crate::generator::{self, Random};
use crate::template::{Parameter, Template};
use crate::{MAX_PROCESSED, process};

/// Settles every parameter, or says everything that is wrong with template and values.
pub(super) fn resolve<'t>(
    template: &'t Template,
    overrides: &Overrides,
    random: &mut dyn Random,
) -> Result<Values<'t>, Errors> {
    let mut errors = Errors::default();
    overrides.check(template, &mut errors);
    let constraints = declarations(template, &mut errors);
    let mut list = Vec::with_capacity(constraints.len());
    let mut size = 0;
    for (index, (parameter, constraint)) in
        template.parameters().iter().zip(&constraints).enumerate()
    {
        let given = overrides.values.get(&*parameter.name);
        let Some(text) = settle(parameter, given, random) else { continue };
        if let Some(constraint) = constraint.as_ref().filter(|_| text != parameter.value) {
            let field = || match given {
                Some(_) => format!("values[{}]", parameter.name),
                None => format!("parameters[{index}].value"),
            };
            constraint.check(&text, field, &mut errors);
        }
        if text.is_empty() && parameter.required {
            let detail = format!("parameter {} needs a value", parameter.name);
            errors.push(FieldError::required(format!("parameters[{index}].value"), detail));
        }
        size += text.len();
        if size > MAX_PROCESSED {
            errors.push(FieldError::too_long(format!("parameters[{index}].value")));
            break;
        }
        let is_encoded = constraint.as_ref().is_some_and(|known| known.kind() == Type::Base64);
        list.push(value(&parameter.name, text, given.is_some(), is_encoded));
    }
    if errors.is_empty() {
        return Ok(Values::new(list));
    }
    errors.append(process::check(template));
    Err(errors)
}

/// What is wrong with the template, whatever its values.
pub(super) fn validate(template: &Template) -> Errors {
    let mut errors = Errors::default();
    declarations(template, &mut errors);
    errors.append(process::check(template));
    errors
}

/// Empty values, to look at what refers to them.
pub(super) fn blank<'t>(template: &'t Template) -> Values<'t> {
    let blank = |parameter: &'t Parameter| Value::new(&parameter.name, Cow::Borrowed(""), false);
    Values::new(template.parameters().iter().map(blank).collect())
}

/// The constraints of all parameters; what is wrong with the parameters goes to `errors`.
fn declarations<'t>(template: &'t Template, errors: &mut Errors) -> Vec<Option<Constraint<'t>>> {
    let parameters = template.parameters();
    check_names(template, errors);
    check_repeats(parameters, errors);
    let mut patterns = MAX_PATTERNS;
    let mut declaration = |(index, parameter)| {
        check_generator(index, parameter, errors);
        Constraint::read(index, parameter, &mut patterns, errors)
    };
    parameters.iter().enumerate().map(&mut declaration).collect()
}

fn check_repeats(parameters: &[Parameter], errors: &mut Errors) {
    let mut order: Vec<usize> = (0..parameters.len()).collect();
    order.sort_by_key(|&index| &*parameters[index].name);
    let mut repeats: Vec<usize> = order
        .windows(2)
        .filter(|pair| parameters[pair[0]].name == parameters[pair[1]].name)
        .map(|pair| pair[1])
        .filter(|&index| !parameters[index].name.is_empty())
        .collect();
    repeats.sort_unstable();
    for index in repeats {
        let value = go_quote(&parameters[index].name);
        errors.push(FieldError::duplicate(format!("parameters[{index}].name"), value));
    }
}

fn check_generator(index: usize, parameter: &Parameter, errors: &mut Errors) {
    struct Lowest;
    impl Random for Lowest {
        fn below(&mut self, _bound: u32) -> u32 {
            0
        }
    }

    let Parameter { generate, from, .. } = parameter;
    if generate.is_empty() {
        return;
    }
    if generate != "expression" {
        let supported = vec![go_quote("expression")];
        let reason = Reason::NotSupported { value: go_quote(generate), supported };
        let field = format!("parameters[{index}].generate");
        errors.push(FieldError { field, reason, detail: String::new() });
    } else if let Err(text) = generator::generate(from, &mut Lowest) {
        errors.push(FieldError::invalid(format!("parameters[{index}].from"), go_quote(from), text));
    }
}

/// The value given, else the template's, else a generated one; none when the generator is faulty,
/// which [`check_generator`] has said.
fn settle<'t>(
    parameter: &'t Parameter,
    given: Option<&String>,
    random: &mut dyn Random,
) -> Option<Cow<'t, str>> {
    match given {
        Some(given) => Some(Cow::Owned(given.clone())),
        None if parameter.value.is_empty() && parameter.generate == "expression" => {
            generator::generate(&parameter.from, random).ok().map(Cow::Owned)
        }
        None => Some(Cow::Borrowed(&parameter.value)),
    }
}

fn value<'t>(name: &'t str, text: Cow<'t, str>, given: bool, is_encoded: bool) -> Value<'t> {
    if !is_encoded {
        return Value::new(name, text, given);
    }
    let encoded = Cow::Owned(STANDARD.encode(text.as_bytes()));
    Value { plain: Some(text), ..Value::new(name, encoded, given) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    struct Zero;
    impl Random for Zero {
        fn below(&mut self, _bound: u32) -> u32 {
            0
        }
    }

    /// The values of these parameters, all of them referred to, or the errors.
    fn run(parameters: &str, given: &[(&str, &str)]) -> Vec<String> {
        let object = r#"{"apiVersion":"v1","kind":"K","v":["$(A)","$(B)"]}"#;
        let body = format!("{{\"objects\":[{object}],\"parameters\":[{parameters}]}}");
        let template = Template::parse(&body, Dialect::Proposal).unwrap();
        let overrides = given.iter().copied().collect();
        match Values::resolve(&template, &overrides, &mut Zero) {
            Ok(values) => values.iter().map(|value| value.text().to_owned()).collect(),
            Err(errors) => errors.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn base64_is_of_the_text_that_is_given() {
        let parameters = r#"{"name":"A","type":"base64","value":"secret"},{"name":"B"}"#;
        assert_eq!(run(parameters, &[]), ["c2VjcmV0", ""]);
        assert_eq!(run(parameters, &[("A", "\u{e9}"), ("B", "x")]), ["w6k=", "x"]);
    }

    #[test]
    fn given_and_generated_values_are_checked_like_defaults() {
        let parameters = r#"{"name":"A","type":"int","value":"1","maximum":5},
            {"name":"B","generate":"expression","from":"[a-c]{2}","pattern":"^b"}"#;
        assert_eq!(
            run(parameters, &[("A", "6")]),
            [
                "values[A]: Invalid value: \"6\": must be at most 5",
                "parameters[1].value: Invalid value: \"<hidden>\": must match the pattern \"^b\"",
            ]
        );
        assert_eq!(run(parameters, &[("A", "5"), ("B", "bb")]), ["5", "bb"]);
    }

    #[test]
    fn an_empty_value_is_no_value() {
        let parameters = r#"{"name":"A","type":"int","minimum":1},{"name":"B","required":true}"#;
        assert_eq!(
            run(parameters, &[("B", "")]),
            ["parameters[1].value: Required value: parameter B needs a value"]
        );
        assert_eq!(run(parameters, &[("B", "b")]), ["", "b"]);
    }

    #[test]
    fn all_that_is_wrong_is_said_together() {
        assert_eq!(
            run(
                r#"{"name":"A","type":"bool","value":"no"},{"name":"A"},{"name":"a-b"},{"name":"C","generate":"uuid"},
                   {"name":"D","generate":"expression","from":"[ABC]{3}"}"#,
                &[("NOPE", "1")]
            ),
            [
                "unknown parameter name \"NOPE\"",
                "parameters[2].name: Invalid value: \"a-b\": does not match ^[a-zA-Z0-9_]+$",
                "parameters[1].name: Duplicate value: \"A\"",
                "parameters[0].value: Invalid value: \"no\": must be true or false",
                "parameters[3].generate: Unsupported value: \"uuid\": supported values: \"expression\"",
                "parameters[4].from: Invalid value: \"[ABC]{3}\": malformed expresion syntax: [ABC]",
                "objects[0].v[1]: Not found: \"$(B)\": the template has no such parameter",
                "parameters[3].name: Invalid value: \"C\": nothing refers to this parameter",
                "parameters[4].name: Invalid value: \"D\": nothing refers to this parameter",
            ]
        );
    }
}
