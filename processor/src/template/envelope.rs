//! Reads the envelope: one function per level of a Template body.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Oddity, Parameter, Stray, Template};
use crate::json::{Outlines, Quoted, Scanner, Surveyor, Syntax};
use crate::{Dialect, Json, ParseError};

/// Kubernetes stops reporting strict decoding errors here as well.
const MAX_STRAYS: usize = 100;

/// What keeps a body from being a Template, before positions become lines.
pub(super) enum Refusal {
    Syntax(Syntax),
    Type { found: &'static str, target: &'static str },
}

impl From<Syntax> for Refusal {
    fn from(syntax: Syntax) -> Self {
        Refusal::Syntax(syntax)
    }
}

pub(super) type Read<T> = Result<T, Refusal>;

pub(super) fn read(body: &str, dialect: Dialect) -> Result<Template<'_>, ParseError> {
    let mut template = Template {
        dialect,
        api_version: Cow::Borrowed(""),
        kind: Cow::Borrowed(""),
        metadata: None,
        message: Cow::Borrowed(""),
        objects: None,
        outlines: Outlines::default(),
        parameters: Vec::new(),
        labels: None,
        strays: Vec::new(),
        warnings: Vec::new(),
    };
    match template.read_fields(&mut Scanner::new(body)) {
        Ok(()) => Ok(template),
        Err(Refusal::Syntax(syntax)) => Err(ParseError::syntax(body, syntax)),
        Err(Refusal::Type { found, target }) => Err(ParseError::Type { found, target }),
    }
}

impl<'t> Template<'t> {
    fn read_fields(&mut self, scanner: &mut Scanner<'t>) -> Read<()> {
        if scanner.peek() != b'{' {
            let value = scanner.value()?;
            scanner.end()?;
            return refuse(value, "value of type v1.Template");
        }
        let mut seen = Vec::with_capacity(7);
        scanner.members(|scanner, key| {
            let key = key.decode();
            match &*key {
                "apiVersion" => {
                    self.api_version =
                        text(scanner, "struct field Template.apiVersion of type string")?;
                }
                "kind" => self.kind = text(scanner, "struct field Template.kind of type string")?,
                "metadata" => {
                    let target = "struct field Template.metadata of type v1.ObjectMeta";
                    self.metadata = match enter(scanner, b'{', target)? {
                        true => Some(scanner.value()?),
                        false => None,
                    };
                }
                "message" if self.dialect == Dialect::OpenShift => {
                    self.message = text(scanner, "struct field Template.message of type string")?;
                }
                "objects" => self.read_objects(scanner)?,
                "parameters" => self.read_parameters(scanner)?,
                "labels" => self.read_labels(scanner)?,
                _ => {
                    scanner.value()?;
                    self.stray(Oddity::Unknown, || key.into_owned());
                    return Ok(());
                }
            }
            self.once(&mut seen, key, |key| key.to_owned());
            Ok::<(), Refusal>(())
        })?;
        Ok(scanner.end()?)
    }

    fn read_objects(&mut self, scanner: &mut Scanner<'t>) -> Read<()> {
        self.objects = None;
        let target = "struct field Template.objects of type []runtime.RawExtension";
        if !enter(scanner, b'[', target)? {
            return Ok(());
        }
        let mut objects = Vec::with_capacity(16);
        let mut surveyor = Surveyor::new();
        scanner.elements(|scanner| {
            objects.push(match self.dialect {
                Dialect::OpenShift => surveyor.value(scanner)?,
                // Its walk looks at everything.
                Dialect::Proposal => scanner.value()?,
            });
            Ok::<(), Refusal>(())
        })?;
        self.objects = Some(objects);
        self.outlines = surveyor.into_outlines();
        Ok(())
    }

    fn read_parameters(&mut self, scanner: &mut Scanner<'t>) -> Read<()> {
        self.parameters.clear();
        let target = "struct field Template.parameters of type []v1.Parameter";
        if !enter(scanner, b'[', target)? {
            return Ok(());
        }
        self.parameters.reserve(8);
        scanner.elements(|scanner| {
            let parameter = self.read_parameter(scanner)?;
            self.parameters.push(parameter);
            Ok(())
        })
    }

    fn read_parameter(&mut self, scanner: &mut Scanner<'t>) -> Read<Parameter<'t>> {
        let mut parameter = Parameter::default();
        let target = "struct field Template.parameters of type v1.Parameter";
        if !enter(scanner, b'{', target)? {
            return Ok(parameter);
        }
        let index = self.parameters.len();
        let path = |key: &str| format!("parameters[{index}].{key}");
        let mut seen = Vec::with_capacity(7);
        scanner.members(|scanner, key| {
            let key = key.decode();
            match &*key {
                "name" => {
                    parameter.name =
                        text(scanner, "struct field Parameter.parameters.name of type string")?;
                }
                "displayName" => {
                    parameter.display_name = text(
                        scanner,
                        "struct field Parameter.parameters.displayName of type string",
                    )?;
                }
                "description" => {
                    parameter.description = text(
                        scanner,
                        "struct field Parameter.parameters.description of type string",
                    )?;
                }
                "value" => parameter.value = self.read_value(scanner)?,
                "generate" => {
                    parameter.generate =
                        text(scanner, "struct field Parameter.parameters.generate of type string")?;
                }
                "from" => {
                    parameter.from =
                        text(scanner, "struct field Parameter.parameters.from of type string")?;
                }
                "required" => parameter.required = flag(scanner)?,
                _ if self.dialect == Dialect::Proposal
                    && parameter.constraints.read(scanner, &key)? => {}
                _ => {
                    scanner.value()?;
                    self.stray(Oddity::Unknown, || path(&key));
                    return Ok(());
                }
            }
            self.once(&mut seen, key, path);
            Ok::<(), Refusal>(())
        })?;
        Ok(parameter)
    }

    /// A parameter's value: a string, or a number or bool that is read as its text. OpenShift's
    /// values are strings and nothing else, so there it is reported.
    fn read_value(&mut self, scanner: &mut Scanner<'t>) -> Read<Cow<'t, str>> {
        let (value, coerced) =
            scalar(scanner, "struct field Parameter.parameters.value of type string")?;
        if let Some(kind) = coerced.filter(|_| self.dialect == Dialect::OpenShift) {
            let index = self.parameters.len();
            self.warnings.push(format!(
                "parameters[{index}].value: the {kind} {value} is read as the string \"{value}\""
            ));
        }
        Ok(value)
    }

    fn read_labels(&mut self, scanner: &mut Scanner<'t>) -> Read<()> {
        self.labels = None;
        if !enter(scanner, b'{', "struct field Template.labels of type map[string]string")? {
            return Ok(());
        }
        let mut labels = BTreeMap::new();
        scanner.members(|scanner, key| {
            let key = key.decode();
            let value = text(scanner, "struct field Template.labels of type string")?;
            if let Some(_shadowed) = labels.insert(key.clone(), value) {
                self.stray(Oddity::Duplicate, || format!("labels.{key}"));
            }
            Ok::<(), Refusal>(())
        })?;
        self.labels = Some(labels);
        Ok(())
    }

    /// Notes a known field, and reports it when it was there before.
    fn once(
        &mut self,
        seen: &mut Vec<Cow<'t, str>>,
        key: Cow<'t, str>,
        path: impl FnOnce(&str) -> String,
    ) {
        if seen.contains(&key) {
            self.stray(Oddity::Duplicate, || path(&key));
        } else {
            seen.push(key);
        }
    }

    fn stray(&mut self, reason: Oddity, path: impl FnOnce() -> String) {
        if self.strays.len() < MAX_STRAYS {
            self.strays.push(Stray { path: path(), reason });
        }
    }
}

pub(super) fn text<'t>(scanner: &mut Scanner<'t>, target: &'static str) -> Read<Cow<'t, str>> {
    if enter(scanner, b'"', target)? {
        Ok(scanner.string().map(Quoted::decode)?)
    } else {
        Ok(Cow::Borrowed(""))
    }
}

/// A text, or a number or bool as its text and with the name of its JSON type.
pub(super) fn scalar<'t>(
    scanner: &mut Scanner<'t>,
    target: &'static str,
) -> Read<(Cow<'t, str>, Option<&'static str>)> {
    match scanner.peek() {
        b'"' | b'n' | b'[' | b'{' => Ok((text(scanner, target)?, None)),
        _ => {
            let value = scanner.value()?;
            Ok((Cow::Borrowed(value.as_str()), Some(value.kind())))
        }
    }
}

fn flag(scanner: &mut Scanner<'_>) -> Read<bool> {
    let value = scanner.value()?;
    match value.as_str() {
        "true" => Ok(true),
        "false" | "null" => Ok(false),
        _ => refuse(value, "struct field Parameter.parameters.required of type bool"),
    }
}

/// Whether a value that starts with `open` comes next. Reads a `null`, which means absent, and
/// refuses any other value.
pub(super) fn enter(scanner: &mut Scanner<'_>, open: u8, target: &'static str) -> Read<bool> {
    if scanner.peek() == open {
        return Ok(true);
    }
    let value = scanner.value()?;
    if value.as_str() == "null" {
        return Ok(false);
    }
    refuse(value, target)
}

pub(super) fn refuse<T>(value: Json<'_>, target: &'static str) -> Read<T> {
    let found = value.kind();
    Err(Refusal::Type { found, target })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &str) -> Result<Template<'_>, ParseError> {
        Template::parse(body, Dialect::OpenShift)
    }

    fn refused(body: &str, text: &str) {
        assert_eq!(parse(body).unwrap_err().to_string(), text, "{body}");
    }

    #[test]
    fn null_means_absent() {
        let body = r#"{"kind":null,"objects":null,"parameters":[null,{"value":null}],"labels":null,"message":null}"#;
        let template = parse(body).unwrap();
        assert_eq!(template.objects(), None);
        assert_eq!(template.parameters(), [Parameter::default(), Parameter::default()]);
        assert_eq!(template.labels(), None);
        assert!(template.strays().is_empty() && template.warnings().is_empty());
    }

    #[test]
    fn wrong_types_are_refused_in_the_words_of_go() {
        refused("[]", "json: cannot unmarshal array into Go value of type v1.Template");
        refused(
            r#"{"parameters":[{"value":{}}]}"#,
            "json: cannot unmarshal object into Go struct field Parameter.parameters.value of type string",
        );
        refused(
            r#"{"parameters":[{"required":"true"}]}"#,
            "json: cannot unmarshal string into Go struct field Parameter.parameters.required of type bool",
        );
        refused(
            r#"{"labels":{"a":1}}"#,
            "json: cannot unmarshal number into Go struct field Template.labels of type string",
        );
    }

    #[test]
    fn a_scalar_value_is_read_as_its_text_and_reported() {
        let template = parse(r#"{"parameters":[{"value":1.50},{"value":true}]}"#).unwrap();
        assert_eq!(template.parameters()[0].value, "1.50");
        assert_eq!(template.parameters()[1].value, "true");
        assert_eq!(
            template.warnings(),
            [
                r#"parameters[0].value: the number 1.50 is read as the string "1.50""#,
                r#"parameters[1].value: the bool true is read as the string "true""#,
            ]
        );
    }

    #[test]
    fn unknown_and_duplicate_fields_are_strays() {
        let body = r#"{"foo":{"kind":1},"kind":"a","kind":"b","parameters":[{},{"type":"int","name":"A","name":"B"}],
            "labels":{"x":"1","x":"2"}}"#;
        let template = parse(body).unwrap();
        let strays: Vec<_> = template.strays().iter().map(Stray::to_string).collect();
        assert_eq!(
            strays,
            [
                r#"unknown field "foo""#,
                r#"duplicate field "kind""#,
                r#"unknown field "parameters[1].type""#,
                r#"duplicate field "parameters[1].name""#,
                r#"duplicate field "labels.x""#,
            ]
        );
        assert_eq!(template.kind(), "b");
        assert_eq!(template.parameters()[1].name, "B");
        assert_eq!(template.labels().unwrap()["x"], "2");
    }

    #[test]
    fn strays_are_bounded() {
        let body = format!("{{{}\"kind\":\"Template\"}}", "\"x\":1,".repeat(1000));
        assert_eq!(parse(&body).unwrap().strays().len(), MAX_STRAYS);
    }

    #[test]
    fn a_broken_body_is_refused_with_its_position() {
        refused("{\n  \"objects\": [1,]}", "line 2, column 17: expected a JSON value");
        refused("{} {}", "line 1, column 4: unexpected text after the value");
    }
}
