//! A JSON Schema of a template's parameters, for forms and for checking values before sending them.

use crate::constraint::{Type, integer};
use crate::json::string::push_string;
use crate::{Parameter, Template};

/// JSON Schema (draft 2020-12) of the values that `template` takes.
///
/// Properties stand in the order of the parameters, which is the order for a form. OpenShift's
/// values are strings; the proposal's have their type, as have their defaults, and the constraints
/// that JSON Schema knows by the same names. A value of type `base64` is the text itself, which
/// processing encodes: the schema calls it a string and says so, not a `contentEncoding`.
///
/// A parameter is required when it says so and would otherwise stay empty. Of parameters with one
/// name the last is described, as it is the one that counts.
pub fn json_schema(template: &Template) -> String {
    let mut schema = String::from(
        "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\",\"properties\":{",
    );
    let mut last = std::collections::BTreeMap::new();
    for (index, parameter) in template.parameters().iter().enumerate() {
        last.insert(&*parameter.name, index);
    }
    let mut required = Vec::new();
    let mut comma = "";
    for (index, parameter) in template.parameters().iter().enumerate() {
        if last.get(&*parameter.name) != Some(&index) {
            continue;
        }
        schema.push_str(comma);
        comma = ",";
        push_string(&mut schema, &parameter.name);
        schema.push(':');
        push_property(&mut schema, parameter);
        if parameter.required && parameter.value.is_empty() && parameter.generate.is_empty() {
            required.push(&*parameter.name);
        }
    }
    schema.push('}');
    if !required.is_empty() {
        schema.push_str(",\"required\":[");
        for (index, name) in required.into_iter().enumerate() {
            schema.push_str(if index == 0 { "" } else { "," });
            push_string(&mut schema, name);
        }
        schema.push(']');
    }
    schema.push_str(",\"additionalProperties\":false}");
    schema
}

fn push_property(schema: &mut String, parameter: &Parameter) {
    let kind = Type::of(parameter).unwrap_or(Type::String);
    schema.push_str(match kind {
        Type::String | Type::Base64 => "{\"type\":\"string\"",
        Type::Int => "{\"type\":\"integer\"",
        Type::Bool => "{\"type\":\"boolean\"",
    });
    let texts = [("title", &parameter.display_name), ("description", &parameter.description)];
    for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        push_key(schema, key);
        push_string(schema, text);
    }
    if kind == Type::Base64 {
        push_key(schema, "$comment");
        push_string(schema, "the text itself: processing encodes it");
    }
    let declared = &parameter.constraints;
    if !declared.allowed.is_empty() {
        push_key(schema, "enum");
        for (index, allowed) in declared.allowed.iter().enumerate() {
            schema.push(if index == 0 { '[' } else { ',' });
            push_typed(schema, kind, allowed);
        }
        schema.push(']');
    }
    if !declared.pattern.is_empty() {
        push_key(schema, "pattern");
        push_string(schema, &declared.pattern);
    }
    for (key, bound) in [("minimum", declared.minimum), ("maximum", declared.maximum)] {
        if let Some(bound) = bound {
            push_key(schema, key);
            schema.push_str(&bound.to_string());
        }
    }
    if !parameter.value.is_empty() {
        push_key(schema, "default");
        push_typed(schema, kind, &parameter.value);
    }
    schema.push('}');
}

fn push_key(schema: &mut String, key: &str) {
    schema.push_str(",\"");
    schema.push_str(key);
    schema.push_str("\":");
}

/// A value as JSON of its type; one that is not of its type stays a string.
fn push_typed(schema: &mut String, kind: Type, value: &str) {
    match kind {
        Type::Int if integer(value).is_some() => schema.push_str(value),
        Type::Bool if matches!(value, "true" | "false") => schema.push_str(value),
        _ => push_string(schema, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    fn check(parameters: &str, want: &str) {
        check_in(Dialect::OpenShift, parameters, want);
    }

    fn check_in(dialect: Dialect, parameters: &str, want: &str) {
        let body = format!("{{\"parameters\":[{parameters}]}}");
        let template = Template::parse(&body, dialect).unwrap();
        let want = format!(
            "{{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\",{want},\
             \"additionalProperties\":false}}"
        );
        assert_eq!(json_schema(&template), want);
    }

    #[test]
    fn parameters_become_properties_in_their_order() {
        check("", r#""properties":{}"#);
        check(
            r#"{"name":"Z","displayName":"The \"Z\"","description":"last"},{"name":"A","value":"1"}"#,
            r#""properties":{"Z":{"type":"string","title":"The \"Z\"","description":"last"},"A":{"type":"string","default":"1"}}"#,
        );
    }

    #[test]
    fn required_is_what_would_otherwise_stay_empty() {
        check(
            r#"{"name":"A","required":true},{"name":"B","required":true,"value":"x"},
               {"name":"C","required":true,"generate":"expression"},{"name":"D","required":true}"#,
            r#""properties":{"A":{"type":"string"},"B":{"type":"string","default":"x"},"C":{"type":"string"},"D":{"type":"string"}},"required":["A","D"]"#,
        );
    }

    #[test]
    fn of_equal_names_the_last_is_described() {
        check(
            r#"{"name":"A","value":"1","required":true},{"name":"A","value":"2"}"#,
            r#""properties":{"A":{"type":"string","default":"2"}}"#,
        );
    }

    #[test]
    fn typed_parameters_are_described_by_their_types() {
        check_in(
            Dialect::Proposal,
            r#"{"name":"I","type":"int","value":"3","minimum":1,"maximum":5,"enum":[1,"3"]},
               {"name":"B","parameterType":"bool","value":true},
               {"name":"S","pattern":"^a","enum":["a","1"]},
               {"name":"E","type":"base64","required":true}"#,
            r#""properties":{"I":{"type":"integer","enum":[1,3],"minimum":1,"maximum":5,"default":3},"B":{"type":"boolean","default":true},"S":{"type":"string","enum":["a","1"],"pattern":"^a"},"E":{"type":"string","$comment":"the text itself: processing encodes it"}},"required":["E"]"#,
        );
        check(
            r#"{"name":"I","type":"int","value":"3"}"#,
            r#""properties":{"I":{"type":"string","default":"3"}}"#,
        );
    }
}
