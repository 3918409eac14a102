//! What a typed parameter allows: `type`, `enum`, `pattern`, `minimum` and `maximum`.
//!
//! Only the proposal has these. A constraint is about the text of a value; how the text is placed
//! into an object is the reference's business. An empty value is no value (as in Go, where an
//! empty string and an absent field are the same): only `required` has something to say about it.

use regex::Regex;

use crate::error::{Errors, FieldError, Reason, go_quote};
use crate::pattern;
use crate::template::Parameter;

/// How many patterns one template may have: each costs time to compile.
pub(crate) const MAX_PATTERNS: usize = 256;

/// The type of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    /// Any text; what a parameter is that does not say.
    String,
    /// An integer of 64 bits, written as in JSON.
    Int,
    /// `true` or `false`.
    Bool,
    /// Any text, which references give as its base64.
    Base64,
}

impl Type {
    /// All types by name, in the order of their names.
    const NAMED: [(&'static str, Type); 4] = [
        ("base64", Type::Base64),
        ("bool", Type::Bool),
        ("int", Type::Int),
        ("string", Type::String),
    ];

    /// The type that a parameter declares; none when there is no such type.
    pub(crate) fn of(parameter: &Parameter) -> Option<Type> {
        let name = parameter.constraints.type_name();
        let named = Self::NAMED.into_iter().find(|(known, _)| *known == name);
        if name.is_empty() { Some(Type::String) } else { named.map(|(_, found)| found) }
    }

    fn fault(self, value: &str) -> Option<&'static str> {
        let fits = match self {
            Type::String | Type::Base64 => true,
            Type::Int => integer(value).is_some(),
            Type::Bool => matches!(value, "true" | "false"),
        };
        let wanted = if self == Type::Int {
            "must be an integer of 64 bits"
        } else {
            "must be true or false"
        };
        (!fits).then_some(wanted)
    }
}

/// An integer as JSON spells it: `007` and `+7` would not become numbers in an object.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_json = digits.starts_with(|c: char| c.is_ascii_digit())
        && (digits.len() == 1 || !digits.starts_with('0'));
    text.parse().ok().filter(|_| is_json)
}

/// The constraint of one parameter, ready to check values.
pub(crate) struct Constraint<'t> {
    parameter: &'t Parameter<'t>,
    kind: Type,
    pattern: Option<Regex>,
}

impl<'t> Constraint<'t> {
    /// Reads what `parameters[index]` declares, and checks its default value.
    ///
    /// Everything that is wrong with the declaration goes to `errors`; what is left of it still
    /// checks values. None when there is no such type. `patterns` counts down to none left.
    pub(crate) fn read(
        index: usize,
        parameter: &'t Parameter<'t>,
        patterns: &mut usize,
        errors: &mut Errors,
    ) -> Option<Self> {
        let field = |name: &str| format!("parameters[{index}].{name}");
        let declared = &parameter.constraints;
        if declared.is_ambiguous() {
            let value = go_quote(&declared.parameter_type);
            let detail = "type and parameterType name the same field, and differ".to_owned();
            errors.push(FieldError::invalid(field("parameterType"), value, detail));
        }
        let Some(kind) = Type::of(parameter) else {
            let value = go_quote(declared.type_name());
            let supported = Type::NAMED.map(|(name, _)| go_quote(name)).to_vec();
            let reason = Reason::NotSupported { value, supported };
            errors.push(FieldError { field: field("type"), reason, detail: String::new() });
            return None;
        };
        let pattern = read_pattern(kind, parameter, patterns, &field, errors);
        check_bounds(kind, parameter, &field, errors);
        for (member, value) in declared.allowed.iter().enumerate() {
            if let Some(fault) = kind.fault(value) {
                let field = format!("{}[{member}]", field("enum"));
                errors.push(FieldError::invalid(field, go_quote(value), fault.to_owned()));
            }
        }
        let constraint = Constraint { parameter, kind, pattern };
        constraint.check(&parameter.value, || field("value"), errors);
        Some(constraint)
    }

    pub(crate) fn kind(&self) -> Type {
        self.kind
    }

    /// Checks one value; everything that is wrong with it goes to `errors` under `field`.
    pub(crate) fn check(&self, value: &str, field: impl Fn() -> String, errors: &mut Errors) {
        if value.is_empty() {
            return;
        }
        let declared = &self.parameter.constraints;
        let mut refuse = |detail: String| {
            errors.push(FieldError::invalid(field(), self.shown(value), detail));
        };
        if let Some(fault) = self.kind.fault(value) {
            return refuse(fault.to_owned());
        }
        if let Some(number) = integer(value).filter(|_| self.kind == Type::Int) {
            if let Some(minimum) = declared.minimum.filter(|minimum| number < *minimum) {
                refuse(format!("must be at least {minimum}"));
            }
            if let Some(maximum) = declared.maximum.filter(|maximum| number > *maximum) {
                refuse(format!("must be at most {maximum}"));
            }
        }
        if self.pattern.as_ref().is_some_and(|pattern| !pattern.is_match(value)) {
            refuse(format!("must match the pattern {}", go_quote(&declared.pattern)));
        }
        if !declared.allowed.is_empty() && !declared.allowed.iter().any(|allowed| allowed == value)
        {
            let supported = declared.allowed.iter().map(|allowed| go_quote(allowed)).collect();
            let reason = Reason::NotSupported { value: self.shown(value), supported };
            errors.push(FieldError { field: field(), reason, detail: String::new() });
        }
    }

    /// The value as an error shows it. What is encoded or generated is likely a secret, and errors
    /// end up in logs.
    fn shown(&self, value: &str) -> String {
        if self.kind == Type::Base64 || !self.parameter.generate.is_empty() {
            return "\"<hidden>\"".to_owned();
        }
        go_quote(value)
    }
}

fn read_pattern(
    kind: Type,
    parameter: &Parameter,
    patterns: &mut usize,
    field: &impl Fn(&str) -> String,
    errors: &mut Errors,
) -> Option<Regex> {
    let pattern = &parameter.constraints.pattern;
    if pattern.is_empty() {
        return None;
    }
    if !matches!(kind, Type::String | Type::Base64) {
        let detail = "only the types string and base64 have a pattern".to_owned();
        errors.push(FieldError::forbidden(field("pattern"), detail));
        return None;
    }
    let Some(left) = patterns.checked_sub(1) else {
        let detail = format!("a template has at most {MAX_PATTERNS} patterns");
        errors.push(FieldError::forbidden(field("pattern"), detail));
        return None;
    };
    *patterns = left;
    match pattern::compile(pattern) {
        Ok(regex) => Some(regex),
        Err(fault) => {
            errors.push(FieldError::invalid(field("pattern"), go_quote(pattern), fault));
            None
        }
    }
}

fn check_bounds(
    kind: Type,
    parameter: &Parameter,
    field: &impl Fn(&str) -> String,
    errors: &mut Errors,
) {
    let declared = &parameter.constraints;
    let bounds = [("minimum", declared.minimum), ("maximum", declared.maximum)];
    if kind != Type::Int {
        for (name, _) in bounds.iter().filter(|(_, bound)| bound.is_some()) {
            let detail = format!("only the type int has a {name}");
            errors.push(FieldError::forbidden(field(name), detail));
        }
    } else if let (Some(minimum), Some(maximum)) = (declared.minimum, declared.maximum)
        && minimum > maximum
    {
        let detail = format!("must not be more than the maximum, {maximum}");
        errors.push(FieldError::invalid(field("minimum"), minimum.to_string(), detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dialect, Template};

    /// The errors of a parameter with these fields.
    fn check(fields: &str, want: &[&str]) {
        let body = format!("{{\"parameters\":[{{\"name\":\"P\",{fields}}}]}}");
        let template = Template::parse(&body, Dialect::Proposal).unwrap();
        let mut errors = Errors::default();
        Constraint::read(0, &template.parameters()[0], &mut 2, &mut errors);
        let told: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(told, want, "{fields}");
    }

    #[test]
    fn an_int_is_spelled_as_in_json() {
        assert_eq!(integer("-9223372036854775808"), Some(i64::MIN));
        assert_eq!(integer("9223372036854775807"), Some(i64::MAX));
        assert_eq!(integer("0"), Some(0));
        for text in ["", "-", "007", "-01", "+7", "1.0", "1e3", " 1", "9223372036854775808", "x"] {
            assert_eq!(integer(text), None, "{text}");
        }
    }

    #[test]
    fn a_default_value_is_of_its_type() {
        check(r#""type":"int","value":"12""#, &[]);
        check(r#""type":"int","value":12"#, &[]);
        check(r#""type":"bool","value":true"#, &[]);
        check(r#""parameterType":"bool","value":"false""#, &[]);
        check(r#""type":"base64","value":"any text""#, &[]);
        check(r#""type":"int""#, &[]);
        check(
            r#""type":"int","value":"1.5""#,
            &["parameters[0].value: Invalid value: \"1.5\": must be an integer of 64 bits"],
        );
        check(
            r#""type":"bool","value":"yes""#,
            &["parameters[0].value: Invalid value: \"yes\": must be true or false"],
        );
    }

    #[test]
    fn a_type_is_one_of_four() {
        check(
            r#""type":"number""#,
            &[
                "parameters[0].type: Unsupported value: \"number\": supported values: \"base64\", \"bool\", \"int\", \"string\"",
            ],
        );
        check(r#""type":"int","parameterType":"int""#, &[]);
        check(
            r#""type":"int","parameterType":"bool""#,
            &[
                "parameters[0].parameterType: Invalid value: \"bool\": type and parameterType name the same field, and differ",
            ],
        );
    }

    #[test]
    fn every_broken_constraint_is_named() {
        check(
            r#""type":"int","value":"5","minimum":6,"maximum":4,"enum":["4","x"]"#,
            &[
                "parameters[0].minimum: Invalid value: 6: must not be more than the maximum, 4",
                "parameters[0].enum[1]: Invalid value: \"x\": must be an integer of 64 bits",
                "parameters[0].value: Invalid value: \"5\": must be at least 6",
                "parameters[0].value: Invalid value: \"5\": must be at most 4",
                "parameters[0].value: Unsupported value: \"5\": supported values: \"4\", \"x\"",
            ],
        );
        check(
            r#""value":"c","pattern":"^[ab]$","enum":["a","b"]"#,
            &[
                "parameters[0].value: Invalid value: \"c\": must match the pattern \"^[ab]$\"",
                "parameters[0].value: Unsupported value: \"c\": supported values: \"a\", \"b\"",
            ],
        );
    }

    #[test]
    fn a_constraint_belongs_to_its_type() {
        check(
            r#""minimum":1,"type":"bool","pattern":"x""#,
            &[
                "parameters[0].pattern: Forbidden: only the types string and base64 have a pattern",
                "parameters[0].minimum: Forbidden: only the type int has a minimum",
            ],
        );
        check(
            r#""pattern":"((""#,
            &[
                "parameters[0].pattern: Invalid value: \"((\": is not a regular expression: unclosed group",
            ],
        );
    }

    #[test]
    fn what_may_be_a_secret_is_not_shown() {
        for secret in [r#""type":"base64""#, r#""generate":"expression""#] {
            check(
                &format!(r#"{secret},"value":"hunter2","pattern":"^x""#),
                &[
                    "parameters[0].value: Invalid value: \"<hidden>\": must match the pattern \"^x\"",
                ],
            );
        }
    }
}
