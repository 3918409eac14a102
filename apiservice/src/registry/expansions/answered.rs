//! What came of an expansion, as the `status` of the object.

use expansion::{Expanded, Output, Value};
use serde::Serialize;

#[derive(Serialize)]
struct Status<'a> {
    config: Resources<'a>,
    layout: Resources<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outputs: Vec<Named<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    digest: &'a str,
}

#[derive(Serialize)]
struct Resources<'a> {
    resources: &'a [Value],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outputs: Vec<Named<'a>>,
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    value: &'a Value,
}

/// `status` as JSON text.
pub(super) fn status(expanded: &Expanded, digest: &str) -> String {
    let Expanded { resources, layout, warnings, .. } = expanded;
    let status = Status {
        config: Resources { resources, outputs: Vec::new() },
        layout: Resources { resources: layout, outputs: outputs(expanded) },
        outputs: outputs(expanded),
        warnings: warnings.iter().map(ToString::to_string).collect(),
        digest,
    };
    serde_json::to_string(&status).expect("values are JSON")
}

fn outputs(expanded: &Expanded) -> Vec<Named<'_>> {
    expanded.outputs.iter().map(|Output { name, value }| Named { name, value }).collect()
}
