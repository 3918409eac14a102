//! The tree of what is deployed: what each template made, down to the objects and how they are.

use std::collections::{BTreeMap, VecDeque};

use anyhow::Context;
use expansion::Value;

use super::deployment::Deployment;
use crate::expand::report::printable;

/// The states of resources by their names. Several resources of one name come in the order of the configuration.
type States<'a> = BTreeMap<&'a str, VecDeque<&'a str>>;

/// Draws the layout of `json`, the manifest `name` of `deployment`.
///
/// # Errors
/// When it is no Manifest.
pub(super) fn of(deployment: &Deployment, name: &str, json: &str) -> anyhow::Result<String> {
    let manifest = Value::from_json(json).context("the server's answer")?;
    let mut states = States::new();
    // Those of another manifest are not those of this one.
    if deployment.status.manifest == name {
        for resource in &deployment.status.resources {
            states.entry(&*resource.name).or_default().push_back(&*resource.state);
        }
    }
    Ok(drawn(&deployment.metadata.name, name, &manifest, states))
}

/// The same for a manifest as the original has it, which has the states itself.
///
/// # Errors
/// As [`of`].
pub(super) fn of_original(deployment: &str, name: &str, json: &str) -> anyhow::Result<String> {
    let manifest = Value::from_json(json).context("the service's answer")?;
    let mut states = States::new();
    for resource in resources(manifest.get("expandedConfig")) {
        let state = resource.get("state").and_then(|state| state.get("status"));
        if let (Some(name), Some(state)) =
            (resource.get("name").and_then(Value::as_str), state.and_then(Value::as_str))
        {
            states.entry(name).or_default().push_back(state);
        }
    }
    Ok(drawn(deployment, name, &manifest, states))
}

fn drawn(deployment: &str, name: &str, manifest: &Value, mut states: States) -> String {
    let mut out = format!("{}  {}\n", printable(deployment), printable(name));
    draw(resources(manifest.get("layout")), "", &mut states, &mut out);
    out
}

fn resources(of: Option<&Value>) -> &[Value] {
    of.and_then(|of| of.get("resources")).and_then(Value::as_list).unwrap_or_default()
}

/// Draws `nodes` behind `margin`.
fn draw(nodes: &[Value], margin: &str, states: &mut States, out: &mut String) {
    for (index, node) in nodes.iter().enumerate() {
        let (branch, below) = if index + 1 == nodes.len() {
            ("└── ", "    ")
        } else {
            ("├── ", "│   ")
        };
        let name = text(node.get("name"));
        out.push_str(&format!("{margin}{branch}{name}  {}", text(node.get("type"))));
        let children = resources(Some(node));
        let state = states.get_mut(&*name).filter(|_| children.is_empty());
        if let Some(state) = state.and_then(VecDeque::pop_front) {
            out.push_str(&format!("  {}", printable(state)));
        }
        out.push('\n');
        draw(children, &format!("{margin}{below}"), states, out);
    }
}

/// Names and types may be anything; all of it is shown on one line.
fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => printable(text),
        Some(other) => printable(&other.to_json()),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LAYOUT: &str = r#""layout":{"resources":[
        {"name":"frontend","type":"replicated.py","properties":{"n":3},"resources":[
            {"name":"frontend-service","type":"Service"},{"name":"rc","type":"ReplicationController"}]},
        {"name":"none","type":"empty.jinja"},
        {"name":"redis","type":"redis.jinja","resources":[
            {"name":"master","type":"replicated.py","resources":[{"name":"rc","type":"ReplicationController"}]}]}]}"#;

    #[test]
    fn the_tree_has_every_level_and_the_states_of_what_is_no_template() {
        let deployment = Deployment::of(&json!({"metadata": {"name": "gb"}, "status": {"manifest": "gb-2", "resources": [
            {"name": "frontend-service", "state": "Ready"}, {"name": "rc", "state": "Applied"}, {"name": "rc", "state": "Failed"}]}}))
        .unwrap();
        let tree = of(&deployment, "gb-2", &format!("{{{LAYOUT}}}")).unwrap();
        let want = [
            "gb  gb-2",
            "├── frontend  replicated.py",
            "│   ├── frontend-service  Service  Ready",
            "│   └── rc  ReplicationController  Applied",
            "├── none  empty.jinja",
            "└── redis  redis.jinja",
            "    └── master  replicated.py",
            "        └── rc  ReplicationController  Failed",
            "",
        ];
        assert_eq!(tree, want.join("\n"));
        assert!(!of(&deployment, "gb-1", &format!("{{{LAYOUT}}}")).unwrap().contains("Ready"));
    }

    #[test]
    fn a_manifest_of_the_original_has_the_states_itself() {
        let states = r#""expandedConfig":{"resources":[{"name":"frontend-service","state":{"status":"Created"}}]}"#;
        let tree = of_original("gb", "m", &format!("{{{states},{LAYOUT}}}")).unwrap();
        assert!(tree.contains("frontend-service  Service  Created\n"), "{tree}");
        assert!(tree.contains("rc  ReplicationController\n"), "{tree}");
    }

    #[test]
    fn an_empty_layout_is_a_line_and_names_cannot_move_the_cursor() {
        assert_eq!(of_original("d", "m", "{}").unwrap(), "d  m\n");
        let tree =
            of_original("d", "m", r#"{"layout":{"resources":[{"name":7,"type":"\u001b[2J"}]}}"#);
        assert_eq!(tree.unwrap(), "d  m\n└── 7  \\u{1b}[2J\n");
    }
}
