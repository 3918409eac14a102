//! The fields by which a parameter of the proposal says what its values are. Read here, applied in
//! [`crate::constraint`].

use std::borrow::Cow;

use super::envelope::{Read, enter, refuse, scalar, text};
use crate::json::Scanner;
use crate::json::string::push_string;

/// What the values of a parameter may be, as it is declared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constraints<'t> {
    /// `type`: `string` (the same as empty), `int`, `bool` or `base64`, or what else was written.
    pub named_type: Cow<'t, str>,
    /// `parameterType`, the name of `type` in early implementations.
    pub parameter_type: Cow<'t, str>,
    /// `enum`: the values that are allowed; any when empty.
    pub allowed: Vec<Cow<'t, str>>,
    /// `pattern`: a regular expression that is found in the value.
    pub pattern: Cow<'t, str>,
    /// `minimum` of an int.
    pub minimum: Option<i64>,
    /// `maximum` of an int.
    pub maximum: Option<i64>,
}

impl<'t> Constraints<'t> {
    /// The declared type, whichever field declares it; empty when none does.
    pub fn type_name(&self) -> &str {
        if self.named_type.is_empty() { &self.parameter_type } else { &self.named_type }
    }

    /// Whether `type` and `parameterType` say different things.
    pub(crate) fn is_ambiguous(&self) -> bool {
        !self.parameter_type.is_empty() && self.type_name() != self.parameter_type
    }

    /// Reads the value of a field; false, with nothing read, when the field is none of these.
    pub(super) fn read(&mut self, scanner: &mut Scanner<'t>, key: &str) -> Read<bool> {
        match key {
            "type" => {
                self.named_type =
                    text(scanner, "struct field Parameter.parameters.type of type string")?;
            }
            "parameterType" => {
                self.parameter_type = text(
                    scanner,
                    "struct field Parameter.parameters.parameterType of type string",
                )?;
            }
            "pattern" => {
                self.pattern =
                    text(scanner, "struct field Parameter.parameters.pattern of type string")?;
            }
            "enum" => self.read_enum(scanner)?,
            "minimum" => {
                self.minimum =
                    bound(scanner, "struct field Parameter.parameters.minimum of type int64")?;
            }
            "maximum" => {
                self.maximum =
                    bound(scanner, "struct field Parameter.parameters.maximum of type int64")?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Numbers and bools are taken by their text, as values are.
    fn read_enum(&mut self, scanner: &mut Scanner<'t>) -> Read<()> {
        self.allowed.clear();
        if !enter(scanner, b'[', "struct field Parameter.parameters.enum of type []string")? {
            return Ok(());
        }
        scanner.elements(|scanner| {
            let target = "struct field Parameter.parameters.enum of type string";
            self.allowed.push(scalar(scanner, target)?.0);
            Ok(())
        })
    }

    /// Appends the fields, each with a comma before it; nothing where nothing is declared.
    pub(crate) fn write(&self, out: &mut String) {
        for (key, text) in [("type", self.type_name()), ("pattern", &self.pattern)] {
            if !text.is_empty() {
                push_key(out, key);
                push_string(out, text);
            }
        }
        if !self.allowed.is_empty() {
            push_key(out, "enum");
            for (index, allowed) in self.allowed.iter().enumerate() {
                out.push(if index == 0 { '[' } else { ',' });
                push_string(out, allowed);
            }
            out.push(']');
        }
        for (key, bound) in [("minimum", self.minimum), ("maximum", self.maximum)] {
            if let Some(bound) = bound {
                push_key(out, key);
                out.push_str(&bound.to_string());
            }
        }
    }
}

fn push_key(out: &mut String, key: &str) {
    out.push_str(",\"");
    out.push_str(key);
    out.push_str("\":");
}

fn bound(scanner: &mut Scanner<'_>, target: &'static str) -> Read<Option<i64>> {
    let value = scanner.value()?;
    match (value.as_str(), value.as_str().parse()) {
        ("null", _) => Ok(None),
        (_, Ok(bound)) => Ok(Some(bound)),
        _ => refuse(value, target),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dialect, Template};

    #[test]
    fn only_the_proposal_has_constraints() {
        let body = r#"{"message":"m","parameters":[{"name":"A","type":"int","enum":[1,"2",true],
            "pattern":"x","minimum":-1,"maximum":null,"value":1.5}]}"#;
        let template = Template::parse(body, Dialect::Proposal).unwrap();
        let constraints = &template.parameters()[0].constraints;
        assert_eq!(constraints.allowed, ["1", "2", "true"]);
        assert_eq!((constraints.minimum, constraints.maximum), (Some(-1), None));
        assert_eq!(constraints.type_name(), "int");
        assert_eq!(template.warnings(), [""; 0]);
        let strays: Vec<_> = template.strays().iter().map(ToString::to_string).collect();
        assert_eq!(strays, ["unknown field \"message\""]);

        let template = Template::parse(body, Dialect::OpenShift).unwrap();
        assert_eq!(template.parameters()[0].constraints, super::Constraints::default());
        assert_eq!(template.strays().len(), 5);
    }

    #[test]
    fn bounds_are_integers() {
        for bound in ["1.5", "\"1\"", "9223372036854775808", "true"] {
            let body = format!("{{\"parameters\":[{{\"minimum\":{bound}}}]}}");
            let error = Template::parse(&body, Dialect::Proposal).unwrap_err().to_string();
            assert!(error.ends_with("parameters.minimum of type int64"), "{error}");
        }
    }
}
