//! `templates/NAME/processed`: a stored Template, processed with the values that are sent.

use apiserver::field;
use apiserver::meta::ObjectMeta;
use apiserver::object::{Fields, Object};
use apiserver::resource::{Action, Context, Post, Subresource};
use apiserver::status::{Error, Subject};
use futures::future::BoxFuture;
use processor::{Dialect, Overrides};
use serde_json::Value;

use super::{kinds, processing};

struct Processed(Dialect);

/// The subresource in the API group of a dialect.
pub fn subresource(dialect: Dialect) -> Subresource {
    Subresource {
        name: "processed",
        definition: kinds::parameters(dialect),
        action: Action::Post(Box::new(Processed(dialect))),
    }
}

impl Post for Processed {
    fn post<'a>(
        &'a self,
        _: &'a Context<'a>,
        parent: Object,
        body: Object,
    ) -> BoxFuture<'a, Result<(Object, Vec<String>), Error>> {
        Box::pin(async move {
            let overrides = overrides(&body.fields).map_err(|errors| {
                let (group, _, _) = kinds::api(self.0);
                let subject = Subject { group, kind: "Parameters" };
                Error::invalid(subject, &parent.meta.name, &errors)
            })?;
            let parent = Object { meta: echoed(parent.meta), ..parent };
            processing::process(self.0, parent, overrides).await
        })
    }
}

/// The metadata of the answer: it is not the stored object, so it carries no trace of the store.
fn echoed(meta: ObjectMeta) -> ObjectMeta {
    ObjectMeta {
        name: meta.name,
        namespace: meta.namespace,
        labels: meta.labels,
        annotations: meta.annotations,
        ..ObjectMeta::default()
    }
}

/// Reads the values of a `Parameters` object.
fn overrides(fields: &Fields) -> Result<Overrides, Vec<field::Error>> {
    let mut errors = Vec::new();
    let mut values: Vec<(String, String)> = Vec::new();
    for member in ["values", "parameters"] {
        let Some(text) = fields.get(member) else { continue };
        match serde_json::from_str(text) {
            Ok(Value::Null) | Err(_) => {}
            Ok(Value::Object(map)) => {
                for (name, value) in map {
                    let path = format!("{member}[{name}]");
                    take(&mut values, &mut errors, &path, name, &value);
                }
            }
            Ok(Value::Array(list)) => {
                for (index, item) in list.iter().enumerate() {
                    let path = format!("{member}[{index}]");
                    take_item(&mut values, &mut errors, &path, item);
                }
            }
            Ok(other) => {
                let why =
                    "must be a map of names to values, or a list of objects with name and value";
                errors.push(field::Error::invalid(member, other.to_string(), why));
            }
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let overrides: Overrides = values.into_iter().collect();
    let ignore = fields.get("ignoreUnknownParameters") == Some("true");
    Ok(if ignore { overrides.ignoring_unknown() } else { overrides })
}

fn take_item(
    values: &mut Vec<(String, String)>,
    errors: &mut Vec<field::Error>,
    path: &str,
    item: &Value,
) {
    let Value::Object(members) = item else {
        let why = "must be an object with name and value";
        return errors.push(field::Error::invalid(path, item.to_string(), why));
    };
    for unknown in members.keys().filter(|key| !matches!(key.as_str(), "name" | "value")) {
        let why = "only name and value are known here";
        errors.push(field::Error::invalid(format!("{path}.{unknown}"), field::quote(unknown), why));
    }
    match members.get("name") {
        Some(Value::String(name)) if !name.is_empty() => {
            let value = members.get("value").unwrap_or(&Value::Null);
            take(values, errors, &format!("{path}.value"), name.clone(), value);
        }
        None | Some(Value::Null | Value::String(_)) => {
            errors.push(field::Error::required(format!("{path}.name"), ""));
        }
        Some(other) => {
            let why = "must be a string";
            errors.push(field::Error::invalid(format!("{path}.name"), other.to_string(), why));
        }
    }
}

/// Takes one value. Numbers and booleans are taken by their text, as YAML makes them of strings.
fn take(
    values: &mut Vec<(String, String)>,
    errors: &mut Vec<field::Error>,
    path: &str,
    name: String,
    value: &Value,
) {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => {
            let why = "must be a string; give JSON as its text";
            return errors.push(field::Error::invalid(path, value.to_string(), why));
        }
    };
    if values.iter().any(|(known, _)| *known == name) {
        let problem = field::Problem::Duplicate(field::quote(&name));
        return errors.push(field::Error {
            field: path.to_owned(),
            problem,
            detail: String::new(),
        });
    }
    values.push((name, text));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fields: &str, expected: &[&str]) {
        let told: Vec<String> = match overrides(&Fields::new(fields.to_owned())) {
            Ok(overrides) => vec![format!("{overrides:?}")],
            Err(errors) => errors.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(told, expected, "{fields}");
    }

    #[test]
    fn values_are_a_map_or_a_list() {
        check(r#""values":{"A":"1","B":2,"C":true,"D":null}"#, &[r#"{"A", "B", "C", "D"}"#]);
        check(r#""values":[{"name":"A","value":"1"},{"name":"B"}]"#, &[r#"{"A", "B"}"#]);
        check(r#""parameters":{"A":"1"}"#, &[r#"{"A"}"#]);
        check("", &["{}"]);
    }

    #[test]
    fn every_wrong_value_is_named_with_its_path() {
        check(
            r#""values":[{"name":"A","value":{}},{"value":"x"},{"name":"B","valeu":"x"},7,{"name":3}]"#,
            &[
                "values[0].value: Invalid value: {}: must be a string; give JSON as its text",
                "values[1].name: Required value",
                "values[2].valeu: Invalid value: \"valeu\": only name and value are known here",
                "values[3]: Invalid value: 7: must be an object with name and value",
                "values[4].name: Invalid value: 3: must be a string",
            ],
        );
        check(
            r#""values":{"A":"1"},"parameters":{"A":"2"}"#,
            &["parameters[A]: Duplicate value: \"A\""],
        );
        check(
            r#""values":"A=1""#,
            &[
                "values: Invalid value: \"A=1\": must be a map of names to values, or a list of objects with name and value",
            ],
        );
    }
}
