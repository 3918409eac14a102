//! A template for people: its parameters as a table, or all of it as `oc describe` shows it.

use std::fmt::Write as _;

use anyhow::Context;
use processor::{Dialect, Parameter, Template};
use serde_json::Value;

use crate::tabs::{Fill, Layout, align};

/// The table of `oc process --parameters`: NAME, DESCRIPTION, GENERATOR, VALUE. For a generated
/// parameter the value is what it is generated from.
pub(crate) fn parameters(parameters: &[Parameter]) -> String {
    let mut text = "NAME\tDESCRIPTION\tGENERATOR\tVALUE\n".to_owned();
    for Parameter { name, description, generate, from, value, .. } in parameters {
        let value = if generate.is_empty() { value } else { from };
        text.push_str(&format!("{name}\t{description}\t{generate}\t{value}\n"));
    }
    align(&text, Layout { min_width: 20, padding: 3, fill: Fill::Spaces })
}

/// The template whose JSON is `json`, as `oc` describes it.
///
/// # Errors
/// When `json` is no Template.
pub(crate) fn template(json: &str, dialect: Dialect) -> anyhow::Result<String> {
    let template = Template::parse(json, dialect).context("reading the processed template")?;
    let metadata = template.metadata().map_or("null", |metadata| metadata.as_str());
    let metadata: Value = serde_json::from_str(metadata).context("reading metadata")?;
    let mut lines = Lines::default();
    lines.metadata(&metadata);
    lines.blank();
    lines.field("Parameters", " ");
    for parameter in template.parameters() {
        lines.parameter(parameter);
    }
    lines.blank();
    let labels = template.labels().into_iter().flatten();
    let labels: Vec<String> = labels.map(|(key, value)| format!("{key}={value}")).collect();
    lines.field("Object Labels", &labels.join(","));
    lines.blank();
    let message = match template.message() {
        "" => "<none>",
        message => message,
    };
    lines.field("Message", message);
    lines.blank();
    lines.field("Objects", " ");
    for object in template.objects().unwrap_or_default() {
        lines.object(object.as_str());
    }
    Ok(align(&lines.text, Layout { min_width: 0, padding: 1, fill: Fill::Tabs }))
}

/// Lines of `label:<tab>text`, not yet aligned.
#[derive(Default)]
struct Lines {
    text: String,
}

impl Lines {
    fn blank(&mut self) {
        self.text.push('\n');
    }

    fn field(&mut self, label: &str, value: &str) {
        self.text.push_str(label);
        self.text.push(':');
        for line in value.split('\n') {
            self.text.push('\t');
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    fn metadata(&mut self, metadata: &Value) {
        let text = |key: &str| metadata[key].as_str().unwrap_or_default();
        self.field("Name", text("name"));
        if !text("namespace").is_empty() {
            self.field("Namespace", text("namespace"));
        }
        self.map("Labels", &pairs(&metadata["labels"]));
        let mut annotations = pairs(&metadata["annotations"]);
        if let Some(at) = annotations.iter().position(|(key, _)| *key == "description") {
            let (_, description) = annotations.remove(at);
            self.field("Description", description);
        }
        self.map("Annotations", &annotations);
    }

    fn map(&mut self, label: &str, pairs: &[(&str, &str)]) {
        let Some(((key, value), rest)) = pairs.split_first() else {
            return self.field(label, "");
        };
        self.field(label, &format!("{key}={value}"));
        for (key, value) in rest {
            let _ = writeln!(self.text, "\t{key}={value}");
        }
    }

    fn parameter(&mut self, parameter: &Parameter) {
        let Parameter { name, display_name, description, value, generate, from, required, .. } =
            parameter;
        self.field("    Name", name);
        let optional = [("    Display Name", display_name), ("    Description", description)];
        for (label, text) in optional.into_iter().filter(|(_, text)| !text.is_empty()) {
            self.field(label, text);
        }
        self.field("    Required", if *required { "true" } else { "false" });
        if generate.is_empty() {
            self.field("    Value", value);
        } else if value.is_empty() {
            self.field("    Generated", generate);
            self.field("    From", from);
        } else {
            self.field("    Value", value);
            self.field("    Generated (ignored)", generate);
            self.field("    From", from);
        }
        self.blank();
    }

    fn object(&mut self, json: &str) {
        let object: Value = serde_json::from_str(json).unwrap_or_default();
        let Some(kind) = object["kind"].as_str() else {
            self.text.push_str("<unknown>\n");
            return;
        };
        let api_version = object["apiVersion"].as_str().unwrap_or_default();
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let _ = match api_version.split_once('/') {
            Some((group, _)) => writeln!(self.text, "    {kind}.{group}\t{name}"),
            None => writeln!(self.text, "    {kind}\t{name}"),
        };
    }
}

/// The entries of a map of strings, in the order of their keys.
fn pairs(map: &Value) -> Vec<(&str, &str)> {
    let entries = map.as_object().into_iter().flatten();
    entries.map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = r#"{"metadata":{"name":"t","labels":{"b":"2","a":"1"},"annotations":{"description":"two\nlines","x":"y"}},
        "message":"hello","labels":{"app":"t"},
        "parameters":[{"name":"A","description":"first","value":"1","required":true},{"name":"LONGER_NAME","generate":"expression","from":"[a]{1}"},
            {"name":"C","generate":"expression","from":"x","value":"v"}],
        "objects":[{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d"}},{"kind":"Pod","apiVersion":"v1"}]}"#;

    #[test]
    fn the_table_shows_what_a_value_is_generated_from() {
        let template = Template::parse(TEMPLATE, Dialect::OpenShift).unwrap();
        assert_eq!(
            parameters(template.parameters()),
            "NAME                DESCRIPTION         GENERATOR           VALUE\n\
             A                   first                                   1\n\
             LONGER_NAME                             expression          [a]{1}\n\
             C                                       expression          x\n"
        );
    }

    #[test]
    fn a_template_is_described_as_oc_does() {
        assert_eq!(
            template(TEMPLATE, Dialect::OpenShift).unwrap(),
            "Name:\t\tt\nLabels:\t\ta=1\n\t\tb=2\nDescription:\ttwo\n\t\tlines\nAnnotations:\tx=y\n\n\
             Parameters:\t\t \n    Name:\t\tA\n    Description:\tfirst\n    Required:\t\ttrue\n    Value:\t\t1\n\n\
             \u{20}   Name:\tLONGER_NAME\n    Required:\tfalse\n    Generated:\texpression\n    From:\t[a]{1}\n\n\
             \u{20}   Name:\t\t\tC\n    Required:\t\t\tfalse\n    Value:\t\t\tv\n    Generated (ignored):\texpression\n    From:\t\t\tx\n\n\n\
             Object Labels:\tapp=t\n\nMessage:\thello\n\n\
             Objects:\t\t \n    Deployment.apps\td\n    Pod\t\t\t\n"
        );
    }
}
