//! What a configuration or a template consists of: a mapping with `resources` and `outputs`.

use crate::configuration::Document;
use crate::error::{Cause, Problem, shown};
use crate::expanded::Output;
use crate::value::{Map, Value};

/// The parts of a configuration, or of what a template gave.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Contents {
    /// Not yet known to be mappings.
    pub(super) resources: Vec<Value>,
    /// The line of each resource, from 1, where they are known.
    pub(super) lines: Vec<u32>,
    pub(super) outputs: Vec<Output>,
}

impl Contents {
    /// Those of a configuration, which may be empty; other keys than the two are the client's business.
    pub(super) fn of_configuration(document: Document) -> Result<Self, Vec<Problem>> {
        let (lines, outputs) = (document.lines("resources"), document.lines("outputs"));
        match document.value {
            Value::Null => Ok(Self::default()),
            Value::Map(map) => Ok(Self { lines, ..Self::of_map(map, &outputs)? }),
            other => {
                let message = format!("Configuration is not a mapping, but {}", kind(&other));
                Err(vec![Problem::new(Cause::Configuration, message)])
            }
        }
    }

    /// Those of what the template `name` gave, which has to say `resources`, even if there are none.
    pub(super) fn of_template(value: Value, name: &str) -> Result<Self, Vec<Problem>> {
        match value {
            Value::Map(map) if map.contains_key("resources") => Self::of_map(map, &[]),
            _ => {
                let message = "Template did not return a 'resources:' field.";
                Err(vec![Problem::new(Cause::Configuration, message).about(name)])
            }
        }
    }

    fn of_map(mut map: Map, lines: &[u32]) -> Result<Self, Vec<Problem>> {
        let mut list = |key| list(key, map.swap_remove(key).unwrap_or_default());
        let resources = list("resources")?;
        let (mut outputs, mut problems) = (Vec::new(), Vec::new());
        for (at, item) in list("outputs")?.into_iter().enumerate() {
            match output(item) {
                Ok(output) => outputs.push(output),
                Err(message) => problems.push(Problem {
                    path: Some(format!("outputs[{at}]")),
                    line: lines.get(at).copied(),
                    ..Problem::new(Cause::Configuration, message)
                }),
            }
        }
        let contents = Self { resources, lines: Vec::new(), outputs };
        if problems.is_empty() { Ok(contents) } else { Err(problems) }
    }
}

/// The list that stands under `key`; null is an empty one.
fn list(key: &str, value: Value) -> Result<Vec<Value>, Vec<Problem>> {
    match value {
        Value::List(list) => Ok(list),
        Value::Null => Ok(Vec::new()),
        other => {
            let message = format!("'{key}' is not a list, but {}", kind(&other));
            let problem = Problem::new(Cause::Configuration, message);
            Err(vec![Problem { path: Some(key.to_owned()), ..problem }])
        }
    }
}

fn output(value: Value) -> Result<Output, String> {
    let Value::Map(mut map) = value else {
        return Err(format!("Output is not a mapping, but {}", kind(&value)));
    };
    let name = match map.swap_remove("name") {
        Some(Value::String(name)) => name,
        Some(other) => return Err(format!("Output name is not text, but {}", kind(&other))),
        None => return Err("Output does not have a name.".to_owned()),
    };
    match map.swap_remove("value") {
        Some(value) => Ok(Output { name, value }),
        None => Err(format!("Output '{}' does not have a value.", shown(&name))),
    }
}

/// What a value is called in messages.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::List(_) => "a list",
        Value::Map(_) => "a mapping",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration;

    /// JSON is YAML.
    fn read(yaml: &str) -> Result<Contents, Vec<Problem>> {
        Contents::of_configuration(configuration::read(yaml).unwrap())
    }

    fn refused(result: Result<Contents, Vec<Problem>>) -> String {
        let problems = result.unwrap_err();
        let all: Vec<_> = problems.iter().map(ToString::to_string).collect();
        all.join("\n").replace(" (in config)", "")
    }

    #[test]
    fn an_empty_configuration_has_nothing() {
        for json in ["null", "{}", r#"{"resources": null, "outputs": null, "other": 1}"#] {
            assert_eq!(read(json), Ok(Contents::default()), "{json}");
        }
    }

    #[test]
    fn anything_but_a_mapping_with_lists_is_refused() {
        let of = |json| refused(read(json));
        assert_eq!(of("\"x\""), "Configuration is not a mapping, but text");
        assert_eq!(of("0"), "Configuration is not a mapping, but a number");
        let map = r#"{"resources": {"a": 1}}"#;
        assert_eq!(of(map), "resources: 'resources' is not a list, but a mapping");
        let map = r#"{"outputs": true}"#;
        assert_eq!(of(map), "outputs: 'outputs' is not a list, but a boolean");
    }

    #[test]
    fn a_template_has_to_say_resources() {
        for json in ["null", "[]", "\"resources\"", "{}", r#"{"outputs": []}"#] {
            let message = refused(Contents::of_template(Value::from_json(json).unwrap(), "t"));
            assert_eq!(message, "Template did not return a 'resources:' field.", "{json}");
        }
        let empty = Contents::of_template(Value::from_json(r#"{"resources": null}"#).unwrap(), "t");
        assert_eq!(empty, Ok(Contents::default()));
    }

    #[test]
    fn the_lines_of_resources_and_outputs_are_known() {
        assert_eq!(read("resources:\n- a\n- b\n").unwrap().lines, [2, 3]);
        let problems = read("outputs:\n- {name: a, value: b}\n- {name: a}\n").unwrap_err();
        assert_eq!(problems[0].line, Some(3));
    }

    #[test]
    fn every_output_needs_a_name_and_a_value() {
        let json = r#"{"outputs": [{"name": "a", "value": null}, {"value": 1}, {"name": "b"}, 3,
                       {"name": 1, "value": 1}]}"#;
        assert_eq!(
            refused(read(json)),
            "outputs[1]: Output does not have a name.\n\
             outputs[2]: Output 'b' does not have a value.\n\
             outputs[3]: Output is not a mapping, but a number\n\
             outputs[4]: Output name is not text, but a number"
        );
    }
}
