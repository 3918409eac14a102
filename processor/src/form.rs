//! A JSON Schema of a template's parameters, for forms and for checking values before sending them.

use crate::Template;
use crate::json::string::push_string;

/// JSON Schema (draft 2020-12) of the values that `template` takes.
///
/// Properties stand in the order of the parameters, which is the order for a form. Every value is
/// a string, as the API's are. A parameter is required when it says so and would otherwise stay
/// empty. Of parameters with one name the last is described, as it is the one that counts.
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
        schema.push_str(":{\"type\":\"string\"");
        let texts = [
            ("title", &parameter.display_name),
            ("description", &parameter.description),
            ("default", &parameter.value),
        ];
        for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            schema.push_str(",\"");
            schema.push_str(key);
            schema.push_str("\":");
            push_string(&mut schema, text);
        }
        schema.push('}');
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    fn check(parameters: &str, want: &str) {
        let body = format!("{{\"parameters\":[{parameters}]}}");
        let template = Template::parse(&body, Dialect::OpenShift).unwrap();
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
}
