//! The result: the primitive resources in a row, and the layout they came from.

use crate::error::{Place, Warning};
use crate::expanded::{Expanded, Output};
use crate::tree::{Node, ROOT, Tree};
use crate::value::{Map, Value};

/// How many warnings are told: a configuration may repeat a hundred thousand keys, and nobody reads so many sentences.
const WARNINGS: usize = 1000;

/// Takes the result out of a tree that is complete.
pub(crate) fn expanded(mut tree: Tree) -> Expanded {
    let outputs = tree.nodes[ROOT].outputs.clone();
    let mut expanded = Expanded { outputs, ..Expanded::default() };
    let mut untold = 0;
    for at in tree.in_order() {
        let warnings = std::mem::take(&mut tree.nodes[at].warnings);
        // The way there is long for whoever has nothing to say.
        let place = if warnings.is_empty() { Place::default() } else { tree.place(at) };
        let warning = |message| Warning { message, place: place.clone() };
        let room = WARNINGS - expanded.warnings.len();
        untold += warnings.len().saturating_sub(room);
        expanded.warnings.extend(warnings.into_iter().take(room).map(warning));
        if at != ROOT && !tree.nodes[at].is_template {
            expanded.resources.push(Value::Map(tree.nodes[at].resource.clone()));
        }
    }
    if untold > 0 {
        let message = format!("{untold} more warnings are not told");
        expanded.warnings.push(Warning { message, place: tree.place(ROOT) });
    }
    expanded.layout = layout(tree);
    expanded
}

/// The layout of the configuration's resources. Nodes come backwards, so that children are there before their parent.
fn layout(mut tree: Tree) -> Vec<Value> {
    let mut done = Vec::new();
    done.resize_with(tree.nodes.len(), Value::default);
    while let Some(mut node) = tree.nodes.pop() {
        let at = tree.nodes.len();
        let children: Vec<_> = done[node.children.clone()].iter_mut().map(std::mem::take).collect();
        if at == ROOT {
            return children;
        }
        done[at] = Value::Map(entry(&mut node, children));
    }
    Vec::new()
}

/// One node of the layout. Properties are shown only for what consists of something.
fn entry(node: &mut Node, children: Vec<Value>) -> Map {
    let mut entry = Map::new();
    let mut show = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            entry.insert(key.to_owned(), value);
        }
    };
    show("name", node.resource.swap_remove("name"));
    show("type", node.resource.swap_remove("type"));
    if !children.is_empty() {
        show("properties", node.resource.swap_remove("properties"));
        show("resources", Some(Value::List(children)));
    }
    show("outputs", outputs(&node.outputs));
    entry
}

/// Outputs as they are written; none when there are none.
fn outputs(outputs: &[Output]) -> Option<Value> {
    let entry = |output: &Output| {
        let name = ("name".to_owned(), Value::from(output.name.as_str()));
        Value::Map([name, ("value".to_owned(), output.value.clone())].into_iter().collect())
    };
    (!outputs.is_empty()).then(|| Value::List(outputs.iter().map(entry).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(json: &str) -> Map {
        Value::from_json(json).unwrap().as_map().unwrap().clone()
    }

    fn tree() -> Tree {
        let mut tree = Tree::new();
        let top = vec![
            map(r#"{"name": "t", "type": "t.py", "properties": {"n": 1}}"#),
            map(r#"{"name": "p", "type": "P", "properties": {"x": 1}, "metadata": {}}"#),
            map(r#"{"name": "e", "type": "e.py", "properties": {}}"#),
        ];
        tree.append(ROOT, top);
        tree.append(1, vec![map(r#"{"name": "c", "type": "C"}"#)]);
        tree.nodes[1].is_template = true;
        tree.nodes[3].is_template = true;
        tree
    }

    #[test]
    fn primitives_stand_in_a_row_in_the_order_of_the_document() {
        let expanded = expanded(tree());
        let resources: Vec<_> = expanded.resources.iter().map(Value::to_json).collect();
        assert_eq!(
            resources,
            [
                r#"{"name":"c","type":"C"}"#,
                r#"{"name":"p","type":"P","properties":{"x":1},"metadata":{}}"#
            ]
        );
    }

    #[test]
    fn the_layout_shows_properties_of_what_consists_of_something() {
        let layout = Value::List(expanded(tree()).layout).to_json();
        assert_eq!(
            layout,
            concat!(
                r#"[{"name":"t","type":"t.py","properties":{"n":1},"#,
                r#""resources":[{"name":"c","type":"C"}]},"#,
                r#"{"name":"p","type":"P"},{"name":"e","type":"e.py"}]"#
            )
        );
    }

    #[test]
    fn outputs_and_warnings_come_along() {
        let mut tree = tree();
        tree.nodes[3].outputs = vec![Output { name: "o".into(), value: Value::Bool(true) }];
        tree.nodes[4].warnings = vec!["odd".into()];
        tree.nodes[2].warnings = vec!["later".into()];
        let expanded = expanded(tree);
        assert_eq!(
            expanded.layout[2].to_json(),
            r#"{"name":"e","type":"e.py","outputs":[{"name":"o","value":true}]}"#
        );
        let warnings: Vec<_> = expanded.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings, ["odd (in config > t (t.py) > c)", "later (in config > p)"]);
    }

    #[test]
    fn very_many_warnings_are_counted_and_not_told() {
        let mut tree = tree();
        tree.nodes[2].warnings = vec!["odd".into(); 1500];
        tree.nodes[4].warnings = vec!["odd as well".into(); 2];
        let warnings = expanded(tree).warnings;
        let last = warnings.last().map(ToString::to_string);
        assert_eq!(last.as_deref(), Some("502 more warnings are not told (in config)"));
        assert_eq!(warnings.len(), 1001);
    }
}
