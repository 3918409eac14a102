//! An expansion on standard output: `config`, `layout`, and `outputs` where there are any.

use expansion::{Expanded, Output, Value};
use serde::Serialize;

use crate::args::ExpandFormat;
use crate::{json_text, output};

/// What is printed, wherever it was expanded.
#[derive(Debug)]
pub(crate) struct Parts {
    /// The primitive resources.
    pub(crate) resources: Vec<Value>,
    /// The tree that they come from.
    pub(crate) layout: Vec<Value>,
    /// The configuration's outputs, each with a name and a value.
    pub(crate) outputs: Vec<Value>,
}

impl From<Expanded> for Parts {
    fn from(expanded: Expanded) -> Self {
        let Expanded { resources, layout, outputs, .. } = expanded;
        let output = |Output { name, value }| {
            Value::Map([("name".into(), Value::from(name)), ("value".into(), value)].into())
        };
        Parts { resources, layout, outputs: outputs.into_iter().map(output).collect() }
    }
}

#[derive(Serialize)]
struct Document<'a> {
    config: List<'a>,
    layout: List<'a>,
    #[serde(skip_serializing_if = "<[Value]>::is_empty")]
    outputs: &'a [Value],
}

#[derive(Serialize)]
struct List<'a> {
    resources: &'a [Value],
    #[serde(skip_serializing_if = "<[Value]>::is_empty")]
    outputs: &'a [Value],
}

/// Prints what came out.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn print(parts: &Parts, format: ExpandFormat) -> anyhow::Result<()> {
    output::to_stdout(&text(parts, format)?)
}

fn text(parts: &Parts, format: ExpandFormat) -> anyhow::Result<String> {
    let Parts { resources, layout, outputs } = parts;
    let json = serde_json::to_string(&Document {
        config: List { resources, outputs: &[] },
        // Deployment Manager has them here, as it has those of templates at their nodes.
        layout: List { resources: layout, outputs },
        outputs,
    })?;
    Ok(match format {
        ExpandFormat::Yaml => yaml::safe_dump(&json)?,
        ExpandFormat::Json => json_text::indent(&json),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(outputs: &str) -> Parts {
        let list = |json: &str| Value::from_json(json).unwrap().as_list().unwrap().to_vec();
        Parts {
            resources: list(r#"[{"name":"a","type":"T","properties":{"on":"010"}}]"#),
            layout: list(r#"[{"name":"a"}]"#),
            outputs: list(outputs),
        }
    }

    #[test]
    fn resources_and_layout_are_told_apart_as_in_deployment_manager() {
        let want = [
            "config:",
            "  resources:",
            "  - name: a",
            "    properties:",
            "      \"on\": \"010\"",
            "    type: T",
            "layout:",
            "  resources:",
            "  - name: a",
            "",
        ];
        assert_eq!(text(&parts("[]"), ExpandFormat::Yaml).unwrap(), want.join("\n"));
    }

    #[test]
    fn outputs_are_shown_where_there_are_any() {
        let shown = text(&parts(r#"[{"name":"ip","value":1}]"#), ExpandFormat::Json).unwrap();
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let want = serde_json::json!([{"name": "ip", "value": 1}]);
        assert_eq!((&shown["outputs"], &shown["layout"]["outputs"]), (&want, &want));
    }
}
